"""Properties of random modules, drawn and shrunk by hypothesis."""

from __future__ import annotations

import contextlib
import random

import pytest

hypothesis = pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from glrmask_core import ir_codec  # noqa: E402
from glrmask_core.automata import DEAD, Automata  # noqa: E402
from glrmask_core.errors import LimitExceededError  # noqa: E402
from glrmask_core.ir import Builder, Module  # noqa: E402
from glrmask_core.ir_text import dump  # noqa: E402
from glrmask_core.options import Optimization  # noqa: E402
from glrmask_core.plugins import manager  # noqa: E402
from glrmask_core.regex import Dialect, RegexError, compile_regex  # noqa: E402
from glrmask_core.testing import checks  # noqa: E402
from glrmask_core.testing.compare import Counts, Plan, compare_program, compare_world, compile_world  # noqa: E402
from glrmask_core.testing.program_worlds import ProgramWorld  # noqa: E402
from glrmask_core.testing.strategies import lexicals, modules, programs, vocabularies, worlds  # noqa: E402
from glrmask_core.testing.worlds import World  # noqa: E402
from glrmask_core.vocab import Vocab  # noqa: E402

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def examples(count: int) -> settings:
    """The same examples in every run."""
    return settings(max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=SLOW)


NATIVE = "native" in manager().engines()
MODES = (Optimization.FAST_BUILD, Optimization.BALANCED)


@examples(50)
@given(modules())
def test_the_codec_brings_modules_back(module: Module) -> None:
    data = ir_codec.encode(module)
    again = ir_codec.decode(data)
    assert module.digest == again.digest
    assert data == ir_codec.encode(again)
    assert dump(module) == dump(again)


@examples(30)
@given(worlds(), st.integers(0, 1000))
def test_states_of_the_oracle(world: World, seed: int) -> None:
    constraint = compile_world(world, "oracle", Optimization.FAST_BUILD)
    if constraint is not None:
        ids = checks.random_walk(constraint, random.Random(seed), 3)
        checks.check_clone_is_replay(constraint, ids)
        checks.check_rollback_is_replay(constraint, ids)
        checks.check_tokens_are_bytes(constraint, ids, world.exact)


@pytest.mark.skipif(not NATIVE, reason="the native engine is not installed")
@examples(30)
@given(worlds(), st.integers(0, 1000))
def test_native_is_the_oracle(world: World, seed: int) -> None:
    compare_world(world, "native", MODES, Plan(1, 6, 5, random.Random(seed)), Counts())


@pytest.mark.skipif(not NATIVE, reason="the native engine is not installed")
@examples(30)
@given(programs(), st.integers(0, 1000))
def test_native_programs_are_the_oracle(world: ProgramWorld, seed: int) -> None:
    compare_program(world, "native", MODES, Plan(2, 4, 5, random.Random(seed)), Counts())


@examples(20)
@given(vocabularies())
def test_a_vocabulary_is_its_entries(vocab: Vocab) -> None:
    ids, offsets, blob = vocab.entries()
    texts = {int(i): blob[offsets[k] : offsets[k + 1]] for k, i in enumerate(ids)}
    assert texts == {i: vocab.bytes_of(i) for i in vocab.domain}
    assert vocab.identity == Vocab.from_id_to_bytes(dict(reversed(texts.items()))).identity
    assert vocab.identity != Vocab.from_id_to_bytes({**texts, 0: b"other"}).identity


@examples(60)
@given(st.data())
def test_live_states_lead_to_a_match(data: st.DataObject) -> None:
    builder = Builder()
    node = data.draw(lexicals(builder))
    automata = Automata(builder)
    state, text = automata.start(node), bytearray()
    for _ in range(30):
        if state == DEAD or automata.accepts(state):
            break
        arcs = list(automata.arcs(state))
        assert arcs, f"stuck after {bytes(text)!r}"
        mask, state = data.draw(st.sampled_from(arcs))
        text.append((mask & -mask).bit_length() - 1)
    assert (automata.start(node) == DEAD) == (state == DEAD)


@examples(150)
@given(st.text(st.sampled_from("ab()[]{}|*+?^$.\\-,:<>=!P dwu0123xé\n"), max_size=20), st.sampled_from(list(Dialect)))
def test_any_pattern_is_read_or_refused_with_a_place(pattern: str, dialect: Dialect) -> None:
    builder = Builder()
    try:
        node = compile_regex(pattern, builder, dialect=dialect, search=dialect is Dialect.ECMA)
    except RegexError as error:
        assert 0 <= error.offset <= len(pattern)
        return
    assert builder.is_lexical(node)
    with contextlib.suppress(LimitExceededError):
        Automata(builder, 20_000).start(node)
