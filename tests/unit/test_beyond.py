"""api.md section 10a: rollback, batches, drafts, explanations, completions, budgets, samples, reports."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Vocab
from glrmask_core.state import Commit

EOS = 20


def allowed(state: glrmask.ConstraintState) -> list[int]:
    return np.flatnonzero(state.mask()).tolist()


@pytest.fixture
def compiled(grammar: Any, letters: Vocab, engine: str) -> Any:
    return lambda text, **options: grammar(text).compile(letters, engine=engine, **options)


# -- rollback -------------------------------------------------------------------------------------------------


def test_rollback_equals_replay(compiled: Any) -> None:
    constraint = compiled("a b* c x* | ab c y", end_tokens=[EOS])
    rng = random.Random(5)
    for _ in range(20):
        state, ids = constraint.start(), []
        for _ in range(6):
            choices = allowed(state)
            if not choices:
                break
            ids.append(rng.choice(choices))
            state.commit_token(ids[-1])
        n = rng.randint(0, len(ids))
        state.rollback(n)
        replayed = constraint.start()
        for token in ids[: len(ids) - n]:
            replayed.commit_token(token)
        assert allowed(replayed) == allowed(state) and repr(replayed) == repr(state)


def test_rollback_undoes_end_tokens_failures_and_bytes(compiled: Any) -> None:
    state = compiled("a b", end_tokens=[EOS]).start()
    state.commit_bytes(b"ab")
    state.commit_token(EOS)
    state.rollback(1)
    assert state.is_accepting() and not state.is_terminated() and [EOS] == allowed(state)
    with pytest.raises(ValueError):
        state.commit_token(0)
    state.rollback(1)
    assert [EOS] == allowed(state)
    state.rollback(1)
    assert [0, 6, 21] == allowed(state)


def test_refusals_that_change_nothing_are_no_steps(compiled: Any) -> None:
    state = compiled("a b").start()
    state.commit_token(0)
    with pytest.raises(ValueError, match="neither"):
        state.commit_token(19)
    state.commit_bytes(b"")
    state.rollback(1)
    assert [0, 6, 21] == allowed(state)


def test_history_is_bounded(compiled: Any) -> None:
    constraint = compiled("a a*")
    state = constraint.start()
    for _ in range(70):
        state.commit_token(0)
    with pytest.raises(glrmask.StateError, match="rollback\\(65\\)"):
        state.rollback(65)
    state.rollback(64)
    with pytest.raises(glrmask.StateError):
        state.rollback(1)
    state.rollback(0)
    short = constraint.start(max_rollback=2)
    for _ in range(4):
        short.commit_token(0)
    short.rollback(2)
    with pytest.raises(glrmask.StateError):
        short.rollback(1)
    none = constraint.start(max_rollback=0)
    none.commit_token(0)
    with pytest.raises(glrmask.StateError):
        none.rollback(1)


def test_rollback_arguments(compiled: Any) -> None:
    state = compiled("a").start()
    with pytest.raises(OverflowError):
        state.rollback(-1)
    with pytest.raises(TypeError):
        state.rollback(1.0)
    with pytest.raises(OverflowError):
        compiled("a").start(max_rollback=-1)


# -- several tokens -------------------------------------------------------------------------------------------


def test_validate_tokens(compiled: Any) -> None:
    state = compiled("a b c", end_tokens=[EOS]).start()
    expected = {
        (): 0,
        (0,): 1,
        (0, 1, 2): 3,
        (0, 1, 2, EOS): 4,
        (0, 1, 2, EOS, EOS): 4,
        (0, EOS): 1,
        (0, 0): 1,
        (99, 0): 0,
        (0, -1): 1,
        (0, 2**40): 1,
    }
    assert expected == {ids: state.validate_tokens(list(ids)) for ids in expected}
    assert [0, 6, 8, 21] == allowed(state)
    with pytest.raises(TypeError):
        state.validate_tokens(["a"])


def test_commit_tokens_all_or_nothing(compiled: Any) -> None:
    state = compiled("a b c", end_tokens=[EOS]).start()
    for bad, message in (([0, 0], "token 1 of 2"), ([0, 99], "token 1 of 2: token 99"), ([0, 1, EOS], "token 2 of 3")):
        with pytest.raises(glrmask.StateError, match=message):
            state.commit_tokens(bad)
        assert [0, 6, 8, 21] == allowed(state) and not state.is_rejected()
    for bad in ([0, "b"], [0, None]):
        with pytest.raises(TypeError):
            state.commit_tokens(bad)
    state.commit_tokens([])
    state.commit_tokens([0, 7, EOS])
    assert state.is_terminated()
    state.rollback(3)
    assert [0, 6, 8, 21] == allowed(state)


# -- batches --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_fill_masks(compiled: Any, threads: int, dtype: Any) -> None:
    constraints = [compiled("a b"), compiled("b* x", end_tokens=[50]), compiled("z")]
    states = [constraints[n % 3].start() for n in range(7)]
    states.append(states[0])
    states[0].commit_token(0)
    out = np.full((8, 3), -1).astype(dtype)
    glrmask.fill_masks(states, out, threads=threads)
    for state, row in zip(states, out, strict=True):
        expected = np.full(3, -1).astype(dtype)
        state.fill_mask(expected)
        assert expected.tolist() == row.tolist()


def test_fill_masks_arguments(compiled: Any) -> None:
    states = [compiled("a").start() for _ in range(2)]
    good = np.zeros((2, 1), np.int32)
    for wrong in (np.zeros(2, np.int32), np.zeros((2, 1), np.int64), [[0], [0]]):
        with pytest.raises(TypeError):
            glrmask.fill_masks(states, wrong)  # type: ignore[arg-type]
    for short in (np.zeros((1, 1), np.int32), np.zeros((3, 1), np.int32), np.zeros((2, 0), np.int32), good[::-1]):
        with pytest.raises(glrmask.MaskShapeError):
            glrmask.fill_masks(states, short)
    with pytest.raises(TypeError, match="states\\[1\\]"):
        glrmask.fill_masks([states[0], "x"], good)  # type: ignore[list-item]
    with pytest.raises(OverflowError):
        glrmask.fill_masks(states, good, threads=-1)
    glrmask.fill_masks([], np.zeros((0, 4), np.int32))


# -- drafts ---------------------------------------------------------------------------------------------------


def rows(out: Any) -> list[list[int]]:
    return [[t for t in range(32) if int(row[0]) >> t & 1] for row in out.view(np.uint32)]


def test_draft_chain(compiled: Any) -> None:
    state = compiled("a b c", end_tokens=[EOS]).start()
    out = np.full((5, 2), -1, np.int32)
    state.fill_draft_masks([0, 1, 2, EOS], out)
    assert [[0, 6, 8, 21], [1, 7], [2], [EOS], []] == rows(out)
    assert (out[:, 1] == 0).all() and [0, 6, 8, 21] == allowed(state)
    state.fill_draft_masks([0, 0, 1, 2], out)
    assert [[0, 6, 8, 21], [1, 7], [], [], []] == rows(out)
    state.fill_draft_masks([], out[:1])
    assert [[0, 6, 8, 21]] == rows(out[:1])


def test_draft_tree(compiled: Any) -> None:
    state = compiled("a b c | a x y | b").start()
    ids, parents = [0, 1, 1, 3, 2, 4, 5], [-1, 0, -1, 0, 1, 3, 2]
    out = np.zeros((8, 1), np.uint32)
    state.fill_draft_masks(ids, out, parents)
    expected = [allowed(state)]
    for at in range(len(ids)):
        path = []
        while at >= 0:
            path.append(ids[at])
            at = parents[at]
        twin = state.clone()
        fits = twin.validate_tokens(path[::-1]) == len(path)
        if fits:
            twin.commit_tokens(path[::-1])
        expected.append(allowed(twin) if fits else [])
    assert expected == rows(out)


def test_draft_arguments(compiled: Any) -> None:
    state = compiled("a b").start()
    out = np.zeros((3, 1), np.int32)
    for parents in ([-1], [-1, 1], [0, 0], [-1, 2]):
        with pytest.raises(ValueError, match="parents"):
            state.fill_draft_masks([0, 1], out, parents)
    with pytest.raises(OverflowError):
        state.fill_draft_masks([0, 1], out, [-1, -2])
    with pytest.raises(ValueError, match="rows"):
        state.fill_draft_masks([0], out)
    with pytest.raises(TypeError):
        state.fill_draft_masks([0, "b"], out)


# -- explain --------------------------------------------------------------------------------------------------


def test_explain_accepted_and_refused(compiled: Any) -> None:
    state = compiled("a b c | a x", end_tokens=[EOS]).start()
    assert state.explain(8).accepted and state.explain(b"ab").accepted and state.explain(b"").accepted
    refused = state.explain(b"aby")
    assert (False, 2, frozenset({99})) == (refused.accepted, refused.offset, refused.next_bytes)
    assert "offset 2" in str(refused) and "'c'" in str(refused)
    token = state.explain(9)
    assert (False, 9, b"xy", 0) == (token.accepted, token.given, token.data, token.offset)
    assert "token 9 (b'xy')" in str(token) and "'a'" in str(token)
    assert [0, 6, 8, 21] == allowed(state)


def test_explain_other_reasons(compiled: Any, letters: Vocab) -> None:
    state = compiled("a b", end_tokens=[EOS]).start()
    assert "no slot" not in state.explain(EOS).reason and "not complete" in state.explain(EOS).reason
    assert "neither vocabulary" in state.explain(19).reason
    state.commit_bytes(b"ab")
    assert "takes no more bytes" in state.explain(b"a").reason
    assert state.explain(EOS).accepted
    state.commit_token(EOS)
    assert "after an end token" in state.explain(0).reason
    plain = compiled("a").start()
    assert "no slot for it" in plain.explain(EOS).reason
    with pytest.raises(ValueError):
        plain.commit_token(1)
    assert "rejected by an earlier commit" in plain.explain(0).reason


def test_explain_arguments(compiled: Any) -> None:
    state = compiled("a").start()
    with pytest.raises(TypeError, match="encode"):
        state.explain("a")
    with pytest.raises(TypeError):
        state.explain(1.0)
    with pytest.raises(OverflowError):
        state.explain(-1)


def test_explain_names_what_the_engine_names(compiled: Any, grammar: Any) -> None:
    state = compiled("a b").start()
    nodes = state._expected()
    if nodes is None:
        pytest.skip("this engine does not name terminals")
    assert ["a (1:1)"] == [str(e) for e in state.explain(b"b").expected]


def test_byte_ranges() -> None:
    from glrmask_core.explain import byte_ranges

    assert "0x09 0x20 'a'-'c' 0x80-0xff" == byte_ranges(frozenset({9, 32, *b"abc", *range(128, 256)}))
    assert "" == byte_ranges(frozenset())


# -- accepts, sample, completions, budgets --------------------------------------------------------------------


def test_accepts(compiled: Any) -> None:
    constraint = compiled("a b* | %c3a9", end_tokens=[EOS])
    words = ["".join(w) for n in range(4) for w in itertools.product("abc", repeat=n)]
    assert ["a", "ab", "abb"] == [w for w in words if constraint.accepts(w)]
    assert constraint.accepts("é") and constraint.accepts("é".encode()) and constraint.accepts(bytearray(b"a"))
    assert not constraint.accepts("\ud800") and not constraint.accepts("")
    assert compiled("a*").accepts("")
    for wrong in (3, None, ["a"]):
        with pytest.raises(TypeError):
            constraint.accepts(wrong)


def test_samples_are_valid(compiled: Any) -> None:
    constraint = compiled("a b* c | x y* z*")
    samples = {constraint.sample(rng=seed) for seed in range(15)}
    assert len(samples) > 3 and all(constraint.accepts(s) for s in samples)
    assert constraint.sample(rng=7) == constraint.sample(rng=7)
    rng = np.random.default_rng(1)
    assert constraint.accepts(constraint.sample(rng)) and constraint.accepts(constraint.sample(rng, max_bytes=1))


def test_sample_of_what_needs_an_exact_token(compiled: Any) -> None:
    with pytest.raises(glrmask.StateError, match="exact tokens"):
        compiled("a #3 b").sample()


@pytest.mark.parametrize(
    ("source", "given", "expected"),
    [
        ("abc x | a z", b"", b"az"),
        ("abc x | a z", b"ab", b"cx"),
        ("a b* c", b"abb", b"c"),
        ("a*", b"", b""),
        ("a", b"a", b""),
        ("b | a", b"", b"a"),
        ("#3 a | a b c", b"", b"abc"),
    ],
)
def test_shortest_completion(compiled: Any, source: str, given: bytes, expected: bytes) -> None:
    state = compiled(source).start()
    state.commit_bytes(given)
    assert expected == state.shortest_completion()
    assert not state.is_rejected()


def test_shortest_completion_refusals(compiled: Any) -> None:
    state = compiled("a #3").start()
    with pytest.raises(glrmask.StateError, match="exact token"):
        state.shortest_completion()
    with pytest.raises(ValueError):
        state.commit_token(1)
    with pytest.raises(glrmask.StateRejectedError):
        state.shortest_completion()


def brute_budget(state: glrmask.ConstraintState, n: int, ends: bool) -> bool:
    if state.is_terminated() or (state.is_accepting() and not ends):
        return True
    if n == 0:
        return False
    for token in allowed(state):
        after = state.clone()
        after.commit_token(token)
        if brute_budget(after, n - 1, ends):
            return True
    return False


@pytest.mark.parametrize("ends", [(), (EOS,)])
@pytest.mark.parametrize("source", ["a b c | x", "a b* c x y z", "abc a bc | z #3"])
def test_mask_with_a_budget(compiled: Any, source: str, ends: tuple[int, ...]) -> None:
    state = compiled(source, end_tokens=ends).start()
    for budget in range(5):
        expected = []
        for token in allowed(state):
            after = state.clone()
            after.commit_token(token)
            if budget and brute_budget(after, budget - 1, bool(ends)):
                expected.append(token)
        assert expected == np.flatnonzero(state.mask(budget=budget)).tolist()
    with pytest.raises(OverflowError):
        state.mask(budget=-1)
    with pytest.raises(TypeError):
        state.mask(budget=1.5)


# -- report ---------------------------------------------------------------------------------------------------


def test_report(grammar: Any, letters: Vocab, engine: str) -> None:
    constraint = grammar("a ~format ~pattern", warn=True).compile(letters, engine=engine)
    report = constraint.report
    assert (engine, ("format", "pattern")) == (report.engine, report.left_out)
    assert ["watch out"] == [w.message for w in report.warnings]
    assert report.figures["seconds"]["engine"] > 0 and "parse" in report.figures["seconds"]
    loaded = glrmask.Constraint.load(constraint.save()).report
    assert (report.left_out, report.warnings) == (loaded.left_out, loaded.warnings)
    bound = grammar("a $P").bind("P", grammar("b ~format")).compile(letters, engine=engine)
    assert ('in "P": format',) == bound.report.left_out


def test_forced_looks_at_as_many_bytes_as_asked(compiled: Any) -> None:
    state = compiled(" ".join(["xy"] * 20)).start()
    assert [9] * 20 == state.forced() == state.forced(2**32 - 1)
    assert [9] * 8 == state.forced(16)
    assert state.forced(4) == [9, 9] and state.forced(0) == []
    state.commit_tokens(state.forced(30))
    assert [9] * 5 == state.forced()


def test_forced_looks_at_10_000_bytes_by_default(compiled: Any, engine: str) -> None:
    if engine == "oracle":
        pytest.skip("the oracle is too slow for thousands of bytes")
    state = compiled(" ".join(["xy"] * 5100)).start()
    assert len(state.forced()) == 5000 and len(state.forced(20_000)) == 5100


QUESTIONS: list[Any] = [
    lambda state: state.forced(),
    lambda state: state.shortest_completion(),
    lambda state: state.mask(budget=2),
    lambda state: state.mask(budget=9),
    lambda state: state.fill_draft_masks([0, 1, 2], np.zeros((4, 1), np.uint32)),
    lambda state: state.fill_draft_masks([0, 6], np.zeros((3, 1), np.uint32), [-1, -1]),
    lambda state: state.explain(b"abq"),
    lambda state: state.constraint.sample(3, 5),
    lambda state: state.constraint.accepts(b"abc"),
    lambda state: state.commit_tokens([0, 1, 2]),
]


@pytest.mark.parametrize("ask", QUESTIONS, ids=range(len(QUESTIONS)))
@pytest.mark.parametrize("text", ["a b c", "a b c* | ab x y"])
def test_a_limit_on_the_way_is_not_taken_for_a_refusal(
    compiled: Any, monkeypatch: pytest.MonkeyPatch, text: str, ask: Any
) -> None:
    """Whichever commit hits a limit, the question is refused by name instead of answered as if it could not come."""
    state = compiled(text, end_tokens=[EOS]).start()
    left, hits = [0], [0]

    def limited(real: Any) -> Any:
        def commit(self: Any, what: Any) -> int:
            left[0] -= 1
            hits[0] += left[0] == -1
            return int(Commit.LIMIT) if left[0] < 0 else int(real(self, what))

        return commit

    for name in ("_commit_token", "_commit_bytes"):
        monkeypatch.setattr(type(state), name, limited(getattr(type(state), name)))
    for count in (*range(30), *(int(30 * 1.2**at) for at in range(30))):
        left[0], hits[0] = count, 0
        trial = state.clone()
        try:
            ask(trial)
        except glrmask.LimitExceededError:
            assert hits[0], "no limit was hit"
            continue
        assert not hits[0], f"a limit at commit {count} was swallowed"
        break
    else:
        pytest.fail("it never ends")
