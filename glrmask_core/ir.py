"""The grammar IR: what front-ends build and engines read.

A :class:`Module` is an immutable directed acyclic graph of nodes in flat arrays, with named rules that
may refer to each other. A :class:`Builder` makes one; its methods return node ids and give equal nodes
one id. Two levels exist and never mix except through :meth:`Builder.terminal`:

* *lexical* nodes are regular languages over bytes (what one terminal matches),
* *syntactic* nodes are languages over terminal occurrences and exact tokens.

Layout of ``Module.rows``, four int32 per node (``args`` and ``blob`` are pools that rows point into):

======================  =======================  ======================  ====================
op                      a                        b                       c
======================  =======================  ======================  ====================
NOTHING                 -                        -                       -
LITERAL                 blob offset              length in bytes         -
LITERALS                args offset              number of literals      -
BYTES                   blob offset (32 bytes)   -                       -
CHARS                   args offset              number of ranges        -
LEX_SEQ, LEX_CHOICE     args offset              number of nodes         -
LEX_REPEAT              node                     min                     max or -1
BOTH, WITHOUT           node                     node                    -
AUTOMATON               args offset              args length             -
TERMINAL                lexical node             1 if exempt             name or -1
CALL                    rule                     -                       -
SEQ, CHOICE             args offset              number of nodes         -
REPEAT                  node                     min                     max or -1
SEPARATED               args offset              min                     max or -1
TOKEN_IDS               args offset              number of ids           -
EXTERN_GRAMMAR          name                     -                       -
EXTERN_TOKEN            name                     -                       -
SCOPE                   node                     ignore (lexical) or -1  -
ANY_ORDER               args offset              number of items         -
======================  =======================  ======================  ====================

``LITERALS`` args: (blob offset, length) pairs, sorted by bytes, distinct. ``CHARS`` args: (first, last)
pairs of code points, sorted, disjoint, no surrogates. ``AUTOMATON`` args: states, start, number of edges,
edges (source, label node, target) sorted by source, number of accepting states, those states; labels never
match the empty string. ``SEPARATED`` args: node, separator. ``ANY_ORDER`` args: separator or -1,
extra or -1, min, max or -1, then (node, 1 if required) pairs. Children always have smaller ids than
their parents. Token ids are unsigned and stored as int32 with the same bits.
"""

from __future__ import annotations

import enum
import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain
from operator import le, lt
from struct import pack

from .errors import GrammarError
from .source import Place

IR_VERSION = 1
UNBOUNDED = -1
MAX_COUNT = 2**31 - 1


class Op(enum.IntEnum):
    """Node kinds; lexical below 16, syntactic from 16 on. Numbers are part of the artifact format."""

    NOTHING = 0
    LITERAL = 1
    LITERALS = 2
    BYTES = 3
    CHARS = 4
    LEX_SEQ = 5
    LEX_CHOICE = 6
    LEX_REPEAT = 7
    BOTH = 8
    WITHOUT = 9
    AUTOMATON = 10
    TERMINAL = 16
    CALL = 17
    SEQ = 18
    CHOICE = 19
    REPEAT = 20
    SEPARATED = 21
    TOKEN_IDS = 22
    EXTERN_GRAMMAR = 23
    EXTERN_TOKEN = 24
    SCOPE = 25
    ANY_ORDER = 26


# Plain ints: the builder is on the compile path, and enum members compare slowly.
(NOTHING, LITERAL, LITERALS, BYTES, CHARS, LEX_SEQ, LEX_CHOICE, LEX_REPEAT, BOTH, WITHOUT, AUTOMATON) = range(11)
(TERMINAL, CALL, SEQ, CHOICE, REPEAT, SEPARATED, TOKEN_IDS, EXTERN_GRAMMAR, EXTERN_TOKEN, SCOPE, ANY_ORDER) = range(
    16, 27
)
FIRST_SYNTACTIC = 16
EMPTY = 1  # the node of the empty text, in every module
# Longer sequences inside a sequence stay nodes: flattening shared ones would double at every level.
FLATTEN = 2048
# Longer literals are not joined, or rules that double would write out what they share.
JOINED = 4096
TWO_LITERALS = bytes((LITERAL, LITERAL))


@dataclass(frozen=True, eq=False)
class Module:
    """A finished grammar. Compare by :attr:`digest`.

    Attributes:
        rows: int32[4 * nodes], see the table of this module.
        args: int32 pool.
        blob: byte pool.
        names: name pool (terminals, rules, slots).
        rules: int32[2 * rules], (name, body node) per rule.
        root: the node of the whole language.
        slots: declared externs, name to ``"grammar"`` or ``"token"``, in declaration order.
        places: node id to where it came from, for messages; not part of the digest.
        rule_places: rule number to where it is defined; not part of the digest.
    """

    rows: array[int]
    args: array[int]
    blob: bytes
    names: tuple[str, ...]
    rules: array[int]
    root: int
    slots: Mapping[str, str]
    places: Mapping[int, Place] = field(default_factory=dict)
    rule_places: Mapping[int, Place] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows) // 4

    def row(self, node: int) -> tuple[int, int, int, int]:
        """(op, a, b, c) of a node."""
        i = 4 * node
        rows = self.rows
        return rows[i], rows[i + 1], rows[i + 2], rows[i + 3]

    @property
    def digest(self) -> bytes:
        """32 bytes that identify the grammar (places apart)."""
        h = hashlib.blake2b(digest_size=32)
        head = repr((IR_VERSION, self.root, self.names, tuple(self.slots.items())))
        for part in (head.encode(), self.rows.tobytes(), self.args.tobytes(), self.blob, self.rules.tobytes()):
            h.update(len(part).to_bytes(8, "little"))
            h.update(part)
        return h.digest()


class Builder:
    """Builds a :class:`Module`.

    Every method returns a node id. Equal nodes share one id, so a front-end may call freely. Simple
    identities are applied (empty parts dropped, one-element sequences unwrapped, short adjacent literals joined).
    Wrong levels and counts raise ``GrammarError``; what only engines can see is left to them.
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, int, int]] = []
        self._ids: dict[object, int] = {}  # by op and what it is made of; sequences and choices by their parts
        self._seqs: dict[tuple[int, ...], int] = {}
        self._choices: dict[tuple[int, ...], int] = {}
        self._rest: tuple[int, tuple[int, ...]] = -1, ()  # of keyword(): the last one, and its parts
        self._members: dict[tuple[int, ...], int] = {}  # steps of in_order() by what they are made of
        self._nullable: set[int] = set()  # of lexical nodes
        self._args: list[int] = []
        self._large: array[int] = array("i")  # args of automata: behind the others in the module
        self._automata: list[int] = []
        self._blob = bytearray()
        self._names: dict[str, int] = {}
        self._rules: list[list[int]] = []
        self._slots: dict[str, str] = {}
        self._places: dict[int, Place] = {}
        self._rule_places: dict[int, Place] = {}
        self._ready: tuple[array[int], array[int]] = array("i"), array("i")  # rows and args packed for copies
        self._nothing = self._add(("nothing",), NOTHING, 0, 0, 0, False)
        self._empty = self._add((LITERAL, b""), LITERAL, 0, 0, 0, True)
        assert self._empty == EMPTY, "the second node of every builder"

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

    # -- syntactic ----------------------------------------------------------------------------

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

    # -- finishing ----------------------------------------------------------------------------

    def mark(self, node: int, place: Place) -> int:
        """Remember where a node came from, unless something is known already; returns the node."""
        self._places.setdefault(node, place)
        return node

    def copy(self) -> Builder:
        """An independent builder with the same nodes and rules: for parts that many grammars share.

        Cost: linear in what was built, about 20 ns per node.
        """
        if len(self._ready[0]) < 4 * len(self._rows) and not self._automata:
            rows = array("i", _pack(list(chain.from_iterable(self._rows))))
            self._ready = rows, array("i", _pack(self._args))
        made = Builder.__new__(Builder)
        made._ready, made._rest = self._ready, self._rest
        made._rows, made._ids, made._nullable = self._rows.copy(), self._ids.copy(), self._nullable.copy()
        made._large, made._automata = self._large[:], self._automata.copy()
        made._seqs, made._choices, made._members = self._seqs.copy(), self._choices.copy(), self._members.copy()
        made._args, made._blob, made._names = self._args.copy(), self._blob.copy(), self._names.copy()
        made._rules = [rule.copy() for rule in self._rules]
        made._slots, made._places, made._rule_places = (
            self._slots.copy(), self._places.copy(), self._rule_places.copy()
        )  # fmt: skip
        made._nothing, made._empty = self._nothing, self._empty
        return made

    def row(self, node: int) -> tuple[int, int, int, int]:
        """(op, a, b, c) of a node made so far; of an automaton, ``a`` counts from where all automata begin."""
        return self._rows[node]

    def is_lexical(self, node: int) -> bool:
        """Whether the node is lexical (or one of ``nothing`` and ``empty``, which are both)."""
        return self._rows[node][0] < FIRST_SYNTACTIC

    def is_nullable(self, node: int) -> bool:
        """Whether a lexical node matches the empty text."""
        return node in self._nullable

    def build(self, root: int) -> Module:
        """The finished module. The builder may go on; later nodes do not change it."""
        if self._rows[root][0] < FIRST_SYNTACTIC and root not in (self._empty, self._nothing):
            raise GrammarError("build: the root is lexical; wrap it in terminal()")
        names = tuple(self._names)
        for name, body in self._rules:
            if body < 0:
                raise GrammarError(f'rule "{names[name]}" has no definition')
        rows = self._rows
        if self._automata:
            rows, behind = rows.copy(), len(self._args)
            for node in self._automata:
                op, a, b, c = rows[node]
                rows[node] = op, a + behind, b, c
        ready = self._ready
        packed = array("i", ready[0])
        packed.frombytes(_pack(list(chain.from_iterable(rows[len(ready[0]) // 4 :]))))
        args = array("i", ready[1])
        args.frombytes(_pack(self._args[len(ready[1]) :]))
        args += self._large
        return Module(
            packed,
            args,
            bytes(self._blob),
            names,
            array("i", _pack(list(chain.from_iterable(self._rules)))),
            root,
            dict(self._slots),
            dict(self._places),
            dict(self._rule_places),
        )

    # -- inside -------------------------------------------------------------------------------

    def _add(self, key: object, op: int, a: int, b: int, c: int, nullable: bool) -> int:
        new = len(self._rows)
        node = self._ids.setdefault(key, new)
        if node == new:
            self._rows.append((op, a, b, c))
            if nullable:
                self._nullable.add(node)
        return node

    def _list(self, op: int, parts: tuple[int, ...]) -> int:
        """A sequence or choice as it stands."""
        new = len(self._rows)
        is_seq = op in (SEQ, LEX_SEQ)
        node = (self._seqs if is_seq else self._choices).setdefault(parts, new)
        if node == new:
            self._rows.append((op, len(self._args), len(parts), 0))
            self._args += parts
            if op < FIRST_SYNTACTIC and (
                self._nullable.issuperset(parts) if is_seq else not self._nullable.isdisjoint(parts)
            ):
                self._nullable.add(node)
        return node

    def _pooled(self, op: int, args: tuple[int, ...], b: int, c: int, nullable: bool) -> int:
        """A node whose children are in the args pool."""
        key = (op, args, b, c)
        found = self._ids.get(key)
        if found is not None:
            return found
        offset = len(self._args)
        self._args += args
        return self._add(key, op, offset, b, c, nullable)

    def _extern(self, op: int, slot: str, kind: str) -> int:
        if self._slots.setdefault(slot, kind) != kind:
            raise GrammarError(f'slot "{slot}" is declared as grammar and as token')
        return self._add((op, slot), op, self._name(slot), 0, 0, False)

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

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

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


def _pack(numbers: list[int]) -> bytes:
    """int32 numbers as bytes; ``array("i", numbers)`` takes four times as long."""
    return pack(f"{len(numbers)}i", *numbers)
