"""One state used by several threads at once: an error by name, and nothing breaks."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.errors import ConcurrentUseError, LimitExceededError, MaskShapeError, StateError
from glrmask_core.ir import Builder
from glrmask_core.options import CompileOptions, Limits
from glrmask_core.state import ConstraintState, fill_masks
from glrmask_core.vocab import Vocab

BYTES = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)})
SECONDS = 1.5


def nested(limits: Limits | None = None) -> Constraint:
    b = Builder()
    value = b.rule("value")

    def t(text: bytes) -> int:
        return b.terminal(b.literal(text))

    b.define(value, b.choice([t(b"1"), b.seq([t(b"["), b.repeat(value, 0, None, t(b",")), t(b"]")])]))
    options = CompileOptions(limits=limits or Limits())
    return compile_module(b.build(value), BYTES, options, select_engine(options, "native"), (), (), 0.0)


@pytest.fixture
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def hammer(state: ConstraintState, seed: int, until: float, found: Counter[str]) -> None:
    """Random calls; every outcome that is not documented is counted as "broken"."""
    rng = random.Random(seed)
    buffers = [np.zeros(n, np.uint32) for n in (8, 4000, 8)]
    calls: list[Callable[[], object]] = [
        lambda: state.fill_mask(rng.choice(buffers)),
        lambda: state.fill_mask(rng.choice(buffers)),
        state.mask,
        lambda: state.commit_token(rng.choice(b"[1,]")),
        lambda: state.commit_bytes(b"[1,"),
        lambda: state.rollback(rng.randrange(3)),
        lambda: state.clone().mask(),
        lambda: state.validate_tokens([91, 93]),
        lambda: state.explain(rng.randrange(256)),
        lambda: fill_masks([state, state.clone()], np.zeros((2, 8), np.uint32), 2),
        lambda: state.commit_tokens([91, 91]),
        state.is_accepting,
    ]
    while time.monotonic() < until:
        try:
            rng.choice(calls)()
            found["done"] += 1
        except (ConcurrentUseError, StateError) as error:
            found[type(error).__name__] += 1
        except BaseException as error:
            found[f"broken: {error!r}"] += 1


@pytest.mark.usefixtures("many_switches")
def test_four_threads_on_one_state() -> None:
    state = nested().start(max_rollback=1000)
    found: Counter[str] = Counter()
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=hammer, args=(state, seed, until, found)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == [what for what in found if what.startswith("broken")]
    assert found["done"]
    state.clone().mask()  # it still works


@pytest.mark.usefixtures("many_switches")
def test_errors_are_those_of_the_thread() -> None:
    """Threads that run into a limit and threads that find the state in use are told just that."""
    state = nested(Limits(state_bytes=150_000)).start(0)
    until, wrong = time.monotonic() + SECONDS, []
    text = b"[" * 200_000

    def limited() -> None:
        while time.monotonic() < until:
            try:
                state.clone().commit_bytes(text)
                wrong.append("no limit")
            except LimitExceededError as error:
                if error.limit != "state_bytes" or "memory" not in str(error):
                    wrong.append(str(error))
            except ConcurrentUseError as error:
                if "thread" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=limited) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == wrong


def test_buffers_of_different_sizes_are_not_mixed_up() -> None:
    """A thread that is stopped between its look at the buffer and its call must not use another one's length."""
    state = nested().start()
    small, large = np.zeros(8, np.uint32), np.zeros(100_000, np.uint32)
    for words in (small, large, small, large):
        state.fill_mask(words)
        last, _, count = state._last  # type: ignore[attr-defined]
        assert last is words and count == len(words)


def test_a_buffer_that_changes_between_calls_is_checked_again() -> None:
    state = nested().start()
    words = np.zeros(12, np.uint32)
    state.fill_mask(words)
    words.resize(20, refcheck=False)
    state.fill_mask(words)
    assert words.any() and not words[8:].any()
    words.resize(7, refcheck=False)
    with pytest.raises(MaskShapeError, match="7 words"):
        state.fill_mask(words)
    words = np.zeros(8, np.uint32)
    state.fill_mask(words)
    words.flags.writeable = False
    with pytest.raises(MaskShapeError, match="read-only"):
        state.fill_mask(words)
