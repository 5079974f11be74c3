"""The two oracles share no code for languages; they agree on the worlds of the sweep."""

from __future__ import annotations

import pytest

from glrmask_core.errors import GrammarError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions
from glrmask_core.testing.oracle import OracleEngine
from glrmask_core.testing.plain.oracle import OracleEngine as PlainEngine
from glrmask_core.testing.worlds import RandomDice, roll_world
from glrmask_core.vocab import Vocab


@pytest.mark.parametrize("seed", range(40))
def test_random_worlds(seed: int) -> None:
    world = roll_world(RandomDice(seed))
    options = CompileOptions(tuple(sorted(world.end_tokens)))
    try:
        expected = OracleEngine().compile(world.module, world.vocab, options)
    except GrammarError:
        with pytest.raises(GrammarError):
            PlainEngine().compile(world.module, world.vocab, options)
        return
    found = PlainEngine().compile(world.module, world.vocab, options)
    alphabet = [97, 98, 32, 40, *(-1 - token for token in sorted(found.exact)[:2])]
    words: list[tuple[int, ...]] = [()]
    for _ in range(3):
        words = [(*word, event) for word in words for event in alphabet if found.viable(word)]
        for word in words:
            assert expected.recognise(word) == found.answer(word), word


def test_automaton_labels_lose_the_empty_text() -> None:
    builder = Builder()
    label = builder.repeat(builder.literal(b"a"))
    module = builder.build(builder.terminal(builder.automaton(2, 0, [1], [(0, label, 1)])))
    vocab = Vocab.from_id_to_bytes({0: b"a"})
    for engine in (OracleEngine(), PlainEngine()):
        state = engine.compile(module, vocab, CompileOptions()).start(0)
        assert state.is_accepting()
        assert 0 == state._commit_bytes(b"aa")
        assert state.is_accepting()


def dead_extra(low: int) -> Module:
    """One required item, and an extra member that matches nothing."""
    builder = Builder()
    dead = builder.terminal(builder.both(builder.literal(b"a"), builder.literal(b"b")))
    item = builder.terminal(builder.literal(b")"))
    return builder.build(builder.any_order([(item, True)], None, dead, low))


def test_any_order_does_not_count_on_a_dead_extra_member() -> None:
    vocab = Vocab.from_id_to_bytes({0: b")"})
    for engine in (OracleEngine(), PlainEngine()):
        state = engine.compile(dead_extra(1), vocab, CompileOptions()).start(0)
        assert 0 == state._commit_bytes(b")")
        assert state.is_accepting()
        with pytest.raises(GrammarError):
            engine.compile(dead_extra(2), vocab, CompileOptions())
