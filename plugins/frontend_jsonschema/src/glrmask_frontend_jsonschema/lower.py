"""From shapes to the IR: one pass over the expressions that the root reaches."""

from __future__ import annotations

import json

from glrmask_core.errors import GrammarError
from glrmask_core.ir import Module
from glrmask_core.source import Diagnostic

from .expr import ATOM, Expr
from .fragment import Fragment
from .lower_array import ArrayLowering
from .lower_number import NumberTooLarge, number_fragment
from .lower_object import ObjectLowering
from .lower_string import StringLowering
from .meaning import Meaning
from .refuse import pointer
from .settings import Settings
from .shape import NUMS_ANY, NUMS_INTEGER, STRS_ANY, Num, Strings
from .support import SCALAR
from .template import template_of

DEEPEST = 30  # levels built by recursion; deeper ones wait in a queue
LONGEST_NAME = 60  # characters of a pattern shown as the name of a terminal


class Lowering:
    """Builds the module of one schema."""

    def __init__(self, meaning: Meaning, settings: Settings) -> None:
        template = template_of(settings)
        self.settings = settings
        self.meaning = meaning
        self.marks = template.marks
        self.builder, speller = template.fork()
        self.strings = StringLowering(self.builder, settings, speller)
        self.arrays = ArrayLowering(self)
        self.objects = ObjectLowering(self)
        self.plain_keys = settings.escapes != "any"
        self.keys: dict[str, int] = {}  # terminals made by key()
        self._replayed: dict[int, tuple[Fragment, int]] = {}  # by identity, which the entry keeps
        meaning.exprs.true.node, meaning.exprs.false.node = self.marks.any_value, self.builder.nothing()
        self._depth = 0
        self._queue: list[Expr] = []

    def module(self, root: Expr) -> Module:
        """The grammar of a root schema.

        Raises:
            GrammarError: nothing satisfies the schema.
        """
        node = self.node_of(root)
        while self._queue:
            expr = self._queue.pop()
            assert expr.rule is not None, "queued expressions have a rule"
            self.builder.define(expr.rule, self._build(expr))
        if node == self.builder.nothing():
            message = "no JSON value satisfies this schema. Look for contradicting types, bounds or required names"
            raise GrammarError(f"unsatisfiable schema: {message}", [Diagnostic(message, "")])
        return self.builder.build(node)

    def close(self) -> None:
        """Undo the cycles of references, so that all of this is freed at once and not by the collector."""
        del self.arrays, self.objects

    def node_of(self, expr: Expr) -> int:
        """The syntactic node of an expression: ``nothing`` when it is plainly empty."""
        node = expr.node
        if node is not None:
            return node
        if expr.kind == ATOM and not expr.groups & ~SCALAR:  # nothing in it that could lead back here
            expr.node = self._build(expr)
            return expr.node
        if expr.state & 2:
            return self._rule(expr)
        if self._depth >= DEEPEST:
            if self.meaning.is_surely_empty(expr):
                return self.builder.nothing()
            expr.node = self._rule(expr)
            self._queue.append(expr)
            return expr.node
        expr.state |= 2
        self._depth += 1
        node = self._build(expr)
        self._depth -= 1
        expr.state &= ~2
        if expr.rule is not None:
            self.builder.define(expr.rule, node)
            if node != self.builder.nothing():
                node = expr.rule
        expr.node = node
        return node

    def _rule(self, expr: Expr) -> int:
        if expr.rule is None:
            atom = expr.place()
            place = pointer(atom.where) if atom else ""
            expr.rule = self.builder.rule("#" + place, place=place)
        return expr.rule

    def _build(self, expr: Expr) -> int:
        shape = expr.shape
        if shape is None:
            shape = self.meaning.shape(expr)
        marks, builder = self.marks, self.builder
        if shape is self.meaning.anything:
            return marks.any_value
        parts: list[int] = []
        if shape.null:
            parts.append(marks.null)
        if shape.bools:
            parts += [node for bit, node in ((2, marks.true), (1, marks.false)) if shape.bools & bit]
        if shape.num:
            parts.append(self._numbers(shape.num, expr))
        if shape.str:
            parts.append(self._strings(shape.str))
        for array in shape.arr:
            parts.append(self.arrays.node(array, expr))
        for record in shape.obj:
            parts.append(self.objects.node(record, expr))
        node = parts[0] if len(parts) == 1 else builder.choice(parts)
        if expr.kind == ATOM and shape.obj and node not in (marks.any_object, builder.nothing()):
            builder.mark(node, pointer(expr.where))
        return node

    # -- scalars ------------------------------------------------------------------------------

    def _numbers(self, records: tuple[Num, ...], origin: Expr) -> int:
        if records is NUMS_ANY:
            return self.marks.number
        if records is NUMS_INTEGER:
            return self.marks.integer
        builder = self.builder
        parts = []
        for record in records:
            try:
                fragment = number_fragment(record)
            except NumberTooLarge:
                reason = "the divisor has more than 65,536 remainders"
                self.meaning.refuse(origin, "multipleOf", reason, "Use a smaller divisor, or bounds around few values.")
                raise AssertionError from None
            if fragment is None:
                continue
            known = self._replayed.get(id(fragment))
            if known is None:
                known = self._replayed[id(fragment)] = fragment, fragment.replay(builder)[-1]
            parts.append(known[1])
        return builder.terminal(builder.choice(parts), "number")

    def _strings(self, records: Strings) -> int:
        if records is STRS_ANY:
            return self.marks.string
        builder, quote = self.builder, self.marks.quote
        name = "string"
        if len(records) == 1 and records[0].tests:
            kind, text, _ = records[0].tests[0]
            name = text if kind == "format" else f"string /{text[:LONGEST_NAME]}/"
        return builder.terminal(builder.seq((quote, self.strings.union(records), quote)), name)

    # -- keys ---------------------------------------------------------------------------------

    def key(self, name: str) -> int:
        """The terminal of a known key, its colon and the white space around that."""
        made = self.keys.get(name)
        if made is None:
            builder = self.builder
            if self.plain_keys and name.isascii() and name.isprintable() and '"' not in name and "\\" not in name:
                shown = f'"{name}"'
                made = builder.keyword(shown.encode(), self.marks.colon, shown + " key")
            else:
                lexical = builder.seq((self.marks.quote, self.strings.speller.text(name), self.marks.key_end))
                made = builder.terminal(lexical, json.dumps(name) + " key")
            self.keys[name] = made
        return made

    def free_key(self, body: int, names: list[str]) -> int:
        """The terminal of a key in a language, with these names left out."""
        builder = self.builder
        if names:
            body = builder.without(body, self.strings.speller.texts(names))
        return builder.terminal(builder.seq((self.marks.quote, body, self.marks.key_end)), "key")
