"""The grammar IR: what front-ends build and engines read.

A :class:`Module` is an immutable directed acyclic graph of nodes in flat arrays, with named rules that
may refer to each other. A :class:`Builder` makes one; its methods return node ids and give equal nodes
one id. Two levels exist and never mix except through :meth:`Builder.terminal`:

* *lexical* nodes are regular languages over bytes (what one terminal matches),
* *syntactic* nodes are languages over terminal occurrences and exact tokens.

Modules and their layout are in :mod:`glrmask_core.ir_module`; what builders keep is in ``ir_pools``, nodes of regular
languages and of both levels are in ``ir_nodes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .errors import GrammarError
from .ir_module import (
    ANY_ORDER,
    AUTOMATON,
    BOTH,
    BYTES,
    CALL,
    CHARS,
    CHOICE,
    EMPTY,
    EXTERN_GRAMMAR,
    EXTERN_TOKEN,
    FIRST_SYNTACTIC,
    IR_VERSION,
    LEX_CHOICE,
    LEX_REPEAT,
    LEX_SEQ,
    LITERAL,
    LITERALS,
    MAX_COUNT,
    NOTHING,
    REPEAT,
    SCOPE,
    SEPARATED,
    SEQ,
    TERMINAL,
    TOKEN_IDS,
    UNBOUNDED,
    WITHOUT,
    Module,
    Op,
)
from .ir_nodes import FLATTEN, Nodes
from .source import Place

__all__ = [
    "ANY_ORDER",
    "AUTOMATON",
    "BOTH",
    "BYTES",
    "CALL",
    "CHARS",
    "CHOICE",
    "EMPTY",
    "EXTERN_GRAMMAR",
    "EXTERN_TOKEN",
    "FIRST_SYNTACTIC",
    "IR_VERSION",
    "LEX_CHOICE",
    "LEX_REPEAT",
    "LEX_SEQ",
    "LITERAL",
    "LITERALS",
    "MAX_COUNT",
    "NOTHING",
    "REPEAT",
    "SCOPE",
    "SEPARATED",
    "SEQ",
    "TERMINAL",
    "TOKEN_IDS",
    "UNBOUNDED",
    "WITHOUT",
    "Builder",
    "Module",
    "Op",
]


class Builder(Nodes):
    """Builds a :class:`Module`.

    Every method returns a node id. Equal nodes share one id, so a front-end may call freely. Simple
    identities are applied (empty parts dropped, one-element sequences unwrapped, short adjacent literals joined).
    Wrong levels and counts raise ``GrammarError``; what only engines can see is left to them.
    """

    def terminal(self, lexical: int, name: str | None = None, exempt: bool = False, place: Place | None = None) -> int:
        """One terminal occurrence of a lexical node.

        ``exempt`` lifts the rule that an occurrence must be the longest match of its own terminal. A
        nullable terminal means "nothing, or one non-empty occurrence".
        """
        if self._rows[lexical][0] >= FIRST_SYNTACTIC:
            self._lexical("terminal", lexical)
        if lexical == self._empty or lexical == self._nothing:
            return lexical
        label = -1 if name is None else self._names.setdefault(name, len(self._names))
        row = (TERMINAL, lexical, int(exempt), label)
        new = len(self._rows)
        node = self._ids.setdefault(row, new)
        if node == new:
            self._rows.append(row)
        if place is not None:
            self._places.setdefault(node, place)
        return node

    def keyword(self, data: bytes, rest: int, name: str) -> int:
        """``terminal(seq((literal(data), rest)), name)`` in one step: most terminals of a JSON grammar are keys."""
        rows, ids, pool = self._rows, self._ids, self._args
        if rest != self._rest[0]:
            op, offset, count, _ = rows[rest]
            fits = op == LEX_SEQ and rows[pool[offset]][0] != LITERAL and count <= FLATTEN
            self._rest = rest, tuple(pool[offset : offset + count]) if fits else ()
        if not (data and self._rest[1]):
            return self.terminal(self.seq((self.literal(data), rest)), name)
        new = len(rows)
        first = ids.setdefault((LITERAL, data), new)
        if first == new:
            rows.append((LITERAL, len(self._blob), len(data), 0))
            self._blob += data
            new += 1
        parts = (first, *self._rest[1])
        lexical = self._seqs.setdefault(parts, new)
        if lexical == new:
            rows.append((LEX_SEQ, len(pool), len(parts), 0))
            pool += parts
            new += 1
        row = (TERMINAL, lexical, 0, self._names.setdefault(name, len(self._names)))
        node = ids.setdefault(row, new)
        if node == new:
            rows.append(row)
        return node

    def rule(self, name: str, body: int | None = None, place: Place | None = None) -> int:
        """A new rule; returns the node that calls it. Give the body here or through :meth:`define`.

        Names are for messages: two rules may share one.
        """
        number = len(self._rules)
        self._rules.append([self._name(name), -1])
        if place is not None:
            self._rule_places[number] = place
        node = self._add((CALL, number), CALL, number, 0, 0, False)
        if body is not None:
            self.define(node, body)
        return node

    def define(self, rule: int, body: int) -> None:
        """Set the body (a syntactic node) of a rule made without one."""
        op, number, _, _ = self._rows[rule]
        if op != CALL or self._rules[number][1] >= 0:
            raise GrammarError("define: not a rule, or defined already")
        if self._rows[body][0] < FIRST_SYNTACTIC and body not in (self._empty, self._nothing):
            raise GrammarError("define: the body of a rule is lexical; wrap it in terminal()")
        self._rules[number][1] = body

    def token_ids(self, ids: Iterable[int]) -> int:
        """One exact model token out of ``ids``, matched by id and never by bytes."""
        distinct = sorted(set(ids))
        if not distinct:
            return self._nothing
        if not 0 <= distinct[0] <= distinct[-1] < 2**32:
            raise GrammarError(f"token_ids: {distinct[0] if distinct[0] < 0 else distinct[-1]} is not an id below 2^32")
        signed = tuple(i - 2**32 if i > MAX_COUNT else i for i in distinct)
        return self._pooled(TOKEN_IDS, signed, len(distinct), 0, False)

    def extern_grammar(self, slot: str) -> int:
        """A grammar filled in later; declares the slot."""
        return self._extern(EXTERN_GRAMMAR, slot, "grammar")

    def extern_token(self, slot: str) -> int:
        """One exact token out of a set filled in later; declares the slot."""
        return self._extern(EXTERN_TOKEN, slot, "token")

    def scope(self, start: int, ignore: int | None = None) -> int:
        """``start`` with a lexical scope of its own.

        Matches of ``ignore`` (lexical, may be None) may stand before the first, between and after the
        last terminal reached from ``start`` without entering another scope. The enclosing scope's ignore
        does not apply inside.
        """
        if ignore is not None:
            self._lexical("scope", ignore)
        if self._rows[start][0] < FIRST_SYNTACTIC and start not in (self._empty, self._nothing):
            raise GrammarError("scope: the start is lexical; wrap it in terminal()")
        inner = -1 if ignore is None or ignore in (self._empty, self._nothing) else ignore
        return self._add((SCOPE, start, inner), SCOPE, start, inner, 0, False)

    def any_order(
        self,
        items: Sequence[tuple[int, bool]],
        separator: int | None = None,
        extra: int | None = None,
        low: int = 0,
        high: int | None = None,
    ) -> int:
        """Items in any order, each at most once, the required ones exactly once.

        Args:
            items: (syntactic node, required). Items must not match the empty text.
            separator: stands between any two members.
            extra: a further member that may come any number of times, anywhere.
            low, high: bounds on the total number of members.
        """
        if low < 0 or (high is not None and high < low):
            raise GrammarError(f"any_order: bad bounds {low}..{high}")
        args = [
            -1 if separator is None or separator == self._empty else separator,
            -1 if extra is None or extra == self._nothing else extra,
            low,
            UNBOUNDED if high is None else high,
        ]
        for node, required in items:
            if node == self._nothing:
                if required:
                    return self._nothing
                continue
            args += (node, int(required))
        for node in (*args[4::2], *(x for x in args[:2] if x >= 0)):
            if self._rows[node][0] < FIRST_SYNTACTIC:
                raise GrammarError("any_order: an item is lexical; wrap it in terminal()")
        return self._pooled(ANY_ORDER, tuple(args), (len(args) - 4) // 2, 0, False)

    def in_order(self, items: Sequence[tuple[int, int, bool]], separator: int, tail: int, tail_needed: bool) -> int:
        """One or more members in this order, those that are not required each there or not.

        N(i), "one or more of the members from i on", is made of N(i + 1): linear, however many may be left out.

        Args:
            items: (key, value, required): two syntactic nodes that stand side by side, neither matching the empty text.
            separator: stands between any two members; syntactic.
            tail: more members, after the last one; ``nothing`` for none.
            tail_needed: whether the tail must be there.
        """
        rows, members = self._rows, self._members
        nothing, seq, make = self._nothing, self.seq, self._list
        parts = [] if tail == nothing else [tail]  # N(i + 1) reversed, so runs of required members stay flat
        if tail_needed and not parts:
            return nothing
        left = list(items)
        while left:
            key, value, required = left.pop()
            if rows[key][0] < FIRST_SYNTACTIC or rows[value][0] < FIRST_SYNTACTIC:
                raise GrammarError("in_order: a key or value is lexical; wrap it in terminal()")
            if required and (tail_needed or not parts):
                parts += (separator, value, key) if parts else (value, key)
                tail_needed = True
                continue
            if not parts:
                parts = [seq((key, value))]
                continue
            after = parts[0] if len(parts) == 1 else seq(parts[::-1])
            known = members.get((after, key, value, separator, tail_needed)) if not required else None
            if known is not None:
                parts = [known]
                continue
            flat = rows[after][0] != SEQ and rows[value][0] != SEQ  # nothing to flatten
            if tail_needed:
                mine = make(SEQ, (key, value, separator, after)) if flat else seq((key, value, separator, after))
            else:
                rest = make(SEQ, (separator, after)) if flat else seq((separator, after))
                rest = make(CHOICE, (rest, EMPTY))
                if required:
                    parts = [rest, value, key]
                    tail_needed = True
                    continue
                mine = make(SEQ, (key, value, rest)) if flat else seq((key, value, rest))
            new = len(rows)
            node = make(CHOICE, (mine, after))
            members[after, key, value, separator, tail_needed] = node
            if node == new:
                node = self._in_bulk(left, separator, node, tail_needed)
            parts = [node]
        return parts[0] if len(parts) == 1 else seq(parts[::-1]) if parts else nothing

    def _in_bulk(self, left: list[tuple[int, int, bool]], separator: int, after: int, tail_needed: bool) -> int:
        """Take those at the end of ``left`` that may be left out; ``after`` was made just now.

        So whatever is made of it is new, and needs no look-up; what is inside of a step stays unknown to seq() and
        choice(). Returns the N of the last one taken.
        """
        rows, pool = self._rows, self._args
        size = 0
        for key, value, required in reversed(left):
            inner = rows[value][0]
            if required or inner < FIRST_SYNTACTIC or inner == SEQ or rows[key][0] != TERMINAL:
                break
            size += 1
        if size < 2:
            return after
        run = left[: -size - 1 : -1]
        del left[-size:]
        keys, values = [member[0] for member in run], [member[1] for member in run]
        new, at = len(rows), len(pool)
        each = 2 if tail_needed else 4
        parts = [range(new + i, new + each * size, each) for i in range(each)]
        mine, nodes = parts[-2:]
        afters = [after, *nodes[:-1]]
        made = [(0, 0, 0, 0)] * (each * size)
        if tail_needed:
            columns: list[Iterable[int]] = [keys, values, [separator] * size, afters, mine, afters]
            made[0::2] = [(SEQ, p, 4, 0) for p in range(at, at + 6 * size, 6)]
            made[1::2] = [(CHOICE, p, 2, 0) for p in range(at + 4, at + 6 * size, 6)]
        else:
            rests, maybe = parts[:2]
            columns = [[separator] * size, afters, rests, [EMPTY] * size, keys, values, maybe, mine, afters]
            made[0::4] = [(SEQ, p, 2, 0) for p in range(at, at + 9 * size, 9)]
            made[1::4] = [(CHOICE, p, 2, 0) for p in range(at + 2, at + 9 * size, 9)]
            made[2::4] = [(SEQ, p, 3, 0) for p in range(at + 4, at + 9 * size, 9)]
            made[3::4] = [(CHOICE, p, 2, 0) for p in range(at + 7, at + 9 * size, 9)]
        steps = zip(afters, keys, values, [separator] * size, [tail_needed] * size, strict=True)
        self._members.update(zip(steps, nodes, strict=True))
        flat = [0] * (len(columns) * size)
        for i, column in enumerate(columns):
            flat[i :: len(columns)] = column
        rows += made
        pool += flat
        return nodes[-1]
