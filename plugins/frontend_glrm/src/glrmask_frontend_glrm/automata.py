"""``fa { ... }``: states get numbers, declarations are checked."""

from __future__ import annotations

from dataclasses import dataclass

from glrmask_core.grammar_text import Fault

from .syntax import Accepts, Automaton, Expr, Starts, State


@dataclass(slots=True)
class States:
    """An automaton with numbered states.

    Attributes:
        names: for messages, by number.
        starts, accepts: state numbers, distinct, in order.
        edges: (source, label, target).
    """

    names: list[str]
    starts: list[int]
    accepts: list[int]
    edges: list[tuple[int, Expr, int]]


def number_states(body: Automaton) -> States:
    """Number the states of an automaton in order of first mention.

    Raises:
        Fault: no start, two start declarations, or no accepting state.
    """
    numbers: dict[int | str, int] = {}
    starts: dict[int, None] = {}
    accepts: dict[int, None] = {}
    edges = []

    def number(state: State) -> int:
        return numbers.setdefault(state.key, len(numbers))

    for item in body.items:
        if isinstance(item, Starts):
            if starts:
                first, last = item.states[0], item.states[-1]
                raise Fault(
                    'an automaton has one "start" declaration, this is the second; list the states in one',
                    first.start,
                    last.end,
                )
            starts = dict.fromkeys(number(state) for state in item.states)
        elif isinstance(item, Accepts):
            accepts.update(dict.fromkeys(number(state) for state in item.states))
        else:
            edges.append((number(item.source), item.label, number(item.target)))
    for found, what in ((starts, "start"), (accepts, "accept")):
        if not found:
            raise Fault(f'this automaton has no "{what} ...;"', body.start, body.start + len("fa"))
    return States([str(key) for key in numbers], list(starts), list(accepts), edges)
