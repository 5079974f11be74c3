"""Syntax records to IR: scopes and ``nt`` rules."""

from __future__ import annotations

from collections.abc import Sequence

from glrmask_core.grammar_text import Fault, GrammarText, Task, run, shown
from glrmask_core.ir import Builder
from glrmask_core.protocols import Parsed

from . import syntax
from .automata import number_states
from .lexical import Lexical, check_in_rule
from .pragma import check_pragmas
from .separated import lower_separated
from .shape import shape
from .symbols import Symbol, Symbols
from .syntax import Body, Expr, Name


def lower(document: syntax.Scope, text: GrammarText) -> Parsed:
    """The module of a document.

    Raises:
        Fault: an undefined name, a wrong use, a bad literal.

    Cost: linear in the text; a separated sequence of n items makes O(n) nodes.
    """
    builder = Builder()
    warnings: list[Fault] = []
    scope = ScopeLowering(builder, text, document, "", warnings)
    start, ignore = run(scope.lower())
    root = start if ignore is None else builder.scope(start, ignore)
    found = sorted({(w.start, w.end, w.message) for w in warnings}, key=lambda w: w[0])
    return Parsed(builder.build(root), tuple(text.warning(message, at, end) for at, end, message in found))


class ScopeLowering:
    """One scope. Names of rules and slots get the path of the subgrammars around it."""

    def __init__(
        self, builder: Builder, text: GrammarText, scope: syntax.Scope, path: str, warnings: list[Fault]
    ) -> None:
        self._builder = builder
        self._text = text
        self._scope = scope
        self._path = path
        self._warnings = warnings
        self._symbols = Symbols(scope)
        self._lexical = Lexical(builder, self._symbols, warnings)
        self._rules: dict[str, int] = {}  # nt or g: the node that calls its rule
        self._reduced: dict[tuple[str, frozenset[int]], int] = {}  # (nt, left-out alternatives): the node that calls it
        self._literals: set[bytes] = set()
        self._current = ""  # the nt rule being lowered, for names of rules made on the way

    def lower(self) -> Task[tuple[int, int | None]]:
        """The node of the scope's start and its ignore (lexical, or None)."""
        b, symbols = self._builder, self._symbols
        start, ignore = symbols.start_symbol(self._scope), symbols.ignore_symbol()
        for symbol in symbols:
            name = symbol.name
            if symbol.kind in ("nt", "g"):
                self._rules[name.name] = b.rule(self._path + name.name, place=self._text.span(name.start, name.end))
            elif symbol.kind == "grammar":
                b.extern_grammar(self._path + name.name)
            elif symbol.kind == "token":
                b.extern_token(self._path + name.name)
        for symbol in symbols:
            if symbol.kind == "nt":
                self._current = self._path + symbol.name.name
                b.define(self._rules[symbol.name.name], (yield self._bodies(symbol.bodies)))
            elif symbol.scope is not None:
                inner = ScopeLowering(b, self._text, symbol.scope, f"{self._path}{symbol.name.name}::", self._warnings)
                inner_start, inner_ignore = yield inner.lower()
                b.define(self._rules[symbol.name.name], b.scope(inner_start, inner_ignore))
            elif symbol.kind in ("t", "internal t"):
                yield self._lexical.terminal(symbol, symbol.name)
        skipped = None if ignore is None else (yield self._ignored(ignore))
        check_pragmas(symbols, self._literals)
        self._warnings += symbols.unused_terminals()
        return (yield self._call(start)), skipped

    def _ignored(self, symbol: Symbol) -> Task[int]:
        node: int = yield self._lexical.terminal(symbol, symbol.name)
        if self._builder.is_nullable(node):
            at = self._symbols.ignore or symbol.name
            raise Fault(
                f'"{shown(symbol.name.name)}" matches the empty text, so it cannot be ignored; '
                'write "+" instead of "*", or subtract eps',
                at.start,
                at.end,
            )
        return node

    # -- rules --------------------------------------------------------------------------------

    def _bodies(self, bodies: Sequence[Body]) -> Task[int]:
        """Several definitions of a rule, which are alternatives."""
        parts = []
        for body in bodies:
            parts.append((yield self._automaton(body) if isinstance(body, syntax.Automaton) else self.node(body)))
        return self._builder.choice(parts)

    def node(self, expr: Expr) -> Task[int]:
        """The syntactic node of an expression; each literal and class in it is a terminal of its own."""
        b = self._builder
        if isinstance(expr, Name):
            symbol = self._symbols.find(expr)
            check_in_rule(self._symbols, symbol, expr)
            called: int = yield self._call(symbol)
            return called
        if isinstance(expr, (syntax.Seq, syntax.Alt)):
            parts = []
            for part in expr.parts:
                parts.append((yield self.node(part)))
            return b.seq(parts) if isinstance(expr, syntax.Seq) else b.choice(parts)
        if isinstance(expr, syntax.Repeat):
            item: int = yield self.node(expr.item)
            return b.optional(item) if (expr.low, expr.high) == (0, 1) else b.repeat(item, expr.low, expr.high)
        if isinstance(expr, syntax.Separated):
            separator = yield self.node(expr.separator)
            items = []
            for sep_item in expr.items:
                items.append(((yield self.node(sep_item.expr)), sep_item.low, sep_item.high))
            return lower_separated(b, self._current, separator, items, expr.at_least_one)
        if isinstance(expr, syntax.Minus) and isinstance(expr.left, Name):
            symbol = self._symbols.find(expr.left)
            if symbol.kind == "nt":
                reduced: int = yield self._without_alternatives(symbol, expr)
                return reduced
        if isinstance(expr, (syntax.Both, syntax.Minus)):
            return self._terminal((yield self._lexical.node(expr, in_rule=True)), expr)
        if isinstance(expr, syntax.Regex):
            raise self._lexical.regex_in_rule(expr)
        if isinstance(expr, syntax.Text):
            self._literals.add(data := self._lexical.text(expr))
            return self._terminal(b.literal(data), expr)
        return self._terminal(self._lexical.leaf(expr), expr)

    def _terminal(self, node: int, expr: Expr) -> int:
        return self._builder.terminal(node, place=self._text.span(expr.start, expr.end))

    def _call(self, symbol: Symbol) -> Task[int]:
        """The node of one use of a symbol."""
        b, name = self._builder, symbol.name
        if symbol.kind in ("nt", "g"):
            return self._rules[name.name]
        if symbol.kind == "grammar":
            return b.extern_grammar(self._path + name.name)
        if symbol.kind == "token":
            return b.extern_token(self._path + name.name)
        node: int = yield self._lexical.terminal(symbol, name)
        return b.terminal(node, self._path + name.name, place=self._text.span(name.start, name.end))

    # -- automata -----------------------------------------------------------------------------

    def _automaton(self, body: syntax.Automaton) -> Task[int]:
        """A right-linear rule per state. Its labels may call anything, the rule itself included."""
        b = self._builder
        states = number_states(body)
        place = self._text.span(body.start, body.end)
        calls = [b.rule(f"{self._current}.{name}", place=place) for name in states.names]
        bodies: list[list[int]] = [[] for _ in calls]
        for source, label, target in states.edges:
            bodies[source].append(b.seq(((yield self.node(label)), calls[target])))
        for state in states.accepts:
            bodies[state].append(b.empty())
        for call, parts in zip(calls, bodies, strict=True):
            b.define(call, b.choice(parts))
        return b.choice(calls[start] for start in states.starts)

    # -- difference of a nonterminal ----------------------------------------------------------

    def _without_alternatives(self, symbol: Symbol, expr: syntax.Minus) -> Task[int]:
        """A rule with the alternatives of ``symbol`` that are not among those subtracted."""
        b, name = self._builder, symbol.name.name
        alternatives = _alternatives(symbol.bodies)
        places: dict[object, list[int]] = {}
        for i, alternative in enumerate(alternatives):
            if not isinstance(alternative, syntax.Automaton):
                places.setdefault(shape(alternative), []).append(i)
        removed: set[int] = set()
        for wanted in _alternatives(expr.removed):
            found = None if isinstance(wanted, syntax.Automaton) else places.get(shape(wanted))
            if found is None:
                raise Fault(
                    f'this is no alternative of "{shown(name)}"; from a nonterminal only alternatives '
                    "can be subtracted, written as they are there",
                    wanted.start,
                    wanted.end,
                )
            removed.update(found)
        key = name, frozenset(removed)
        if key not in self._reduced:
            # Known before its body is: the alternatives left may hold this very difference.
            place = self._text.span(expr.start, expr.end)
            call = self._reduced[key] = b.rule(f"{self._path}{name}-{len(self._reduced) + 1}", place=place)
            left = [alternative for i, alternative in enumerate(alternatives) if i not in removed]
            b.define(call, (yield self._bodies(left)))
        return self._reduced[key]


def _alternatives(bodies: Sequence[Body]) -> list[Body]:
    """The alternatives of several definitions together."""
    return [part for body in bodies for part in (body.parts if isinstance(body, syntax.Alt) else [body])]
