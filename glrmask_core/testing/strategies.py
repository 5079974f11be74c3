"""Hypothesis strategies for modules, vocabularies and parser programs; the generators are those of :mod:`.worlds`.

Needs hypothesis. Every choice is a draw of its own, so failing examples shrink.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from ..ir import Builder, Module
from ..vocab import Vocab
from .program_worlds import ProgramWorld, roll_program
from .worlds import ALPHABET, LEXICALS, Maker, T, World, roll_vocab, roll_world


class DrawnDice:
    """Dice whose throws are drawn by hypothesis."""

    def __init__(self, draw: DrawFn) -> None:
        self._draw = draw

    def choice(self, options: Sequence[T]) -> T:
        """See :meth:`.worlds.Dice.choice`."""
        return options[self._draw(st.integers(0, len(options) - 1))]

    def randint(self, low: int, high: int) -> int:
        """See :meth:`.worlds.Dice.randint`."""
        return self._draw(st.integers(low, high))

    def chance(self, percent: int) -> bool:
        """See :meth:`.worlds.Dice.chance`; False is the simpler outcome."""
        return self._draw(st.integers(0, 99)) >= 100 - percent


@st.composite
def modules(draw: DrawFn, depth: int = 3) -> Module:
    """Closed modules over every op; some match nothing."""
    return Maker(DrawnDice(draw)).module(depth)


@st.composite
def worlds(draw: DrawFn) -> World:
    """A module with a vocabulary that fits it."""
    return roll_world(DrawnDice(draw))


@st.composite
def vocabularies(draw: DrawFn, letters: bytes = ALPHABET) -> Vocab:
    """Every letter, longer tokens and exact-only ids."""
    return roll_vocab(DrawnDice(draw), letters, more=12)


@st.composite
def programs(draw: DrawFn) -> ProgramWorld:
    """A parser program with its terminals and a vocabulary."""
    return roll_program(DrawnDice(draw))


@st.composite
def lexicals(draw: DrawFn, builder: Builder) -> int:
    """A lexical node of the builder: named ones, combined."""
    node = LEXICALS[draw(st.sampled_from(sorted(LEXICALS)))](builder)
    for kind in draw(st.lists(st.sampled_from(("both", "without", "seq", "choice", "repeat")), max_size=3)):
        other = LEXICALS[draw(st.sampled_from(sorted(LEXICALS)))](builder)
        if kind == "repeat":
            low = draw(st.integers(0, 3))
            node = builder.repeat(node, low, draw(st.one_of(st.none(), st.integers(max(low, 1), 6))))
        elif kind in ("both", "without"):
            node = getattr(builder, kind)(node, other)
        else:
            node = getattr(builder, kind)([node, other])
    return node
