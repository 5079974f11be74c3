"""Test suites for authors of engines and front-ends: subclass one, say what is tested, run pytest.

::

    from glrmask_core.testing.conformance import EngineSuite

    class TestConformance(EngineSuite):
        engine = "mine"

::

    from glrmask_core.testing.conformance import FrontendSuite, Sample

    class TestConformance(FrontendSuite):
        format = "mine"
        samples = (Sample("a | b", accept=("a", "b"), reject=("", "ab")),)
        errors = ("a |", "(")

What an engine or format does not offer is told by its ``requirements``; everything else is checked.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..constraint import Constraint, compile_module, select_engine
from ..errors import ArgumentTypeError, GrammarError, LimitExceededError
from ..ir import Builder
from ..options import CompileOptions, Optimization
from ..plugins import manager
from ..protocols import API_OLDEST, API_VERSION, Engine, Frontend
from ..vocab import Vocab
from . import checks
from .compare import Counts, Plan, compare_program, compare_world, compile_world
from .program_worlds import roll_program
from .worlds import RandomDice, World, fixed_worlds, roll_world


@dataclass(frozen=True)
class EngineRequirements:
    """What is asked of an engine.

    Attributes:
        worlds: number of random grammars that are compared with the oracle.
        programs: number of random parser programs, 0 for an engine without them.
        rollback: whether states can be rolled back.
        saving: whether constraints can be saved and loaded.
        threads: whether a constraint may be used by several threads.
    """

    worlds: int = 40
    programs: int = 15
    rollback: bool = True
    saving: bool = True
    threads: bool = True


@dataclass(frozen=True)
class FrontendRequirements:
    """What is asked of a front-end.

    Attributes:
        places: whether errors must name a place.
        hostile: whether texts that break naive parsers are tried.
    """

    places: bool = True
    hostile: bool = True


@dataclass(frozen=True)
class Sample:
    """A grammar with whole outputs that it allows and forbids.

    Attributes:
        source: as ``Grammar.from_source`` takes it.
        accept, reject: outputs.
        options: of the front-end.
    """

    source: Any
    accept: Sequence[str | bytes] = ()
    reject: Sequence[str | bytes] = ()
    options: dict[str, Any] = field(default_factory=dict)


class EngineSuite:
    """Everything that holds for any engine, against the oracle."""

    engine: str
    requirements = EngineRequirements()

    def _engine(self) -> Engine:
        return select_engine(CompileOptions(optimization=self._modes()[0]), self.engine)

    def _modes(self) -> list[Optimization]:
        capable = manager().engines()[self.engine].capabilities.optimizations
        return [mode for mode in Optimization if mode in capable]

    def _constraints(self, count: int) -> Iterator[tuple[World, Constraint, list[int]]]:
        """Some worlds, each compiled at another optimization, with a text in tokens."""
        found = seed = 0
        while found < count:
            seed += 1
            world = roll_world(RandomDice(1000 + seed))
            try:
                constraint = compile_world(world, self.engine, self._modes()[seed % len(self._modes())])
            except LimitExceededError:
                continue
            if constraint is not None:
                found += 1
                yield world, constraint, checks.random_walk(constraint, random.Random(seed), 5)

    def test_declares_itself(self) -> None:
        engine = self._engine()
        assert engine.name == self.engine
        assert API_OLDEST <= engine.api_version <= API_VERSION
        assert isinstance(engine.priority, int)

    def test_agrees_with_the_oracle_by_hand(self) -> None:
        for world in fixed_worlds():
            compare_world(world, self.engine, self._modes(), Plan(3, 10, 20), Counts())

    def test_agrees_with_the_oracle_at_random(self) -> None:
        counts = Counts()
        for seed in range(self.requirements.worlds):
            plan = Plan(2, 8, 10, random.Random(seed))
            compare_world(roll_world(RandomDice(seed)), self.engine, self._modes(), plan, counts)
        assert 10 * counts.limits <= max(counts.worlds, 10), f"too many limits: {counts}"

    def test_programs_agree_with_the_oracle(self) -> None:
        assert bool(self.requirements.programs) == self._engine().capabilities.programs
        for seed in range(self.requirements.programs):
            plan = Plan(2, 5, 20, random.Random(seed))
            compare_program(roll_program(RandomDice(seed)), self.engine, self._modes(), plan, Counts())

    def test_masks_tell_commits(self) -> None:
        for _, constraint, ids in self._constraints(8):
            state = constraint.start()
            checks.check_mask_tells_commits(state)
            for token in ids:
                state.commit_token(token)
                checks.check_mask_tells_commits(state)
                checks.check_end_tokens(state)

    def test_clones_and_rollback_are_replay(self) -> None:
        for world, constraint, ids in self._constraints(8):
            checks.check_clone_is_replay(constraint, ids)
            checks.check_tokens_are_bytes(constraint, ids, world.exact)
            if self.requirements.rollback:
                checks.check_rollback_is_replay(constraint, ids)

    def test_shortest_completions(self) -> None:
        for _, constraint, ids in self._constraints(6):
            state = constraint.start()
            for token in ids:
                checks.check_completion(state)
                state.commit_token(token)
            checks.check_completion(state)

    def test_saving(self) -> None:
        for _, constraint, ids in self._constraints(4 if self.requirements.saving else 0):
            checks.check_save_and_load(constraint, ids)

    def test_threads(self) -> None:
        for _, constraint, ids in self._constraints(2 if self.requirements.threads else 0):
            checks.check_threads(constraint, ids)
            checks.check_concurrent_use(constraint, lambda state: state.mask(), 20)

    def test_grammars_without_text(self) -> None:
        builder = Builder()
        rule = builder.rule("endless")
        builder.define(rule, builder.seq([builder.terminal(builder.literal(b"a")), rule]))
        options = CompileOptions(optimization=self._modes()[0])
        for root in (builder.nothing(), rule):
            try:
                compile_module(builder.build(root), small_vocab(), options, self._engine(), (), (), 0.0)
            except GrammarError:
                continue
            raise AssertionError("a grammar that matches nothing must raise GrammarError")

    def test_empty_vocabulary(self) -> None:
        builder = Builder()
        module = builder.build(builder.optional(builder.terminal(builder.literal(b"a"))))
        options = CompileOptions(optimization=self._modes()[0])
        vocab = Vocab.from_id_to_bytes({})
        state = compile_module(module, vocab, options, self._engine(), (), (), 0.0).start()
        assert state.constraint.width == 0 and not len(state.mask())
        state.commit_bytes(b"a")
        assert state.is_accepting()


class FrontendSuite:
    """Everything that holds for any front-end. Outputs are judged by an engine (native if installed)."""

    format: str
    samples: Sequence[Sample]
    errors: Sequence[Any] = ()
    """Sources that must be refused."""
    wrong_types: Sequence[Any] = (b"bytes", 17)
    """What ``prepare`` must refuse."""
    requirements = FrontendRequirements()

    def _frontend(self) -> Frontend:
        return manager().frontend(self.format)

    def test_declares_itself(self) -> None:
        frontend = self._frontend()
        assert API_OLDEST <= frontend.api_version <= API_VERSION
        assert frontend.name and not set(frontend.name) - set("abcdefghijklmnopqrstuvwxyz0123456789_-")

    def test_samples(self) -> None:
        vocab = byte_vocab()
        for sample in self.samples:
            module = checks.parse(self._frontend(), sample.source, **sample.options).module
            options = CompileOptions(optimization=Optimization.FAST_BUILD)
            constraint = compile_module(module, vocab, options, select_engine(options, None), (), (), 0.0)
            for text in sample.accept:
                assert constraint.accepts(text), f"{sample.source!r} refuses {text!r}"
            for text in sample.reject:
                assert not constraint.accepts(text), f"{sample.source!r} accepts {text!r}"

    def test_parsing_is_stable(self) -> None:
        for sample in self.samples:
            checks.check_parse_is_stable(self._frontend(), sample.source, **sample.options)

    def test_errors(self) -> None:
        for source in self.errors:
            checks.check_error(self._frontend(), source, self.requirements.places)

    def test_types_are_checked_early(self) -> None:
        for source in self.wrong_types:
            try:
                self._frontend().prepare(source, {})
            except (ArgumentTypeError, GrammarError):
                continue
            raise AssertionError(f"prepare takes {source!r}")

    def test_unknown_options_are_refused(self) -> None:
        try:
            self._frontend().prepare(self.samples[0].source, {"no_such_option": 1})
        except ArgumentTypeError as error:
            assert "no_such_option" in str(error)
            return
        raise AssertionError("an unknown option must raise ArgumentTypeError")

    def test_hostile_texts(self) -> None:
        if self.requirements.hostile:
            frontend = self._frontend()
            for text in checks.hostile_texts(frontend.prepare(self.samples[0].source, {})):
                checks.check_hostile(frontend, text)


def byte_vocab() -> Vocab:
    """Every byte, its value as the id."""
    return Vocab.from_id_to_bytes({b: bytes((b,)) for b in range(256)})


def small_vocab() -> Vocab:
    """Three tokens."""
    return Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b"ab"})
