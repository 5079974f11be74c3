"""The oracle's parser programs: the definition read aloud, on explicit sets of stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..automata import DEAD, Automata
from ..errors import LimitExceededError
from ..ir import Module
from .chart import KEPT_TEXTS, LEXICAL_WORK, Events

Stack = tuple[int, ...]
MAX_STACKS = 20_000

_LINKS: dict[str, tuple[tuple[str, str], ...]] = {
    "pop": (("pop_to_read", "read"), ("pop_to_push", "push")),
    "read": (("read_to_push", "push"),),
    "push": (),
}


def walk(template: Mapping[str, Any], stack: Stack) -> set[Stack]:
    """Every stack that a template emits for a stack (top at the right)."""
    out: set[Stack] = set()
    seen: set[tuple[str, int, Stack]] = set()
    todo: list[tuple[str, int, Stack]] = [("pop", template["pop"]["start"], stack)]
    while todo:
        graph, q, at = item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        if len(seen) > MAX_STACKS:
            raise LimitExceededError("oracle: a template emits too many stacks; it is meant for small ones", "states")
        state = template[graph]["states"][q]
        if state["accepting"]:
            out.add(at)
        for links, other in _LINKS[graph]:
            targets: Sequence[int | None] = template[links]
            target = targets[q] if q < len(targets) else None
            if target is not None:
                todo.append((other, target, at))
        edges: dict[int | str, int] = {}
        for edge in state["transitions"]:
            label = edge["label"]
            edges["Default" if label == "Default" else label["Symbol"]] = edge["target"]
        if graph == "push":
            todo += (("push", target, (*at, int(symbol))) for symbol, target in edges.items())
        elif at:
            target = edges.get(at[-1], edges.get("Default") if graph == "pop" else None)
            if target is not None:
                todo.append((graph, target, at[:-1] if graph == "pop" else at))
    return out


class Simulator:
    """Answers for one parser program. Not thread-safe."""

    def __init__(self, definition: Mapping[str, Any], patterns: Module, ignore: int | None) -> None:
        self.definition, self.ignore = definition, ignore
        self.automata = Automata(patterns, LEXICAL_WORK)
        self.lexical = [patterns.row(body)[1] for body in patterns.rules[1::2]]
        self._known: dict[tuple[Events, frozenset[Stack]], tuple[bool, bool]] = {}

    def recognise(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable), see :meth:`glrmask_core.testing.chart.Chart.recognise`."""
        if len(self._known) > KEPT_TEXTS:
            self._known.clear()
        try:
            accepting, live = self._from(events, frozenset({(0,)}))
        except RecursionError:
            raise LimitExceededError("oracle: the text is too long; it is meant for small ones", "states") from None
        return accepting, accepting or live

    def _from(self, events: Events, stacks: frozenset[Stack]) -> tuple[bool, bool]:
        """What derivations that arrive here with these stacks can do with the rest of the text."""
        key = (events, stacks)
        known = self._known.get(key)
        if known is not None:
            return known
        accepting = live = False
        if not events:
            live = True
            accepting = any(walk(self.definition["completion"], stack) for stack in stacks)
        for number, lexical in enumerate(self.lexical):
            template = self.definition["terminals"][number]
            after = frozenset(made for stack in stacks for made in walk(template, stack))
            if not after:
                continue
            if len(after) > MAX_STACKS:
                raise LimitExceededError("oracle: too many stacks; it is meant for small programs", "states")
            ends, is_partial = self._matches(lexical, events)
            live = live or is_partial
            for k in ends if number == self.ignore else ends[-1:]:
                found = self._from(events[k:], after)
                accepting, live = accepting or found[0], live or found[1]
        self._known[key] = accepting, live
        return accepting, live

    def _matches(self, lexical: int, events: Events) -> tuple[list[int], bool]:
        """Lengths of the matches at the beginning of a text; whether all of it begins one."""
        state, ends = self.automata.start(lexical), []
        for k, event in enumerate(events):
            state = self.automata.step(state, event) if event >= 0 else DEAD
            if state == DEAD:
                break
            if self.automata.accepts(state):
                ends.append(k + 1)
        return ends, state != DEAD
