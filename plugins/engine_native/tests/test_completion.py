"""Shortest completions against the plain search, and how their cost grows."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import Any

import numpy as np
import pytest

from glrmask_core import budget as budget_search
from glrmask_core import search
from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.errors import CompletionLengthError, GrammarError, LimitExceededError, StateError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions, Limits, Optimization
from glrmask_core.state import REJECTED, TERMINATED, ConstraintState
from glrmask_core.testing.worlds import RandomDice, roll_world
from glrmask_core.vocab import Vocab

EOS = 300
BYTES = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)} | {EOS: b"", 301: b"]]"})


def compiled(module: Module, vocab: Vocab = BYTES, **options: Any) -> Constraint:
    chosen = CompileOptions(**{"end_tokens": (EOS,), **options})
    return compile_module(module, vocab, chosen, select_engine(chosen, "native"), (), (), 0.0)


class G:
    """A builder with short names."""

    def __init__(self) -> None:
        self.b = Builder()

    def t(self, text: bytes) -> int:
        return self.b.terminal(self.b.literal(text))

    def many(self, members: bytes, low: int = 1, high: int | None = None) -> int:
        return self.b.terminal(self.b.repeat(self.b.bytes_class(members), low, high))

    def build(self, *parts: int, **options: Any) -> Constraint:
        return compiled(self.b.build(self.b.seq(list(parts))), **options)


def nested(open: bytes = b"[", close: bytes = b"]") -> Constraint:
    g = G()
    value = g.b.rule("value")
    values = g.b.repeat(value, 0, None, g.t(b","))
    g.b.define(value, g.b.choice([g.many(b"ab"), g.b.seq([g.t(open), values, g.t(close)])]))
    return g.build(value)


def completions(constraint: Constraint, *texts: bytes) -> list[bytes]:
    found = []
    for text in texts:
        state = constraint.start()
        state.commit_bytes(text)
        found.append(state.shortest_completion())
    return found


# -- what is found ----------------------------------------------------------------------------------------------


def test_nothing_is_open() -> None:
    constraint = nested()
    assert completions(constraint, b"ab", b"[]", b"[a,[b]]") == [b"", b"", b""]
    state = constraint.start()
    state.commit_tokens([97, EOS])
    assert state.shortest_completion() == b""


def test_the_least_of_the_shortest() -> None:
    g = G()
    first = g.b.choice([g.t(b"xyz"), g.t(b"b"), g.t(b"c"), g.t(b"a!")])
    constraint = g.build(first, g.b.choice([g.t(b"9"), g.t(b"1")]))
    assert completions(constraint, b"", b"x", b"a") == [b"b1", b"yz1", b"!1"]


def test_left_recursion() -> None:
    g = G()
    start, other = g.b.rule("s"), g.b.rule("o")
    g.b.define(start, g.b.choice([g.b.seq([other, g.t(b"+++")]), g.t(b"aaaa")]))
    g.b.define(other, g.b.choice([g.b.seq([start, g.t(b"-")]), g.b.seq([other, g.t(b"*")]), g.t(b"bb")]))
    constraint = g.build(start, g.t(b";"))
    assert completions(constraint, b"", b"b", b"bb", b"bb*", b"aaaa-", b"a") == [
        b"aaaa;",
        b"b+++;",
        b"+++;",
        b"+++;",
        b"+++;",
        b"aaa;",
    ]


def test_counted_repeats() -> None:
    g = G()
    item = g.b.seq([g.t(b"ab"), g.b.choice([g.t(b"c"), g.t(b"dd")])])
    constraint = g.build(g.b.repeat(item, 1_000, 2_000, g.t(b", ")), g.b.repeat(g.t(b"x"), 70_000, 70_000))
    assert completions(constraint, b"", b"abdd", b"abc, " * 999) == [
        b", ".join([b"abc"] * 1000) + b"x" * 70_000,
        b"".join([b", abc"] * 999) + b"x" * 70_000,
        b"abc" + b"x" * 70_000,
    ]


def test_any_order() -> None:
    g = G()
    items = [(g.t(b"aaa"), True), (g.t(b"b"), False), (g.t(b"cc"), True), (g.t(b"dddd"), False)]
    constraint = g.build(g.b.any_order(items, separator=g.t(b","), low=3))
    assert completions(constraint, b"", b"dddd", b"b,", b"aaa,cc") == [b"aaa,b,cc", b",aaa,cc", b"aaa,cc", b",b"]


def test_intersections_and_differences() -> None:
    g = G()
    b = g.b
    anything = b.repeat(b.bytes_class(range(32, 127)))
    has = [b.seq([anything, b.literal(x), anything]) for x in (b"foo", b"oba", b"zz")]
    both = b.terminal(b.both(b.both(has[0], has[1]), has[2]))
    name = b.terminal(b.without(b.repeat(b.bytes_class(b"ab"), 1), b.literals([b"a", b"b", b"aa", b"ab"])))
    constraint = g.build(both, g.t(b"\n"), name)
    assert completions(constraint, b"", b"zz", b"foozz") == [b"foobazz\nba", b"fooba\nba", b"oba\nba"]
    with pytest.raises(StateError):  # the first terminal goes on as long as it can, so nothing can follow it
        g.build(both, g.t(b";")).start().shortest_completion()


def test_what_a_terminal_owes() -> None:
    """An identifier right before a keyword would swallow it: the completion has a space although ends are nearer."""
    g = G()
    space = g.b.repeat(g.b.bytes_class(b" "), 1)
    name = g.b.terminal(g.b.repeat(g.b.bytes_class(b"abcdefghijklmnopqrstuvwxyz"), 1))
    scope = g.b.scope(g.b.seq([g.t(b"if"), name, g.t(b"then"), name, g.t(b"end")]), space)
    constraint = g.build(scope)
    assert completions(constraint, b"", b"if", b"ifa", b"ifa t") == [
        b"ifa thena end",
        b"a thena end",
        b" thena end",
        b"hena end",
    ]


def test_exact_tokens_are_not_tried() -> None:
    g = G()
    constraint = g.build(g.b.choice([g.b.token_ids([301]), g.t(b"long")]))
    assert completions(constraint, b"") == [b"long"]
    only = G()
    state = only.build(only.t(b"a"), only.b.token_ids([301])).start()
    with pytest.raises(StateError, match="exact token"):
        state.shortest_completion()
    assert ids_of_mask(state.mask(budget=3)) == [97] and ids_of_mask(state.mask(budget=2)) == []


def ids_of_mask(mask: Any) -> list[int]:
    return np.flatnonzero(mask).tolist()


def test_no_text_completes_what_an_exact_token_must_follow() -> None:
    g = G()
    state = g.build(g.t(b"["), g.b.token_ids([301]), g.t(b"]")).start()
    state.commit_bytes(b"[")
    with pytest.raises(StateError):
        state.shortest_completion()


# -- against the plain search -----------------------------------------------------------------------------------


def walk(seed: int) -> list[ConstraintState]:
    """The states along a random text of a random grammar."""
    world = roll_world(RandomDice(seed))
    mode = list(Optimization)[seed % 4]
    try:
        options = {"end_tokens": world.end_tokens, "optimization": mode, "background": False}
        constraint = compiled(world.module, world.vocab, **options)
    except (GrammarError, LimitExceededError):
        return []
    rng, found = random.Random(seed), list[ConstraintState]()
    state = constraint.start(rng.choice([0, 64]))
    for _ in range(rng.randrange(1, 8)):
        if state._flags() & (REJECTED | TERMINATED):
            break
        found.append(state.clone())
        allowed = ids_of_mask(state.mask())
        if not allowed:
            break
        state.commit_token(rng.choice(allowed))
    return found


@pytest.mark.parametrize("seed", range(0, 240, 20))
def test_as_the_plain_search(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SEARCH_COMMITS", 20_000)
    for state in [s for number in range(seed, seed + 20) for s in walk(number)]:
        try:
            expected = search.completion(state)
        except LimitExceededError:
            continue
        assert state._completion(10**6) == expected, seed


@pytest.mark.parametrize("seed", range(1000, 1160, 20))
def test_budgets_as_tokens_tell(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What bytes settle is what trying tokens would say."""
    monkeypatch.setattr(search, "SEARCH_COMMITS", 3_000)
    for number in range(seed, seed + 20):
        for state in walk(number):
            budget, by_tokens = random.Random(number).randrange(1, 8), budget_search._Finish()
            try:
                kept = ids_of_mask(state.mask(budget=budget))
                expected = []
                for token in ids_of_mask(state.mask()):
                    after = state.clone()
                    after.commit_token(token)
                    if by_tokens.within(after, budget - 1):
                        expected.append(token)
            except LimitExceededError:
                continue
            assert kept == expected, (number, budget)


def test_budgets_of_shortest_completions() -> None:
    """What is kept is kept by the exact answer too, and leads to the end within the budget, whatever is chosen."""
    checked = 0
    for number in range(2000, 2150):
        rng = random.Random(number)
        for state in walk(number):
            budget = rng.randrange(1, 9)
            try:
                kept = ids_of_mask(state.mask(budget=budget, exact=False))
            except LimitExceededError:
                continue
            with contextlib.suppress(LimitExceededError):  # the exact answer takes too long
                assert set(kept) <= set(ids_of_mask(state.mask(budget=budget))), (number, budget)
            ends, first = state.constraint.end_tokens, bool(kept)
            while kept:
                state.commit_token(rng.choice(kept))
                budget -= 1
                if not budget:
                    break
                kept = ids_of_mask(state.mask(budget=budget, exact=False))
                assert kept or state.is_terminated() or (state.is_accepting() and not ends), (number, budget)
            if first:
                assert state.is_terminated() or (state.is_accepting() and not ends), number
                checked += 1
    assert checked > 50


# -- depth ------------------------------------------------------------------------------------------------------


def test_deep_nesting_is_linear() -> None:
    constraint, seconds = nested(), []
    for depth in (20_000, 200_000):
        state = constraint.start()
        state.commit_bytes(b"[" * depth)
        started = time.thread_time()
        assert state.shortest_completion() == b"]" * depth
        seconds.append(time.thread_time() - started)
    assert seconds[1] < 40 * seconds[0] + 0.5, seconds  # ten times the depth


def test_budgets_of_deep_states() -> None:
    state, depth = nested().start(), 100_000
    state.commit_bytes(b"[" * depth)
    need = depth // 2 + 1  # "]]" and the end token
    assert ids_of_mask(state.mask(budget=need - 1)) == []
    assert ids_of_mask(state.mask(budget=need)) == [301]
    assert ids_of_mask(state.mask(budget=need + 1)) == [ord("]"), ord("a"), ord("b"), 301]
    assert ids_of_mask(state.mask(budget=need + 2)) == [ord("["), ord("]"), ord("a"), ord("b"), 301]
    plain = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)})
    state = compiled(nested().module, plain, end_tokens=()).start()
    state.commit_bytes(b"[" * 5_000)
    assert ids_of_mask(state.mask(budget=5_000)) == [ord("]")]


@pytest.mark.parametrize("count", [2**22 + 1, 2**31 - 1])
def test_very_long_completions_are_refused_at_once(count: int) -> None:
    g = G()
    state = g.build(g.b.repeat(g.t(b"a"), count, count), g.t(b"b")).start()
    with pytest.raises(CompletionLengthError, match=f"at least {count + 1} bytes") as caught:
        state.shortest_completion()
    assert caught.value.limit == "completion_bytes" and caught.value.least == count + 1
    assert ids_of_mask(state.mask(budget=10**6)) == []


def test_samples_of_deep_grammars_end() -> None:
    constraint = nested(b"[[[[", b"]]]]")
    for seed in range(5):
        assert constraint.accepts(constraint.sample(seed, 2_000))


def test_a_limit_is_named() -> None:
    constraint = compiled(nested().module, limits=Limits(state_bytes=3_000_000))
    state = constraint.start(0)
    state.commit_bytes(b"[" * 9_000)
    with pytest.raises(LimitExceededError, match="state_bytes"):
        for _ in range(60):
            state.commit_bytes(b"[" * 500)
            state.shortest_completion()


def test_threads_share_the_tables() -> None:
    for _ in range(20):
        constraint, found = nested(), list[bytes]()
        ready = threading.Barrier(4)

        def ask(constraint: Constraint = constraint, found: list[bytes] = found, ready: Any = ready) -> None:
            state = constraint.start()
            state.commit_bytes(b"[a,[")
            ready.wait()
            found.append(state.shortest_completion())

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [b"]]"] * 4


def test_long_sequences_inside_a_terminal() -> None:
    """They are long to the right, which must not be a recursion."""
    g = G()
    pairs = [g.b.bytes_class(b"ab"), g.b.bytes_class(b"cd")] * 100_000
    text = g.build(g.b.terminal(g.b.seq(pairs))).start().shortest_completion()
    assert text == b"ac" * 100_000
