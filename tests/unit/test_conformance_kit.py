"""The conformance kit: the oracle passes it, and engines and front-ends with a fault do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from glrmask_core.constraint import Constraint, compile_module
from glrmask_core.errors import StateError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions
from glrmask_core.protocols import Parsed
from glrmask_core.state import Commit
from glrmask_core.testing import checks
from glrmask_core.testing.chart import Chart
from glrmask_core.testing.compare import Counts, Difference, Plan, compare, walks
from glrmask_core.testing.conformance import EngineRequirements, EngineSuite
from glrmask_core.testing.oracle import OracleEngine, OracleGrammar, OracleState
from glrmask_core.vocab import Vocab

VOCAB = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b"ab", 40: b""})


class TestOracle(EngineSuite):
    engine = "oracle"
    requirements = EngineRequirements(worlds=4, programs=3)

    def test_agrees_with_the_oracle_by_hand(self) -> None:
        """Left out: it is the oracle."""


class Faulty(OracleState):
    """An oracle state with the faults named in ``faults``."""

    __slots__ = ()
    faults: frozenset[str] = frozenset()

    def _fill(self, words: npt.NDArray[np.uint32]) -> None:
        super()._fill(words)
        if "mask" in self.faults and self._flags():
            words[0] |= 2
        if "stray bit" in self.faults:
            words[1] |= np.uint32(1 << 31)

    def _commit_token(self, token_id: int) -> int:
        if "token" in self.faults and token_id == 2:
            return Commit.OK
        return super()._commit_token(token_id)

    def _rollback(self, n: int) -> bool:
        return super()._rollback(n if "rollback" not in self.faults else max(n - 1, 1)) or "endless" in self.faults

    def _completion(self, most: int) -> bytes | None:
        return b"aa" if "completion" in self.faults else super()._completion(most)

    def _clone(self) -> OracleState:
        return self if "clone" in self.faults else super()._clone()


class FaultyGrammar(OracleGrammar):
    state: type[OracleState] = OracleState

    def start(self, max_rollback: int) -> OracleState:
        return self.state._of(self, max_rollback)


def module() -> Module:
    b = Builder()
    a, both = b.terminal(b.literal(b"a")), b.terminal(b.literal(b"ab"))
    return b.build(b.repeat(b.choice([b.seq([a, a]), both])))


def faulty(*faults: str) -> Constraint:
    class State(Faulty):
        __slots__ = ()

    State.faults = frozenset(faults)
    made, options = module(), CompileOptions()
    grammar = FaultyGrammar(Chart(made), frozenset(), VOCAB, options)
    grammar.state = State
    return Constraint._make(made, VOCAB, options, "faulty", grammar)


def run_checks(constraint: Constraint) -> None:
    ids = [0, 0, 2, 2]
    state = constraint.start()
    checks.check_mask_tells_commits(state)
    checks.check_clone_is_replay(constraint, ids)
    checks.check_rollback_is_replay(constraint, ids)
    checks.check_tokens_are_bytes(constraint, ids)
    checks.check_end_tokens(state)
    state.commit_bytes(b"ab")
    checks.check_completion(state)


def test_checks_pass_without_faults() -> None:
    run_checks(faulty())


@pytest.mark.parametrize("fault", ["mask", "stray bit", "token", "rollback", "endless", "clone", "completion"])
def test_checks_notice(fault: str) -> None:
    with pytest.raises((AssertionError, StateError)):
        run_checks(faulty(fault))


@pytest.mark.parametrize("fault", ["mask", "stray bit", "token"])
def test_comparing_notices(fault: str) -> None:
    oracle = compile_module(module(), VOCAB, CompileOptions(), OracleEngine(), (), (), 0.0)
    plan = Plan(3, 5, 100)
    with pytest.raises(Difference, match="after"):
        compare(oracle, [faulty(fault)], walks(b"ab", (2,), plan), plan, Counts())
    counts = Counts()
    compare(oracle, [faulty()], walks(b"ab", (2,), plan), plan, counts)
    assert counts.states > 10


class Careless:
    """A front-end with faults: no place, another module each time, other exceptions, everything is a source."""

    name = "careless"
    api_version = 1

    def __init__(self) -> None:
        self.times = 0

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        return str(source)

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        from glrmask_core.errors import GrammarError

        if text == "bad":
            raise GrammarError("bad")
        if text == "crash":
            raise KeyError(text)
        self.times += 1
        b = Builder()
        return Parsed(b.build(b.terminal(b.literal(b"x" * self.times))))


def test_front_end_checks_notice() -> None:
    careless = Careless()
    with pytest.raises(AssertionError, match="differ"):
        checks.check_parse_is_stable(careless, "x")
    with pytest.raises(AssertionError, match="no place"):
        checks.check_error(careless, "bad")
    assert "bad" == str(checks.check_error(careless, "bad", needs_place=False))
    with pytest.raises(AssertionError, match="no error"):
        checks.check_error(careless, "fine")
    with pytest.raises(KeyError):
        checks.check_hostile(careless, "crash")
    checks.check_hostile(careless, "bad")
