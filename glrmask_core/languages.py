"""Questions about the languages of lexical nodes, answered exactly or not at all.

All of them take the builder or module that holds the nodes; nothing is added to it. They walk the
automata of :mod:`glrmask_core.automata`, so Unicode classes and long literal lists cost little; large counts
cost as many states as it takes to count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .automata import DEAD, WORK, Automata
from .errors import LimitExceededError
from .ir import Builder, Module

_T = TypeVar("_T")

__all__ = ["are_disjoint", "finite_texts", "is_empty", "is_subset", "matches"]


def is_empty(source: Builder | Module, node: int, limit: int = WORK) -> bool:
    """Whether a node matches no text at all.

    Args:
        source: holds the node.
        node: a lexical node.
        limit: steps to spend, about 3 us each.

    Raises:
        LimitExceededError: not known after that many steps.
    """
    return _is_dead(source, limit, lambda automata: automata.start(node))


def are_disjoint(source: Builder | Module, left: int, right: int, limit: int = WORK) -> bool:
    """Whether no text matches both nodes. Raises as :func:`is_empty`."""
    return _is_dead(source, limit, lambda automata: automata.meet(automata.start(left), automata.start(right)))


def is_subset(source: Builder | Module, left: int, right: int, limit: int = WORK) -> bool:
    """Whether every text of ``left`` matches ``right``. Raises as :func:`is_empty`."""
    return _is_dead(source, limit, lambda automata: automata.minus(automata.start(left), automata.start(right, False)))


def matches(source: Builder | Module, node: int, data: bytes, limit: int = WORK) -> bool:
    """Whether a text matches a node as a whole. Raises as :func:`is_empty`."""
    return _guarded(lambda: _matches(Automata(source, limit + len(data)), node, data))


def finite_texts(source: Builder | Module, node: int, limit: int, work: int = WORK) -> list[bytes] | None:
    """All texts of a node in byte order, or None when there are more than ``limit`` (or no end of them).

    Raises:
        LimitExceededError: not known after ``work`` steps.

    Cost: the bytes of the texts found.
    """
    return _guarded(lambda: _finite_texts(Automata(source, work), node, limit))


def _is_dead(source: Builder | Module, limit: int, begin: Callable[[Automata], int]) -> bool:
    """Exactly, and where that takes too long without counting: what is empty then is empty indeed."""
    try:
        return _guarded(lambda: begin(Automata(source, limit)) == DEAD)
    except LimitExceededError:
        if _guarded(lambda: begin(Automata(source, limit, relax=True)) == DEAD):
            return True
        raise


def _guarded(question: Callable[[], _T]) -> _T:
    try:
        return question()
    except RecursionError:
        raise LimitExceededError(
            "a regular language nests too deep to be examined; write it with fewer groups (Limits.lexer_states)",
            "lexer_states",
        ) from None


def _matches(automata: Automata, node: int, data: bytes) -> bool:
    state = automata.start(node)
    for byte in data:
        state = automata.step(state, byte)
        if state == DEAD:
            return False
    return automata.accepts(state)


def _finite_texts(automata: Automata, node: int, limit: int) -> list[bytes] | None:
    """Depth first. Every state is live, so a state that comes back on its own path means endless texts."""
    found: list[bytes] = []
    first = automata.start(node)
    if first == DEAD:
        return found
    path: list[int] = []
    on_path: set[int] = set()
    text = bytearray()
    todo: list[tuple[int, int, int]] = [(0, -1, first)]  # (length of the path before, byte, state)
    while todo:
        depth, byte, state = todo.pop()
        while len(path) > depth:
            on_path.discard(path.pop())
        del text[max(depth - 1, 0) :]
        if byte >= 0:
            text.append(byte)
        if state in on_path:
            return None
        if automata.accepts(state):
            if len(found) == limit:
                return None
            found.append(bytes(text))
        path.append(state)
        on_path.add(state)
        steps = [(b, after) for mask, after in automata.arcs(state) for b in _bytes_of(mask)]
        todo += ((depth + 1, b, after) for b, after in sorted(steps, reverse=True))
    return found


def _bytes_of(mask: int) -> list[int]:
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out
