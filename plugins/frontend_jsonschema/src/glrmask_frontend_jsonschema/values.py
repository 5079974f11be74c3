"""The values of an expression that has few."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from .expr import FALSE_KIND, Expr
from .lower_number import usual_spelling
from .reading import Exact, Number, as_exact
from .shape import Arr, Num, Obj

if TYPE_CHECKING:
    from .meaning import Meaning

Values = dict[object, Any]  # by a key that is equal when values are equal as JSON


def value_key(value: Any) -> object:
    """A hashable key that is equal exactly when two values are equal as JSON."""
    if isinstance(value, bool) or value is None:
        return ("b", value)
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ("a", tuple(value_key(item) for item in value))
    if isinstance(value, dict):
        return ("o", frozenset((name, value_key(item)) for name, item in value.items()))
    return ("n", as_exact(value))


def finite_values(meaning: Meaning, expr: Expr, most: int) -> Values | None:
    """The distinct values of an expression; None when they are more than ``most`` or not found easily."""
    shape = meaning.peek(expr)
    if shape is None:
        return None
    found: list[Any] = [None] if shape.null else []
    found += [value for bit, value in ((1, False), (2, True)) if shape.bools & bit]
    for number in shape.num:
        numbers = _numbers(number, most)
        if numbers is None:
            return None
        found += numbers
    for text in shape.str:
        if text.values is None:
            return None
        found += text.values
    structured = [_items(meaning, array) for array in shape.arr], [_members(meaning, record) for record in shape.obj]
    for singles in structured:
        if None in singles:
            return None
        found += singles
    values = {value_key(value): value for value in found}
    return values if len(values) <= most else None


def _items(meaning: Meaning, record: Arr) -> list[Any] | None:
    """The one array that satisfies a record."""
    size = len(record.prefix)
    closed = record.rest.kind == FALSE_KIND or record.high == size
    if not closed or record.low != size or record.unique is not None or record.contains:
        return None
    out: list[Any] = []
    for item in record.prefix:
        values = finite_values(meaning, item, 1)
        if not values:
            return None
        out += values.values()
    return out


def _members(meaning: Meaning, record: Obj) -> dict[str, Any] | None:
    """The one object that satisfies a record."""
    closed = any(rule.expr.kind == FALSE_KIND and not rule.when for rule in record.rules)
    if not closed or record.some or record.required != record.props.keys():
        return None
    out = {}
    for name, expr in record.props.items():
        values = finite_values(meaning, expr, 1)
        if not values:
            return None
        out[name] = next(iter(values.values()))
    return out


def _numbers(record: Num, most: int) -> list[Any] | None:
    if record.values is not None:
        if any(isinstance(value, str) for value, _ in record.values):
            return None
        return [_as_json(value) for value, _ in record.values]
    step = record.multiple
    if step is None or record.low is None or record.high is None:
        return None
    first, last = ceil(Fraction(record.low) / step), floor(Fraction(record.high) / step)
    if last - first > 4 * most:
        return None
    found = [i * step for i in range(first, last + 1)]
    return [
        _as_json(value)
        for value in found
        if not (record.low_open and value == record.low)
        and not (record.high_open and value == record.high)
        and value not in record.excluded
        and all(value % m for m in record.not_multiples)
    ]


def _as_json(value: Exact) -> Any:
    return int(value) if value.denominator == 1 else Number(usual_spelling(value))
