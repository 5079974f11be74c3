"""Slot names: steps inside one source are joined by ``::``, steps into a bound child by ``.``; either is read."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import BindError

if TYPE_CHECKING:
    from .ir_module import Module
    from .vocab import ExactToken, ExactTokens, Vocab

MAX_SLOTS = 10_000  # open at once; children may multiply them
SHOWN = 20  # in a message


def canonical(name: str) -> str:
    """A name with one kind of separator, to compare by."""
    return name.replace("::", ".")


def find_slot(slots: Iterable[str], name: str) -> str | None:
    """The slot that ``name`` means; None when there is none.

    Raises:
        BindError: several are spelled like that, none of them exactly.
    """
    slots = list(slots)
    if name in slots:
        return name
    wanted = canonical(name)
    found = [slot for slot in slots if canonical(slot) == wanted]
    if len(found) > 1:
        raise BindError(f'slot "{name}" may be {" or ".join(map(repr, found))}; write it like one of them')
    return found[0] if found else None


def child_slot(bound: Iterable[str], name: str) -> tuple[str | None, str]:
    """The bound slot whose child ``name`` reaches into, and the rest of the name."""
    wanted = canonical(name)
    for slot in sorted(bound, key=len, reverse=True):
        start = canonical(slot) + "."
        if wanted.startswith(start):
            return slot, wanted[len(start) :]
    return None, ""


def check_slots(parent: Module, children: Mapping[str, Module], most_nodes: int) -> None:
    """Whether children may be put into their slots.

    Raises:
        BindError: a slot that a child leaves open has the name of another one; too many open slots; or more than
            ``most_nodes`` nodes, as children with open slots are written out once per slot.
    """
    names = {canonical(slot) for slot in parent.slots if slot not in children}
    nodes = 0
    for slot, child in children.items():
        nodes += len(child) if child.slots else 0
        for name in child.slots:
            full = canonical(f"{slot}.{name}")
            if full in names:
                raise BindError(f'slot "{slot}.{name}" is open twice: in a bound child and beside it; rename one')
            names.add(full)
            if len(names) > MAX_SLOTS:
                raise BindError(f'slot "{slot}": more than {MAX_SLOTS} slots are open; bind those of a child before it')
    if nodes > most_nodes:
        raise BindError(f"more than {most_nodes} nodes in children with open slots; bind those of a child before it")


def slot_list(slots: Mapping[str, str]) -> str:
    """Slots for a message."""
    if not slots:
        return "no open slots"
    shown = [f'"{name}" ({kind})' for name, kind in itertools.islice(slots.items(), SHOWN)]
    more = f" and {len(slots) - SHOWN} more" if len(slots) > SHOWN else ""
    return f"open slots: {', '.join(shown)}{more}"


def check_tokens(exact: Iterable[tuple[str, ExactToken | ExactTokens]], vocab: Vocab) -> None:
    """Refuse exact tokens of another vocabulary.

    Raises:
        BindError: naming slot and ids.
    """
    for slot, token in exact:
        if token.vocab is not vocab and token.vocab != vocab:
            raise BindError(
                f'slot "{slot}" is bound to token(s) {list(token._ids)} of another vocabulary; '
                "take them from the one that is compiled for"
            )
