"""Lark's rule trees to IR. Shapes are kept: options stay options and counts stay counts, nothing multiplies."""

from __future__ import annotations

from typing import Any

from glrmask_core.ir import Builder
from glrmask_core.protocols import Parsed
from glrmask_core.source import Diagnostic

from .loader import Loaded, load
from .names import check_names, terminal_order
from .scanned import Scanned
from .templates import Argument, Instance, TemplateName, Templates
from .terminals import Terminals
from .tokens import is_terminal


def lower(scanned: Scanned) -> Parsed:
    """The IR of a scanned grammar.

    Raises:
        GrammarError: names, trees or terminals that cannot be represented.
    """
    check_names(scanned)
    order = terminal_order(scanned)
    loaded = load(scanned)
    return _Lowering(scanned, loaded).run(order)


class _Lowering:
    def __init__(self, scanned: Scanned, loaded: Loaded) -> None:
        self.scanned = scanned
        self.loaded = loaded
        self.builder = Builder()
        self.todo: list[Instance] = []
        self.terminals = Terminals(scanned, loaded, self.builder)
        self.templates = Templates(scanned, loaded.rules, self.builder, self.todo)
        self.calls: dict[str, int] = {}
        self.warnings: list[Diagnostic] = []
        self.rule_name = ""

    def run(self, order: list[str]) -> Parsed:
        builder, terminals = self.builder, self.terminals
        for name in order:
            terminals.define(name)
        start = self._start()
        for definition in self.scanned.definitions:
            if not definition.is_terminal and not self.loaded.rules[definition.name][0]:
                self._call(definition.name)
        root = terminals.occurrence(start) if is_terminal(start) else self._call(start)
        while self.todo:
            self._body(self.todo.pop())
        ignored = [terminals.ignored(name) for name in self.loaded.ignored]
        if ignored:
            root = builder.scope(root, builder.choice(ignored))
        return Parsed(builder.build(root), (*self.warnings, *terminals.warnings))

    def _start(self) -> str:
        """``start``, or else what is defined first."""
        rules, report = self.loaded.rules, self.scanned.report
        if "start" in rules:
            if rules["start"][0]:
                raise self._error('the start rule "start" cannot be a template', "start")
            return "start"
        names = [definition.name for definition in self.scanned.definitions]
        names += [item.alias for item in self.scanned.imports]
        plain = [name for name in names if is_terminal(name) or not rules[name][0]]
        if not plain:
            raise report.meaning("no start rule: expected a rule that is not a template", None)
        if is_terminal(plain[0]) and any(not is_terminal(name) for name in plain):
            message = f'no rule "start": the grammar starts with what is defined first, the terminal "{plain[0]}"'
            self.warnings.append(Diagnostic(message, self.terminals.place(plain[0]), "warning"))
        return plain[0]

    def _call(self, name: str) -> int:
        """The node that calls a rule; its body follows later."""
        call = self.calls.get(name)
        if call is None:
            tree = self.loaded.rules[name][1]
            if tree is None:
                raise self._error(f'rule "{self.scanned.shown(name)}" has no definition', name)
            call = self.builder.rule(self.scanned.shown(name), place=self.terminals.place(name))
            self.calls[name] = call
            self.todo.append(Instance(call, tree, {}, name))
        return call

    def _body(self, item: Instance) -> None:
        """Lower one body, bottom-up without recursion."""
        self.rule_name = item.name
        done: dict[int, Argument] = {}
        order, stack = [], [item.tree]
        while stack:
            tree = stack.pop()
            order.append(tree)
            children = tree.children[:1] if tree.data == "alias" else tree.children
            stack += [child for child in children if hasattr(child, "data")]
        if item.arguments:
            self.templates.count(item.name, len(order))
        for tree in reversed(order):
            done[id(tree)] = self._combine(tree, done, item)
        self.builder.define(item.rule, self._node(done[id(item.tree)]))

    def _combine(self, tree: Any, done: dict[int, Argument], item: Instance) -> Argument:
        kind, children, builder = tree.data, tree.children, self.builder
        if kind == "value":
            child = children[0]
            return done[id(child)] if hasattr(child, "data") else self._symbol(child, item)
        if kind == "literal":
            return self.terminals.anonymous(children[0])
        if kind == "range":
            return self.terminals.anonymous_range(children[0], children[1])
        if kind == "template_usage":
            name = self._template(str(children[0].name), item)
            return self.templates.use(name, tuple(done[id(child)] for child in children[1:]))
        parts = [self._node(done[id(child)]) for child in children if id(child) in done]
        if kind in ("alias", "expansions"):
            return builder.choice(parts)
        if kind == "expansion":
            return builder.seq(parts)
        if kind == "maybe":
            return builder.optional(parts[0])
        assert kind == "expr", f"lark made a {kind} node in a rule"
        return builder.repeat(parts[0], *self.scanned.bounds(children[1:]))

    def _symbol(self, symbol: Any, item: Instance) -> Argument:
        name = str(symbol.name)
        if name in item.arguments:
            return item.arguments[name]
        if symbol.is_term:
            return self.terminals.occurrence(name)
        if self.loaded.rules[name][0]:
            return TemplateName(name)
        return self._call(name)

    def _template(self, name: str, item: Instance) -> str:
        argument = item.arguments.get(name)
        if argument is None:
            return name
        if not isinstance(argument, TemplateName):
            raise self._error(f'the argument for "{name}" is used as a template but is none', item.name)
        return argument.name

    def _node(self, argument: Argument) -> int:
        if isinstance(argument, TemplateName):
            name = self.scanned.shown(argument.name)
            params = ", ".join(self.loaded.rules[argument.name][0])
            raise self._error(f'template "{name}" needs arguments: {name}{{{params}}}', self.rule_name)
        return argument

    def _error(self, message: str, name: str) -> Exception:
        place = self.terminals.place(name)
        start, end = (None, None) if place is None else (place.start, place.end)
        return self.scanned.report.meaning(message, start, end)
