"""The engine behind its Python handles: threads, lifetimes, limits. What masks contain is tested elsewhere."""

from __future__ import annotations

import contextlib
import gc
import itertools
import random
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from glrmask_engine_native.state import NativeState

from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.errors import ConcurrentUseError, GrammarError, LimitExceededError, StateError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions, Limits, Optimization
from glrmask_core.state import ConstraintState, fill_masks
from glrmask_core.testing.checks import check_clone_is_replay, check_rollback_is_replay, mask_words, random_walk
from glrmask_core.testing.worlds import RandomDice, World, roll_world
from glrmask_core.vocab import Vocab

THREADS = 8


def compiled(module: Module, vocab: Vocab, **options: object) -> Constraint:
    chosen = CompileOptions(**options)  # type: ignore[arg-type]
    return compile_module(module, vocab, chosen, select_engine(chosen, "native"), (), (), 0.0)


def worlds(first: int, count: int) -> list[tuple[World, Constraint]]:
    """Random worlds that the engine takes, with their constraints."""
    found: list[tuple[World, Constraint]] = []
    for seed in itertools.count(first):
        if len(found) == count:
            break
        world = roll_world(RandomDice(seed))
        try:
            found.append((world, compiled(world.module, world.vocab, end_tokens=world.end_tokens)))
        except GrammarError:
            continue  # it matches nothing
    return found


def lists(build: Callable[[Builder, int], int] = lambda b, value: value) -> Module:
    """Nested lists of numbers."""
    b = Builder()
    value = b.rule("value")

    def t(text: bytes) -> int:
        return b.terminal(b.literal(text))

    number = b.terminal(b.repeat(b.bytes_class(b"0123456789"), 1))
    b.define(value, b.choice([number, b.seq([t(b"["), b.repeat(value, 0, None, t(b",")), t(b"]")])]))
    return b.build(build(b, value))


LETTERS = Vocab.from_id_to_bytes(
    {i: bytes((i,)) for i in range(256)} | {256: b"[[", 257: b"]]", 258: b"],", 259: b"12"}
)


@pytest.mark.parametrize("threads", [1, 2, 5, 100])
@pytest.mark.parametrize("extra", [0, 3])
def test_a_batch_is_its_masks(threads: int, extra: int) -> None:
    """One call for many states gives each what it gives alone, whatever was in the rows."""
    constraint = compiled(lists(), LETTERS)
    states = [constraint.start() for _ in range(17)]
    for n, state in enumerate(states):
        state.commit_bytes(b"[" * (n % 5) + b"1" * (n % 3))
    rows = np.full((len(states), constraint.mask_len() + extra), 0xFFFFFFFF, np.uint32)
    fill_masks(states, rows, threads=threads)
    for state, row in zip(states, rows, strict=True):
        expected = np.zeros(len(row), np.uint32)
        state.fill_mask(expected)
        assert expected.tolist() == row.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_raises_what_one_mask_raises(threads: int) -> None:
    """Under a limit that lets a grammar be compiled and started but no mask be made."""
    row, raised = np.zeros((6, 9), np.uint32), 0
    for limit in range(10_000, 40_000, 500):
        try:
            states = [compiled(lists(), LETTERS, limits=Limits(memory_bytes=limit)).start() for _ in range(6)]
        except LimitExceededError:
            continue
        try:
            states[4].fill_mask(row[4])
        except LimitExceededError:
            raised += 1
            with pytest.raises(LimitExceededError):
                fill_masks(states, row, threads=threads)
    assert raised


def checksum(constraint: Constraint, seed: int) -> list[object]:
    """Masks and flags along a random walk."""
    rng, state, seen = random.Random(seed), constraint.start(4), list[object]()
    for step in range(12):
        words = mask_words(state)
        seen += [words.tobytes(), state._flags()]
        allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()
        if not allowed:
            break
        state.commit_token(rng.choice(allowed))
        if step % 4 == 3:
            state = state.clone()
            state.rollback(1)
    return seen


# -- threads ---------------------------------------------------------------------------------------------------


def run_threads(body: Callable[[int], object]) -> None:
    """Call body(0), body(1), ... at once; the first failure is raised."""
    failures: list[BaseException] = []
    gate = threading.Barrier(THREADS)

    def run(number: int) -> None:
        gate.wait()
        try:
            body(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("mode", [Optimization.FAST_BUILD, Optimization.AUTO])
def test_threads_share_a_constraint(mode: Optimization) -> None:
    """Eight threads on cold constraints see what one thread sees, each going its own way round."""
    for world, alone in worlds(4000, 6):
        expected = {seed: checksum(alone, seed) for seed in range(6)}
        shared = compiled(world.module, world.vocab, end_tokens=world.end_tokens, optimization=mode)

        def body(number: int, shared: Constraint = shared, expected: dict[int, list[object]] = expected) -> None:
            for k in range(len(expected)):
                seed = (number + k) % len(expected)
                assert expected[seed] == checksum(shared, seed)

        run_threads(body)


def test_threads_compile_for_one_vocabulary() -> None:
    """The C vocabulary is built once, by whoever comes first; the constraints are all good."""
    module = lists()
    vocab = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)})
    expected = checksum(compiled(module, LETTERS), 1)[1::2]
    made: list[Constraint] = []
    run_threads(lambda number: made.append(compiled(module, vocab)))
    handles = {id(vocab.engine_cache["native"])}
    assert len(handles) == 1 and len(made) == THREADS
    assert all(mask_words(c.start()).any() for c in made)
    assert expected == checksum(compiled(module, LETTERS), 1)[1::2]


LONG = b"[" + b"[1,2,[3]]," * 60_000


def long_call(state: object, times: list[float], started: threading.Event) -> None:
    times.append(time.perf_counter())
    started.set()
    state._commit_bytes(LONG)  # type: ignore[attr-defined]
    times.append(time.perf_counter())


def test_the_gil_is_released() -> None:
    """While one thread is in a long call, another one runs Python."""
    state, times, started = compiled(lists(), LETTERS).start(0), list[float](), threading.Event()
    thread = threading.Thread(target=long_call, args=(state, times, started))
    ticks = []
    thread.start()
    started.wait()
    while thread.is_alive():
        ticks.append(time.perf_counter())
    thread.join()
    length = times[1] - times[0]
    assert any(times[0] + 0.25 * length < tick < times[0] + 0.75 * length for tick in ticks)


def test_two_threads_on_one_state() -> None:
    """The second one is told so, whatever it calls, and changes nothing. It may come too late: then again."""
    constraint = compiled(lists(), LETTERS)
    expected = constraint.start(0)
    expected.commit_bytes(LONG)
    told = set[str]()
    for _ in range(50):
        state, done = constraint.start(0), list[bool]()

        def commit(state: ConstraintState = state, done: list[bool] = done) -> None:
            while not done:
                with contextlib.suppress(ConcurrentUseError):  # the others may be first
                    state.commit_bytes(LONG)
                    done.append(True)

        thread = threading.Thread(target=commit)
        calls: dict[str, Callable[[], object]] = {
            "mask": state.mask,
            "clone": state.clone,
            "flags": state.is_accepting,
            "rollback": lambda state=state: state._rollback(1),  # type: ignore[misc]
            "commit": lambda state=state: state.commit_bytes(b""),  # type: ignore[misc]
        }
        thread.start()
        while thread.is_alive() and told != set(calls):
            for name, call in calls.items():
                try:
                    call()
                except ConcurrentUseError:
                    told.add(name)
        thread.join()
        assert np.array_equal(mask_words(expected), mask_words(state))
        if told == set(calls):
            return
    pytest.fail(f"in 50 long calls only {told} met them")


# -- lifetimes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_handles_may_be_dropped_in_any_order(order: tuple[int, ...]) -> None:
    """Vocabulary, constraint, state and clone; whatever is left goes on working."""
    module = lists()
    vocab = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)})
    constraint = compiled(module, vocab)
    state = constraint.start(4)
    state.commit_bytes(b"[1,[2")
    held: list[object] = [vocab, constraint, state, state.clone()]
    expected = mask_words(state).tobytes()
    last = held[order[-1]]
    del vocab, constraint, state
    for index in order[:-1]:
        held[index] = None
        gc.collect()
        for left in held[2:]:
            if left is not None:
                assert expected == mask_words(left).tobytes()  # type: ignore[arg-type]
    if order[-1] >= 2:
        last.commit_bytes(b"]]")  # type: ignore[attr-defined]
        assert last.is_accepting()  # type: ignore[attr-defined]


def test_dropped_states_are_freed() -> None:
    constraint = compiled(lists(), LETTERS)
    states = [constraint.start() for _ in range(10)]
    gone = [weakref.ref(state) for state in states]
    alive = weakref.ref(constraint)
    del states
    gc.collect()
    assert not any(ref() for ref in gone)
    assert alive() is constraint


def test_states_of_one_constraint_are_apart() -> None:
    constraint = compiled(lists(), LETTERS)
    first, second = constraint.start(), constraint.start()
    first.commit_bytes(b"[[1")
    assert np.array_equal(mask_words(second), mask_words(constraint.start()))
    clone = first.clone()
    clone.rollback(1)
    assert np.array_equal(mask_words(clone), mask_words(second))
    assert not np.array_equal(mask_words(first), mask_words(second))


# -- clones and rollbacks ------------------------------------------------------------------------------------------


def test_clones_and_rollbacks_equal_replays() -> None:
    for number, (_world, constraint) in enumerate(worlds(5000, 40)):
        ids = random_walk(constraint, random.Random(number), 12)
        check_clone_is_replay(constraint, ids)
        check_rollback_is_replay(constraint, ids)


def test_rollback_is_a_ring() -> None:
    """A long run with a short history: exactly the last ones can be undone."""
    state = compiled(lists(), LETTERS).start(3)
    masks = []
    for byte in b"[1,[2,3],45,[[6]]":
        masks.append(mask_words(state).tobytes())
        state.commit_token(byte)
    with pytest.raises(StateError):
        state.rollback(4)
    for back in (1, 2):
        state.rollback(back)
        assert masks[-1 if back == 1 else -3] == mask_words(state).tobytes()
    with pytest.raises(StateError):
        state.rollback(1)


# -- limits ----------------------------------------------------------------------------------------------------------


def wide(b: Builder, value: int) -> int:
    """Many rules and many lexer states."""
    parts = [b.terminal(b.literal(b"key %d" % i)) for i in range(60)]
    return b.choice([value, *(b.seq([part, value, part]) for part in parts)])


def endless(b: Builder, value: int) -> int:
    """A counted repeat that is left-recursive through its own body."""
    rule = b.rule("r")
    b.define(rule, b.repeat(b.choice([b.seq([rule, value]), value]), 90_000, 90_000))
    return rule


@pytest.mark.parametrize(
    ("name", "value", "build"),
    [
        ("states", 20, wide),
        ("lexer_states", 20, wide),
        ("memory_bytes", 4000, wide),
        ("expansion", 1000, endless),
        ("build_seconds", 1e-6, wide),
    ],
)
def test_limits_are_named(name: str, value: float, build: Callable[[Builder, int], int]) -> None:
    limits: dict[str, Any] = {name: value}
    with pytest.raises(LimitExceededError) as caught:
        compiled(lists(build), LETTERS, limits=Limits(**limits), optimization=Optimization.FAST_BUILD)
    assert name == caught.value.limit
    assert name in str(caught.value)


def test_token_bytes_is_named() -> None:
    with pytest.raises(LimitExceededError) as caught:
        compiled(lists(), Vocab.from_id_to_bytes({0: b"1" * 5000}))
    assert caught.value.limit == "token_bytes"


def test_the_memory_of_a_state_is_limited() -> None:
    """The commit that passes the limit changes nothing, and what it has left behind is cleared away."""
    constraint = compiled(lists(), LETTERS, limits=Limits(state_bytes=300_000), optimization=Optimization.FAST_BUILD)
    state = constraint.start(4)
    state.commit_bytes(b"[[")
    key = state._key()
    for _ in range(3):
        with pytest.raises(LimitExceededError, match=r"nothing changed, .*memory") as caught:
            state.commit_bytes(b"[" * 1_000_000)
        assert caught.value.limit == "state_bytes"
        assert key == state._key()
    assert not state.is_rejected() and not state.is_accepting()
    state.commit_bytes(b"[" * 500)
    state.commit_bytes(b"]" * 502)
    assert state.is_accepting()
    state.rollback(3)
    assert key != state._key() == constraint.start(4)._key()
    with pytest.raises(LimitExceededError) as caught:
        constraint.start(1_000_000)
    assert caught.value.limit == "state_bytes"


def test_a_limit_leaves_the_state_as_it_was() -> None:
    """Lexer states run out in the middle of a text; the state can be used on, and undone."""
    b = Builder()
    letter = b.bytes_class(b"ab")
    word = b.seq([b.repeat(letter), b.literal(b"a"), b.repeat(letter, 14, 14), b.literal(b".")])
    limits = Limits(lexer_states=400)
    constraint = compiled(b.build(b.terminal(word)), LETTERS, limits=limits, optimization=Optimization.FAST_BUILD)
    state, rng, done = constraint.start(10_000), random.Random(1), 0
    before = state.clone()
    with pytest.raises(LimitExceededError) as caught:
        for _ in range(5000):
            before = state.clone()
            state.commit_bytes(bytes(rng.choice(b"ab") for _ in range(3)))
            done += 1
    assert caught.value.limit == "lexer_states", str(caught.value)
    assert done > 20
    assert before._key() == state._key()
    assert before._flags() == state._flags() == 0
    state.rollback(done)
    assert constraint.start()._key() == state._key()
    with pytest.raises(StateError):
        state.rollback(1)
    state.commit_bytes(b"a")
    assert state._flags() == 0


def test_deep_and_long_texts() -> None:
    """200,000 brackets deep and back, and 200,000 bytes of shallow nesting in flat memory."""
    state = compiled(lists(), LETTERS).start(0)
    for _ in range(100_000):
        state.commit_token(256)
    for _ in range(100_000):
        state.commit_token(257)
    assert state.is_accepting()
    state = compiled(lists(), LETTERS).start(8)
    state.commit_bytes(b"[")
    sizes = []
    for _ in range(20):
        state.commit_bytes(b"[[1],[[2]],3]," * 720)
        mask_words(state)
        sizes.append(state_memory(state))
    assert max(sizes[10:]) <= max(sizes[:10])


def state_memory(state: object) -> int:
    from glrmask_engine_native._native import ffi, lib

    out = ffi.new("GmStateReport *")
    assert lib.gm_state_report(state._handle, out, ffi.NULL) == 0  # type: ignore[attr-defined]
    return int(out.memory_bytes)


@pytest.mark.parametrize("level", list(Optimization))
def test_only_closed_tables_are_tried_at_once(level: Optimization, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAST_RUNTIME makes a mask and a commit while it builds; the others leave all to the first call."""
    calls: list[str] = []
    fill, commit = NativeState.fill_mask, NativeState.commit_token
    monkeypatch.setattr(NativeState, "fill_mask", lambda self, words: calls.append("mask") or fill(self, words))
    monkeypatch.setattr(NativeState, "commit_token", lambda self, token: calls.append("commit") or commit(self, token))
    constraint = compiled(lists(), LETTERS, optimization=level)
    assert (["mask", "commit"] if level is Optimization.FAST_RUNTIME else []) == calls
    assert not constraint.start().is_accepting()


def test_closed_tables_of_odd_languages() -> None:
    """Only the end token is allowed at the start; no token is; there is no token."""
    b = Builder()
    nothing = b.build(b.seq([]))
    b = Builder()
    accent = b.build(b.terminal(b.literal("\u00e9".encode())))
    for vocab in (Vocab.from_id_to_bytes({0: b"x", 70: b"y"}), Vocab.from_id_to_bytes({})):
        for module, ends in ((nothing, (3,)), (nothing, ()), (accent, (3,)), (accent, ())):
            constraint = compiled(module, vocab, optimization=Optimization.FAST_RUNTIME, end_tokens=ends)
            words = np.zeros(constraint.mask_len(), np.uint32)
            constraint.start().fill_mask(words)
            assert [int(module is nothing) << 3 if ends and not n else 0 for n in range(len(words))] == words.tolist()
