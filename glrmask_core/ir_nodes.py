"""Building nodes: regular languages, and what both levels have (sequences, choices, repeats)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from operator import le, lt

from .errors import GrammarError
from .ir_module import (
    AUTOMATON,
    BOTH,
    BYTES,
    CHARS,
    CHOICE,
    EMPTY,
    FIRST_SYNTACTIC,
    LEX_CHOICE,
    LEX_REPEAT,
    LEX_SEQ,
    LITERAL,
    LITERALS,
    MAX_COUNT,
    REPEAT,
    SEPARATED,
    SEQ,
    UNBOUNDED,
    WITHOUT,
)
from .ir_pools import Pools

# Longer sequences inside a sequence stay nodes: flattening shared ones would double at every level.
FLATTEN = 2048
# Longer literals are not joined, or rules that double would write out what they share.
JOINED = 4096
TWO_LITERALS = bytes((LITERAL, LITERAL))


class Nodes(Pools):
    """The part of :class:`glrmask_core.ir.Builder` that needs no terminals."""

    # -- lexical ------------------------------------------------------------------------------

    def nothing(self) -> int:
        """The empty language (no text at all); either level."""
        return self._nothing

    def empty(self) -> int:
        """The language of the empty text; either level."""
        return self._empty

    def literal(self, data: bytes) -> int:
        """Exactly these bytes."""
        key = (LITERAL, data)
        found = self._ids.get(key)
        if found is not None:
            return found
        offset = len(self._blob)
        self._blob += data
        return self._add(key, LITERAL, offset, len(data), 0, False)

    def literals(self, texts: Iterable[bytes]) -> int:
        """Any one of these byte strings; costs their bytes, however many there are."""
        distinct = sorted(set(texts))
        if not distinct:
            return self._nothing
        if len(distinct) == 1:
            return self.literal(distinct[0])
        key = (LITERALS, tuple(distinct))
        found = self._ids.get(key)
        if found is not None:
            return found
        offset = len(self._args)
        lengths = list(map(len, distinct))
        flat = [0] * (2 * len(lengths))
        flat[0::2] = accumulate(lengths[:-1], initial=len(self._blob))
        flat[1::2] = lengths
        self._blob += b"".join(distinct)
        self._args += flat
        return self._add(key, LITERALS, offset, len(distinct), 0, not distinct[0])

    def bytes_class(self, members: Iterable[int]) -> int:
        """One byte out of ``members`` (0..255)."""
        bits = _bits(members if isinstance(members, bytes) else bytes(members))
        key = (BYTES, bits)
        found = self._ids.get(key)
        if found is not None:
            return found
        if not any(bits):
            return self._nothing
        offset = len(self._blob)
        self._blob += bits
        return self._add(key, BYTES, offset, 0, 0, False)

    def any_byte(self) -> int:
        """Any single byte."""
        return self.bytes_class(range(256))

    def chars(self, ranges: Iterable[tuple[int, int]]) -> int:
        """One Unicode scalar value out of these inclusive ranges, in UTF-8. Surrogates are left out."""
        flat = _scalars(tuple(ranges))
        if not flat:
            return self._nothing
        key = (CHARS, flat)
        found = self._ids.get(key)
        if found is not None:
            return found
        offset = len(self._args)
        self._args += flat
        return self._add(key, CHARS, offset, len(flat) // 2, 0, False)

    def both(self, left: int, right: int) -> int:
        """Intersection of two lexical nodes."""
        self._lexical("both", left, right)
        if left == right:
            return left
        if self._nothing in (left, right):
            return self._nothing
        left, right = sorted((left, right))
        nullable = left in self._nullable and right in self._nullable
        return self._add((BOTH, left, right), BOTH, left, right, 0, nullable)

    def without(self, left: int, right: int) -> int:
        """Texts of ``left`` that are not in ``right`` (lexical nodes)."""
        self._lexical("without", left, right)
        if left == right or left == self._nothing:
            return self._nothing
        if right == self._nothing:
            return left
        nullable = left in self._nullable and right not in self._nullable
        return self._add((WITHOUT, left, right), WITHOUT, left, right, 0, nullable)

    def automaton(
        self, states: int, start: int, accepting: Iterable[int], edges: Iterable[tuple[int, int | None, int]]
    ) -> int:
        """A finite automaton whose edges carry lexical nodes.

        Args:
            states: number of states, 0..states-1.
            start: where it begins.
            accepting: where it may end.
            edges: (source, lexical node or None for a silent move, target).
        """
        edges, accepts = list(edges), set(accepting)
        self._lexical("automaton", *(label for _, label, _ in edges if label is not None))
        if not all(0 <= s < states for s in (start, *accepts, *(q for a, _, b in edges for q in (a, b)))):
            raise GrammarError("automaton: a state is out of range")
        silent: dict[int, set[int]] = {}
        loud: dict[int, set[tuple[int, int]]] = {}
        for source, label, target in edges:
            if label is None or label in self._nullable:
                silent.setdefault(source, set()).add(target)
            if label is not None and label not in (self._empty, self._nothing):
                if label in self._nullable:  # the silent move above is the empty text
                    label = self.without(label, self._empty)
                loud.setdefault(source, set()).add((label, target))
        flat: list[int] = []
        ends: list[int] = []
        count = 0
        for s in range(states):
            seen = {s}
            if s in silent:
                todo = [s]
                while todo:
                    new = silent.get(todo.pop(), set()) - seen
                    seen |= new
                    todo += new
            for label, target in sorted(set().union(*(loud.get(q, set()) for q in seen))):
                flat += (s, label, target)
                count += 1
            if seen & accepts:
                ends.append(s)
        return self._automaton(array("i", (states, start, count, *flat, len(ends), *ends)), start in ends)

    def automaton_rows(
        self, states: int, start: int, accepting: Sequence[int], labels: Sequence[int], edges: array[int]
    ) -> int:
        """The same without silent moves, for large automata: one pass, 4 bytes per number.

        Args:
            states, start: as above.
            accepting: where it may end, ascending.
            labels: lexical nodes that do not match the empty text.
            edges: int32[3 * edges], (source, index into ``labels``, target) each, by ascending source.
        """
        self._lexical("automaton", *labels)
        if self._nothing in labels or not self._nullable.isdisjoint(labels):
            raise GrammarError("automaton: a label matches the empty text, or none at all")
        sources, wanted, targets = edges[0::3], edges[1::3], edges[2::3]
        for numbers, top in (((start,), states), (accepting, states), (sources, states), (targets, states)):
            if numbers and not 0 <= min(numbers) <= max(numbers) < top:
                raise GrammarError("automaton: a state is out of range")
        if wanted and not 0 <= min(wanted) <= max(wanted) < len(labels):
            raise GrammarError("automaton: a label is out of range")
        if not (all(map(le, sources, sources[1:])) and all(map(lt, accepting, accepting[1:]))):
            raise GrammarError("automaton: edges or accepting states are out of order")
        args = array("i", (states, start, len(sources)))
        args += edges
        args[4 : 3 + len(edges) : 3] = array("i", map(labels.__getitem__, wanted))
        args.append(len(accepting))
        args.extend(accepting)
        return self._automaton(args, start in accepting)

    def _automaton(self, args: array[int], nullable: bool) -> int:
        key = (AUTOMATON, args.tobytes())
        found = self._ids.get(key)
        if found is not None:
            return found
        offset = len(self._large)
        self._large += args
        self._automata.append(len(self._rows))
        return self._add(key, AUTOMATON, offset, len(args), 0, nullable)

    # -- both levels --------------------------------------------------------------------------

    def seq(self, parts: Iterable[int]) -> int:
        """One after the other. All lexical, or all syntactic."""
        rows, pool = self._rows, self._args
        out: list[int] = []
        lexical = syntactic = False
        for part in parts:
            op, offset, count, _ = rows[part]
            if op >= FIRST_SYNTACTIC:
                syntactic = True
                if op == SEQ and count <= FLATTEN:
                    out += pool[offset : offset + count]
                else:
                    out.append(part)
            elif part > EMPTY:
                lexical = True
                if op == LEX_SEQ and count <= FLATTEN:
                    out += pool[offset : offset + count]
                else:
                    out.append(part)
            elif part != EMPTY:
                return part
        if lexical:
            if syntactic:
                raise GrammarError("seq: lexical and syntactic parts are mixed; wrap the lexical ones in terminal()")
            if TWO_LITERALS in bytes([rows[part][0] for part in out]):
                out = self._join_literals(out)
        size = len(out)
        if size < 2:
            return out[0] if out else EMPTY
        new = len(rows)
        node = self._seqs.setdefault(tuple(out), new)
        if node == new:
            rows.append((LEX_SEQ if lexical else SEQ, len(pool), size, 0))
            pool += out
            if lexical and self._nullable.issuperset(out):
                self._nullable.add(node)
        return node

    def choice(self, parts: Iterable[int]) -> int:
        """Any one of the parts. All lexical, or all syntactic."""
        rows = self._rows
        args = tuple(parts)
        found = self._choices.get(args)
        if found is not None:
            return found
        if self._nothing in args or len(set(args)) < len(args):
            args = tuple(part for part in dict.fromkeys(args) if part != self._nothing)
            found = self._choices.get(args)
            if found is not None:
                return found
        if len(args) < 2:
            return args[0] if args else self._nothing
        ops = [rows[part][0] for part in args if part != EMPTY]
        lexical = max(ops) < FIRST_SYNTACTIC
        if not lexical and min(ops) < FIRST_SYNTACTIC:
            raise GrammarError("choice: lexical and syntactic parts are mixed; wrap the lexical ones in terminal()")
        return self._list(LEX_CHOICE if lexical else CHOICE, args)

    def list_of(self, parts: tuple[int, ...], is_choice: bool) -> int:
        """A sequence or choice of lexical nodes that is in simplest form already, as :meth:`row` gave it: unchecked."""
        return self._list(LEX_CHOICE if is_choice else LEX_SEQ, parts)

    def optional(self, part: int) -> int:
        """The part or nothing."""
        found = self._choices.get((part, self._empty))
        return self.choice((part, self._empty)) if found is None else found

    def repeat(self, part: int, low: int = 0, high: int | None = None, separator: int | None = None) -> int:
        """``part`` from ``low`` to ``high`` times (None: unbounded), with ``separator`` between.

        A separator makes the node syntactic. Counts may be large; nothing is expanded here.
        """
        if low < 0 or (high is not None and high < low) or max(low, high or 0) > MAX_COUNT:
            raise GrammarError(f"repeat: bad bounds {{{low},{'' if high is None else high}}}")
        if high == 1:
            separator = None  # never needed
        if high == 0 or (part == self._empty and separator in (None, self._empty)):
            return self._empty
        if part == self._nothing:
            return self._empty if low == 0 else part
        if (low, high) == (1, 1):
            return part
        top = UNBOUNDED if high is None else high
        op = self._rows[part][0]
        if separator is not None and separator != self._empty:
            if separator == self._nothing:
                return self.choice(([self._empty] if low == 0 else []) + ([part] if low <= 1 else []))
            if FIRST_SYNTACTIC > min(op, self._rows[separator][0]) and self._empty not in (part, separator):
                if max(op, self._rows[separator][0]) >= FIRST_SYNTACTIC:
                    raise GrammarError("repeat: item and separator are of different levels")
                more = self.seq((separator, part))
                rest = self.repeat(more, max(low - 1, 0), None if high is None else high - 1)
                full = self.seq((part, rest))
                return full if low else self.optional(full)
            return self._pooled(SEPARATED, (part, separator), low, top, False)
        if op < FIRST_SYNTACTIC:
            return self._add(
                (LEX_REPEAT, part, low, top), LEX_REPEAT, part, low, top, low == 0 or part in self._nullable
            )
        return self._add((REPEAT, part, low, top), REPEAT, part, low, top, False)

    # -- inside -------------------------------------------------------------------------------

    def _join_literals(self, parts: list[int]) -> list[int]:
        """Runs of literals as one literal each, as far as that is no longer than JOINED."""
        rows = self._rows
        out: list[int] = []
        run: list[int] = []
        length = 0
        for part in (*parts, -1):
            size = rows[part][2] if part >= 0 and rows[part][0] == LITERAL else -1
            if run and (size < 0 or length + size > JOINED):
                out.append(run[0] if len(run) == 1 else self.literal(b"".join(map(self._bytes, run))))
                run, length = [], 0
            if size >= 0:
                run.append(part)
                length += size
            elif part >= 0:
                out.append(part)
        return out

    def _bytes(self, node: int) -> bytes:
        _, offset, length, _ = self._rows[node]
        return bytes(self._blob[offset : offset + length])

    def _lexical(self, what: str, *nodes: int) -> None:
        for node in nodes:
            if self._rows[node][0] >= FIRST_SYNTACTIC:
                raise GrammarError(f"{what}: a syntactic node where a lexical one is needed")


@lru_cache(256)
def _scalars(ranges: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """Ranges of code points sorted, merged and without surrogates, as one list."""
    merged: list[list[int]] = []
    for first, last in sorted(ranges):
        for low, high in ((first, min(last, 0xD7FF)), (max(first, 0xE000), min(last, 0x10FFFF))):
            if low > high:
                continue
            if merged and low <= merged[-1][1] + 1:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
    return tuple(chain.from_iterable(merged))


@lru_cache(256)
def _bits(members: bytes) -> bytes:
    """A set of bytes as 256 bits."""
    bits = bytearray(32)
    for b in members:
        bits[b >> 3] |= 1 << (b & 7)
    return bytes(bits)
