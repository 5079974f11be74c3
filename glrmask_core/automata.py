"""Deterministic automata of lexical nodes, made state by state as they are asked for.

A state stands for a set of places inside a node (subset construction): pairs of states for intersections
and differences, sets of (part, state) for sequences, of (count, state) for repeats, and so on. Every state is
*live*: some continuation, maybe none, leads to a match; all other texts lead to :data:`DEAD`. For
intersections and differences that takes a search, the only costly part.

Used by :mod:`glrmask_core.languages` and by the oracle engine. Source: own; the construction is the textbook one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import ir
from .errors import LimitExceededError
from .ir import Builder, Module

DEAD = -1
DONE = 0
"""The state after a match that nothing can follow."""
WORK = 200_000
"""Default for the number of steps, about half a second."""
LARGE_COUNT = 16  # relaxed automata give up counting here

Key = tuple[Any, ...]
Tails = tuple[tuple[tuple[int, int], ...], ...]


class Automata:
    """The automata of the lexical nodes of one builder or module.

    Args:
        source: where the nodes are. A builder may grow meanwhile.
        work: how many steps may be computed in all.
        relax: take repeats with large counts for unbounded ones wherever that only adds texts. What is
            empty then is empty indeed.

    Cost: a step about 2 us for each place that its state stands for; a repeated one is a dict look-up.
    """

    def __init__(self, source: Builder | Module, work: int = WORK, relax: bool = False) -> None:
        self._row = source.row
        self._args: Sequence[int] = source._args if isinstance(source, Builder) else source.args
        self._large: Sequence[int] = source._large if isinstance(source, Builder) else source.args
        self._blob: bytes | bytearray = source._blob if isinstance(source, Builder) else source.blob
        self._relax = relax
        self._work = work
        self._keys: list[Key] = []
        self._accepts: list[bool] = []
        self._ids: dict[Key, int] = {}
        self._starts: dict[tuple[int, bool], int] = {}
        self._steps: dict[int, int] = {}
        self._parts: dict[int, tuple[int, ...]] = {}
        self._live: dict[tuple[int, int, int], bool] = {}
        self._edges: dict[tuple[int, bool], tuple[dict[int, list[tuple[int, int]]], set[int]]] = {}
        self._state((ir.LITERAL, 0, 0), True)

    # -- states -------------------------------------------------------------------------------

    def start(self, node: int, relax: bool | None = None) -> int:
        """The state before any byte; DEAD when nothing matches."""
        relax = self._relax if relax is None else relax
        key = (node, relax)
        state = self._starts.get(key)
        if state is None:
            state = self._starts[key] = self._make_start(node, relax)
        return state

    def accepts(self, state: int) -> bool:
        """Whether the text so far is a match."""
        return state >= 0 and self._accepts[state]

    def step(self, state: int, byte: int) -> int:
        """The state after one more byte."""
        if state <= DONE:
            return DEAD
        key = state << 8 | byte
        after = self._steps.get(key)
        if after is None:
            self._work -= 1
            if self._work < 0:
                raise LimitExceededError(
                    "a question about a regular language takes too many steps; lower the counts or the "
                    "number of intersections in it (Limits.lexer_states)",
                    "lexer_states",
                )
            after = self._steps[key] = self._make_step(self._keys[state], byte)
        return after

    def byte_sets(self, state: int) -> tuple[int, ...]:
        """Disjoint sets of bytes, as 256-bit masks; bytes of one set lead to one state, all others to DEAD."""
        if state <= DONE:
            return ()
        found = self._parts.get(state)
        if found is None:
            found = self._parts[state] = self._make_parts(self._keys[state])
        return found

    def arcs(self, state: int) -> Iterator[tuple[int, int]]:
        """(set of bytes, state after them) for every live way on."""
        for mask in self.byte_sets(state):
            after = self.step(state, (mask & -mask).bit_length() - 1)
            if after != DEAD:
                yield mask, after

    def has_text(self, node: int) -> bool:
        """Whether a node matches some text that is not empty."""
        return next(self.arcs(self.start(node)), None) is not None

    def meet(self, left: int, right: int) -> int:
        """The state of the texts that both states lead on to."""
        if DEAD in (left, right):
            return DEAD
        if left == right:
            return left
        left, right = min(left, right), max(left, right)
        if not self._is_live(ir.BOTH, left, right):
            return DEAD
        return self._state((ir.BOTH, left, right), self._accepts[left] and self._accepts[right])

    def minus(self, left: int, right: int) -> int:
        """The state of the texts that the left state leads on to and the right one does not."""
        if DEAD in (left, right):
            return left
        if left == right or not self._is_live(ir.WITHOUT, left, right):
            return DEAD
        return self._state((ir.WITHOUT, left, right), self._accepts[left] and not self._accepts[right])

    # -- making states ------------------------------------------------------------------------

    def _state(self, key: Key, accepts: bool) -> int:
        state = self._ids.get(key)
        if state is None:
            state = self._ids[key] = len(self._keys)
            self._keys.append(key)
            self._accepts.append(accepts)
        return state

    def _literal(self, at: int, end: int) -> int:
        return DONE if at == end else self._state((ir.LITERAL, at, end), False)

    def _literals(self, node: int, low: int, high: int, depth: int) -> int:
        at, length = self._text(node, low)
        if high - low == 1:
            return self._literal(at + depth, at + length)
        return self._state((ir.LITERALS, node, low, high, depth), length == depth)

    def _text(self, node: int, index: int) -> tuple[int, int]:
        offset = self._row(node)[1] + 2 * index
        return self._args[offset], self._args[offset + 1]

    def _union(self, states: Iterable[int]) -> int:
        flat: set[int] = set()
        for state in states:
            if state != DEAD:
                key = self._keys[state]
                flat.update(key[1] if key[0] == ir.LEX_CHOICE else (state,))
        if len(flat) < 2:
            return flat.pop() if flat else DEAD
        return self._state((ir.LEX_CHOICE, tuple(sorted(flat))), any(self._accepts[s] for s in flat))

    def _sequence(self, node: int, relax: bool, places: Iterable[tuple[int, int]]) -> int:
        """Places (part, state in it); parts that may be over let the next one begin."""
        _, offset, count, _ = self._row(node)
        found: set[tuple[int, int]] = set()
        accepts = False
        for part, state in places:
            while state != DEAD:
                if (part, state) in found:
                    break
                found.add((part, state))
                if not self._accepts[state]:
                    break
                part += 1
                if part == count:
                    accepts = True
                    break
                state = self.start(self._args[offset + part], relax)
        if not found:
            return DEAD
        if len(found) == 1:
            ((part, state),) = found
            if part == count - 1:
                return state
        return self._state((ir.LEX_SEQ, node, relax, tuple(sorted(found))), accepts)

    def _bounds(self, node: int, relax: bool) -> tuple[int, int, int]:
        """(body, low, high) of a repeat, of which only non-empty turns count; high is -1 without a bound."""
        _, body, low, high = self._row(node)
        if self.accepts(self.start(body, relax)):
            low = 0
        if relax and max(low, high) > LARGE_COUNT:
            low, high = min(low, LARGE_COUNT), -1
        return body, low, high

    def _repeat(self, node: int, relax: bool, empty: bool, places: Iterable[tuple[int, int]]) -> int:
        """Places (turns completed, state in the next one), right behind a byte or (``empty``) at the start."""
        body, low, high = self._bounds(node, relax)
        found: set[tuple[int, int]] = set()
        accepts = empty
        for count, state in places:
            found.add((count, state))
            if not empty and self._accepts[state]:
                accepts = accepts or count + 1 >= low
                if high < 0 or count + 1 < high:
                    found.add((count + 1, self.start(body, relax)))
        # With enough turns behind it fewer are better, as more may follow; without a bound the number is moot.
        best: dict[int, int] = {}
        kept: set[tuple[int, int]] = set()
        for count, state in found:
            if high < 0:
                best[state] = max(best.get(state, 0), min(count, max(low - 1, 0)))
            elif count + 1 >= low:
                best[state] = min(best.get(state, count), count)
            else:
                kept.add((count, state))
        kept.update((count, state) for state, count in best.items())
        if not kept:
            return DONE if accepts else DEAD
        return self._state((ir.LEX_REPEAT, node, relax, accepts, tuple(sorted(kept))), accepts)

    def _graph(self, node: int, relax: bool) -> tuple[dict[int, list[tuple[int, int]]], set[int]]:
        """Of an automaton node: useful edges (label, target) by source, and accepting states."""
        key = (node, relax)
        if key not in self._edges:
            _, at, length, _ = self._row(node)
            args = self._large[at : at + length]
            accepting = set(args[4 + 3 * args[2] :])
            edges = [tuple(args[i : i + 3]) for i in range(3, 3 + 3 * args[2], 3)]
            edges = [e for e in edges if next(self.arcs(self.start(e[1], relax)), None) is not None]
            useful, before = set(accepting), -1
            while len(useful) != before:
                before = len(useful)
                useful |= {source for source, _, target in edges if target in useful}
            found: dict[int, list[tuple[int, int]]] = {}
            for source, label, target in edges:
                if target in useful:
                    found.setdefault(source, []).append((label, target))
            self._edges[key] = found, accepting
        return self._edges[key]

    def _automaton(self, node: int, relax: bool, at: Iterable[int], places: Iterable[tuple[int, int]]) -> int:
        """Places (target, state in the label towards it), and automaton states that were just entered."""
        edges, accepting = self._graph(node, relax)
        found, entered, accepts = set(places), set(at), False
        for target, state in list(found):
            if self._accepts[state]:
                entered.add(target)
        for q in entered:
            accepts = accepts or q in accepting
            found.update((target, self.start(label, relax)) for label, target in edges.get(q, ()))
        if not found:
            return DONE if accepts else DEAD
        return self._state((ir.AUTOMATON, node, relax, accepts, tuple(sorted(found))), accepts)

    def _make_start(self, node: int, relax: bool) -> int:
        op, a, b, _ = self._row(node)
        if op == ir.LITERAL:
            return self._literal(a, a + b)
        if op == ir.LITERALS:
            return self._literals(node, 0, b, 0)
        if op == ir.BYTES:
            return self._state((ir.BYTES, a), False)
        if op == ir.CHARS:
            flat = tuple(self._args[a : a + 2 * b])
            return self._state((ir.CHARS, utf8(flat)), False)
        if op == ir.LEX_SEQ:
            parts = self._args[a : a + b]
            if any(self.start(part, relax) == DEAD for part in parts):
                return DEAD
            return self._sequence(node, relax, [(0, self.start(parts[0], relax))])
        if op == ir.LEX_CHOICE:
            return self._union(self.start(part, relax) for part in self._args[a : a + b])
        if op == ir.LEX_REPEAT:
            body, low, _ = self._bounds(node, relax)
            first = self.start(body, relax)
            if first == DEAD:
                return DEAD if low else DONE
            return self._repeat(node, relax, low == 0, [(0, first)])
        if op == ir.BOTH:
            return self.meet(self.start(a, relax), self.start(b, relax))
        if op == ir.WITHOUT:
            return self.minus(self.start(a, relax), self.start(b, False))
        if op == ir.AUTOMATON:
            return self._automaton(node, relax, [self._large[a + 1]], [])
        return DEAD

    # -- steps --------------------------------------------------------------------------------

    def _make_step(self, key: Key, byte: int) -> int:
        op: int = key[0]
        if op == ir.LITERAL:
            _, at, end = key
            return self._literal(at + 1, end) if self._blob[at] == byte else DEAD
        if op == ir.LITERALS:
            return self._step_literals(byte, *key[1:])
        if op == ir.BYTES:
            at = key[1]
            return DONE if self._blob[at + (byte >> 3)] >> (byte & 7) & 1 else DEAD
        if op == ir.CHARS:
            tails = after_byte(key[1])[0].get(byte)
            return DEAD if tails is None else DONE if tails == ((),) else self._state((ir.CHARS, tails), False)
        if op == ir.LEX_CHOICE:
            return self._union([self.step(state, byte) for state in key[1]])
        if op == ir.BOTH:
            return self.meet(self.step(key[1], byte), self.step(key[2], byte))
        if op == ir.WITHOUT:
            return self.minus(self.step(key[1], byte), self.step(key[2], byte))
        node, relax, places = key[1], key[2], key[-1]
        moved = []
        for number, state in places:
            after = self.step(state, byte)
            if after != DEAD:
                moved.append((number, after))
        if not moved:
            return DEAD
        if op == ir.LEX_SEQ:
            return self._sequence(node, relax, moved)
        if op == ir.LEX_REPEAT:
            return self._repeat(node, relax, False, moved)
        return self._automaton(node, relax, (), moved)

    def _step_literals(self, byte: int, node: int, low: int, high: int, depth: int) -> int:
        """Narrow the sorted texts ``low..high`` to those with ``byte`` at ``depth``."""

        def first(wanted: int) -> int:
            a, b = low, high
            while a < b:
                middle = (a + b) // 2
                at, length = self._text(node, middle)
                if length <= depth or self._blob[at + depth] < wanted:
                    a = middle + 1
                else:
                    b = middle
            return a

        a, b = first(byte), first(byte + 1)
        return self._literals(node, a, b, depth + 1) if a < b else DEAD

    def _make_parts(self, key: Key) -> tuple[int, ...]:
        op = key[0]
        if op == ir.LITERAL:
            return (1 << self._blob[key[1]],)
        if op == ir.LITERALS:
            _, node, low, high, depth = key
            texts = (self._text(node, i) for i in range(low, high))
            return tuple(1 << b for b in sorted({self._blob[at + depth] for at, n in texts if n > depth}))
        if op == ir.BYTES:
            at: int = key[1]
            return (int.from_bytes(self._blob[at : at + 32], "little"),)
        if op == ir.CHARS:
            return after_byte(key[1])[1]
        if op == ir.LEX_CHOICE:
            return refine(self.byte_sets(state) for state in key[1])
        if op in (ir.BOTH, ir.WITHOUT):
            return self._pair_parts(key[1], key[2])
        return refine(self.byte_sets(state) for state in {state for _, state in key[-1]})

    def _pair_parts(self, left: int, right: int) -> tuple[int, ...]:
        return () if left == DEAD else refine((self.byte_sets(left), self.byte_sets(right)))

    # -- life of pairs ------------------------------------------------------------------------

    def _is_live(self, op: int, left: int, right: int) -> bool:
        """Whether a match can be reached from a pair, breadth first."""
        known = self._live.get((op, left, right))
        if known is not None:
            return known
        came: dict[tuple[int, int], tuple[int, int] | None] = {(left, right): None}
        level = [(left, right)]
        while level:
            longer: list[tuple[int, int]] = []
            for pair in level:
                if self._live.get((op, *pair)) or self._pair_accepts(op, pair):
                    return self._mark_live(op, pair, came)
                for mask in self._pair_parts(*pair):
                    byte = (mask & -mask).bit_length() - 1
                    a, b = self.step(pair[0], byte), self.step(pair[1], byte)
                    if a == DEAD or (b == DEAD and op == ir.BOTH):
                        continue
                    if b == DEAD:
                        return self._mark_live(op, pair, came)
                    if op == ir.BOTH and a > b:
                        a, b = b, a
                    if (a, b) not in came and self._live.get((op, a, b)) is not False:
                        came[a, b] = pair
                        longer.append((a, b))
            level = longer
        for pair in came:
            self._live[op, pair[0], pair[1]] = False
        return False

    def _pair_accepts(self, op: int, pair: tuple[int, int]) -> bool:
        return self._accepts[pair[0]] and self._accepts[pair[1]] == (op == ir.BOTH)

    def _mark_live(self, op: int, pair: tuple[int, int], came: dict[tuple[int, int], tuple[int, int] | None]) -> bool:
        at: tuple[int, int] | None = pair
        while at is not None:
            self._live[op, at[0], at[1]] = True
            at = came[at]
        return True


def refine(partitions: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The coarsest sets of bytes that no set of any partition cuts in two."""
    out: list[int] = []
    for partition in set(partitions):
        rest = 0
        for mask in partition:
            rest |= mask
        finer: list[int] = []
        for known in out:
            for mask in partition if known & rest else ():
                common = known & mask
                if common:
                    finer.append(common)
                    known &= ~mask
                    rest &= ~common
                    if not known:
                        break
            if known:
                finer.append(known)
        finer += (mask & rest for mask in partition if mask & rest)
        out = finer
    return tuple(out)


@functools.lru_cache(1024)
def after_byte(tails: Tails) -> tuple[dict[int, Tails], tuple[int, ...]]:
    """What remains of byte-range sequences per first byte, and the first bytes grouped by that."""
    rests: dict[int, list[tuple[tuple[int, int], ...]]] = {}
    for (low, high), *rest in tails:
        for byte in range(low, high + 1):
            rests.setdefault(byte, []).append(tuple(rest))
    after = {byte: tuple(sorted(set(rest))) for byte, rest in rests.items()}
    groups: dict[Tails, int] = {}
    for byte, following in after.items():
        groups[following] = groups.get(following, 0) | 1 << byte
    return after, tuple(groups.values())


@functools.lru_cache(1024)
def utf8(flat: tuple[int, ...]) -> Tails:
    """Code-point ranges (first, last, first, last, ...) as sequences of byte ranges."""
    out: list[tuple[tuple[int, int], ...]] = []
    for first, last in zip(flat[::2], flat[1::2], strict=True):
        for low, high in ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)):
            if max(first, low) <= min(last, high):
                out += _same_length(chr(max(first, low)).encode(), chr(min(last, high)).encode())
    return tuple(sorted(out))


def _same_length(first: bytes, last: bytes) -> list[tuple[tuple[int, int], ...]]:
    """All encodings from ``first`` to ``last``, which have one length."""
    if len(first) == 1:
        return [((first[0], last[0]),)]
    if first[0] == last[0]:
        return [((first[0], first[0]), *rest) for rest in _same_length(first[1:], last[1:])]
    lowest, highest = b"\x80" * (len(first) - 1), b"\xbf" * (len(first) - 1)
    out: list[tuple[tuple[int, int], ...]] = []
    low, high = first[0], last[0]
    if first[1:] != lowest:
        out += (((low, low), *rest) for rest in _same_length(first[1:], highest))
        low += 1
    if last[1:] != highest:
        out += (((high, high), *rest) for rest in _same_length(lowest, last[1:]))
        high -= 1
    if low <= high:
        out.append(((low, high), *(((0x80, 0xBF),) * len(lowest))))
    return out
