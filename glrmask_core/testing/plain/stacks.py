"""Parser programs for the oracle: the definition read aloud, on explicit stacks."""

from __future__ import annotations

from typing import Any

from ...ir import Module
from .lexer import DEAD, Lexer

Stack = tuple[int, ...]
_NEXT = {"pop": (("pop_to_read", "read"), ("pop_to_push", "push")), "read": (("read_to_push", "push"),), "push": ()}


class StackRunner:
    """Answers for one program and texts of at most ``cap - 2`` bytes."""

    def __init__(self, definition: dict[str, Any], patterns: Module, ignore: int | None, cap: int) -> None:
        self._terminals, self._completion = definition["terminals"], definition["completion"]
        self._ignore = ignore
        nodes = (patterns.row(body)[1] for body in patterns.rules[1::2])
        self._lexers = [Lexer(patterns, node, cap) for node in nodes]
        self._applied: dict[tuple[int, frozenset[Stack]], frozenset[Stack]] = {}

    def answer(self, text: tuple[int, ...]) -> tuple[bool, bool]:
        """(accepting, viable) of a text."""
        accepting = viable = False
        todo: list[tuple[int, frozenset[Stack]]] = [(0, frozenset({(0,)}))]
        seen = set(todo)
        while todo:
            at, stacks = todo.pop()
            if at == len(text):
                viable = True
                accepting = accepting or any(walk(self._completion, s) for s in stacks)
            for terminal in range(len(self._terminals)):
                out = self._apply(terminal, stacks)
                if not out:
                    continue
                ends, unfinished = self._ends(terminal, text, at)
                viable = viable or unfinished
                for item in [(end, out) for end in ends]:
                    if item not in seen:
                        seen.add(item)
                        todo.append(item)
        return accepting, viable

    def _ends(self, terminal: int, text: tuple[int, ...], at: int) -> tuple[list[int], bool]:
        """Where an occurrence that starts at ``at`` may end, and whether it may reach past the text."""
        lexer = self._lexers[terminal]
        state, ends = lexer.start, []
        for end in range(at, len(text)):
            state = DEAD if state == DEAD else lexer.step(state, text[end])
            if state == DEAD:
                break
            if lexer.accepts(state):
                ends.append(end + 1)
        return (ends if terminal == self._ignore else ends[-1:]), state != DEAD

    def _apply(self, terminal: int, stacks: frozenset[Stack]) -> frozenset[Stack]:
        key = (terminal, stacks)
        if key not in self._applied:
            template = self._terminals[terminal]
            self._applied[key] = frozenset(out for stack in stacks for out in walk(template, stack))
        return self._applied[key]


def walk(template: dict[str, Any], stack: Stack) -> set[Stack]:
    """Every stack that a walk of a template emits; stacks are tuples with their top at the right."""
    out: set[Stack] = set()
    seen: set[tuple[str, int, Stack]] = set()
    todo = [("pop", template["pop"]["start"], stack)]
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        graph, at, now = item
        state = template[graph]["states"][at]
        if state["accepting"]:
            out.add(now)
        for links, other in _NEXT[graph]:
            if at < len(template[links]) and template[links][at] is not None:
                todo.append((other, template[links][at], now))
        edges = {-1 if t["label"] == "Default" else t["label"]["Symbol"]: t["target"] for t in state["transitions"]}
        if graph == "push":
            todo += [("push", target, (*now, symbol)) for symbol, target in edges.items()]
        elif now and graph == "read" and now[-1] in edges:
            todo.append(("read", edges[now[-1]], now))
        elif now and graph == "pop" and (now[-1] in edges or -1 in edges):
            todo.append(("pop", edges.get(now[-1], edges.get(-1)), now[:-1]))
    return out
