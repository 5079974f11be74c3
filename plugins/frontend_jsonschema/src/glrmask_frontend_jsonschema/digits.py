"""Decimal numbers as finite automata over their digits, exact at any precision.

A machine reads a magnitude (no sign, no leading zeros, no exponent) from left to right. It runs comparisons
with bounds and remainders of divisors side by side:

* a comparison counts integer digits against those of the bound (more digits means greater) and remembers
  the first difference; after the point it goes on with the bound's fraction,
* a remainder is kept in units of the divisor's last decimal place; digits beyond that place must be zero for
  a multiple.

Source: own; the remainder automaton is folklore.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import chain
from math import gcd
from typing import Any

from .reading import Exact, integer_text

MANY_REMAINDERS = 256  # from here on a machine is made in bulk

LESS, EQUAL, GREATER = -1, 0, 1
START, ZERO, WHOLE, POINT, PART = range(5)  # phases: nothing yet, "0", digits, ".", digits after it


@dataclass(frozen=True)
class Machine:
    """An automaton.

    Attributes:
        states, start: how many, and where it begins.
        accepting: where it may end, ascending.
        labels: sets of bytes that edges take.
        edges: (source, index into ``labels``, target) each, by ascending source.
    """

    states: int
    start: int
    accepting: tuple[int, ...]
    labels: tuple[bytes, ...]
    edges: array[int]


class TooLarge(Exception):
    """The automaton would have more states than allowed."""


def decimal_digits(value: Exact) -> tuple[str, str]:
    """Digits before and after the point of a finite decimal (no trailing zeros after it)."""
    if isinstance(value, int):
        return integer_text(value), ""
    places = decimal_places(value)
    scaled = integer_text(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    whole, part = (scaled[:-places], scaled[-places:]) if places else (scaled, "")
    return whole, part


def decimal_places(value: Exact) -> int:
    """How many digits after the point the value needs."""
    denominator, places = value.denominator, 0
    while denominator % 10 == 0:
        denominator //= 10
        places += 1
    twos = fives = 0
    while denominator % 2 == 0:
        denominator //= 2
        twos += 1
    while denominator % 5 == 0:
        denominator //= 5
        fives += 1
    assert denominator == 1, "JSON numbers are finite decimals"
    return places + max(twos, fives)


class Comparison:
    """Compares with ``bound`` (not negative) and accepts some outcomes."""

    start: Any = (0, EQUAL)

    def __init__(self, bound: Exact, outcomes: tuple[int, ...]) -> None:
        self.whole, self.part = decimal_digits(bound)
        self.outcomes = outcomes

    def digits(self, state: Any) -> tuple[Any, ...]:
        """The states after each of the ten digits."""
        count, order = state
        if count >= len(self.whole):
            return ((count, GREATER),) * 10
        if order != EQUAL:
            return ((count + 1, order),) * 10
        return _ten(int(self.whole[count]), (count + 1, LESS), (count + 1, EQUAL), (count + 1, GREATER))

    def point(self, state: Any) -> Any:
        count, order = state
        return ("p", 0, LESS if count < len(self.whole) else order)

    def part_digits(self, state: Any) -> tuple[Any, ...]:
        """The same after the point."""
        _, at, order = state
        if order != EQUAL:
            return (("p", 0, order),) * 10
        own = int(self.part[at]) if at < len(self.part) else 0
        return _ten(own, ("p", 0, LESS), ("p", min(at + 1, len(self.part)), EQUAL), ("p", 0, GREATER))

    def accepts(self, state: Any) -> bool:
        if state[0] != "p":
            state = self.point(state)
        _, at, order = state
        if order == EQUAL and at < len(self.part):
            order = LESS
        return bool(order in self.outcomes)

    def is_dead(self, state: Any) -> bool:
        """Whether nothing that follows can be accepted."""
        if state[0] == "p":
            return bool(state[2] != EQUAL and state[2] not in self.outcomes)
        return bool(state[0] >= len(self.whole) and state[1] == GREATER and GREATER not in self.outcomes)


def _ten(own: int, less: Any, equal: Any, greater: Any) -> tuple[Any, ...]:
    """What each of the ten digits leads to, compared with ``own``."""
    return (less,) * own + (equal,) + (greater,) * (9 - own)


class Remainder:
    """Accepts multiples of ``divisor`` (positive), or everything else.

    With an integer divisor that shares factors with 10, many remainders have the same future and are merged: k
    more digits s make a multiple of M out of r when 10^k r + s = 0 (mod M) with s < 10^k, so for each k only
    r mod M / gcd(M, 10^k) matters, and only if such an s exists. From 10^k >= M on one always does.
    """

    def __init__(self, divisor: Exact, wanted: bool) -> None:
        self.places = decimal_places(divisor)
        self.unit = 10**self.places
        self.modulus = int(divisor * self.unit)
        self.wanted = wanted
        self.start: Any = 0
        self._futures: list[tuple[int, int]] = []
        self._merged: dict[tuple[int, ...], int] = {}
        self._stands: dict[int, int] = {}
        self._rows: dict[int, tuple[int, ...]] = {}
        if not self.places and gcd(self.modulus, 10) > 1:
            power = 1
            while not self._futures or self._futures[-1][0] < self.modulus:
                self._futures.append((power, self.modulus // gcd(self.modulus, power)))
                power *= 10

    def merged(self, left: int) -> int:
        """The remainder that stands for all with the same future."""
        found = self._stands.get(left)
        if found is None:
            modulus = self.modulus
            future = tuple([left % kept if -left * power % modulus < power else -1 for power, kept in self._futures])
            found = self._stands[left] = self._merged.setdefault(future, left)
        return found

    def states(self, most: int) -> int:
        """About how many states it takes, counted up to ``most``."""
        if self.places or not self._futures:
            return self.modulus * (self.places + 1)
        order = [0]
        seen = {0}
        for left in order:
            for target in self.digits(left):
                if target not in seen:
                    seen.add(target)
                    order.append(target)
            if len(order) > most:
                break
        return len(order)

    def digits(self, state: Any) -> tuple[Any, ...]:
        """The states after each of the ten digits."""
        row = self._rows.get(state)
        if row is None:
            modulus, unit, first = self.modulus, self.unit, 10 * state
            row = tuple([(first + digit * unit) % modulus for digit in range(10)])
            if self._futures:
                row = tuple(map(self.merged, row))
            self._rows[state] = row
        return row

    def point(self, state: Any) -> Any:
        return (state, 0)

    def part_digits(self, state: Any) -> tuple[Any, ...]:
        """The same after the point."""
        left, at = state
        if at == self.places:
            return ((left, at),) + ((-1, at),) * 9
        if left < 0:
            return (state,) * 10
        worth = 10 ** (self.places - at - 1)
        return tuple([((left + digit * worth) % self.modulus, at + 1) for digit in range(10)])

    def accepts(self, state: Any) -> bool:
        left: int = state[0] if isinstance(state, tuple) else state
        return (left == 0) == self.wanted

    def is_dead(self, state: Any) -> bool:
        if not (self.wanted and isinstance(state, tuple)):
            return False
        left, at = state
        return bool(left < 0 or -left % self.modulus >= 10 ** (self.places - at))  # no digits can complete a multiple


def build_machine(tests: list[Comparison | Remainder], fraction: bool, most_states: int) -> Machine | None:
    """The magnitudes that all tests accept; None when there is none.

    Raises:
        TooLarge: more than ``most_states`` states.
    """
    phases: list[Any] = [START]  # per state
    inner: list[tuple[Any, ...]] = [tuple([t.start for t in tests])]
    number: tuple[dict[Any, int], ...] = tuple({} for _ in range(5))  # per phase
    edges: list[dict[int, list[int]]] = []
    for phase, here in zip(phases, inner):  # noqa: B905  both grow
        out: dict[int, list[int]] = {}
        edges.append(out)
        moves: list[tuple[int, int, tuple[Any, ...]]] = []
        if phase in (START, WHOLE):
            digits = list(zip(*[t.digits(s) for t, s in zip(tests, here, strict=True)], strict=True)) or [()] * 10
            moves = [(48 + d, WHOLE, target) for d, target in enumerate(digits)]
            if phase == START:
                moves[0] = (48, ZERO, digits[0])
        elif phase in (POINT, PART):
            digits = list(zip(*[t.part_digits(s) for t, s in zip(tests, here, strict=True)], strict=True)) or [()] * 10
            moves = [(48 + d, PART, target) for d, target in enumerate(digits)]
        if fraction and phase in (ZERO, WHOLE):
            moves.append((46, POINT, tuple([t.point(s) for t, s in zip(tests, here, strict=True)])))
        for byte, after, target in moves:
            known = number[after].get(target)
            if known is None:
                if any([t.is_dead(s) for t, s in zip(tests, target, strict=True)]):
                    continue
                known = number[after][target] = len(inner)
                phases.append(after)
                inner.append(target)
                if known > most_states:
                    raise TooLarge
            taken = out.get(known)
            if taken is None:
                out[known] = [byte]
            else:
                taken.append(byte)
    accepting = {
        i for i, (phase, here) in enumerate(zip(phases, inner, strict=True))
        if phase in (ZERO, WHOLE, PART) and all([t.accepts(x) for t, x in zip(tests, here, strict=True)])
    }  # fmt: skip
    return _trim(edges, accepting)


def remainder_machine(test: Remainder, fraction: bool, most_states: int) -> Machine | None:
    """The same for one remainder: quicker where the divisor is an integer."""
    if test.places:
        if gcd(test.modulus, 10) == 1 and test.modulus * (test.places + 1) > most_states:
            raise TooLarge  # every remainder is met at every place
        return build_machine([test], fraction, most_states)
    if test.modulus >= MANY_REMAINDERS and gcd(test.modulus, 10) == 1 and (test.wanted or fraction):
        return _coprime_machine(test.modulus, fraction, test.wanted)
    # 0: start, 1: "0", 2: digits of a multiple, from 3 on: other digits; then (with fractions) point and digits
    order, state_of = [0], {0: 2}
    edges: list[dict[int, list[int]]] = [{1: [48]}, {}]
    for left in order:
        out: dict[int, list[int]] = {}
        for byte, target in enumerate(test.digits(left), 48):
            state = state_of.get(target)
            if state is None:
                state = state_of[target] = 2 + len(order)
                order.append(target)
            taken = out.get(state)
            if taken is None:
                out[state] = [byte]
            else:
                taken.append(byte)
        edges.append(out)
        if left == 0:
            edges[0].update({state: [d for d in taken if d > 48] for state, taken in out.items() if taken != [48]})
    size = len(edges)
    accepting = {1, 2} if test.wanted else set(range(3, size))
    if fraction:
        zero, rest, zeros, digits = range(size, size + 4)
        # zero: point after a multiple; rest: point after another number; zeros, digits: after these
        edges += [{zeros: [48]}, {digits: list(range(48, 58))}, {zeros: [48]}, {digits: list(range(48, 58))}]
        if not test.wanted:
            edges[zero][digits] = edges[zeros][digits] = list(range(49, 58))
        for state in range(1, size):
            edges[state][zero if state < 3 else rest] = [46]
        accepting |= {zeros} if test.wanted else {digits}
        if test.wanted:
            edges[rest] = {}
    return _trim(edges, accepting)


def _coprime_machine(modulus: int, fraction: bool, wanted: bool) -> Machine:
    """The same where all remainders have different futures, made at once: 120 bytes per remainder.

    States are numbered as in :func:`remainder_machine`, but that of a remainder r is 2 + r. From each one, every other
    can be reached, so none is left out.
    """
    zero, rest, zeros, digits = range(modulus + 2, modulus + 6)
    width = 11 if fraction and not wanted else 10  # edges per remainder
    moves = array("i", bytes(12 * modulus * width))
    sources = array("i", range(2, modulus + 2))
    for digit in range(10):
        moves[3 * digit :: 3 * width] = sources
        moves[3 * digit + 1 :: 3 * width] = array("i", [digit]) * modulus
        moves[3 * digit + 2 :: 3 * width] = array("i", [(10 * r + digit) % modulus + 2 for r in range(modulus)])
    if width == 11:
        moves[30::33] = sources
        moves[31::33] = array("i", [10]) * modulus
        moves[32::33] = array("i", [zero]) + array("i", [rest]) * (modulus - 1)
    some, all_digits = 11, 12  # labels: the ten digits, the point, digits but "0", all digits
    first = [(0, 0, 1), *((0, d, d + 2) for d in range(1, 10))]
    ends = [1, 2] if wanted else list(range(3, modulus + 2))
    last: list[tuple[int, int, int]] = []
    if fraction:
        first.append((1, 10, zero))
        if wanted:  # nothing is left to do after the point of another number: no way there
            moves[30:30] = array("i", (2, 10, zero))
            zeros -= 1
            last = [(zero, 0, zeros), (zeros, 0, zeros)]
            ends.append(zeros)
        else:
            last = [(zero, 0, zeros), (zero, some, digits), (rest, all_digits, digits), (zeros, 0, zeros)]
            last += [(zeros, some, digits), (digits, all_digits, digits)]
            ends.append(digits)
    edges = array("i", chain.from_iterable(first))
    edges += moves
    edges.extend(chain.from_iterable(last))
    labels = (*(bytes([byte]) for byte in range(48, 58)), b".", b"123456789", b"0123456789")
    states = modulus + 2 + (0 if not fraction else 2 if wanted else 4)
    return Machine(states, 0, tuple(ends), labels, edges)


def _trim(edges: list[dict[int, list[int]]], accepting: set[int]) -> Machine | None:
    """Only the states from which an accepting one can be reached."""
    sources: dict[int, list[int]] = {}
    for source, out in enumerate(edges):
        for target in out:
            sources.setdefault(target, []).append(source)
    useful, todo = set(accepting), list(accepting)
    while todo:
        for source in sources.get(todo.pop(), ()):
            if source not in useful:
                useful.add(source)
                todo.append(source)
    if 0 not in useful:
        return None
    renamed = {old: new for new, old in enumerate(sorted(useful))}
    labels: dict[bytes, int] = {}
    kept: list[int] = []
    for source in renamed:
        for target, taken in edges[source].items():
            if target in useful:
                kept += (renamed[source], labels.setdefault(bytes(taken), len(labels)), renamed[target])
    ends = tuple(sorted([renamed[s] for s in accepting]))
    return Machine(len(useful), 0, ends, tuple(labels), array("i", kept))
