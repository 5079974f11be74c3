"""Slot names: steps inside one source are joined by ``::``, steps into a bound child by ``.``; either is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def canonical(name: str) -> str:
    """A name with one kind of separator, to compare by."""
    return name.replace("::", ".")


def find_slot(slots: Iterable[str], name: str) -> str | None:
    """The slot that ``name`` means; None when there is none."""
    slots = list(slots)
    if name in slots:
        return name
    wanted = canonical(name)
    return next((slot for slot in slots if canonical(slot) == wanted), None)


def child_slot(bound: Iterable[str], name: str) -> tuple[str | None, str]:
    """The bound slot whose child ``name`` reaches into, and the rest of the name."""
    wanted = canonical(name)
    for slot in sorted(bound, key=len, reverse=True):
        start = canonical(slot) + "."
        if wanted.startswith(start):
            return slot, wanted[len(start) :]
    return None, ""


def slot_list(slots: Mapping[str, str]) -> str:
    """Slots for a message."""
    if not slots:
        return "no open slots"
    return "open slots: " + ", ".join(f'"{name}" ({kind})' for name, kind in slots.items())
