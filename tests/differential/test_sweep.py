"""The native engine at every optimization against the oracle: the part of the sweep that fits in CI."""

from __future__ import annotations

import itertools
import random

import pytest

from glrmask_core.constraint import select_engine
from glrmask_core.ir_text import dump
from glrmask_core.options import CompileOptions, Optimization
from glrmask_core.testing.compare import Counts, Plan, compare_program, compare_world
from glrmask_core.testing.program_worlds import fixed_programs, roll_program
from glrmask_core.testing.worlds import RandomDice, World, fixed_worlds, roll_world, small_worlds

pytest.importorskip("glrmask_engine_native")

MODES = tuple(Optimization)
PER_TEST = 6  # worlds, so that a test stays well below a second


def compare(world: World, plan: Plan, modes: tuple[Optimization, ...] = MODES) -> Counts:
    """Compare and count; a difference shows the grammar."""
    counts = Counts()
    try:
        compare_world(world, "native", modes, plan, counts)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{world.note}\n{dump(world.module)}") from error
    return counts


def test_all_optimizations_are_there() -> None:
    engine = select_engine(CompileOptions(), "native")
    assert set(MODES) == set(engine.capabilities.optimizations)


@pytest.mark.parametrize("world", list(fixed_worlds()), ids=lambda world: world.note)
def test_by_hand(world: World) -> None:
    assert compare(world, Plan(3, 20, 20)).states > 1


@pytest.mark.parametrize("first", range(0, 60, PER_TEST))
def test_random_grammars(first: int) -> None:
    states = 0
    for seed in range(first, first + PER_TEST):
        states += compare(roll_world(RandomDice(seed)), Plan(2, 20, 10, random.Random(seed))).states
    assert states > PER_TEST


def test_programs_by_hand() -> None:
    counts = Counts()
    for world in fixed_programs():
        compare_program(world, "native", MODES, Plan(5, 60, 20), counts)
    assert counts.states > 20


@pytest.mark.parametrize("first", range(0, 20, PER_TEST))
def test_random_programs(first: int) -> None:
    counts = Counts()
    for seed in range(first, min(first + PER_TEST, 20)):
        plan = Plan(3, 10, 20, random.Random(seed))
        compare_program(roll_program(RandomDice(seed)), "native", MODES, plan, counts)
    assert counts.worlds > 0
    assert counts.states > counts.worlds


@pytest.mark.parametrize("part", range(6))
def test_small_worlds(part: int) -> None:
    """All sequences of up to two terminals out of seven, and choices of two; every text of up to four letters."""
    worlds = list(itertools.islice(small_worlds(size=2), part, None, 6))
    assert len(worlds) > 20
    for world in worlds:
        compare(world, Plan(4, 0, 8), MODES[:2])
