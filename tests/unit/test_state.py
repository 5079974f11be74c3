"""api.md sections 6 and 7: ConstraintState, end tokens."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import ConstraintState, Vocab

EOS = 20  # exact-only in the vocabulary "letters"


@pytest.fixture
def start(grammar: Any, letters: Vocab, engine: str) -> Any:
    """``start(text, **options)``: a fresh state of a mini grammar."""

    def make(text: str, **options: Any) -> ConstraintState:
        bound = grammar(text)
        for name, kind in bound.slots().items():
            assert kind == "token"
            bound = bound.bind(name, letters.tokens([3, EOS] if name == "MANY" else [EOS]))
        state: ConstraintState = bound.compile(letters, engine=engine, **options).start()
        return state

    return make


def allowed(state: ConstraintState) -> list[int]:
    return np.flatnonzero(state.mask()).tolist()


def flags(state: ConstraintState) -> tuple[bool, bool, bool]:
    return state.is_accepting(), state.is_rejected(), state.is_terminated()


# -- mask -----------------------------------------------------------------------------------------------------


def test_mask_is_a_new_writable_array(start: Any) -> None:
    state = start("a b")
    mask = state.mask()
    assert np.bool_ == mask.dtype and (22,) == mask.shape and mask.flags.writeable
    assert [0, 6, 21] == np.flatnonzero(mask).tolist()
    mask[:] = False
    assert [0, 6, 21] == allowed(state)


def test_mask_size(start: Any) -> None:
    state = start("a b")
    assert [0, 6, 21] == np.flatnonzero(state.mask(100)).tolist()
    assert 100 == len(state.mask(100)) and 22 == len(state.mask(22)) and 22 == len(state.mask(np.int64(22)))
    with pytest.raises(ValueError, match="at least 22"):
        state.mask(21)
    with pytest.raises(OverflowError):
        state.mask(-1)
    for wrong in (22.0, "22"):
        with pytest.raises(TypeError):
            state.mask(wrong)


def test_empty_vocabulary(grammar: Any, engine: str) -> None:
    constraint = grammar("a").compile(Vocab.from_dict({}), engine=engine)
    state = constraint.start()
    assert (0, 0) == (constraint.mask_len(), len(state.mask()))
    words = np.ones(2, np.int32)
    state.fill_mask(words)
    assert [0, 0] == words.tolist()
    state.commit_bytes(b"a")
    assert state.is_accepting()


# -- fill_mask ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_fill_mask_bit_order_and_words_beyond(grammar: Any, engine: str, dtype: Any) -> None:
    vocab = Vocab.from_id_to_bytes({0: b"a", 31: b"a", 32: b"ab", 63: b"b", 64: b"a"})
    constraint = grammar("a b").compile(vocab, engine=engine)
    words = np.full(5, -1).astype(dtype)
    constraint.start().fill_mask(words)
    assert 3 == constraint.mask_len()
    assert [0x80000001, 1, 1, 0, 0] == words.view(np.uint32).tolist()


def test_fill_mask_equals_mask(start: Any) -> None:
    state = start("a b* c | ab")
    words = np.zeros(1, np.uint32)
    for token in (0, 1, 7):
        state.fill_mask(words)
        assert allowed(state) == [t for t in range(32) if int(words[0]) >> t & 1]
        state.commit_token(token)


def unaligned() -> Any:
    raw = np.zeros(4 * 4 + 1, np.uint8)
    return raw[1:].view(np.uint32)


def read_only() -> Any:
    words = np.zeros(4, np.uint32)
    words.flags.writeable = False
    return words


@pytest.mark.parametrize(
    "words",
    [
        [0],
        bytearray(4),
        None,
        np.zeros(4, np.int64),
        np.zeros(4, np.float32),
        np.zeros(4, np.dtype(np.uint32).newbyteorder()),
        np.zeros((1, 4), np.int32),
        np.array(0, np.int32),
    ],
)
def test_fill_mask_type_errors(start: Any, words: Any) -> None:
    with pytest.raises(TypeError):
        start("a").fill_mask(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (np.zeros(0, np.int32), "at least 1"),
        (np.zeros(8, np.int32)[::2], "contiguous"),
        (np.zeros(4, np.int32)[::-1], "contiguous"),
        (read_only(), "read-only"),
        (unaligned(), "aligned"),
    ],
)
def test_fill_mask_value_errors(start: Any, words: Any, message: str) -> None:
    before = words.copy()
    with pytest.raises(ValueError, match=message) as raised:
        start("a").fill_mask(words)
    assert isinstance(raised.value, glrmask.MaskShapeError)
    assert (before == words).all()


class Liar(np.ndarray):
    """Tells another shape, dtype and flags than it has."""

    shape = property(lambda self: (2, 9) if self.told == 2 else (9,))  # type: ignore[assignment]
    size = 9  # type: ignore[assignment]
    dtype = np.dtype(np.uint32)  # type: ignore[assignment]
    flags = np.zeros(1).flags
    told = 1

    def __len__(self) -> int:
        return 9


def test_buffers_are_what_they_hold(grammar: Any, engine: str) -> None:
    """What an array says of itself does not decide where is written."""
    vocab = Vocab.from_id_to_bytes({i: b"a" for i in range(96)})
    state = grammar("a").compile(vocab, engine=engine).start()
    fixed = np.zeros(9, np.uint32)
    fixed.flags.writeable = False
    for words in (np.zeros(2, np.uint32), fixed, np.zeros(18, np.uint32)[::2]):
        with pytest.raises(glrmask.MaskShapeError):
            state.fill_mask(words.view(Liar))
    with pytest.raises(TypeError, match="uint8"):
        state.fill_mask(np.zeros(9, np.uint8).view(Liar))
    rows = np.zeros((2, 2), np.uint32).view(Liar)
    rows.told = 2
    for call in (lambda: glrmask.fill_masks([state] * 2, rows), lambda: state.fill_draft_masks([0], rows)):
        with pytest.raises(glrmask.MaskShapeError, match="2 words, at least 3"):
            call()
    right = np.zeros(5, np.uint32)
    for _ in range(2):
        state.fill_mask(right.view(Liar))
        assert [2**32 - 1] * 3 + [0, 0] == right.tolist()
        right[:] = 7


# -- commit_token ---------------------------------------------------------------------------------------------


def test_commit_after_termination(start: Any) -> None:
    state = start("a", end_tokens=[EOS])
    state.commit_token(0)
    state.commit_token(EOS)
    for call in (
        lambda: state.commit_token(0),
        lambda: state.commit_token(EOS),
        lambda: state.commit_token(99),
        lambda: state.commit_bytes(b"a"),
        lambda: state.commit_bytes(b""),
    ):
        with pytest.raises(ValueError, match="already terminated"):
            call()
    assert (True, False, True) == flags(state)


def test_commit_after_rejection(start: Any) -> None:
    state = start("a", end_tokens=[EOS])
    with pytest.raises(glrmask.StateRejectedError, match="token 1 \\(b'b'\\) cannot come here"):
        state.commit_token(1)
    assert (False, True, False) == flags(state)
    for call in (lambda: state.commit_token(0), lambda: state.commit_token(99), lambda: state.commit_bytes(b"a")):
        with pytest.raises(glrmask.StateRejectedError, match="rejected by an earlier commit"):
            call()
    state.commit_bytes(b"")
    assert [] == allowed(state)


def test_unknown_ids_change_nothing(start: Any) -> None:
    state = start("a b")
    state.commit_token(0)
    with pytest.raises(glrmask.StateError, match="token 19 is neither") as raised:
        state.commit_token(19)
    assert not isinstance(raised.value, glrmask.StateRejectedError)
    assert [1] == allowed(state)


def test_type_errors_come_before_any_change(start: Any) -> None:
    state = start("a")
    with pytest.raises(OverflowError):
        state.commit_token(-1)
    with pytest.raises(OverflowError):
        state.commit_token(2**32)
    for wrong in (1.0, "a", None):
        with pytest.raises(TypeError):
            state.commit_token(wrong)
        with pytest.raises(TypeError):
            state.commit_bytes(wrong)
    assert (False, False, False) == flags(state)
    state.commit_token(np.int64(0))
    assert state.is_accepting()


def test_early_end_token_rejects(start: Any) -> None:
    state = start("a b", end_tokens=[EOS])
    state.commit_token(0)
    with pytest.raises(glrmask.StateRejectedError, match="token 20 is an end token"):
        state.commit_token(EOS)
    assert (False, True, False) == flags(state)


def test_both_readings_at_once(start: Any) -> None:
    # token 3 is "x" and bound to MANY: after it, both the byte reading and the exact one go on
    state = start("x a | @MANY b")
    assert [3, EOS] == allowed(state)
    state.commit_token(3)
    assert [0, 1, 21] == allowed(state)
    state.commit_token(1)
    assert state.is_accepting()


def test_exact_tokens_are_never_bytes(start: Any) -> None:
    state = start("@MANY b")
    with pytest.raises(glrmask.StateRejectedError):
        state.commit_bytes(b"x")
    assert state.is_rejected()


def test_exact_only_tokens_without_a_slot_reject(start: Any) -> None:
    state = start("a")
    with pytest.raises(glrmask.StateRejectedError, match="token 20 cannot come"):
        state.commit_token(EOS)
    assert state.is_rejected()


def test_exact_only_tokens_are_never_in_masks(start: Any) -> None:
    for source in ("a*", "a", "a* | b*"):
        assert EOS not in allowed(start(source))
    assert EOS in allowed(start("a* | @T")) and EOS in allowed(start("a*", end_tokens=[EOS]))


def test_end_token_bytes_are_never_text(start: Any) -> None:
    # 1 is "b": as an end token it cannot continue the text, while "bc" can
    state = start("a b c", end_tokens=[1])
    state.commit_token(0)
    assert [7] == allowed(state)
    with pytest.raises(glrmask.StateRejectedError):
        state.commit_token(1)
    state = start("a b c", end_tokens=[1])
    state.commit_bytes(b"ab")
    state.commit_token(2)
    assert [1] == allowed(state)


def test_other_ids_with_an_end_tokens_bytes_are_text(start: Any) -> None:
    # 0 and 21 are both "a"
    state = start("a b", end_tokens=[0])
    assert [6, 21] == allowed(state)
    state.commit_token(21)
    assert [1] == allowed(state)


# -- commit_bytes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_type", [bytes, bytearray, memoryview])
def test_commit_bytes_types(start: Any, as_type: Any) -> None:
    state = start("a b")
    state.commit_bytes(as_type(b"ab"))
    assert state.is_accepting()


def test_commit_bytes_refuses_text_and_gaps(start: Any) -> None:
    state = start("a b")
    with pytest.raises(TypeError, match="encode"):
        state.commit_bytes("ab")
    with pytest.raises(TypeError, match="contiguous"):
        state.commit_bytes(memoryview(b"axb")[::2])
    assert [0, 6, 21] == allowed(state)


def test_commit_bytes_need_not_be_spellable(start: Any) -> None:
    state = start("%c3a9 a")
    assert [] == allowed(state)
    assert (False, False, False) == flags(state)
    state.commit_bytes(b"\xc3")
    state.commit_bytes(b"\xa9")
    assert [0, 21] == allowed(state)


def test_commit_bytes_failure_is_not_atomic(start: Any) -> None:
    state = start("a b")
    with pytest.raises(glrmask.StateRejectedError, match="bytes b'ax'"):
        state.commit_bytes(b"ax")
    assert state.is_rejected()


def test_bytes_of_an_end_token_are_text(start: Any) -> None:
    state = start("a b", end_tokens=[1])
    state.commit_bytes(b"ab")
    assert (True, False, False) == flags(state)


# -- questions ------------------------------------------------------------------------------------------------


def test_complete_without_continuation(start: Any) -> None:
    state = start("a")
    state.commit_token(0)
    assert (True, False, False) == flags(state) and [] == allowed(state)


def test_complete_with_continuation(start: Any) -> None:
    state = start("a b*")
    state.commit_token(6)
    assert (True, False, False) == flags(state) and [1] == allowed(state)


def test_repr_tells_the_flags(start: Any) -> None:
    state = start("a", end_tokens=[EOS])
    assert "open" in repr(state)
    state.commit_token(0)
    state.commit_token(EOS)
    assert "accepting, terminated" in repr(state)


# -- forced ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "source", "expected"),
    [
        ("a b ab", "abab", [2, 2]),
        ("a b", "abab", [0, 1, 0, 1]),
        ("a b ab z", "abab | abz", [2]),
        ("a b", "a | a b", [0]),  # never past a complete output
        ("a b ab", "a | a b", []),  # "ab" begins like the rest: how to spell is open
        ("a b ab x", "abab x*", [2, 2]),
        ("a b", "a | b", []),
        ("ab abz", "ab", [0]),  # spelling is open, but the mask has one token
        ("a b ab abc", "abab", [2]),
        ("x", "a", []),  # nothing in the vocabulary spells it
        ("a b", "a*", []),
    ],
)
def test_forced(grammar: Any, engine: str, texts: str, source: str, expected: list[int]) -> None:
    vocab = Vocab.from_id_to_bytes(dict(enumerate(t.encode() for t in texts.split())))
    state = grammar(source).compile(vocab, engine=engine).start()
    before = state.mask()
    assert expected == state.forced()
    assert (before == state.mask()).all()


def test_forced_is_empty_when_accepting_rejected_or_terminated(start: Any) -> None:
    state = start("a", end_tokens=[EOS])
    state.commit_token(0)
    assert [] == state.forced()
    state.commit_token(EOS)
    assert [] == state.forced()
    state = start("a")
    with pytest.raises(ValueError):
        state.commit_token(1)
    assert [] == state.forced()


def test_forced_exact_token(start: Any) -> None:
    assert [EOS] == start("@T a").forced()
    assert [] == start("@T a | a").forced()
    assert [] == start("@MANY a").forced()


def test_forced_prefers_the_lowest_id_and_skips_end_tokens(grammar: Any, engine: str) -> None:
    vocab = Vocab.from_id_to_bytes({4: b"a", 2: b"a", 7: b"b"})
    assert [2, 7] == grammar("a b").compile(vocab, engine=engine).start().forced()
    assert [4, 7] == grammar("a b").compile(vocab, end_tokens=[2], engine=engine).start().forced()


def test_forced_tokens_can_be_committed(start: Any) -> None:
    state = start("abc x y z | abc x y y")
    state.commit_tokens(state.forced())
    assert [4, 5] == allowed(state)


# -- copies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copying", [lambda s: s.clone(), copy.copy, copy.deepcopy])
def test_clones_are_independent(start: Any, copying: Any) -> None:
    state = start("a b | a c")
    state.commit_token(0)
    twin = copying(state)
    assert type(twin) is type(state) and twin.constraint is state.constraint
    twin.commit_token(1)
    assert [1, 2] == allowed(state) and twin.is_accepting()
    twin.rollback(2)
    assert [0, 6, 21] == allowed(twin) and [1, 2] == allowed(state)


def test_identity_equality_and_no_pickling(start: Any) -> None:
    state = start("a")
    assert state == state and state != state.clone() and 2 == len({state, state.clone()})
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(state)
    with pytest.raises(TypeError, match="cannot be instantiated directly"):
        ConstraintState()
    with pytest.raises(TypeError, match="cannot be instantiated directly"):
        type(state)()


def test_states_of_one_constraint_are_independent(grammar: Any, letters: Vocab, engine: str) -> None:
    constraint = grammar("a b").compile(letters, engine=engine)
    one, other = constraint.start(), constraint.start()
    one.commit_token(0)
    assert [1] == allowed(one) and [0, 6, 21] == allowed(other)


def test_a_state_keeps_what_it_needs_alive(grammar: Any, engine: str) -> None:
    import gc

    state = grammar("a b").compile(Vocab.from_dict({b"a": 0, b"b": 1}), engine=engine).start()
    gc.collect()
    state.commit_token(0)
    assert [1] == allowed(state)


# -- section 7: end tokens ------------------------------------------------------------------------------------


def test_end_tokens_are_allowed_exactly_when_accepting(start: Any) -> None:
    state = start("a b*", end_tokens=[EOS, 9, 50])
    assert 51 == len(state.mask())
    assert [0, 6, 21] == allowed(state)
    state.commit_token(0)
    assert [1, 9, EOS, 50] == allowed(state)
    for end in (9, EOS, 50):
        done = state.clone()
        done.commit_token(end)
        assert (True, False, True) == flags(done)
        assert [] == allowed(done) and [] == done.forced()
        for commit in (
            lambda: done.commit_token(end),  # noqa: B023
            lambda: done.commit_token(0),  # noqa: B023
            lambda: done.commit_tokens([0]),  # noqa: B023
            lambda: done.commit_bytes(b"b"),  # noqa: B023
            lambda: done.commit_bytes(b""),  # noqa: B023
        ):
            with pytest.raises(ValueError, match="terminated"):
                commit()
        assert (True, False, True) == flags(done)


def test_without_end_tokens_nothing_terminates(start: Any) -> None:
    state = start("a a*")
    for _ in range(5):
        state.commit_token(0)
        assert (True, False, False) == flags(state)


def test_nullable_start_accepts_at_once(start: Any) -> None:
    state = start("a*", end_tokens=[EOS])
    assert state.is_accepting() and [0, EOS, 21] == allowed(state)
