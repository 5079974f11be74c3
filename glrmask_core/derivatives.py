"""Derivatives of small lexical nodes, for questions about languages that a front-end or a check may ask.

Not an engine: expressions are nested tuples, and everything is bounded by a budget. A question that would take
more raises :class:`TooCostly`, and the caller does without an answer.

Source: Brzozowski, Derivatives of Regular Expressions, J. ACM 11 (1964), section 3; similar expressions are
identified by sorting and flattening alternatives (section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import ir
from .ir import Module

Expr = tuple[Any, ...]
NONE: Expr = ("none",)
EMPTY: Expr = ("empty",)
ALL_BYTES = (1 << 256) - 1
MAX_PARTS = 300  # parts of one expression as it is read, a literal counting its bytes
MAX_DEPTH = 80  # of an expression; the functions below recurse over it
UTF8_STEPS = ((0x7F, 1), (0x7FF, 2), (0xFFFF, 3), (0x10FFFF, 4))


class TooCostly(Exception):
    """The question is beyond the budget."""


class Reader:
    """Lexical nodes of one module as expressions."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._parts = 0

    def read(self, node: int, depth: int = 0) -> Expr:
        """The expression of a node."""
        module = self._module
        op, a, b, c = module.row(node)
        args, blob = module.args, module.blob
        if depth > MAX_DEPTH:
            raise TooCostly
        self._spend(1)
        if op == ir.NOTHING:
            return NONE
        if op == ir.LITERAL:
            return self._literal(blob[a : a + b])
        if op == ir.LITERALS:
            pairs = args[a : a + 2 * b]
            return alternatives(self._literal(blob[at : at + n]) for at, n in zip(pairs[::2], pairs[1::2], strict=True))
        if op == ir.BYTES:
            return ("byte", int.from_bytes(blob[a : a + 32], "little"))
        if op == ir.CHARS:
            return alternatives(self._chars(args[a + 2 * i], args[a + 2 * i + 1]) for i in range(b))
        if op == ir.LEX_SEQ:
            return sequence([self.read(x, depth + 1) for x in args[a : a + b]])
        if op == ir.LEX_CHOICE:
            return alternatives([self.read(x, depth + 1) for x in args[a : a + b]])
        if op == ir.LEX_REPEAT:
            return repeat(self.read(a, depth + 1), b, c)
        if op == ir.BOTH or op == ir.WITHOUT:
            left, right = self.read(a, depth + 1), self.read(b, depth + 1)
            return both(left, right) if op == ir.BOTH else without(left, right)
        raise TooCostly  # an automaton

    def _spend(self, parts: int) -> None:
        self._parts += parts
        if self._parts > MAX_PARTS:
            raise TooCostly

    def _literal(self, data: bytes) -> Expr:
        self._spend(len(data))
        if len(data) > MAX_DEPTH:
            raise TooCostly
        return sequence([("byte", 1 << byte) for byte in data])

    def _chars(self, first: int, last: int) -> Expr:
        found = []
        for low, high in utf8_ranges(first, last):
            self._spend(len(low))
            found.append(sequence([("byte", span(x, y)) for x, y in zip(low, high, strict=True)]))
        return alternatives(found)


def span(first: int, last: int) -> int:
    """The set of the bytes ``first..last`` as bits."""
    return (1 << last + 1) - (1 << first)


def utf8_ranges(first: int, last: int) -> Iterator[tuple[bytes, bytes]]:
    """The UTF-8 of a range of scalar values as rectangles: byte i is anything from low[i] to high[i]."""
    todo = [(first, last)]
    while todo:
        low, high = todo.pop()
        cut = next((top for top, _ in UTF8_STEPS if low <= top < high), None)
        for bits in (6, 12, 18):
            mask = (1 << bits) - 1
            if cut is None and low >> bits != high >> bits and high > 0x7F:
                if low & mask:
                    cut = low | mask
                elif high & mask != mask:
                    cut = (high & ~mask) - 1
        if cut is None:
            yield chr(low).encode(), chr(high).encode()
        else:
            todo += [(cut + 1, high), (low, cut)]


def sequence(parts: list[Expr]) -> Expr:
    """One after the other, nested to the right."""
    result = EMPTY
    for part in reversed(parts):
        if part == NONE or result == NONE:
            return NONE
        result = _pair(part, result)
    return result


def _pair(left: Expr, right: Expr) -> Expr:
    if NONE in (left, right):
        return NONE
    if left == EMPTY:
        return right
    if right == EMPTY:
        return left
    return ("pair", left[1], _pair(left[2], right)) if left[0] == "pair" else ("pair", left, right)


def alternatives(parts: Any) -> Expr:
    """Any of the parts; byte sets are merged."""
    flat: set[Expr] = set()
    bits = 0
    for part in parts:
        for one in part[1] if part[0] == "any" else (part,):
            if one[0] == "byte":
                bits |= one[1]
            elif one != NONE:
                flat.add(one)
    if bits:
        flat.add(("byte", bits))
    if len(flat) < 2:
        return next(iter(flat), NONE)
    return ("any", frozenset(flat))


def repeat(part: Expr, low: int, high: int) -> Expr:
    """``part`` from ``low`` to ``high`` times (-1: unbounded)."""
    if high == 0 or part == EMPTY:
        return EMPTY
    if part == NONE:
        return EMPTY if low == 0 else NONE
    return part if (low, high) == (1, 1) else ("repeat", part, 0 if nullable(part) else low, high)


def both(left: Expr, right: Expr) -> Expr:
    """Intersection."""
    if NONE in (left, right):
        return NONE
    return left if left == right else ("both", left, right)


def without(left: Expr, right: Expr) -> Expr:
    """Difference."""
    if left in (NONE, right):
        return NONE
    return left if right == NONE else ("without", left, right)


def nullable(e: Expr) -> bool:
    """Whether the expression matches the empty text."""
    kind = e[0]
    if kind == "pair" or kind == "both":
        return nullable(e[1]) and nullable(e[2])
    if kind == "any":
        return any(nullable(part) for part in e[1])
    if kind == "repeat":
        return e[2] == 0 or nullable(e[1])
    if kind == "without":
        return nullable(e[1]) and not nullable(e[2])
    return bool(kind == "empty")


def derive(e: Expr, byte: int) -> Expr:
    """What may follow after one byte."""
    kind = e[0]
    if kind == "byte":
        return EMPTY if e[1] >> byte & 1 else NONE
    if kind == "pair":
        first = _pair(derive(e[1], byte), e[2])
        return alternatives((first, derive(e[2], byte))) if nullable(e[1]) else first
    if kind == "any":
        return alternatives([derive(part, byte) for part in e[1]])
    if kind == "repeat":
        _, part, low, high = e
        return _pair(derive(part, byte), repeat(part, max(low - 1, 0), high - 1 if high > 0 else high))
    if kind == "both":
        return both(derive(e[1], byte), derive(e[2], byte))
    if kind == "without":
        return without(derive(e[1], byte), derive(e[2], byte))
    return NONE


def representatives(*exprs: Expr) -> list[int]:
    """One byte out of each class of bytes that the expressions do not tell apart."""
    sets: set[int] = set()
    todo: list[Any] = list(exprs)
    while todo:
        e = todo.pop()
        if e[0] == "byte":
            sets.add(e[1])
        elif e[0] == "any":
            todo += e[1]
        else:
            todo += [part for part in e[1:] if isinstance(part, tuple)]
    classes = [ALL_BYTES]
    for bits in sets:
        classes = [part for old in classes for part in (old & bits, old & ~bits) if part]
    return [(part & -part).bit_length() - 1 for part in classes]


class Prover:
    """Answers questions about pairs of expressions within one budget.

    Args:
        states: that one search may find.
        steps: derivatives in all (about 10 us each).
    """

    def __init__(self, states: int = 400, steps: int = 50_000) -> None:
        self._states = states
        self._steps = steps

    def never_adjacent(self, left: Expr, right: Expr) -> bool:
        """Whether no text of ``left`` can be a longest match of ``left`` in front of a text of ``right``.

        Both texts are non-empty. True is a proof: whatever the two are, ``left`` matches more.

        Raises:
            TooCostly: no answer within the budget.
        """
        letters = representatives(left, right)

        def step(pair: tuple[Expr, Expr], byte: int) -> tuple[Expr, Expr] | None:
            owed, rest = derive(pair[0], byte), derive(pair[1], byte)
            return None if nullable(owed) or rest == NONE else (owed, rest)

        ends = [state for state in self._reach([left], letters, derive) if nullable(state)]
        pairs = self._reach([(end, right) for end in ends], letters, step)
        return not any(owed == NONE or nullable(rest) for owed, rest in pairs)

    def _reach(self, starts: list[Any], letters: list[int], step: Callable[[Any, int], Any]) -> list[Any]:
        """What at least one step leads to; a start only if some step leads back to it."""
        seen: dict[Any, None] = {}
        todo = list(starts)
        while todo:
            state = todo.pop()
            self._steps -= len(letters)
            if self._steps < 0:
                raise TooCostly
            for byte in letters:
                new = step(state, byte)
                if new is not None and new != NONE and new not in seen:
                    if len(seen) >= self._states:
                        raise TooCostly
                    seen[new] = None
                    todo.append(new)
        return list(seen)
