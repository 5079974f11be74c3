"""The oracle's recogniser: which stretches of a text each part of a grammar can match.

A text is a tuple of *events*: a byte (0..255), or an exact token given as ``-1 - id``. For a text and a part
of the grammar, :class:`Found` says which beginnings of the text the part matches and whether the whole text
could be the beginning of a match. Both follow from the parts of the part, at this place and at later ones,
so a text needs the tables of its own endings only; rules that call themselves at one place are settled by
iteration. Nothing is shared between derivations but these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .. import ir
from ..automata import DEAD, Automata
from ..errors import GrammarError, LimitExceededError
from ..ir import Module
from ..ir_walk import reachable_nodes

Events = tuple[int, ...]
KEPT_TEXTS = 50_000  # about 100 MB with small grammars
LEXICAL_WORK = 10_000_000


class Found(NamedTuple):
    """What a part can do with a text: bit ``k`` of ``ends`` is set when it matches the first ``k`` events."""

    ends: int
    viable: bool
    """Whether all of the text is the beginning of a match, or of a match with something behind it."""


NOT_FOUND = Found(0, False)
EMPTY = Found(1, False)
Part = Callable[["Text"], Found]


class Text:
    """A text, its endings, and what is known about parts of the grammar at its beginning."""

    __slots__ = ("calls", "changed", "events", "known", "open", "pending", "rest", "terminals")

    def __init__(self, events: Events, rest: Text | None) -> None:
        self.events, self.rest = events, rest
        self.calls: dict[tuple[int, int], Found] = {}  # (rule, ignore)
        self.terminals: dict[tuple[int, bool], Found] = {}  # (lexical node, exempt)
        self.known: dict[tuple[int, int], Found] = {}  # (node, ignore)
        self.open = self.changed = False
        self.pending: list[tuple[int, int]] = []  # calls that are being settled

    def after(self, count: int) -> Text:
        """The text without its first ``count`` events."""
        text: Text = self
        for _ in range(count):
            assert text.rest is not None
            text = text.rest
        return text


def bits(ends: int) -> Iterable[int]:
    """The numbers of the bits that are set."""
    while ends:
        low = ends & -ends
        yield low.bit_length() - 1
        ends ^= low


def sequence(text: Text, first: Found, second: Part) -> Found:
    """One part after another."""
    ends, viable = 0, first.viable
    for k in bits(first.ends):
        found = second(text.after(k))
        ends |= found.ends << k
        viable = viable or found.viable
    return Found(ends, viable)


def turns(text: Text, part: Part, low: int, high: int) -> Found:
    """``part`` from ``low`` to ``high`` times (-1: any number).

    A part that may be empty can fill up any number of turns, so only turns that consume something are
    counted, and of those there are no more than events.
    """
    now = part(text)
    if now.ends & 1:
        low = 0
    ends, viable, reached, count = 0, False, 1, 0
    while reached:
        if count >= low:
            ends |= reached
        if count == high:
            break
        further = 0
        for k in bits(reached):
            found = part(text.after(k))
            further |= (found.ends & ~1) << k
            viable = viable or found.viable
        reached, count = further, count + 1
    return Found(ends, viable)


class Chart:
    """Answers for one closed module. Not thread-safe.

    Raises:
        GrammarError: the language is empty, a slot is open, or an item of any_order may be empty.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.automata = Automata(module, LEXICAL_WORK)
        self.productive = Productive(module, self.automata)
        self._texts: dict[Events, Text] = {}
        if not self.productive.nodes[module.root]:
            raise GrammarError("the grammar matches nothing: its start cannot be completed")

    def recognise(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable): whether the text is complete, and whether it is complete or can be continued.

        Raises:
            LimitExceededError: the grammar nests too deep for a text of this length.
        """
        try:
            found = self._eval(self._text(events), self.module.root, -1)
        except RecursionError:
            raise LimitExceededError(
                f"oracle: a text of {len(events)} events nests too deep; it is meant for small ones", "states"
            ) from None
        accepting = bool(found.ends >> len(events) & 1)
        return accepting, accepting or found.viable

    def _text(self, events: Events) -> Text:
        if len(self._texts) > KEPT_TEXTS:
            self._texts.clear()
        text: Text | None = None
        for at in range(len(events), -1, -1):
            ending = events[at:]
            known = self._texts.get(ending)
            text = known if known is not None else self._texts.setdefault(ending, Text(ending, text))
        assert text is not None
        return text

    # -- terminals ----------------------------------------------------------------------------

    def _terminal(self, text: Text, lexical: int, exempt: bool) -> Found:
        """Non-empty matches; only the longest unless exempt (a longer one would be the same terminal going on)."""
        key = (lexical, exempt)
        found = text.terminals.get(key)
        if found is None:
            state, ends = self.automata.start(lexical), 0
            for k, event in enumerate(text.events):
                state = self.automata.step(state, event) if event >= 0 else DEAD
                if state == DEAD:
                    break
                if self.automata.accepts(state):
                    ends = ends | 2 << k if exempt else 2 << k
            viable = state != DEAD if text.events else self.automata.has_text(lexical)
            found = text.terminals[key] = Found(ends, viable)
        return found

    def _ignored(self, text: Text, ignore: int) -> Found:
        """Any number of ignored matches."""
        return EMPTY if ignore < 0 else turns(text, lambda at: self._terminal(at, ignore, True), 0, -1)

    def _then_ignored(self, text: Text, found: Found, ignore: int) -> Found:
        return found if ignore < 0 else sequence(text, found, lambda at: self._ignored(at, ignore))

    # -- syntax -------------------------------------------------------------------------------

    def _call(self, text: Text, rule: int, ignore: int) -> Found:
        """The least solution of the rules that call each other at this place."""
        key = (rule, ignore)
        found = text.calls.get(key)
        if found is not None:
            return found
        text.calls[key] = NOT_FOUND
        text.pending.append(key)
        text.changed = True
        if text.open:
            return NOT_FOUND
        text.open = True
        try:
            while text.changed:
                text.changed = False
                for other in list(text.pending):
                    new = self._eval(text, self.module.rules[2 * other[0] + 1], other[1])
                    if new != text.calls[other]:
                        text.calls[other] = new
                        text.changed = True
        except BaseException:
            self._texts.clear()  # half-settled tables are of no use
            raise
        text.open = False
        text.pending.clear()
        return text.calls[key]

    def _part(self, node: int, ignore: int) -> Part:
        return lambda text: self._eval(text, node, ignore)

    def _eval(self, text: Text, node: int, ignore: int) -> Found:
        if not self.productive.nodes[node]:
            return NOT_FOUND
        key = (node, ignore)
        if not text.open and key in text.known:
            return text.known[key]
        found = self._compute(text, node, ignore)
        if not text.open:
            text.known[key] = found
        return found

    def _compute(self, text: Text, node: int, ignore: int) -> Found:
        op, a, b, c = self.module.row(node)
        args = self.module.args
        if op == ir.LITERAL:  # the empty text
            return EMPTY
        if op == ir.TERMINAL:
            found = self._then_ignored(text, self._terminal(text, a, bool(b)), ignore)
            nullable = self.automata.accepts(self.automata.start(a))
            return Found(found.ends | nullable, found.viable)
        if op == ir.TOKEN_IDS:
            ids = {i % 2**32 for i in args[a : a + b]}
            hit = bool(text.events) and -1 - text.events[0] in ids
            return self._then_ignored(text, Found(2 if hit else 0, not text.events), ignore)
        if op == ir.CALL:
            return self._call(text, a, ignore)
        if op == ir.SEQ:
            found = EMPTY
            for part in args[a : a + b]:
                found = sequence(text, found, self._part(part, ignore))
            return found
        if op == ir.CHOICE:
            ends, viable = 0, False
            for part in args[a : a + b]:
                found = self._eval(text, part, ignore)
                ends, viable = ends | found.ends, viable or found.viable
            return Found(ends, viable)
        if op == ir.REPEAT:
            return turns(text, self._part(a, ignore), b, c) if self.productive.nodes[a] else EMPTY
        if op == ir.SEPARATED:
            return self._separated(text, args[a], args[a + 1], b, c, ignore)
        if op == ir.SCOPE:
            inner = b if b >= 0 and self.automata.has_text(b) else -1
            found = sequence(text, self._ignored(text, inner), self._part(a, inner))
            return self._then_ignored(text, found, ignore)
        return AnyOrder(self, node, ignore).find(text)

    def _separated(self, text: Text, item: int, separator: int, low: int, high: int, ignore: int) -> Found:
        one, gap = self._part(item, ignore), self._part(separator, ignore)
        if not self.productive.nodes[item]:
            return EMPTY
        found = one(text)
        if self.productive.nodes[separator] and high != 1:

            def more(at: Text) -> Found:
                return sequence(at, gap(at), one)

            top = -1 if high < 0 else high - 1
            found = sequence(text, found, lambda at: turns(at, more, max(low - 1, 0), top))
        return Found(found.ends | (low == 0), found.viable)


class AnyOrder:
    """The members of an ANY_ORDER node; a place in it is (events consumed, items used, members so far)."""

    def __init__(self, chart: Chart, node: int, ignore: int) -> None:
        _, at, count, _ = chart.module.row(node)
        args = chart.module.args
        self.separator, self.extra, self.low, self.high = args[at : at + 4]
        pairs = [(args[at + 4 + 2 * i], bool(args[at + 5 + 2 * i])) for i in range(count)]
        self.items = pairs
        productive = chart.productive.nodes
        self._chart, self._ignore = chart, ignore
        self.usable = [i for i, (part, _) in enumerate(pairs) if productive[part]]
        if self.extra >= 0 and not productive[self.extra]:
            self.extra = -1
        if self.separator >= 0 and not productive[self.separator]:
            self.high = 1 if self.high < 0 else min(self.high, 1)

    def completable(self, used: frozenset[int], count: int) -> bool:
        """Whether productive members can still bring it to an end."""
        missing = [i for i, (_, required) in enumerate(self.items) if required and i not in used]
        if any(i not in self.usable for i in missing):
            return False
        if 0 <= self.high < count + len(missing):
            return False
        left = [i for i in self.usable if i not in used]
        most = count + len(left) if self.extra < 0 else self.low
        return max(most, count + len(missing)) >= self.low and not 0 <= self.high < self.low

    def _part(self, node: int) -> Part:
        return self._chart._part(node, self._ignore)

    def find(self, text: Text) -> Found:
        """What it can do with a text."""
        ends, viable = 0, False
        seen = {(0, frozenset[int](), 0)}
        todo = list(seen)
        while todo:
            at, used, count = todo.pop()
            if count >= self.low and not any(r and i not in used for i, (_, r) in enumerate(self.items)):
                ends |= 1 << at
            nexts = [(self.items[i][0], used | {i}) for i in self.usable if i not in used]
            nexts += [(self.extra, used)] if self.extra >= 0 else []
            nexts = [(part, after) for part, after in nexts if self.completable(after, count + 1)]
            here = text.after(at)
            for part, after in nexts:
                found = self._part(part)(here)
                if count and self.separator >= 0:
                    found = sequence(here, self._part(self.separator)(here), self._part(part))
                viable = viable or found.viable
                for k in bits(found.ends):
                    place = (at + k, after, count + 1)
                    if place not in seen:
                        seen.add(place)
                        todo.append(place)
        return Found(ends, viable)


class Productive:
    """Which nodes match something at all (lexical fine print apart), and which may be empty; ``nodes[n]``."""

    def __init__(self, module: Module, automata: Automata) -> None:
        self.module, self.automata = module, automata
        self.nodes = [False] * len(module)
        self.empty = [False] * len(module)
        self._lexical: dict[int, tuple[bool, bool]] = {}
        reachable = sorted(reachable_nodes(module))
        before = -1
        while before != sum(self.nodes) + sum(self.empty):
            before = sum(self.nodes) + sum(self.empty)
            for node in reachable:
                productive, empty = self._node(node)
                self.nodes[node] = self.nodes[node] or productive
                self.empty[node] = self.empty[node] or empty
        for node in reachable:
            self._check(node)

    def _node(self, node: int) -> tuple[bool, bool]:
        op, a, b, _ = self.module.row(node)
        args, good, empty = self.module.args, self.nodes, self.empty
        if op == ir.LITERAL:
            return b == 0, b == 0
        if op == ir.TERMINAL:
            if node not in self._lexical:
                start = self.automata.start(a)
                self._lexical[node] = start != DEAD, self.automata.accepts(start)
            return self._lexical[node]
        if op == ir.TOKEN_IDS:
            return True, False
        if op == ir.CALL:
            body = self.module.rules[2 * a + 1]
            return good[body], empty[body]
        if op == ir.SEQ:
            return all(good[x] for x in args[a : a + b]), all(empty[x] for x in args[a : a + b])
        if op == ir.CHOICE:
            return any(good[x] for x in args[a : a + b]), any(empty[x] for x in args[a : a + b])
        if op == ir.REPEAT:
            return b == 0 or good[a], b == 0 or empty[a]
        if op == ir.SEPARATED:
            item, gap = args[a], args[a + 1]
            return b == 0 or (good[item] and (b == 1 or good[gap])), b == 0 or (empty[item] and (b == 1 or empty[gap]))
        if op == ir.SCOPE:
            return good[a], empty[a]
        return (self._any_order(a, b), False) if op == ir.ANY_ORDER else (False, False)

    def _any_order(self, at: int, count: int) -> bool:
        args, good = self.module.args, self.nodes
        separator, extra, low, high = args[at : at + 4]
        items = [(args[at + 4 + 2 * i], args[at + 5 + 2 * i]) for i in range(count)]
        required = sum(r for _, r in items)
        if separator >= 0 and not good[separator]:
            high = 1 if high < 0 else min(high, 1)
        most = -1 if extra >= 0 and good[extra] else sum(good[x] for x, _ in items)
        fits = all(good[x] for x, r in items if r) and (high < 0 or max(required, low) <= high)
        return fits and (most < 0 or low <= most)

    def _check(self, node: int) -> None:
        op, a, b, _ = self.module.row(node)
        if op in (ir.EXTERN_GRAMMAR, ir.EXTERN_TOKEN):
            raise GrammarError(f'slot "{self.module.names[a]}" is open; bind it before compiling')
        if op == ir.ANY_ORDER:
            args = self.module.args
            members = [*args[a : a + 2], *args[a + 4 : a + 4 + 2 * b : 2]]
            if any(x >= 0 and self.empty[x] for x in members):
                raise GrammarError("any_order: an item, the extra member or the separator matches the empty text")
