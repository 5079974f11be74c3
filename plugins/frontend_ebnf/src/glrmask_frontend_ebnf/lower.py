"""Syntax records to IR."""

from __future__ import annotations

from glrmask_core.char_class import ClassError, read_class
from glrmask_core.grammar_text import Fault, GrammarText, Task, did_you_mean, run, shown
from glrmask_core.ir import Builder
from glrmask_core.protocols import Parsed

from . import syntax
from .strings import decode
from .syntax import Expr, Name


def lower(rules: list[syntax.Rule], text: GrammarText) -> Parsed:
    """The module of a grammar; the first rule is its start.

    Raises:
        Fault: an undefined name, a wrong use, a bad literal.

    Cost: linear in the text.
    """
    lowering = Lowering(rules, text)
    root = run(lowering.lower())
    found = sorted({(w.start, w.end, w.message) for w in lowering.warnings}, key=lambda w: w[0])
    warnings = tuple(text.warning(message, at, end) for at, end, message in found)
    return Parsed(lowering.builder.build(root), warnings)


class Lowering:
    """One grammar."""

    def __init__(self, rules: list[syntax.Rule], text: GrammarText) -> None:
        self.builder = Builder()
        self.warnings: list[Fault] = []
        self._text = text
        self._first = rules[0].name
        self._rules: dict[str, list[syntax.Rule]] = {}  # a name defined twice has two alternatives
        for rule in rules:
            self._rules.setdefault(rule.name.name, []).append(rule)
        self._calls: dict[str, int] = {}  # parser rules: the node that calls
        self._lexical: dict[str, int] = {}  # terminals of bytes, once lowered
        self._open: dict[str, None] = {}  # terminals being lowered, outermost first
        self._used = {self._first.name}

    def lower(self) -> Task[int]:
        """The node of the start."""
        b = self.builder
        for name, rules in self._rules.items():
            if not rules[0].name.is_terminal:
                place = self._text.span(rules[0].name.start, rules[0].name.end)
                self._calls[name] = b.rule(name, place=place)
        for name, rules in self._rules.items():
            if name in self._calls:
                parts = []
                for rule in rules:
                    parts.append((yield self._node(rule.body)))
                b.define(self._calls[name], b.choice(parts))
            else:
                yield self._terminal(rules[0].name)  # also when nothing uses it: it must be right
        root: int = yield self._use(self._first)
        for rules in self._rules.values():
            at = rules[0].name
            if at.is_terminal and at.name not in self._used:  # the IR has no trace of it
                self.warnings.append(Fault(f'terminal "{shown(at.name)}" is not used', at.start, at.end))
        return root

    # -- parser rules -------------------------------------------------------------------------

    def _use(self, name: Name) -> Task[int]:
        """The node of one use of a name in a parser rule, or as the start."""
        self._check_defined(name)
        if not name.is_terminal:
            return self._calls[name.name]
        b = self.builder
        defined = self._rules[name.name]
        exact = [rule.body.number for rule in defined if isinstance(rule.body, syntax.ExactToken)]
        node: int = b.nothing()
        if len(exact) < len(defined):
            lexical = yield self._terminal(name)
            first = defined[0].name
            node = b.terminal(lexical, name.name, place=self._text.span(first.start, first.end))
        return b.choice((node, b.token_ids(exact)))

    def _node(self, expr: Expr) -> Task[int]:
        """The syntactic node of an expression; each literal and class in it is a terminal of its own."""
        b = self.builder
        if isinstance(expr, Name):
            used: int = yield self._use(expr)
            return used
        if isinstance(expr, (syntax.Seq, syntax.Alt)):
            parts = []
            for part in expr.parts:
                parts.append((yield self._node(part)))
            return b.seq(parts) if isinstance(expr, syntax.Seq) else b.choice(parts)
        if isinstance(expr, syntax.Repeat):
            item: int = yield self._node(expr.item)
            return b.optional(item) if expr.high == 1 else b.repeat(item, expr.low, expr.high)
        if isinstance(expr, syntax.ExactToken):
            return b.token_ids((expr.number,))
        return b.terminal(self._leaf(expr), place=self._text.span(expr.start, expr.end))

    # -- terminals ----------------------------------------------------------------------------

    def _terminal(self, name: Name) -> Task[int]:
        """The lexical node of a terminal rule; definitions that are one exact token are left to :meth:`_use`."""
        key = name.name
        if key in self._lexical:
            return self._lexical[key]
        if key in self._open:
            path = list(self._open)
            cycle = " -> ".join(shown(n) for n in [*path[path.index(key) :][:8], key])
            raise Fault(f"a terminal cannot refer to itself: {cycle}", name.start, name.end)
        self._open[key] = None
        parts = []
        for rule in self._rules[key]:
            if not isinstance(rule.body, syntax.ExactToken):
                parts.append((yield self._lexical_node(rule.body)))
        del self._open[key]
        self._lexical[key] = self.builder.choice(parts)
        return self._lexical[key]

    def _lexical_node(self, expr: Expr) -> Task[int]:
        b = self.builder
        if isinstance(expr, Name):
            self._check_defined(expr)
            if not expr.is_terminal:
                raise Fault(
                    f'"{shown(expr.name)}" is a parser rule, and terminals can only use terminals '
                    "(names in capitals, digits and _)",
                    expr.start,
                    expr.end,
                )
            if any(isinstance(rule.body, syntax.ExactToken) for rule in self._rules[expr.name]):
                raise Fault(
                    f'"{shown(expr.name)}" is an exact token, which no terminal can contain', expr.start, expr.end
                )
            inlined: int = yield self._terminal(expr)
            return inlined
        if isinstance(expr, (syntax.Seq, syntax.Alt)):
            texts = [self._bytes(part) for part in expr.parts if isinstance(part, syntax.Text)]
            if isinstance(expr, syntax.Alt) and len(texts) == len(expr.parts):
                return b.literals(texts)
            parts = []
            for part in expr.parts:
                parts.append((yield self._lexical_node(part)))
            return b.seq(parts) if isinstance(expr, syntax.Seq) else b.choice(parts)
        if isinstance(expr, syntax.Repeat):
            item: int = yield self._lexical_node(expr.item)
            return b.optional(item) if expr.high == 1 else b.repeat(item, expr.low, expr.high)
        if isinstance(expr, syntax.ExactToken):
            raise Fault(
                "an exact token can be the whole body of a terminal but not part of one; use it in a parser rule "
                "(a name in small letters)",
                expr.start,
                expr.end,
            )
        return self._leaf(expr)

    # -- leaves -------------------------------------------------------------------------------

    def _leaf(self, expr: syntax.Text | syntax.Class | syntax.AnyByte) -> int:
        if isinstance(expr, syntax.Text):
            return self.builder.literal(self._bytes(expr))
        if isinstance(expr, syntax.AnyByte):
            return self.builder.any_byte()
        try:
            return read_class(expr.body, is_unicode=True).lower(self.builder)
        except ClassError as e:
            raise Fault(str(e), expr.start + 1 + e.offset, is_syntax=True) from None

    def _bytes(self, expr: syntax.Text) -> bytes:
        data, kept = decode(expr)
        self.warnings += kept
        return data

    def _check_defined(self, name: Name) -> None:
        self._used.add(name.name)
        if name.name not in self._rules:
            hint = did_you_mean(name.name, self._rules)
            raise Fault(f'"{shown(name.name)}" is not defined{hint}', name.start, name.end)
