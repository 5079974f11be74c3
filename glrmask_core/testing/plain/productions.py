"""A closed module as plain productions, for the oracle: every repeat, scope and any-order written out.

Symbols are tuples. ``("terminal", lexical node, exempt)`` and ``("exact", node)`` are leaves; all others have
productions:

* ``("node", node, ignore)``: a syntactic node inside a scope that ignores the lexical node ``ignore`` (or -1),
* ``("skip", ignore)``: any number of ignored matches,
* ``("repeat", node, separator, ignore, low, high)``, ``("more", ...)``: a repeat, and its rest after one member,
* ``("order", node, ignore, items seen, members so far)``: the rest of an any-order node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ... import ir
from ...errors import GrammarError, LimitExceededError
from ...ir import Module
from .lexer import Lexer

Symbol = tuple[Any, ...]
Rules = dict[Symbol, list[tuple[Symbol, ...]]]
MAX_PRODUCTIONS = 50_000


class Productions:
    """The productions of a module for texts of less than ``cap - 2`` events.

    Attributes:
        start: the symbol of the whole language.
        rules: productions per symbol; only productive symbols that ``start`` reaches.
        lexers: what each terminal matches, by lexical node.

    Raises:
        GrammarError: the module is not closed.
        LimitExceededError: too large to be written out.
    """

    def __init__(self, module: Module, cap: int) -> None:
        self.module, self.cap = module, cap
        self.lexers: dict[int, Lexer] = {}
        self.start: Symbol = ("node", module.root, -1)
        rules: Rules = {}
        todo, count = [self.start], 0
        while todo:
            symbol = todo.pop()
            if symbol in rules or symbol[0] in ("terminal", "exact"):
                continue
            rules[symbol] = [tuple(p) for p in self._expand(symbol)]
            count += 1 + len(rules[symbol])
            if count > MAX_PRODUCTIONS:
                raise LimitExceededError(f"the oracle writes at most {MAX_PRODUCTIONS} productions out", "states")
            todo += [part for p in rules[symbol] for part in p]
        self.rules = self._reachable(self._productive(rules))

    def lexer(self, lexical: int) -> Lexer:
        """The automaton of a lexical node."""
        if lexical not in self.lexers:
            self.lexers[lexical] = Lexer(self.module, lexical, self.cap)
        return self.lexers[lexical]

    # -- one symbol ---------------------------------------------------------------------------

    def _expand(self, symbol: Symbol) -> Iterable[Iterable[Symbol]]:
        kind = symbol[0]
        if kind == "node":
            return self._node(symbol[1], symbol[2])
        if kind == "skip":
            return [(), (symbol, ("terminal", symbol[1], 1))]
        if kind == "repeat":
            return self._repeat(*symbol[1:])
        if kind == "more":
            return self._more(*symbol[1:])
        return self._order(*symbol[1:])

    def _node(self, node: int, ignore: int) -> Iterable[Iterable[Symbol]]:
        op, a, b, c = self.module.row(node)
        args = self.module.args
        skip: tuple[Symbol, ...] = () if ignore < 0 else (("skip", ignore),)
        if op == ir.NOTHING:
            return []
        if op == ir.LITERAL:
            return [()]
        if op == ir.TERMINAL:
            one = (*skip, ("terminal", a, b))
            return [(), one] if self.lexer(a).nullable() else [one]
        if op == ir.CALL:
            return [(("node", self.module.rules[2 * a + 1], ignore),)]
        if op == ir.SEQ:
            return [tuple(("node", part, ignore) for part in args[a : a + b])]
        if op == ir.CHOICE:
            return [(("node", part, ignore),) for part in args[a : a + b]]
        if op == ir.REPEAT:
            return [(("repeat", a, -1, ignore, *self._counts(b, c)),)]
        if op == ir.SEPARATED:
            return [(("repeat", args[a], args[a + 1], ignore, *self._counts(b, c)),)]
        if op == ir.TOKEN_IDS:
            return [(*skip, ("exact", node))]
        if op == ir.SCOPE:
            inside: tuple[Symbol, ...] = () if b < 0 else (("skip", b),)
            return [(*skip, ("node", a, b), *inside)]
        if op == ir.ANY_ORDER:
            return [(("order", node, ignore, frozenset(), 0),)]
        raise GrammarError(f"node {node} is an open slot; the oracle takes closed modules only")

    def _counts(self, low: int, high: int) -> tuple[int, int]:
        """Counts that no text shorter than the cap can tell from the given ones."""
        return min(low, self.cap), (high if high <= self.cap else -1)

    def _repeat(self, node: int, separator: int, ignore: int, low: int, high: int) -> Iterator[Iterable[Symbol]]:
        if low == 0:
            yield ()
        if high != 0:
            yield ("node", node, ignore), ("more", node, separator, ignore, max(low - 1, 0), max(high - 1, -1))

    def _more(self, node: int, separator: int, ignore: int, low: int, high: int) -> Iterator[Iterable[Symbol]]:
        if low == 0:
            yield ()
        if high != 0:
            between: tuple[Symbol, ...] = () if separator < 0 else (("node", separator, ignore),)
            rest = ("more", node, separator, ignore, max(low - 1, 0), max(high - 1, -1))
            yield (*between, ("node", node, ignore), rest)

    def _order(self, node: int, ignore: int, seen: frozenset[int], members: int) -> Iterator[Iterable[Symbol]]:
        _, a, count, _ = self.module.row(node)
        separator, extra, low, high = self.module.args[a : a + 4]
        items = self.module.args[a + 4 : a + 4 + 2 * count]
        low, high = min(low, self.cap + count), (high if high <= self.cap + count else -1)
        if members >= low and all(i in seen or not items[2 * i + 1] for i in range(count)):
            yield ()
        if members == high:
            return
        between = () if separator < 0 or not members else (("node", separator, ignore),)
        after = min(members + 1, max(low, 1)) if high < 0 else members + 1
        for i in range(count):
            if i not in seen:
                yield (*between, ("node", items[2 * i], ignore), ("order", node, ignore, seen | {i}, after))
        if extra >= 0:
            yield (*between, ("node", extra, ignore), ("order", node, ignore, seen, after))

    # -- all of them --------------------------------------------------------------------------

    def _productive(self, rules: Rules) -> Rules:
        """Only the productions whose every symbol derives something."""
        good: set[Symbol] = set()
        for productions in rules.values():
            for symbol in (s for p in productions for s in p):
                if symbol[0] == "exact" or (symbol[0] == "terminal" and self.lexer(symbol[1]).has_text()):
                    good.add(symbol)
        size = -1
        while size != len(good):
            size = len(good)
            good.update(s for s, productions in rules.items() if any(good.issuperset(p) for p in productions))
        return {s: [p for p in ps if good.issuperset(p)] for s, ps in rules.items() if s in good}

    def _reachable(self, rules: Rules) -> Rules:
        seen: dict[Symbol, None] = {}
        todo = [self.start]
        while todo:
            symbol = todo.pop()
            if symbol in rules and symbol not in seen:
                seen[symbol] = None
                todo += [s for p in rules[symbol] for s in p]
        return {s: rules[s] for s in seen}
