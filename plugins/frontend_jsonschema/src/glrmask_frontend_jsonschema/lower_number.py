"""Number records to lexical nodes."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from .digits import (
    EQUAL,
    GREATER,
    LESS,
    Comparison,
    Machine,
    Remainder,
    TooLarge,
    build_machine,
    decimal_digits,
    remainder_machine,
)
from .fragment import Fragment, FragmentMaker
from .reading import Exact, integer_text
from .shape import NUM_ANY, NUM_INTEGER, Num, number_fits

MOST_REMAINDERS = 65_536  # json_schema.md section 4
MOST_PRODUCT = 400  # states of one machine that runs bounds and remainders side by side; above, an intersection
MOST_STATES = 5 * MOST_REMAINDERS  # of one machine
MOST_LISTED = 2_000  # values that may be written out instead
MOST_CACHED = 4_096  # fragments kept per process

_cache: dict[Num, Fragment | None] = {}


class NumberTooLarge(Exception):
    """No automaton of bearable size."""


def number_fragment(record: Num) -> Fragment | None:
    """The spellings of a record's numbers; None when there is none.

    Raises:
        NumberTooLarge: ``multipleOf`` has too many remainders.
    """
    if record.values is not None:  # a list is as quick to make as to look up
        maker = FragmentMaker()
        return maker.fragment(maker.literals(listed_texts(record)))
    if record in _cache:
        return _cache[record]
    if len(_cache) >= MOST_CACHED:
        _cache.clear()
    maker = FragmentMaker()
    node = _lower(maker, record)
    made = None if node == maker.nothing() else maker.fragment(node)
    _cache[record] = made
    return made


def listed_texts(record: Num) -> list[bytes]:
    """All spellings of a record that lists its values."""
    texts: list[str] = []
    for value, own in record.values or ():
        texts += own
        if not isinstance(value, str):
            texts.append(usual_spelling(value))
    return [text.encode() for text in texts]


def usual_spelling(value: Exact) -> str:
    """The usual spelling of a value: an integer, or the shortest decimal without exponent."""
    if isinstance(value, int):
        return integer_text(value)
    whole, part = decimal_digits(abs(value))
    sign = "-" if value < 0 else ""
    return sign + whole + ("." + part if part else "")


def _lower(builder: FragmentMaker, record: Num) -> int:
    if record in (NUM_ANY, NUM_INTEGER):
        digit, nonzero = builder.bytes_class(b"0123456789"), builder.bytes_class(b"123456789")
        digits = builder.repeat(digit, 0, None)
        magnitude = builder.choice([builder.literal(b"0"), builder.seq([nonzero, digits])])
        minus = builder.optional(builder.literal(b"-"))
        if record == NUM_INTEGER:
            return builder.seq([minus, magnitude])
        point = builder.optional(builder.seq([builder.literal(b"."), builder.repeat(digit, 1, None)]))
        sign = builder.optional(builder.bytes_class(b"+-"))
        exponent = builder.seq([builder.bytes_class(b"eE"), sign, builder.repeat(digit, 1, None)])
        return builder.seq([minus, magnitude, point, builder.optional(exponent)])
    if any(isinstance(value, str) for value in record.excluded):
        raise NumberTooLarge
    return _constrained(builder, record)


def _constrained(builder: FragmentMaker, record: Num) -> int:
    if record.integer:
        record = _inward(record)
        if record.low is not None and record.high is not None and record.low > record.high:
            return builder.nothing()
    listed = _listed(record)
    if listed is not None:
        node = builder.literals(listed)
        if record.integer:
            return node
        zeros = builder.repeat(builder.literal(b"0"), 1, None)
        return builder.seq([node, builder.optional(builder.seq([builder.literal(b"."), zeros]))])
    bounded = record.low is not None or record.high is not None
    parts = []
    for positive in (True, False):
        comparisons = _comparisons(record, positive, bounded)
        if comparisons is None:
            continue
        node = _magnitudes(builder, record, comparisons)
        parts.append(node if positive else builder.seq([builder.literal(b"-"), node]))
    if len(parts) == 2 and not bounded and not record.excluded:  # the same magnitudes on both sides
        return builder.seq([builder.optional(builder.literal(b"-")), parts[0]])
    return builder.choice(parts)


def _inward(record: Num) -> Num:
    """Bounds of integers as closed integers."""
    low, high = record.low, record.high
    if low is not None:
        low = floor(low) + 1 if record.low_open else ceil(low)
    if high is not None:
        high = ceil(high) - 1 if record.high_open else floor(high)
    return record._replace(low=low, low_open=False, high=high, high_open=False)


def _listed(record: Num) -> list[bytes] | None:
    """The multiples in a bounded record with a large integer step, written out; None when they are many."""
    if record.low is None or record.high is None or record.multiple is None or record.multiple.denominator != 1:
        return None
    step = int(record.multiple)
    first, last = ceil(Fraction(record.low) / step), floor(Fraction(record.high) / step)
    if last - first >= MOST_LISTED or (step <= 10 and last - first > 50):
        return None
    return [integer_text(i * step).encode() for i in range(first, last + 1) if number_fits(record, i * step)]


def _comparisons(record: Num, positive: bool, bounded: bool) -> list[Comparison] | None:
    """Comparisons of the magnitude on one side of zero; None when that side is empty."""
    out = []
    low, low_open, high, high_open = record.low, record.low_open, record.high, record.high_open
    if not positive:  # mirror
        low, low_open, high, high_open = (
            None if high is None else -high, high_open, None if low is None else -low, low_open
        )  # fmt: skip
    if high is not None:
        if high < 0 or (high == 0 and (high_open or not positive)):
            return None
        out.append(Comparison(high, (LESS,) if high_open else (LESS, EQUAL)))
    if low is not None and (low > 0 or (low == 0 and low_open)):
        out.append(Comparison(low, (GREATER,) if low_open else (GREATER, EQUAL)))
    elif bounded and not positive:
        out.append(Comparison(0, (GREATER,)))  # no "-0" under bounds
    for value in sorted(record.excluded):
        if value == 0 or (value > 0) == positive:
            out.append(Comparison(abs(value), (LESS, GREATER)))
    return out


def _magnitudes(builder: FragmentMaker, record: Num, comparisons: list[Comparison]) -> int:
    remainders = [Remainder(m, False) for m in record.not_multiples]
    if record.multiple is not None and not (record.integer and record.multiple == 1):
        remainders.insert(0, Remainder(record.multiple, True))
    if any(r.modulus > MOST_REMAINDERS for r in remainders):
        raise NumberTooLarge
    fraction = not record.integer
    size = sum(len(c.whole) + len(c.part) + 3 for c in comparisons) or 1
    for r in remainders:
        size *= r.states(MOST_PRODUCT)
    if not remainders or (size <= MOST_PRODUCT and (comparisons or len(remainders) > 1)):
        return _emit(builder, build_machine([*comparisons, *remainders], fraction, MOST_STATES))
    try:
        nodes = [_emit(builder, remainder_machine(r, fraction, MOST_STATES)) for r in remainders]
    except TooLarge:
        raise NumberTooLarge from None
    if comparisons:
        nodes.insert(0, _emit(builder, build_machine([*comparisons], fraction, MOST_STATES)))
    node = nodes[0]
    for other in nodes[1:]:
        node = builder.both(node, other)
    return node


def _emit(builder: FragmentMaker, machine: Machine | None) -> int:
    if machine is None:
        return builder.nothing()
    labels = [builder.literal(taken) if len(taken) == 1 else builder.bytes_class(taken) for taken in machine.labels]
    return builder.automaton(machine.states, machine.start, machine.accepting, labels, machine.edges)
