"""Nodes under construction: the pools of a :class:`glrmask_core.ir.Builder`, copied and made into modules."""

from __future__ import annotations

from array import array
from itertools import chain
from struct import pack
from typing import TypeVar

from .errors import GrammarError
from .ir_module import EMPTY, FIRST_SYNTACTIC, LEX_SEQ, LITERAL, NOTHING, SEQ, Module
from .source import Place

B = TypeVar("B", bound="Pools")


class Pools:
    """What a builder has made so far. Equal nodes share one id."""

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

    def mark(self, node: int, place: Place) -> int:
        """Remember where a node came from, unless something is known already; returns the node."""
        self._places.setdefault(node, place)
        return node

    def copy(self: B) -> B:
        """An independent builder with the same nodes and rules: for parts that many grammars share.

        Cost: linear in what was built, about 20 ns per node.
        """
        if len(self._ready[0]) < 4 * len(self._rows) and not self._automata:
            rows = array("i", _pack(list(chain.from_iterable(self._rows))))
            self._ready = rows, array("i", _pack(self._args))
        made = type(self).__new__(type(self))
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

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))


def _pack(numbers: list[int]) -> bytes:
    """int32 numbers as bytes; ``array("i", numbers)`` takes four times as long."""
    return pack(f"{len(numbers)}i", *numbers)
