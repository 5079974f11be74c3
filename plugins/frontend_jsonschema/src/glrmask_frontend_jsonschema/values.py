"""The values of an expression that has few."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from .expr import FALSE_KIND, Expr
from .reading import Number
from .shape import Num

if TYPE_CHECKING:
    from .meaning import Meaning


def finite_values(meaning: Meaning, expr: Expr, most: int) -> list[Expr] | None:
    """One expression per distinct value, equal values (as JSON) counted once; None when they are not few."""
    shape = meaning.peek(expr)
    if shape is None:
        return None
    values: dict[object, Any] = {}
    if shape.null:
        values["null"] = None
    for bit, value in ((1, False), (2, True)):
        if shape.bools & bit:
            values[bit] = value
    for number in shape.num:
        found = _numbers(number, most)
        if found is None:
            return None
        values.update((("n", v), v) for v in found)
    for text in shape.str:
        if text.values is None:
            return None
        values.update((("s", v), v) for v in text.values)
    if len(values) > most:
        return None
    whole: list[Expr] = []
    for array in shape.arr:
        if array.unique is not None or array.contains or (array.rest.kind != FALSE_KIND and array.high is None):
            return None
        if len(array.prefix) != array.low or array.high not in (None, array.low):
            return None
        if not all(_is_single(meaning, item) for item in array.prefix):
            return None
    for record in shape.obj:
        closed = all(rule.expr.kind == FALSE_KIND and not rule.when for rule in record.rules) and record.rules
        if not closed or record.some or record.required != record.props.keys():
            return None
        if not all(_is_single(meaning, value) for value in record.props.values()):
            return None
    structured = len(shape.arr) + len(shape.obj)
    if structured:
        if structured > 1 or values:
            return None  # equality of structures is left to the single case
        whole.append(expr)
        return whole
    atom = expr.place()
    where, context = (atom.where, atom.resource) if atom else (None, meaning.resolver.start)
    return [meaning.exprs.conj(expr, meaning.constant(_as_json(v), where, context)) for v in values.values()]


def _is_single(meaning: Meaning, expr: Expr) -> bool:
    found = finite_values(meaning, expr, 1)
    return found is not None and len(found) <= 1


def _as_json(value: Any) -> Any:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return int(value)
        from .lower_number import spellings

        return Number(spellings(value)[0])
    return value


def _numbers(record: Num, most: int) -> list[Fraction] | None:
    if record.values is not None:
        return [v for v, _ in record.values] if all(isinstance(v, Fraction) for v, _ in record.values) else None
    step = record.multiple
    if step is None or record.low is None or record.high is None:
        return None
    first, last = ceil(record.low / step), floor(record.high / step)
    if last - first > 4 * most:
        return None
    found = [i * step for i in range(first, last + 1)]
    return [
        v for v in found
        if not ((record.low_open and v == record.low) or (record.high_open and v == record.high))
        and v not in record.excluded and all(v % m for m in record.not_multiples)
    ]  # fmt: skip
