"""What a schema means: for each JSON type, a union of records whose constraints all hold.

Intersection pairs the records of two shapes; the complement of a record is the union of the complements of
its constraints. Array and object records hold expressions for their parts, so both operations go one level
deep only, and the next level is looked at when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

from .expr import FALSE_KIND, TRUE_KIND, Expr, Exprs
from .reading import Exact, reduced

FALSE_BIT, TRUE_BIT = 1, 2


class Num(NamedTuple):
    """Numbers: all of these hold.

    ``integer`` restricts the spelling as well (no fraction). ``values`` maps a value to its own spellings; the value
    of a number too large to handle is its spelling, a str.
    """

    integer: bool = False
    low: Exact | None = None
    low_open: bool = False
    high: Exact | None = None
    high_open: bool = False
    multiple: Exact | None = None
    not_multiples: tuple[Exact, ...] = ()
    values: tuple[tuple[Any, tuple[str, ...]], ...] | None = None
    excluded: frozenset[Any] = frozenset()


class Str(NamedTuple):
    """Strings: all of these hold. ``tests`` are ("pattern" | "format", text, wanted)."""

    low: int = 0
    high: int | None = None
    tests: tuple[tuple[str, str, bool], ...] = ()
    values: tuple[str, ...] | None = None
    excluded: frozenset[str] = frozenset()


Strings = tuple[Str, ...]


class Contains(NamedTuple):
    """Between ``low`` and ``high`` items from index ``start`` on match ``expr``."""

    start: int
    expr: Expr
    low: int
    high: int | None


class Arr(NamedTuple):
    """Arrays. ``unique`` is the atom that asks for distinct items. ``seen`` is None or what was evaluated:
    (prefix length, everything, expressions whose matching items count)."""

    prefix: tuple[Expr, ...]
    rest: Expr
    low: int = 0
    high: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: Expr | None = None
    seen: tuple[int, bool, tuple[Expr, ...]] = (0, False, ())


class Rule(NamedTuple):
    """About every (or, as a witness, some) key that is not in ``names`` and is, or is not, in each language."""

    when: tuple[tuple[Strings, bool], ...]
    names: frozenset[str]
    expr: Expr


UNSEEN: tuple[frozenset[str], tuple[Strings, ...]] = (frozenset(), ())


class Obj(NamedTuple):
    """Objects.

    Attributes:
        props: known names and all that is asked of their values (rules included), in order of appearance.
        late: names of lower rank: 1 only required, 2 only mentioned in conditions, 3 only left out of others.
        required: names that must be there; all are in ``props``.
        rules: what is asked of the values of all other keys.
        low, high: number of members.
        some: at least one member each that a rule describes (known names count as well).
        seen: evaluated keys (names, key languages); None for every key.
    """

    props: dict[str, Expr]
    late: dict[str, int]
    required: frozenset[str]
    rules: tuple[Rule, ...] = ()
    low: int = 0
    high: int | None = None
    some: tuple[Rule, ...] = ()
    seen: tuple[frozenset[str], tuple[Strings, ...]] | None = UNSEEN


class Shape(NamedTuple):
    """A schema's meaning, type by type."""

    null: bool
    bools: int
    num: tuple[Num, ...]
    str: Strings
    arr: tuple[Arr, ...]
    obj: tuple[Obj, ...]


NUM_ANY = Num()
NUM_INTEGER = Num(integer=True, multiple=1)
STR_ANY = Str()
NUMS_ANY, NUMS_INTEGER, STRS_ANY = (NUM_ANY,), (NUM_INTEGER,), (STR_ANY,)
EMPTY_SHAPE = Shape(False, 0, (), (), (), ())


def is_empty_shape(shape: Shape) -> bool:
    """Whether nothing is left, as far as the records show."""
    return not (shape.null or shape.bools or shape.num or shape.str or shape.arr or shape.obj)


# -- numbers ----------------------------------------------------------------------------------


def least_common_multiple(left: Exact | None, right: Exact | None) -> Exact | None:
    """The smallest number that both divide; None stands for no condition."""
    if left is None or left == right:
        return right
    if right is None:
        return left
    a, b = left.numerator, right.numerator
    return reduced(Fraction(a * b // gcd(a, b), gcd(left.denominator, right.denominator)))


def number_fits(record: Num, value: Any) -> bool:
    """Whether a value (exact, or a str key of a number too large to handle) satisfies a record."""
    if isinstance(value, str):
        return record._replace(values=None, excluded=frozenset()) == NUM_ANY and value not in record.excluded
    if record.low is not None and (value < record.low or (record.low_open and value == record.low)):
        return False
    if record.high is not None and (value > record.high or (record.high_open and value == record.high)):
        return False
    if record.multiple is not None and value % record.multiple:
        return False
    return value not in record.excluded and all(value % m for m in record.not_multiples)


def both_numbers(left: Num, right: Num) -> Num | None:
    """Intersection of two records; None when nothing is left."""
    if left is NUM_ANY or left is right:
        return right
    if right is NUM_ANY:
        return left
    low, low_open, high, high_open = left.low, left.low_open, left.high, left.high_open
    if right.low is not None and (low is None or (right.low, right.low_open) > (low, low_open)):
        low, low_open = right.low, right.low_open
    if right.high is not None and (high is None or (right.high, not right.high_open) < (high, not high_open)):
        high, high_open = right.high, right.high_open
    if low is not None and high is not None and (low > high or (low == high and (low_open or high_open))):
        return None
    multiple = least_common_multiple(left.multiple, right.multiple)
    not_multiples = tuple(dict.fromkeys(left.not_multiples + right.not_multiples))
    if multiple is not None and any(multiple % m == 0 for m in not_multiples):
        return None
    made = Num(
        left.integer or right.integer, low, low_open, high, high_open, multiple, not_multiples,
        None, left.excluded | right.excluded,
    )  # fmt: skip
    if left.values is None and right.values is None:
        return made
    spelled: dict[Any, tuple[str, ...]] = dict(left.values if left.values is not None else right.values or ())
    if left.values is not None and right.values is not None:
        other = dict(right.values)
        spelled = {v: tuple(dict.fromkeys(s + other[v])) for v, s in spelled.items() if v in other}
    kept: tuple[tuple[Any, tuple[str, ...]], ...]
    if multiple == 1 and low is None and high is None and not not_multiples and not made.excluded:  # the type integer
        kept = tuple((v, s) for v, s in spelled.items() if isinstance(v, int))
    else:
        kept = tuple((v, s) for v, s in spelled.items() if number_fits(made, v))
    return Num(integer=made.integer, values=kept) if kept else None


def join_numbers(records: list[Num]) -> Num:
    """Union of records that list values."""
    spelled: dict[Any, tuple[str, ...]] = {}
    for record in records:
        for value, own in record.values or ():
            spelled[value] = spelled.get(value, ()) + own
    return Num(values=tuple((v, tuple(dict.fromkeys(own))) for v, own in spelled.items()))


def not_number(record: Num) -> list[Num]:
    """Complement of a record among numbers."""
    out = []
    if record.low is not None:
        out.append(Num(high=record.low, high_open=not record.low_open))
    if record.high is not None:
        out.append(Num(low=record.high, low_open=not record.high_open))
    if record.multiple is not None:
        out.append(Num(not_multiples=(record.multiple,)))
    out += [Num(multiple=m) for m in record.not_multiples]
    if record.values is not None:
        out.append(Num(excluded=frozenset(v for v, _ in record.values)))
    if record.excluded:
        out.append(Num(values=tuple((v, ()) for v in sorted(record.excluded, key=str))))
    return out


# -- strings ----------------------------------------------------------------------------------


def both_strings(left: Str, right: Str, fits: Any) -> Str | None:
    """Intersection of two records; ``fits(record, text)`` tests one string. None when nothing is left."""
    if left is STR_ANY or left is right:
        return right
    if right is STR_ANY:
        return left
    low = max(left.low, right.low)
    high = right.high if left.high is None else left.high if right.high is None else min(left.high, right.high)
    if high is not None and low > high:
        return None
    tests = tuple(dict.fromkeys(left.tests + right.tests))
    if any((kind, text, not wanted) in tests for kind, text, wanted in tests):
        return None
    excluded = left.excluded | right.excluded
    made = Str(low, high, tests, None, excluded)
    if left.values is None and right.values is None:
        return made
    values = left.values if left.values is not None else right.values or ()
    if left.values is not None and right.values is not None:
        other = set(right.values)
        values = tuple(v for v in values if v in other)
    if tests or low or high is not None:
        values = tuple(v for v in values if fits(made, v))
    elif excluded:
        values = tuple(v for v in values if v not in excluded)
    return Str(values=values) if values else None


def join_strings(records: list[Str]) -> Str:
    """Union of records that list values."""
    return Str(values=tuple(dict.fromkeys(value for record in records for value in record.values or ())))


def not_string(record: Str) -> list[Str]:
    """Complement of a record among strings."""
    out = []
    if record.low:
        out.append(Str(high=record.low - 1))
    if record.high is not None:
        out.append(Str(low=record.high + 1))
    out += [Str(tests=((kind, text, not wanted),)) for kind, text, wanted in record.tests]
    if record.values is not None:
        out.append(Str(excluded=frozenset(record.values)))
    if record.excluded:
        out.append(Str(values=tuple(sorted(record.excluded))))
    return out


# -- arrays -----------------------------------------------------------------------------------


def both_arrays(left: Arr, right: Arr, exprs: Exprs) -> Arr | None:
    """Intersection of two records."""
    size = max(len(left.prefix), len(right.prefix))
    prefix = tuple(
        exprs.conj(
            left.prefix[i] if i < len(left.prefix) else left.rest,
            right.prefix[i] if i < len(right.prefix) else right.rest,
        )
        for i in range(size)
    )
    low = max(left.low, right.low)
    high = right.high if left.high is None else left.high if right.high is None else min(left.high, right.high)
    if high is not None and low > high:
        return None
    seen = (
        max(left.seen[0], right.seen[0]),
        left.seen[1] or right.seen[1],
        tuple(dict.fromkeys(left.seen[2] + right.seen[2])),
    )
    contains = tuple(dict.fromkeys(left.contains + right.contains))
    rest = exprs.conj(left.rest, right.rest)
    return Arr(prefix, rest, low, high, contains, left.unique or right.unique, seen)


def not_array(record: Arr, exprs: Exprs) -> list[Arr]:
    """Complement of a record (without ``unique``, which the caller refuses) among arrays."""
    out, true = [], exprs.true
    if record.low:
        out.append(Arr((), true, high=record.low - 1))
    if record.high is not None:
        out.append(Arr((), true, low=record.high + 1))
    for i, item in enumerate(record.prefix):
        if item.kind != TRUE_KIND:
            out.append(Arr((true,) * i + (exprs.negate(item),), true, low=i + 1))
    if record.rest.kind == FALSE_KIND:
        out.append(Arr((), true, low=len(record.prefix) + 1))
    elif record.rest.kind != TRUE_KIND:
        out.append(Arr((), true, contains=(Contains(len(record.prefix), exprs.negate(record.rest), 1, None),)))
    for start, expr, low, high in record.contains:
        if low:
            out.append(Arr((), true, contains=(Contains(start, expr, 0, low - 1),)))
        if high is not None:
            out.append(Arr((), true, contains=(Contains(start, expr, high + 1, None),)))
    return out


# -- objects ----------------------------------------------------------------------------------


def asked_of(record: Obj, name: str, exprs: Exprs, matches: Any) -> Expr:
    """What a record asks of the value of one name; ``matches(strings, name)`` tests a key language."""
    known = record.props.get(name)
    if known is not None:
        return known
    out = exprs.true
    for rule in record.rules:
        if name not in rule.names and (not rule.when or applies(rule, name, matches)):
            out = exprs.conj(out, rule.expr)
    return out


def applies(rule: Rule, name: str, matches: Any) -> bool:
    """Whether a rule is about this name."""
    return name not in rule.names and all(matches(strings, name) == wanted for strings, wanted in rule.when)


def both_objects(left: Obj, right: Obj, exprs: Exprs, matches: Any) -> Obj | None:
    """Intersection of two records; None when it is plainly empty."""
    conj = exprs.conj
    high = right.high if left.high is None else left.high if right.high is None else min(left.high, right.high)
    low = max(left.low, right.low)
    required = left.required | right.required
    if high is not None and (low > high or len(required) > high):
        return None
    props: dict[str, Expr] = {}
    late: dict[str, int] = {}
    changed: Iterable[str] = required
    if not (left.late or right.late or right.rules):  # the names of the left alone stay as they are
        props = left.props.copy()
        for name, expr in right.props.items():
            known = props.get(name)
            props[name] = conj(asked_of(left, name, exprs, matches) if known is None else known, expr)
        changed = right.props.keys() & required
    elif left.late or right.late:  # a name stands where its best rank puts it
        names = [*left.props, *right.props]
        ranks = [left.late.get(name, 0) for name in left.props]
        ranks += [right.late.get(name, 0) for name in right.props]
        for i in sorted(range(len(names)), key=ranks.__getitem__):
            name = names[i]
            if name not in props:
                mine, other = left.props.get(name), right.props.get(name)
                if mine is None:
                    mine = asked_of(left, name, exprs, matches)
                elif other is None:
                    other = asked_of(right, name, exprs, matches)
                assert other is not None, "one of the two has the name"
                props[name] = conj(mine, other)
                if ranks[i]:
                    late[name] = ranks[i]
    else:
        for name, expr in left.props.items():
            known = right.props.get(name)
            props[name] = conj(expr, asked_of(right, name, exprs, matches) if known is None else known)
        for name, expr in right.props.items():
            if name not in props:
                props[name] = conj(asked_of(left, name, exprs, matches), expr)
    for name in changed:
        if props[name].kind == FALSE_KIND:
            return None
    seen = left.seen
    if seen is not right.seen:
        if left.seen is None or right.seen is None:
            seen = None
        else:
            seen = left.seen[0] | right.seen[0], tuple(dict.fromkeys(left.seen[1] + right.seen[1]))
    rules = tuple(dict.fromkeys(left.rules + right.rules))
    return Obj(props, late, required, rules, low, high, tuple(dict.fromkeys(left.some + right.some)), seen)


def not_object(record: Obj, exprs: Exprs) -> list[Obj]:
    """Complement of a record among objects."""
    out: list[Obj] = []
    none: frozenset[str] = frozenset()
    for name in sorted(record.required):
        out.append(Obj({name: exprs.false}, {name: 2}, none))
    for name, expr in record.props.items():
        if expr.kind != TRUE_KIND:
            negated = exprs.negate(expr)
            out.append(Obj({name: negated}, {name: 2}, frozenset((name,))))
    known = frozenset(record.props)
    for rule in record.rules:
        witness = Rule(rule.when, rule.names | known, exprs.negate(rule.expr))
        out.append(Obj({}, {}, none, some=(witness,)))
    if record.low:
        out.append(Obj({}, {}, none, high=record.low - 1))
    if record.high is not None:
        out.append(Obj({}, {}, none, low=record.high + 1))
    for rule in record.some:
        out.append(Obj({}, {}, none, rules=(rule._replace(expr=exprs.negate(rule.expr)),)))
    return out


def conditions_of(rules: Iterable[Rule]) -> Iterable[Strings]:
    """The key languages that rules mention."""
    for rule in rules:
        for strings, _ in rule.when:
            yield strings
