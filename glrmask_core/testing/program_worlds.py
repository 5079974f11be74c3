"""Small parser programs with terminals and a vocabulary, random and fixed, that engines can be compared on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..vocab import Vocab
from .worlds import ALPHABET, Dice, RandomDice, roll_vocab


@dataclass(frozen=True)
class ProgramWorld:
    """A parser program with its terminals and a vocabulary."""

    definition: dict[str, Any]
    patterns: tuple[bytes | str, ...]
    ignore: int | None
    vocab: Vocab
    letters: bytes = ALPHABET


PATTERNS: tuple[bytes | str, ...] = (b"a", b"b", b"ab", "[ab]+", " +", "a|abb", b"(", b")")
IDLE = {"start": 0, "states": [{"accepting": False, "transitions": []}]}
IDENTITY: dict[str, Any] = {
    "pop": {"start": 0, "states": [{"accepting": True, "transitions": []}]},
    "read": IDLE,
    "push": IDLE,
    "pop_to_read": [],
    "pop_to_push": [],
    "read_to_push": [],
}


def roll_template(dice: Dice, symbols: int) -> dict[str, Any]:
    """A random acyclic template."""

    def graph(has_default: bool, percent: int) -> dict[str, Any]:
        count = dice.randint(1, 3)
        states = []
        for q in range(count):
            labels: list[Any] = [{"Symbol": s} for s in range(symbols)] + (["Default"] if has_default else [])
            edges = [
                {"label": label, "target": dice.randint(q + 1, count - 1)}
                for label in labels
                if q < count - 1 and dice.chance(percent)
            ]
            states.append({"accepting": dice.chance(25), "transitions": edges})
        return {"start": 0, "states": states}

    def links(source: dict[str, Any], target: dict[str, Any], percent: int) -> list[int | None]:
        found = [dice.randint(0, len(target["states"]) - 1) if dice.chance(percent) else None for _ in source["states"]]
        return found[: dice.randint(0, 3)]

    pop, read, push = graph(True, 55), graph(False, 60), graph(False, 50)
    return {
        "pop": pop,
        "read": read,
        "push": push,
        "pop_to_read": links(pop, read, 40),
        "pop_to_push": links(pop, push, 50),
        "read_to_push": links(read, push, 50),
    }


def roll_program(dice: Dice) -> ProgramWorld:
    """A random program."""
    symbols = dice.randint(1, 3)
    patterns = tuple(dict.fromkeys(dice.choice(PATTERNS) for _ in range(dice.randint(1, 5))))
    terminals = [roll_template(dice, symbols) for _ in patterns]
    ignore = None
    if dice.chance(30):
        ignore = dice.randint(0, len(patterns) - 1)
        terminals[ignore] = IDENTITY
    definition = {
        "stack_symbol_count": symbols,
        "terminals": terminals,
        "completion": roll_template(dice, symbols),
    }
    letters = ALPHABET[: dice.choice((2, 3, 4))]
    return ProgramWorld(definition, patterns, ignore, roll_vocab(dice, letters, 4), letters)


def fixed_programs() -> Iterator[ProgramWorld]:
    """What random programs hit too rarely."""

    def graph(*states: tuple[bool, list[tuple[Any, int]]]) -> dict[str, Any]:
        made = []
        for accepting, edges in states:
            labels = [(label if label == "Default" else {"Symbol": label}, target) for label, target in edges]
            made.append({"accepting": accepting, "transitions": [{"label": m, "target": t} for m, t in labels]})
        return {"start": 0, "states": made}

    def program(symbols: int, terminals: dict[bytes | str, dict[str, Any]]) -> ProgramWorld:
        definition = {"stack_symbol_count": symbols, "terminals": list(terminals.values()), "completion": IDENTITY}
        vocab = roll_vocab(RandomDice(2), ALPHABET[:2], 4)
        return ProgramWorld(definition, tuple(terminals), None, vocab, ALPHABET[:2])

    # "a" looks at a bottom 0 or a 1 and pushes 1; "b" takes a 1 off.
    start = graph((False, []))
    look = graph((False, [(0, 1), (1, 1)]), (False, []))
    push = graph((False, [(1, 1)]), (True, []))
    links = {"pop_to_read": [0], "pop_to_push": [], "read_to_push": [None, 0]}
    looking = {**IDENTITY, "pop": start, "read": look, "push": push, **links}
    take = {**IDENTITY, "pop": graph((False, [(1, 1)]), (True, []))}
    yield program(2, {b"a": looking, b"b": take})
    # "b" puts anything but a 1 back as a 1: the way of a 1 ends nowhere, which hides Default.
    other = graph((False, [(1, 2), ("Default", 1)]), (False, []), (False, []))
    turn = {**IDENTITY, "pop": other, "push": push, "pop_to_push": [None, 0]}
    yield program(2, {b"a": IDENTITY, b"b": turn, "ab|ba": take})
