"""Terminals: expressions that are one regular language over bytes."""

from __future__ import annotations

from glrmask_core.char_class import ClassError, read_class
from glrmask_core.grammar_text import Fault, Task, shown
from glrmask_core.ir import Builder
from glrmask_core.regex import Dialect, RegexError, compile_regex

from . import syntax
from .automata import number_states
from .strings import decode
from .symbols import KINDS, TERMINALS, Symbol, Symbols
from .syntax import Expr, Name


class Lexical:
    """Lowers terminals of one scope to lexical nodes, each once.

    Args:
        warnings: receives findings that do not stop compiling.
    """

    def __init__(self, builder: Builder, symbols: Symbols, warnings: list[Fault]) -> None:
        self._builder = builder
        self._symbols = symbols
        self._warnings = warnings
        self._done: dict[str, int] = {}
        self._open: dict[str, None] = {}  # terminals being lowered, outermost first

    def terminal(self, symbol: Symbol, used_at: Name) -> Task[int]:
        """The node of a ``t`` or ``internal t`` rule, all its definitions together.

        Raises:
            Fault: the terminal refers to itself.
        """
        name = symbol.name.name
        if name in self._done:
            return self._done[name]
        if name in self._open:
            path = list(self._open)
            cycle = [*path[path.index(name) :], name]
            raise Fault(
                "a terminal cannot refer to itself: " + " -> ".join(shown(n) for n in _shortened(cycle)),
                used_at.start,
                used_at.end,
            )
        self._open[name] = None
        parts = []
        for body in symbol.bodies:
            parts.append((yield self._automaton(body) if isinstance(body, syntax.Automaton) else self.node(body)))
        del self._open[name]
        node = self._done[name] = self._builder.choice(parts)
        return node

    def node(self, expr: Expr, in_rule: bool = False) -> Task[int]:
        """The lexical node of an expression.

        Args:
            in_rule: it stands in an ``nt`` rule, as an operand of ``&`` or ``-``.

        Raises:
            Fault: the expression is not one language of bytes, or uses what may not be used there.
        """
        b = self._builder
        if isinstance(expr, Name):
            inlined: int = yield self.terminal(self._usable(expr, in_rule), expr)
            return inlined
        if isinstance(expr, syntax.Seq):
            parts = []
            for part in expr.parts:
                parts.append((yield self.node(part, in_rule)))
            return b.seq(parts)
        if isinstance(expr, syntax.Alt):
            if all(isinstance(part, syntax.Text) for part in expr.parts):
                return b.literals(self.text(part) for part in expr.parts if isinstance(part, syntax.Text))
            parts = []
            for part in expr.parts:
                parts.append((yield self.node(part, in_rule)))
            return b.choice(parts)
        if isinstance(expr, syntax.Both):
            result: int = yield self.node(expr.parts[0], in_rule)
            for part in expr.parts[1:]:
                result = b.both(result, (yield self.node(part, in_rule)))
            return result
        if isinstance(expr, syntax.Minus):
            result = yield self.node(expr.left, in_rule)
            for part in expr.removed:
                result = b.without(result, (yield self.node(part, in_rule)))
            return result
        if isinstance(expr, syntax.Repeat):
            item: int = yield self.node(expr.item, in_rule)
            return b.optional(item) if (expr.low, expr.high) == (0, 1) else b.repeat(item, expr.low, expr.high)
        if isinstance(expr, syntax.Separated):
            where = 'an operand of "&" or "-"' if in_rule else "a terminal"
            raise Fault(f"a separated sequence cannot be part of {where}", expr.start, expr.end)
        if isinstance(expr, syntax.Regex) and in_rule:
            raise self.regex_in_rule(expr)
        return self.leaf(expr)

    def leaf(self, expr: syntax.Text | syntax.Regex | syntax.Class | syntax.AnyByte | syntax.Eps) -> int:
        """The lexical node of an expression without parts."""
        b = self._builder
        if isinstance(expr, syntax.Text):
            return b.literal(self.text(expr))
        if isinstance(expr, syntax.Class):
            try:
                return read_class(expr.body, is_unicode=expr.is_unicode).lower(b)
            except ClassError as e:
                raise Fault(str(e), expr.start + 1 + e.offset, is_syntax=True) from None
        if isinstance(expr, syntax.Regex):
            try:
                return compile_regex(expr.pattern, b, dialect=Dialect.GLRM)
            except RegexError as e:
                raise Fault(f"in this regex: {e.reason}", expr.start + 1 + e.offset, is_syntax=True) from None
        return b.any_byte() if isinstance(expr, syntax.AnyByte) else b.empty()

    def text(self, expr: syntax.Text) -> bytes:
        """The bytes of a literal; escapes that keep their backslash are warned of."""
        data, kept = decode(expr)
        self._warnings += kept
        return data

    def regex_in_rule(self, expr: syntax.Regex) -> Fault:
        """The fault of a regex in an ``nt`` rule."""
        return Fault(
            "a regex cannot stand in an nt rule; give it a name with \"t NAME = /.../;\" and use the name",
            expr.start,
            expr.end,
        )

    def _usable(self, name: Name, in_rule: bool) -> Symbol:
        symbol = self._symbols.find(name)
        if symbol.kind not in TERMINALS:
            where = '"&" and "-" need terminals on both sides' if in_rule else "a terminal can only use terminals"
            raise Fault(f'"{shown(name.name)}" is {KINDS[symbol.kind]}; {where}', name.start, name.end)
        if in_rule:
            check_in_rule(self._symbols, symbol, name)
        return symbol

    def _automaton(self, body: syntax.Automaton) -> Task[int]:
        b = self._builder
        states = number_states(body)
        count, start = len(states.names), states.starts[0]
        edges: list[tuple[int, int | None, int]] = []
        for source, label, target in states.edges:
            node = yield self.node(label)
            edges.append((source, None if node == b.empty() else node, target))
        if len(states.starts) > 1:  # one more state, in front of them
            count, start = count + 1, count
            edges += [(start, None, target) for target in states.starts]
        return b.automaton(count, start, states.accepts, edges)


def check_in_rule(symbols: Symbols, symbol: Symbol, used_at: Name) -> None:
    """Raise ``Fault`` for a terminal that ``nt`` rules may not use."""
    if symbol.kind == "internal t":
        message = "is an internal terminal, which only terminals can use"
    elif symbols.ignore is not None and symbols.ignore.name == symbol.name.name:
        message = "is ignored, so no nt rule can use it; define a second terminal with the same body"
    else:
        return
    raise Fault(f'"{shown(used_at.name)}" {message}', used_at.start, used_at.end)


def _shortened(cycle: list[str]) -> list[str]:
    return cycle if len(cycle) <= 8 else [*cycle[:4], "...", *cycle[-3:]]
