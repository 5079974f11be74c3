"""Walks the states of two constraints side by side and reports the first difference."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Union

import numpy as np

from ..constraint import Constraint, compile_module, select_engine
from ..errors import GrammarError, LimitExceededError
from ..options import CompileOptions, Limits, Optimization
from ..program import ParserProgram
from ..state import ConstraintState, ids_of
from .program_worlds import ProgramWorld
from .worlds import World

Step = Union[bytes, int]
"""What a walk commits: bytes, or a token id."""


class Difference(AssertionError):
    """Two engines disagree; the message tells where."""


@dataclass
class Counts:
    """What was compared."""

    worlds: int = 0
    empty: int = 0
    states: int = 0
    masks: int = 0
    bits: int = 0
    limits: int = 0

    def __str__(self) -> str:
        return (
            f"{self.worlds} grammars ({self.empty} matched nothing), {self.states} states, "
            f"{self.masks} masks of the oracle, {self.bits} bits"
            + (f", {self.limits} times past a limit" if self.limits else "")
        )


@dataclass
class Plan:
    """How much to compare in one world.

    Attributes:
        depth: all texts up to this many steps.
        long: number of longer random texts.
        mask_percent: masks of the oracle are costly: of so many of a hundred states, and of the first ones.
        rng: decides the rest.
    """

    depth: int = 2
    long: int = 40
    mask_percent: int = 20
    rng: random.Random = field(default_factory=lambda: random.Random(0))


# A few random grammars have closures of a million pairs; going through them tells nothing that a small one does not.
CLOSED = Limits(static_pairs=20_000, static_bytes=32 << 20)


def compile_world(world: World, engine: str, optimization: Optimization) -> Constraint | None:
    """The constraint of a world, None when the engine says that the grammar matches nothing."""
    options = CompileOptions(tuple(sorted(world.end_tokens)), optimization, limits=CLOSED)
    try:
        return compile_module(world.module, world.vocab, options, select_engine(options, engine), (), (), 0.0)
    except GrammarError:
        return None


def compile_program(world: ProgramWorld, engine: str, optimization: Optimization) -> Constraint:
    """The constraint of a program."""
    return ParserProgram(world.definition).compile(
        world.vocab, world.patterns, ignore_terminal=world.ignore, optimization=optimization, engine=engine
    )


def walks(letters: bytes, exact: Sequence[int], plan: Plan, texts: Sequence[bytes] = ()) -> Iterator[tuple[Step, ...]]:
    """Texts as sequences of steps: all short ones, the given ones, and random longer ones."""
    steps: list[Step] = [bytes((b,)) for b in letters]
    steps += exact
    level: list[tuple[Step, ...]] = [()]
    for depth in range(plan.depth + 1):
        yield from level
        if depth < plan.depth:
            level = [(*walk, step) for walk in level for step in steps]
    for text in texts:
        yield tuple(bytes((b,)) for b in text)
    for _ in range(plan.long):
        few = steps[: plan.rng.choice((2, 5, len(steps)))]
        yield tuple(plan.rng.choice(few) for _ in range(plan.rng.randint(plan.depth + 1, 9)))


def compare(
    oracle: Constraint, others: Sequence[Constraint], texts: Iterator[tuple[Step, ...]], plan: Plan, counts: Counts
) -> None:
    """Compare acceptance, rejection, termination and masks along texts.

    Args:
        oracle: what is right.
        others: what is to be examined, for the same grammar and vocabulary.
        texts: see :func:`walks`; each is followed until the oracle rejects it.
        plan: how many masks to ask the oracle for.
        counts: added to.

    Raises:
        Difference: with the text, and what each side says.
    """
    known: dict[tuple[Step, ...], list[ConstraintState]] = {(): [c.start() for c in (oracle, *others)]}
    for c in others:
        if c.width != oracle.width:
            raise Difference(f"{c.report.engine}: width {c.width}, the oracle's is {oracle.width}")
    _check((), known[()], True, counts)
    for text in texts:
        for k in range(1, len(text) + 1):
            walk = text[:k]
            if walk in known:
                continue
            before = known[walk[:-1]]
            if before[0].is_rejected():
                break
            states = [state.clone() for state in before]
            codes = [_commit(state, walk[-1]) for state in states]
            if len(set(codes)) > 1:
                raise Difference(f"after {_shown(walk)}: commit codes {_sides(states, codes)}")
            known[walk] = states
            _check(walk, states, k < 2 or plan.rng.randrange(100) < plan.mask_percent, counts)


def _commit(state: ConstraintState, step: Step) -> int:
    return int(state._commit_token(step) if isinstance(step, int) else state._commit_bytes(step))


def _check(walk: tuple[Step, ...], states: list[ConstraintState], with_oracle: bool, counts: Counts) -> None:
    counts.states += 1
    flags = [state._flags() for state in states]
    if len(set(flags)) > 1:
        raise Difference(f"after {_shown(walk)}: flags (1 accepting, 2 rejected, 4 terminated) {_sides(states, flags)}")
    first = 0 if with_oracle else 1
    masks = []
    for state in states[first:]:
        words = np.full(state.constraint.mask_len(), 0xFFFFFFFF, np.uint32)
        state._fill(words)
        masks.append(words)
    counts.masks += with_oracle
    counts.bits += with_oracle * states[0].constraint.width * (len(states) - 1)
    for state, words in zip(states[first + 1 :], masks[1:], strict=True):
        if not np.array_equal(words, masks[0]):
            left, right = set(ids_of(masks[0]).tolist()), set(ids_of(words).tolist())
            raise Difference(
                f"mask after {_shown(walk)}: {_name(states[first])} allows {_tokens(state, left - right)} in addition, "
                f"{_name(state)} {_tokens(state, right - left)}"
            )


def _tokens(state: ConstraintState, ids: set[int]) -> str:
    vocab = state.constraint.vocab
    shown = [f"{i} {vocab.bytes_of(i)!r}" if vocab.has(i) else str(i) for i in sorted(ids)[:8]]
    return ", ".join(shown) + (" ..." if len(ids) > 8 else "") if ids else "nothing"


def _name(state: ConstraintState) -> str:
    constraint = state.constraint
    return f"{constraint.engine_name} ({constraint.options.optimization.value})"


def _sides(states: list[ConstraintState], values: Sequence[int]) -> str:
    return ", ".join(f"{_name(state)}: {value}" for state, value in zip(states, values, strict=True))


def _shown(walk: tuple[Step, ...]) -> str:
    return " ".join(repr(step) for step in walk) or "nothing"


def compare_world(
    world: World,
    engine: str,
    optimizations: Sequence[Optimization],
    plan: Plan,
    counts: Counts,
    reference: str = "oracle",
) -> None:
    """Compare an engine at some optimizations with the oracle in one world.

    Raises:
        Difference: see :func:`compare`.
    """
    counts.worlds += 1
    oracle = compile_world(world, reference, Optimization.FAST_BUILD)
    others: list[Constraint | None] = []
    for optimization in optimizations:
        try:
            others.append(compile_world(world, engine, optimization))
        except LimitExceededError:  # an engine may decline, and gives no wrong answer then
            counts.limits += 1
    found = [c for c in others if c is not None]
    if oracle is None:
        counts.empty += 1
        if found:
            raise Difference(f"{_where(found[0])} compiles a grammar that matches nothing")
        return
    if not found and not others:
        return
    if len(found) < len(others):
        raise Difference(f"{engine} refuses a grammar that matches something")
    compare(oracle, found, walks(world.letters, world.exact, plan, world.texts), plan, counts)


def _where(constraint: Constraint) -> str:
    return f"{constraint.engine_name} ({constraint.options.optimization.value})"


def compare_program(
    world: ProgramWorld, engine: str, optimizations: Sequence[Optimization], plan: Plan, counts: Counts
) -> None:
    """The same for a parser program."""
    counts.worlds += 1
    oracle = compile_program(world, "oracle", Optimization.FAST_BUILD)
    others = []
    for optimization in optimizations:
        try:
            others.append(compile_program(world, engine, optimization))
        except LimitExceededError:
            counts.limits += 1
    compare(oracle, others, walks(world.letters, (), plan), plan, counts)
