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

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any

from .reading import integer_text

LESS, EQUAL, GREATER = -1, 0, 1
START, ZERO, WHOLE, POINT, PART = range(5)  # phases: nothing yet, "0", digits, ".", digits after it
Edges = tuple[tuple[int, bytes, int], ...]


@dataclass(frozen=True)
class Machine:
    """An automaton: edges carry the bytes they take."""

    states: int
    start: int
    accepting: frozenset[int]
    edges: Edges


class TooLarge(Exception):
    """The automaton would have more states than allowed."""


def decimal_digits(value: Fraction) -> tuple[str, str]:
    """Digits before and after the point of a finite decimal (no trailing zeros after it)."""
    places = decimal_places(value)
    scaled = integer_text(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    whole, part = (scaled[:-places], scaled[-places:]) if places else (scaled, "")
    return whole, part


def decimal_places(value: Fraction) -> int:
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

    def __init__(self, bound: Fraction, outcomes: tuple[int, ...]) -> None:
        self.whole, self.part = decimal_digits(bound)
        self.outcomes = outcomes

    def digit(self, state: Any, digit: int) -> Any:
        count, order = state
        if order == GREATER and count >= len(self.whole):
            return state
        if count >= len(self.whole):
            return (count, GREATER)
        if order == EQUAL:
            own = int(self.whole[count])
            order = LESS if digit < own else GREATER if digit > own else EQUAL
        return (count + 1, order)

    def point(self, state: Any) -> Any:
        count, order = state
        return ("p", 0, LESS if count < len(self.whole) else order)

    def part_digit(self, state: Any, digit: int) -> Any:
        _, at, order = state
        if order != EQUAL:
            return ("p", 0, order)
        own = int(self.part[at]) if at < len(self.part) else 0
        if digit == own:
            return ("p", min(at + 1, len(self.part)), EQUAL)
        return ("p", 0, LESS if digit < own else GREATER)

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


class Remainder:
    """Accepts multiples of ``divisor`` (positive), or everything else.

    With an integer divisor that shares factors with 10, many remainders have the same future and are merged: k
    more digits s make a multiple of M out of r when 10^k r + s = 0 (mod M) with s < 10^k, so for each k only
    r mod M / gcd(M, 10^k) matters, and only if such an s exists. From 10^k >= M on one always does.
    """

    def __init__(self, divisor: Fraction, wanted: bool) -> None:
        self.places = decimal_places(divisor)
        self.unit = 10**self.places
        self.modulus = int(divisor * self.unit)
        self.wanted = wanted
        self.start: Any = 0
        self._futures: list[tuple[int, int]] = []
        self._merged: dict[tuple[int, ...], int] = {}
        if not self.places and gcd(self.modulus, 10) > 1:
            power = 1
            while not self._futures or self._futures[-1][0] < self.modulus:
                self._futures.append((power, self.modulus // gcd(self.modulus, power)))
                power *= 10

    def merged(self, left: int) -> int:
        """The remainder that stands for all with the same future."""
        if not self._futures:
            return left
        modulus = self.modulus
        future = tuple([left % kept if -left * power % modulus < power else -1 for power, kept in self._futures])
        return self._merged.setdefault(future, left)

    def states(self, most: int) -> int:
        """About how many states it takes, counted up to ``most``."""
        if self.places or not self._futures:
            return self.modulus * (self.places + 1)
        order = [0]
        seen = {0}
        for left in order:
            for digit in range(10):
                target = self.merged((10 * left + digit) % self.modulus)
                if target not in seen:
                    seen.add(target)
                    order.append(target)
            if len(order) > most:
                break
        return len(order)

    def digit(self, state: Any, digit: int) -> Any:
        return self.merged((10 * state + digit * self.unit) % self.modulus)

    def point(self, state: Any) -> Any:
        return (state, 0)

    def part_digit(self, state: Any, digit: int) -> Any:
        left, at = state
        if at == self.places:
            return (left, at) if digit == 0 else (-1, at)
        return ((left + digit * 10 ** (self.places - at - 1)) % self.modulus, at + 1) if left >= 0 else state

    def accepts(self, state: Any) -> bool:
        left: int = state[0] if isinstance(state, tuple) else state
        return (left == 0) == self.wanted

    def is_dead(self, state: Any) -> bool:
        return bool(self.wanted and isinstance(state, tuple) and state[0] < 0)


def build_machine(tests: list[Comparison | Remainder], fraction: bool, most_states: int) -> Machine | None:
    """The magnitudes that all tests accept; None when there is none.

    Raises:
        TooLarge: more than ``most_states`` states.
    """
    start = (START, *(t.start for t in tests))
    number: dict[Any, int] = {start: 0}
    order = [start]
    edges: list[dict[int, list[int]]] = []
    for state in order:
        out: dict[int, list[int]] = {}
        edges.append(out)
        phase, inner = state[0], state[1:]
        pairs = list(zip(tests, inner, strict=True))
        moves: list[tuple[int, Any]] = []
        if phase in (START, WHOLE):
            moves = [
                (48 + d, (ZERO if phase == START and d == 0 else WHOLE, *[t.digit(s, d) for t, s in pairs]))
                for d in range(10)
            ]
        if phase in (ZERO, WHOLE) and fraction:
            moves.append((46, (POINT, *[t.point(s) for t, s in pairs])))
        if phase in (POINT, PART):
            moves = [(48 + d, (PART, *[t.part_digit(s, d) for t, s in pairs])) for d in range(10)]
        for byte, target in moves:
            known = number.get(target)
            if known is None:
                if any(t.is_dead(s) for t, s in zip(tests, target[1:], strict=True)):
                    continue
                known = number[target] = len(order)
                order.append(target)
                if known > most_states:
                    raise TooLarge
            out.setdefault(known, []).append(byte)
    accepting = {
        i for i, s in enumerate(order)
        if s[0] in (ZERO, WHOLE, PART) and all(t.accepts(x) for t, x in zip(tests, s[1:], strict=True))
    }  # fmt: skip
    return _trim(edges, accepting)


def remainder_machine(test: Remainder, fraction: bool, most_states: int) -> Machine | None:
    """The same for one remainder: quicker where the divisor is an integer."""
    if test.places:
        return build_machine([test], fraction, most_states)
    # 0: start, 1: "0", 2: digits of a multiple, from 3 on: other digits; then (with fractions) point and digits
    modulus, merged = test.modulus, test.merged
    order, state_of = [0], {0: 2}
    edges: list[dict[int, list[int]]] = [{1: [48]}, {}]
    for left in order:
        out: dict[int, list[int]] = {}
        for digit in range(10):
            target = merged((10 * left + digit) % modulus)
            state = state_of.get(target)
            if state is None:
                state = state_of[target] = 2 + len(order)
                order.append(target)
            out.setdefault(state, []).append(48 + digit)
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
    kept = tuple(
        (renamed[source], bytes(taken), renamed[target])
        for source, out in enumerate(edges)
        if source in useful
        for target, taken in out.items()
        if target in useful
    )
    return Machine(len(useful), 0, frozenset(renamed[s] for s in accepting), kept)
