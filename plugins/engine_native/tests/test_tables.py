"""Saved tables of FAST_RUNTIME: complete, the same for equal inputs, and refused where they do not fit."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

import pytest
from glrmask_engine_native.worker import worker

from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.errors import ArtifactError
from glrmask_core.ir import Builder, Module
from glrmask_core.ir_link import inline
from glrmask_core.options import CompileOptions, Limits, Optimization
from glrmask_core.protocols import CompiledGrammar
from glrmask_core.testing.checks import check_save_and_load, mask_words, random_walk
from glrmask_core.testing.compare import compile_world
from glrmask_core.testing.worlds import RandomDice, roll_world
from glrmask_core.vocab import Vocab

CLOSED = CompileOptions(optimization=Optimization.FAST_RUNTIME)


def vocabulary() -> Vocab:
    """More tokens than a list of ids may hold, so that there are dense sets."""
    rng = random.Random(5)
    texts = [bytes([b]) for b in range(256)]
    texts += ["".join(rng.choices('abcxyz019"{}[]:, ', k=rng.randint(2, 6))).encode() for _ in range(4000)]
    return Vocab.from_id_to_bytes(dict(enumerate(dict.fromkeys(texts))))


VOCAB = vocabulary()


def values(n: int = 3) -> Module:
    """Nested lists and keys, free strings and bounded ones, a difference and an intersection, white space."""
    b = Builder()
    letter = b.chars([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF)])
    quote = b.literal(b'"')
    string = b.terminal(b.seq([quote, b.repeat(letter, 0), quote]))
    short = b.terminal(b.seq([quote, b.both(b.repeat(letter, 1, 20), b.repeat(b.bytes_class(b"abcxyz"), 0)), quote]))
    name = b.terminal(b.without(b.repeat(b.bytes_class(b"abcxyz"), 1), b.literals([b"abc", b"xyz"])))
    number = b.terminal(b.repeat(b.bytes_class(b"0123456789"), 1, 9))
    comma = b.terminal(b.literal(b","))
    value = b.rule("value")
    keys = [b.seq([b.terminal(b.literal(b'"key_%d":' % i)), short]) for i in range(n)]
    pairs = b.seq([b.terminal(b.literal(b"{")), b.repeat(b.choice(keys), 0, None, comma), b.terminal(b.literal(b"}"))])
    items = b.seq([b.terminal(b.literal(b"[")), b.repeat(value, 0, None, comma), b.terminal(b.literal(b"]"))])
    b.define(value, b.choice([string, name, number, pairs, items]))
    return b.build(b.scope(value, b.repeat(b.bytes_class(b" \n"), 1)))


def compiled(module: Module, vocab: Vocab = VOCAB, options: CompileOptions = CLOSED) -> Constraint:
    return compile_module(module, vocab, options, select_engine(options, "native"), (), (), 0.0)


def figures(constraint: Constraint) -> dict[str, int]:
    return dict(constraint.compiled.report())


def test_loaded_tables_are_complete_and_equal() -> None:
    constraint = compiled(values())
    data = constraint.save_with_external_vocab()
    loaded = Constraint.load(data, VOCAB)
    for seed in range(30):
        one, other = constraint.start(0), loaded.start(0)
        for token in [*random_walk(constraint, random.Random(seed), 12), None]:
            assert mask_words(one).tobytes() == mask_words(other).tobytes()
            if token is not None:
                one.commit_token(token)
                other.commit_token(token)
    assert figures(constraint)["walked"] > 10_000
    assert figures(loaded)["walked"] == 0
    assert figures(loaded)["memory_bytes"] < figures(constraint)["memory_bytes"]
    assert constraint.save_with_external_vocab() == data == loaded.save_with_external_vocab()


def test_bytes_do_not_depend_on_what_the_vocabulary_has_kept() -> None:
    other = vocabulary()
    for n in (7, 1, 5):
        compiled(values(n), other)
        compiled(values(n), other, CompileOptions(optimization=Optimization.BALANCED))
    assert compiled(values()).save() == compiled(values(), other).save() == compiled(values(), vocabulary()).save()


@pytest.mark.parametrize("seed", range(40))
def test_random_grammars(seed: int) -> None:
    world = roll_world(RandomDice(7000 + seed))
    constraint = compile_world(world, "native", Optimization.FAST_RUNTIME)
    if constraint is None:
        pytest.skip("matches nothing")
    check_save_and_load(constraint, random_walk(constraint, random.Random(seed), 12))
    assert constraint.compiled.save()


def test_a_grammar_of_the_empty_text_alone() -> None:
    builder = Builder()
    constraint = compiled(builder.build(builder.seq([])))
    check_save_and_load(constraint, [])
    assert Constraint.load(constraint.save()).start().is_accepting()


def test_other_modes_save_no_tables() -> None:
    sizes = {}
    for mode in Optimization:
        constraint = compiled(values(), options=CompileOptions(optimization=mode, background=False))
        constraint.start().mask()
        sizes[mode] = len(constraint.compiled.save())
    closed = sizes.pop(Optimization.FAST_RUNTIME)
    assert closed > 1000
    assert set(sizes.values()) == {0}


def test_nothing_that_was_filled_later_is_saved() -> None:
    """Neither by running nor by AUTO's worker."""
    options = CompileOptions(optimization=Optimization.AUTO)
    constraint = compiled(values(), options=options)
    before = constraint.save_with_external_vocab()
    for seed in range(5):
        random_walk(constraint, random.Random(seed), 20)
    assert worker.wait(20)
    assert figures(constraint)["summaries"] > 20
    assert constraint.save_with_external_vocab() == before


def longest_gap(call: Callable[[], object]) -> tuple[float, float]:
    """The longest time for which this thread did not run while another one ran ``call``, and how long that took."""
    took: list[float] = []

    def run() -> None:
        started = time.perf_counter()
        call()
        took.append(time.perf_counter() - started)

    thread = threading.Thread(target=run)
    last, gap = time.perf_counter(), 0.0
    thread.start()
    while not took:
        now = time.perf_counter()
        last, gap = now, max(gap, now - last)
        time.sleep(0)
    thread.join()
    return gap, took[0]


def test_compiling_linking_saving_and_loading_release_the_interpreter_lock() -> None:
    """Held over the whole call, the lock would leave a gap as long as the call."""
    module, engine = values(15_000), select_engine(CLOSED, "native")
    b = Builder()
    linked = inline(b.build(b.seq([b.terminal(b.literal(b"<")), b.extern_grammar("X")])), {"X": module}, {})
    made: list[CompiledGrammar] = []
    tables: list[bytes] = []
    for call in (
        lambda: made.append(engine.compile(module, VOCAB, CLOSED)),
        lambda: engine.link(linked, VOCAB, CLOSED, made[:1]),  # type: ignore[attr-defined]
        lambda: tables.append(made[0].save()),
        lambda: engine.load(module, VOCAB, CLOSED, tables[0]),
    ):
        runs = (longest_gap(call) for _ in range(5))  # on a busy machine some other process may take the time
        assert any(took > 0.05 and gap < took / 2 for gap, took in runs)


def test_tables_of_others_are_refused() -> None:
    engine = select_engine(CLOSED, "native")
    module = values()
    tables = compiled(module).compiled.save()
    assert engine.load(module, VOCAB, CLOSED, tables).save() == tables
    small = Vocab.from_id_to_bytes({0: b"a", 1: b'"', 2: b"["})
    for other, vocab in ((module, small), (values(4), VOCAB)):
        with pytest.raises(ArtifactError):
            engine.load(other, vocab, CLOSED, tables)
    with pytest.raises(ArtifactError, match="compiled without"):
        engine.load(module, VOCAB, CompileOptions(optimization=Optimization.BALANCED), tables)
    with pytest.raises(ArtifactError, match="version"):
        engine.load(module, VOCAB, CLOSED, b"\x7f" + tables[1:])
    for bad in (tables[:-1], tables + b"\0", tables[:1]):
        with pytest.raises(ArtifactError, match=r"do not hold together|another"):
            engine.load(module, VOCAB, CLOSED, bad)


def test_limits_hold_while_loading() -> None:
    data = compiled(values()).save_with_external_vocab()
    with pytest.raises(ArtifactError, match="memory_bytes"):
        Constraint.load(data, VOCAB, limits=Limits(memory_bytes=100_000))
