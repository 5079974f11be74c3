"""Which event sequences a module allows: a chart of spans, completed by repetition until nothing changes.

An event is a byte (0..255) or an exact token, given as ``-1 - id``. What a symbol spans from some place on
depends on the events from there on alone, so a row of the chart belongs to a sequence of events and is kept
for all sequences that end with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ir import Module
from .lexer import DEAD
from .productions import Productions, Symbol

Events = tuple[int, ...]
MAX_ROWS = 50_000


@dataclass
class Row:
    """What each symbol does with one sequence of events.

    Attributes:
        ends: per symbol, bit k is set when it spans the first k events.
        open: per symbol, whether the whole sequence is a beginning of it.
    """

    ends: list[int]
    open: list[bool]


class Chart:
    """Answers for one module and sequences of at most ``cap - 2`` events."""

    def __init__(self, module: Module, cap: int) -> None:
        found = Productions(module, cap)
        numbers: dict[Symbol, int] = {}
        for symbol, productions in found.rules.items():
            for s in (symbol, *(s for p in productions for s in p)):
                numbers.setdefault(s, len(numbers))
        self.empty = not found.rules
        self._start = numbers.get(found.start, 0)
        self._count = len(numbers)
        self._terminals = [(n, found.lexers[s[1]], bool(s[2])) for s, n in numbers.items() if s[0] == "terminal"]
        self._exacts = [(n, _ids(module, s[1])) for s, n in numbers.items() if s[0] == "exact"]
        self._rules = [
            (numbers[s], [tuple(numbers[x] for x in p) for p in ps]) for s, ps in reversed(found.rules.items())
        ]
        self._rows: dict[Events, Row] = {}

    def answer(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable) of a sequence of events."""
        if self.empty:
            return False, False
        row = self._row(events)
        accepting = bool(row.ends[self._start] >> len(events) & 1)
        return accepting, accepting or row.open[self._start]

    def _row(self, events: Events) -> Row:
        if len(self._rows) > MAX_ROWS:
            self._rows.clear()
        later: list[Row] = []  # rows of the shorter ends, longest first
        for k in range(len(events), -1, -1):
            suffix = events[k:]
            row = self._rows.get(suffix)
            if row is None:
                row = self._rows[suffix] = self._complete(suffix, later)
            later.insert(0, row)
        return later[0]

    def _complete(self, events: Events, later: Sequence[Row]) -> Row:
        row = Row([0] * self._count, [False] * self._count)
        self._leaves(events, row)
        rows = [row, *later]
        changed = True
        while changed:
            changed = False
            for symbol, productions in self._rules:
                spans, is_open = row.ends[symbol], row.open[symbol]
                for production in productions:
                    more, some = _follow(production, rows)
                    spans, is_open = spans | more, is_open or some
                if spans != row.ends[symbol] or is_open != row.open[symbol]:
                    row.ends[symbol], row.open[symbol] = spans, is_open
                    changed = True
        return row

    def _leaves(self, events: Events, row: Row) -> None:
        for number, lexer, exempt in self._terminals:
            state, ends = lexer.start, 0
            for at, event in enumerate(events):
                state = lexer.step(state, event) if event >= 0 else DEAD
                if state == DEAD:
                    break
                if lexer.accepts(state):  # of several, only the longest counts unless exempt
                    ends = (ends if exempt else 0) | 1 << at + 1
            row.ends[number], row.open[number] = ends, state != DEAD
        for number, ids in self._exacts:
            row.open[number] = not events
            if events and events[0] < 0 and -1 - events[0] in ids:
                row.ends[number] = 2
                row.open[number] = len(events) == 1


def _follow(production: Sequence[int], rows: Sequence[Row]) -> tuple[int, bool]:
    """What a production spans, and whether the end of the events lies inside it."""
    places = 1
    is_open = False
    for symbol in production:
        ends = 0
        at = 0
        while places:
            if places & 1:
                row = rows[at]
                ends |= row.ends[symbol] << at
                is_open = is_open or row.open[symbol]
            places >>= 1
            at += 1
        places = ends
        if not places:
            break
    return places, is_open


def _ids(module: Module, node: int) -> frozenset[int]:
    _, a, b, _ = module.row(node)
    return frozenset(i & 0xFFFFFFFF for i in module.args[a : a + b])
