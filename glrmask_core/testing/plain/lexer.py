"""What one terminal matches, for the oracle: a Thompson automaton per lexical node, walked by sets of states.

Intersections and differences are products of automata made deterministic first. Repeats are written out,
up to a given number of copies where more cannot matter for the text at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import ir
from ...errors import LimitExceededError
from ...ir import Module

MAX_STATES = 100_000
MAX_DEPTH = 300
DEAD = -1


class Lexer:
    """The texts of one lexical node.

    Args:
        module: holds the node.
        node: a lexical node.
        cap: the longest text that will be asked about, plus 2.

    States are numbers from :attr:`start` on; :data:`DEAD` is where no match is possible any more.

    Raises:
        LimitExceededError: too large to be written out.
    """

    def __init__(self, module: Module, node: int, cap: int) -> None:
        nfa = _Nfa(module, cap)
        first, last = nfa.fragment(node, False, 0)
        self._edges, self._silent, self._last = nfa.edges, nfa.silent, last
        self._useful = _reaching(nfa, last)
        self._sets: list[frozenset[int]] = []
        self._ids: dict[frozenset[int], int] = {}
        self._next: dict[tuple[int, int], int] = {}
        self.start = self._id(_closed(self._silent, {first}) & self._useful)

    def step(self, state: int, byte: int) -> int:
        """The state after one more byte."""
        key = (state, byte)
        if key not in self._next:
            bit = 1 << byte
            moved = {to for q in self._sets[state] for mask, to in self._edges[q] if mask & bit}
            self._next[key] = self._id(_closed(self._silent, moved) & self._useful)
        return self._next[key]

    def accepts(self, state: int) -> bool:
        """Whether the text so far is a match."""
        return self._last in self._sets[state]

    def nullable(self) -> bool:
        """Whether the empty text is a match."""
        return self.start != DEAD and self.accepts(self.start)

    def has_text(self) -> bool:
        """Whether some text of at least one byte is a match."""
        return self.start != DEAD and any(
            mask and to in self._useful for q in self._sets[self.start] for mask, to in self._edges[q]
        )

    def _id(self, states: frozenset[int]) -> int:
        if not states:
            return DEAD
        if states not in self._ids:
            self._ids[states] = len(self._sets)
            self._sets.append(states)
        return self._ids[states]


def _closed(silent: Sequence[Sequence[int]], states: set[int]) -> frozenset[int]:
    """These states and all that silent moves lead to."""
    seen, todo = set(states), list(states)
    while todo:
        for to in silent[todo.pop()]:
            if to not in seen:
                seen.add(to)
                todo.append(to)
    return frozenset(seen)


def _reaching(nfa: _Nfa, last: int) -> frozenset[int]:
    """The states from which ``last`` can be reached."""
    back: list[list[int]] = [[] for _ in nfa.edges]
    for q in range(len(nfa.edges)):
        for to in nfa.silent[q]:
            back[to].append(q)
        for _, to in nfa.edges[q]:
            back[to].append(q)
    return _closed(back, {last})


class _Nfa:
    """States with byte edges (a set of bytes as 256 bits, target) and silent moves."""

    def __init__(self, module: Module, cap: int) -> None:
        self.module, self.cap = module, cap
        self.edges: list[list[tuple[int, int]]] = []
        self.silent: list[list[int]] = []

    def state(self) -> int:
        if len(self.edges) >= MAX_STATES:
            raise LimitExceededError(f"the oracle writes at most {MAX_STATES} states out per terminal", "lexer_states")
        self.edges.append([])
        self.silent.append([])
        return len(self.edges) - 1

    def fragment(self, node: int, exact: bool, depth: int) -> tuple[int, int]:
        """(first, last) of a new part that matches ``node``; ``exact``: every count in full."""
        if depth > MAX_DEPTH:
            raise LimitExceededError(f"the oracle takes terminals nested at most {MAX_DEPTH} deep", "lexer_states")
        op, a, b, c = self.module.row(node)
        first, last = self.state(), self.state()
        args, blob = self.module.args, self.module.blob
        if op == ir.LITERAL:
            self._text(first, blob[a : a + b], last)
        elif op == ir.LITERALS:
            for i in range(b):
                offset, length = args[a + 2 * i], args[a + 2 * i + 1]
                self._text(first, blob[offset : offset + length], last)
        elif op == ir.BYTES:
            self.edges[first].append((int.from_bytes(blob[a : a + 32], "little"), last))
        elif op == ir.CHARS:
            for i in range(b):
                for spelling in utf8_ranges(args[a + 2 * i], args[a + 2 * i + 1]):
                    self._ranges(first, spelling, last)
        elif op == ir.LEX_SEQ:
            at = first
            for part in args[a : a + b]:
                at = self._copy(part, at, exact, depth)
            self.silent[at].append(last)
        elif op == ir.LEX_CHOICE:
            for part in args[a : a + b]:
                self.silent[self._copy(part, first, exact, depth)].append(last)
        elif op == ir.LEX_REPEAT:
            self._repeat(a, b, c, first, last, exact, depth)
        elif op in (ir.BOTH, ir.WITHOUT):
            self._product(op == ir.BOTH, a, b, first, last, depth)
        elif op == ir.AUTOMATON:
            self._automaton(args[a : a + b], first, last, exact, depth)
        elif op != ir.NOTHING:
            raise AssertionError(f"node {node} with op {op} is not lexical")
        return first, last

    def _copy(self, node: int, at: int, exact: bool, depth: int) -> int:
        """One more ``node`` from state ``at`` on; where it ends."""
        first, last = self.fragment(node, exact, depth + 1)
        self.silent[at].append(first)
        return last

    def _text(self, at: int, text: bytes, last: int) -> None:
        self._ranges(at, [(b, b) for b in text], last)

    def _ranges(self, at: int, ranges: Sequence[tuple[int, int]], last: int) -> None:
        for low, high in ranges:
            to = self.state()
            self.edges[at].append(((1 << high + 1) - (1 << low), to))
            at = to
        self.silent[at].append(last)

    def _repeat(self, node: int, low: int, high: int, first: int, last: int, exact: bool, depth: int) -> None:
        if not exact:  # a text of n bytes is over before copy n + 2 can be
            low, high = min(low, self.cap), (high if high <= self.cap else -1)
        at = first
        for _ in range(low):
            at = self._copy(node, at, exact, depth)
        self.silent[at].append(last)
        if high < 0:
            loop = self.state()
            self.silent[at].append(loop)
            end = self._copy(node, loop, exact, depth)
            self.silent[end] += [loop, last]
        for _ in range(high - low):
            at = self._copy(node, at, exact, depth)
            self.silent[at].append(last)

    def _automaton(self, args: Sequence[int], first: int, last: int, exact: bool, depth: int) -> None:
        count, start, edges = args[:3]
        states = [self.state() for _ in range(count)]
        self.silent[first].append(states[start])
        for i in range(edges):
            source, label, target = args[3 + 3 * i : 6 + 3 * i]
            self.silent[self._copy(label, states[source], exact, depth)].append(states[target])
        for accepting in args[4 + 3 * edges :]:
            self.silent[states[accepting]].append(last)

    def _product(self, both: bool, left: int, right: int, first: int, last: int, depth: int) -> None:
        """Pairs of states of the two sides made deterministic; the right one may be dead in a difference."""
        sides = []
        for node in (left, right):
            nfa = _Nfa(self.module, self.cap)
            begin, end = nfa.fragment(node, True, depth + 1)
            sides.append((nfa, end, _closed(nfa.silent, {begin})))
        (nfa_l, end_l, begin_l), (nfa_r, end_r, begin_r) = sides
        classes = byte_classes({mask for nfa in (nfa_l, nfa_r) for row in nfa.edges for mask, _ in row})
        states = {(begin_l, begin_r): self.state()}
        self.silent[first].append(states[begin_l, begin_r])
        todo = [(begin_l, begin_r)]
        while todo:
            pair = todo.pop()
            here = states[pair]
            if end_l in pair[0] and (end_r in pair[1]) == both:
                self.silent[here].append(last)
            for members in classes:
                sample = members & -members
                to = _moved(nfa_l, pair[0], sample), _moved(nfa_r, pair[1], sample)
                if not to[0] or (both and not to[1]):
                    continue
                if to not in states:
                    states[to] = self.state()
                    todo.append(to)
                self.edges[here].append((members, states[to]))


def _moved(nfa: _Nfa, states: frozenset[int], sample: int) -> frozenset[int]:
    return _closed(nfa.silent, {to for q in states for mask, to in nfa.edges[q] if mask & sample})


def byte_classes(masks: set[int]) -> list[int]:
    """The coarsest partition of the bytes that every mask is a union of; bytes in no mask are left out."""
    classes: list[int] = []
    for mask in masks:
        new = []
        for old in classes:
            new += [part for part in (old & mask, old & ~mask) if part]
            mask &= ~old
        classes = new + ([mask] if mask else [])
    return classes


def utf8_ranges(low: int, high: int) -> Iterator[list[tuple[int, int]]]:
    """The UTF-8 spellings of a range of code points (no surrogates inside), as byte ranges side by side."""
    for first, last in ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x10FFFF)):
        if max(low, first) <= min(high, last):
            yield from _between(chr(max(low, first)).encode(), chr(min(high, last)).encode())


def _between(low: bytes, high: bytes) -> Iterator[list[tuple[int, int]]]:
    if len(low) == 1:
        yield [(low[0], high[0])]
    elif low[0] == high[0]:
        for rest in _between(low[1:], high[1:]):
            yield [(low[0], low[0]), *rest]
    else:
        tail = len(low) - 1
        for rest in _between(low[1:], b"\xbf" * tail):
            yield [(low[0], low[0]), *rest]
        if low[0] + 1 < high[0]:
            yield [(low[0] + 1, high[0] - 1), *[(0x80, 0xBF)] * tail]
        for rest in _between(b"\x80" * tail, high[1:]):
            yield [(high[0], high[0]), *rest]
