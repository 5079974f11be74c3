"""Lexical languages kept outside of any builder: made once per process, replayed into each grammar.

A fragment is a list of steps in the order of a builder's node ids, so replaying is one pass over it. It also
answers whether a text matches, and how long (in characters) its texts are.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glrmask_core.ir import (
    AUTOMATON,
    BOTH,
    BYTES,
    CHARS,
    LEX_CHOICE,
    LEX_REPEAT,
    LEX_SEQ,
    LITERAL,
    LITERALS,
    NOTHING,
    WITHOUT,
    Builder,
)

from .spelling import spelled_length

SHORT = 100  # bytes of a text all of whose ends are listed
Lengths = tuple[int, "int | None"]


@dataclass(frozen=True)
class Fragment:
    """A lexical language.

    Attributes:
        steps: (op, data); children are given as positions of earlier steps.
        root: the step that is the language.
        single: steps that spell exactly one character.
        is_open: any text may come before and after each text of the language.
        body: the step that is any text, or -1.
        is_simple: the steps are nodes of a builder as they stood there, so they need not be simplified again.
    """

    steps: tuple[tuple[int, Any], ...]
    root: int
    single: frozenset[int]
    is_open: bool = False
    body: int = -1
    is_simple: bool = False

    def replay(self, builder: Builder) -> list[int]:
        """Build it; the node of each step."""
        made: list[int] = []
        makers = _SIMPLE_MAKERS if self.is_simple else _MAKERS
        for op, data in self.steps:
            made.append(makers[op](builder, made, data))
        return made

    def matches(self, text: bytes) -> bool:
        """Whether a text, spelled as it should be, is in the language."""
        firsts, lasts, may_be_empty = self.borders
        if not text:
            if not may_be_empty:
                return False
        elif not (firsts >> text[0] & 1 and lasts >> text[-1] & 1):
            return False
        memo: dict[tuple[int, int], frozenset[int]] = {}
        if self.body >= 0 and len(text) <= SHORT and b"\\" not in text:  # so each character is spelled by itself
            ends = [i for i, byte in enumerate(text) if byte & 0xC0 != 0x80]
            ends.append(len(text))
            memo = {(self.body, end): frozenset(ends[i:]) for i, end in enumerate(ends)}
        return len(text) in self._ends(self.root, 0, text, memo)

    def _ends(self, step: int, at: int, text: bytes, memo: dict[tuple[int, int], frozenset[int]]) -> frozenset[int]:
        """Where matches of a step that begin at ``at`` may end."""
        found = memo.get((step, at))
        if found is None:
            found = memo[step, at] = frozenset(self._compute_ends(step, at, text, memo))
        return found

    def _compute_ends(self, step: int, at: int, text: bytes, memo: dict[tuple[int, int], frozenset[int]]) -> set[int]:
        op, data = self.steps[step]
        if op == LITERAL:
            return {at + len(data)} if text.startswith(data, at) else set()
        if op == LITERALS:
            return {at + len(one) for one in data if text.startswith(one, at)}
        if op == BYTES:
            return {at + 1} if at < len(text) and text[at] in data else set()
        if op == CHARS:
            return self._char_end(data, at, text)
        if op == LEX_CHOICE:
            return {end for part in data for end in self._ends(part, at, text, memo)}
        if op == LEX_SEQ:
            ends = {at}
            for part in data:
                ends = {end for begin in ends for end in self._ends(part, begin, text, memo)}
            return ends
        if op == LEX_REPEAT:
            return self._repeat_ends(data, at, text, memo)
        if op in (BOTH, WITHOUT):
            left, right = (self._ends(part, at, text, memo) for part in data)
            return set(left & right if op == BOTH else left - right)
        if op == AUTOMATON:
            _, start, accepting, labels, edges = data
            ways: dict[int, list[tuple[int, int]]] = {}
            for source, label, target in zip(edges[0::3], edges[1::3], edges[2::3], strict=True):
                ways.setdefault(source, []).append((labels[label], target))
            seen, todo = {(start, at)}, [(start, at)]
            while todo:
                state, begin = todo.pop()
                for label, target in ways.get(state, ()):
                    new = {(target, end) for end in self._ends(label, begin, text, memo)} - seen
                    seen |= new
                    todo += new
            return {end for state, end in seen if state in accepting}
        return set()

    def _repeat_ends(self, data: Any, at: int, text: bytes, memo: dict[tuple[int, int], frozenset[int]]) -> set[int]:
        part, low, high = data
        ends, count = {at}, 0
        out: set[int] = set()
        while ends and (high is None or count <= high):
            if count >= low:
                if ends <= out:
                    break
                out |= ends
            if count > low + len(text):
                break
            after = {end for begin in ends for end in self._ends(part, begin, text, memo)}
            if after == ends and (high is None or high >= low):  # no count changes it any more
                return out | ends
            ends = after
            count += 1
        return out

    @staticmethod
    def _char_end(ranges: Any, at: int, text: bytes) -> set[int]:
        if at >= len(text):
            return set()
        lead = text[at]
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        try:
            code = ord(text[at : at + size].decode())
        except (UnicodeDecodeError, TypeError):
            return set()
        return {at + size} if any(low <= code <= high for low, high in ranges) else set()

    @cached_property
    def borders(self) -> tuple[int, int, bool]:
        """Bytes that texts may begin and end with, as bit masks, and whether the empty text may be one: no fewer."""
        found: list[tuple[int, int, bool]] = []
        for op, data in self.steps:
            found.append(_borders(op, data, found))
        return found[self.root]

    def lengths(self, step: int | None = None) -> Lengths | None:
        """(shortest, longest or None) of the texts of a step in characters; None when not seen easily."""
        return self._lengths[self.root if step is None else step]

    @cached_property
    def _lengths(self) -> list[Lengths | None]:
        found: list[Lengths | None] = []
        for step, (op, data) in enumerate(self.steps):
            found.append((1, 1) if step in self.single else _lengths_of(op, data, found))
        return found


def _lengths_of(op: int, data: Any, found: list[Lengths | None]) -> Lengths | None:
    """The same for a step whose parts are ``found``."""
    if op == LITERAL:
        size = spelled_length(data)
        return size, size
    if op == LITERALS:
        sizes = [spelled_length(one) for one in data]
        return min(sizes), max(sizes)
    if op == LEX_REPEAT:
        inner = found[data[0]]
        if inner is None:
            return None
        open_end = data[2] is None or inner[1] is None
        return inner[0] * data[1], None if open_end else (inner[1] or 0) * data[2]
    if op in (LEX_SEQ, LEX_CHOICE):
        known = [part for part in (found[i] for i in data) if part is not None]
        if len(known) < len(data):
            return None
        join = sum if op == LEX_SEQ else max
        low = sum(x[0] for x in known) if op == LEX_SEQ else min(x[0] for x in known)
        highs = [x[1] for x in known]
        return low, None if None in highs else join(h for h in highs if h is not None)
    return None


ALL_BYTES = (1 << 256) - 1
LEADS = sum(1 << byte for byte in range(0xC2, 0xF5))  # of characters of several bytes
FOLLOWERS = sum(1 << byte for byte in range(0x80, 0xC0))


def _borders(op: int, data: Any, found: list[tuple[int, int, bool]]) -> tuple[int, int, bool]:
    """First bytes, last bytes and whether it may be empty, of a step whose parts are ``found``."""
    if op == LITERAL:
        return (1 << data[0], 1 << data[-1], False) if data else (0, 0, True)
    if op in (LITERALS, BYTES):
        texts = data if op == LITERALS else [bytes((byte,)) for byte in data]
        firsts = lasts = 0
        for text in filter(None, texts):
            firsts |= 1 << text[0]
            lasts |= 1 << text[-1]
        return firsts, lasts, b"" in texts
    if op == CHARS:
        ascii_bytes = sum(((2 << min(high, 0x7F)) - (1 << low)) for low, high in data if low < 0x80)
        beyond = any(high >= 0x80 for _, high in data)
        return ascii_bytes | (LEADS if beyond else 0), ascii_bytes | (FOLLOWERS if beyond else 0), False
    if op == LEX_REPEAT:
        firsts, lasts, empty = found[data[0]]
        return firsts, lasts, empty or data[1] == 0
    if op == WITHOUT:
        firsts, lasts, empty = found[data[0]]
        return firsts, lasts, empty
    if op in (LEX_SEQ, LEX_CHOICE, BOTH):
        parts = [found[i] for i in data]
        if op == BOTH:
            (a, b, c), (d, e, f) = parts
            return a & d, b & e, c and f
        if op == LEX_SEQ:
            return _first_of(parts, 0), _first_of(parts[::-1], 1), all(part[2] for part in parts)
        firsts = lasts = 0
        for part in parts:
            firsts |= part[0]
            lasts |= part[1]
        return firsts, lasts, any(part[2] for part in parts)
    return (0, 0, False) if op == NOTHING else (ALL_BYTES, ALL_BYTES, True)


def _first_of(parts: list[tuple[int, int, bool]], side: int) -> int:
    made = 0
    for part in parts:
        made |= part[side]
        if not part[2]:
            break
    return made


def _make_automaton(builder: Builder, made: list[int], data: Any) -> int:
    states, start, accepting, labels, edges = data
    return builder.automaton_rows(states, start, accepting, [made[i] for i in labels], edges)


_MAKERS: dict[int, Callable[[Builder, list[int], Any], int]] = {
    NOTHING: lambda builder, made, data: builder.nothing(),
    LITERAL: lambda builder, made, data: builder.literal(data),
    LITERALS: lambda builder, made, data: builder.literals(data),
    BYTES: lambda builder, made, data: builder.bytes_class(data),
    CHARS: lambda builder, made, data: builder.chars(data),
    LEX_SEQ: lambda builder, made, data: builder.seq([made[i] for i in data]),
    LEX_CHOICE: lambda builder, made, data: builder.choice([made[i] for i in data]),
    LEX_REPEAT: lambda builder, made, data: builder.repeat(made[data[0]], data[1], data[2]),
    BOTH: lambda builder, made, data: builder.both(made[data[0]], made[data[1]]),
    WITHOUT: lambda builder, made, data: builder.without(made[data[0]], made[data[1]]),
    AUTOMATON: _make_automaton,
}
_SIMPLE_MAKERS = _MAKERS | {
    LEX_SEQ: lambda builder, made, data: builder.list_of(tuple([made[i] for i in data]), False),
    LEX_CHOICE: lambda builder, made, data: builder.list_of(tuple([made[i] for i in data]), True),
}


class FragmentMaker:
    """Makes a fragment step by step, with the methods of a builder and none of its cost."""

    def __init__(self) -> None:
        self._steps: list[tuple[int, Any]] = [(NOTHING, None), (LITERAL, b"")]

    def _add(self, op: int, data: Any) -> int:
        self._steps.append((op, data))
        return len(self._steps) - 1

    def nothing(self) -> int:
        """The empty language."""
        return 0

    def empty(self) -> int:
        """The empty text."""
        return 1

    def literal(self, data: bytes) -> int:
        """Exactly these bytes."""
        return self._add(LITERAL, data)

    def literals(self, texts: list[bytes]) -> int:
        """Any of these byte strings."""
        return self._add(LITERALS, tuple(texts)) if texts else 0

    def bytes_class(self, members: bytes) -> int:
        """One byte."""
        return self._add(BYTES, members)

    def seq(self, parts: list[int]) -> int:
        """One after the other."""
        return 0 if 0 in parts else self._add(LEX_SEQ, tuple(parts))

    def choice(self, parts: list[int]) -> int:
        """Any one of the parts."""
        kept = [part for part in parts if part]
        return self._add(LEX_CHOICE, tuple(kept)) if len(kept) > 1 else kept[0] if kept else 0

    def optional(self, part: int) -> int:
        """The part or nothing."""
        return self.choice([part, 1])

    def repeat(self, part: int, low: int, high: int | None) -> int:
        """The part ``low`` to ``high`` times."""
        return self._add(LEX_REPEAT, (part, low, high))

    def both(self, left: int, right: int) -> int:
        """Intersection."""
        return self._add(BOTH, (left, right)) if left and right else 0

    def automaton(
        self, states: int, start: int, accepting: tuple[int, ...], labels: list[int], edges: array[int]
    ) -> int:
        """A finite automaton whose edges carry steps, as in ``Builder.automaton_rows``."""
        return self._add(AUTOMATON, (states, start, accepting, labels, edges))

    def fragment(self, root: int) -> Fragment:
        """The finished fragment; ``root`` is the last step made."""
        steps = self._steps
        if root != len(steps) - 1:
            steps.append((LEX_SEQ, (root,)))
        return Fragment(tuple(steps), len(steps) - 1, frozenset())


def capture(builder: Builder, root: int, single: set[int], body: int) -> Fragment:
    """The part of a builder that ``root`` needs, as a fragment; ``body`` is the node of any text."""
    module = builder.build(builder.terminal(root) if root not in (builder.nothing(), builder.empty()) else root)
    args, blob, row = module.args, module.blob, module.row
    needed = {root}
    for node in range(root, -1, -1):  # parts have smaller numbers
        if node in needed:
            op, a, b, _ = row(node)
            if op in (LEX_SEQ, LEX_CHOICE):
                needed.update(args[a : a + b])
            elif op == LEX_REPEAT:
                needed.add(a)
            elif op in (BOTH, WITHOUT):
                needed.update((a, b))
            assert op != AUTOMATON, "patterns and formats are made without automata"
    steps: list[tuple[int, Any]] = []
    position: dict[int, int] = {}
    for node in sorted(needed):
        position[node] = len(steps)
        op, a, b, c = row(node)
        data: Any = None
        if op in (LEX_SEQ, LEX_CHOICE):
            data = tuple([position[part] for part in args[a : a + b]])
        elif op == LITERAL:
            data = blob[a : a + b]
        elif op == LEX_REPEAT:
            data = (position[a], b, None if c < 0 else c)
        elif op == CHARS:
            data = tuple(zip(args[a : a + 2 * b : 2], args[a + 1 : a + 2 * b : 2], strict=True))
        elif op == LITERALS:
            data = tuple([blob[at : at + size] for at, size in zip(*[iter(args[a : a + 2 * b])] * 2, strict=True)])
        elif op == BYTES:
            data = bytes([i for i in range(256) if blob[a + (i >> 3)] >> (i & 7) & 1])
        elif op != NOTHING:
            data = (position[a], position[b])
        steps.append((op, data))
    is_open = False
    op, a, b, _ = module.row(root)
    if op == LEX_SEQ:
        is_open = args[a] == body == args[a + b - 1]
    singles = frozenset(position[n] for n in single if n in position)
    return Fragment(tuple(steps), position[root], singles, is_open, position.get(body, -1), True)
