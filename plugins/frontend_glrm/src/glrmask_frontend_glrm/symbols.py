"""Names of one scope: who declares what, and what may be used where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from glrmask_core.grammar_text import Fault, did_you_mean, shown

from .syntax import Body, Extern, Ignore, Name, Pragma, Rule, Scope, Start, Subgrammar

TERMINALS = ("t", "internal t")
KINDS = {
    "nt": "a nonterminal",
    "t": "a terminal",
    "internal t": "an internal terminal",
    "g": "a subgrammar",
    "grammar": "an extern grammar",
    "token": "an extern token",
}


@dataclass(slots=True)
class Symbol:
    """A declared name. ``bodies`` has one entry per definition of a rule; they are alternatives."""

    kind: str
    name: Name
    bodies: list[Body] = field(default_factory=list)
    scope: Scope | None = None


class Symbols:
    """The declarations of one scope, checked for conflicts."""

    def __init__(self, scope: Scope) -> None:
        self.start: Name | None = None
        self.ignore: Name | None = None
        self.pragmas: list[Pragma] = []
        self.used: set[str] = set()  # what find() was asked for
        self._by_name: dict[str, Symbol] = {}
        for item in scope.items:
            if isinstance(item, Start):
                self.start = _once("start", self.start, item.name)
            elif isinstance(item, Ignore):
                self.ignore = _once("ignore", self.ignore, item.name)
            elif isinstance(item, Rule):
                self._declare(item.kind, item.name).bodies.append(item.body)
            elif isinstance(item, Subgrammar):
                self._declare("g", item.name).scope = item.scope
            elif isinstance(item, Extern):
                self._declare(item.kind, item.name)
            else:
                self.pragmas.append(item)

    def __iter__(self) -> Iterator[Symbol]:
        return iter(self._by_name.values())

    def find(self, name: Name) -> Symbol:
        """The symbol of a reference.

        Raises:
            Fault: undefined, with the most similar name.
        """
        symbol = self._by_name.get(name.name)
        if symbol is None:
            raise Fault(
                f'"{shown(name.name)}" is not defined in this scope{did_you_mean(name.name, self._by_name)}',
                name.start,
                name.end,
            )
        self.used.add(name.name)
        return symbol

    def unused_terminals(self) -> Iterator[Fault]:
        """A warning for each terminal that nothing has asked for; the IR has no trace of those."""
        for symbol in self:
            if symbol.kind in TERMINALS and symbol.name.name not in self.used:
                name = symbol.name
                yield Fault(f'terminal "{shown(name.name)}" is not used', name.start, name.end)

    def start_symbol(self, scope: Scope) -> Symbol:
        """What the scope starts with: a nonterminal, terminal or subgrammar."""
        if self.start is None:
            raise Fault('this scope has no start; add "start NAME;"', scope.start)
        symbol = self.find(self.start)
        if symbol.kind not in ("nt", "t", "g"):
            raise Fault(
                f'"{shown(symbol.name.name)}" is {KINDS[symbol.kind]}; '
                "the start must be a nonterminal, a terminal or a subgrammar",
                self.start.start,
                self.start.end,
            )
        return symbol

    def ignore_symbol(self) -> Symbol | None:
        """The ignored terminal, or None."""
        if self.ignore is None:
            return None
        symbol = self.find(self.ignore)
        if symbol.kind != "t":
            raise Fault(
                f'"{shown(symbol.name.name)}" is {KINDS[symbol.kind]}; ignore needs a terminal ("t") of this scope',
                self.ignore.start,
                self.ignore.end,
            )
        return symbol

    def _declare(self, kind: str, name: Name) -> Symbol:
        known = self._by_name.get(name.name)
        if known is None:
            self._by_name[name.name] = known = Symbol(kind, name)
        elif known.kind != kind or kind not in ("nt", *TERMINALS):
            raise Fault(
                f'"{shown(name.name)}" is defined twice, first as {KINDS[known.kind]}, now as {KINDS[kind]}; '
                "only definitions of a rule with the same kind are alternatives",
                name.start,
                name.end,
            )
        return known


def _once(what: str, before: Name | None, now: Name) -> Name:
    if before is not None:
        raise Fault(f'a scope has one "{what}", this is the second', now.start, now.end)
    return now
