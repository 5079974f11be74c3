"""Plain check functions: each takes a constraint or a front-end and raises ``AssertionError`` with what it saw.

They need no test runner; :mod:`.conformance` wraps them in suites.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from .. import ir_codec
from ..constraint import Constraint
from ..errors import (
    CompletionLengthError,
    ConcurrentUseError,
    GlrmaskError,
    GrammarError,
    LimitExceededError,
    StateError,
)
from ..protocols import Frontend, Parsed
from ..search import completion
from ..source import Span
from ..state import ConstraintState, bits_of, ids_of

HOSTILE_SECONDS = 10.0  # processor time for one hostile text; the bound is against hangs, not for speed


def mask_words(state: ConstraintState) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The packed mask; the buffer is dirty before, so that unwritten words show."""
    words = np.full(state.constraint.mask_len(), 0xA5A5A5A5, np.uint32)
    state.fill_mask(words)
    return words


def random_walk(constraint: Constraint, rng: random.Random, steps: int) -> list[int]:
    """Up to ``steps`` random tokens that can be committed one after the other, end tokens included."""
    state, ids = constraint.start(0), list[int]()
    for _ in range(steps):
        allowed = ids_of(mask_words(state)).tolist()
        if not allowed:
            break
        ids.append(rng.choice(allowed))
        state.commit_token(ids[-1])
    return ids


def check_mask_tells_commits(state: ConstraintState) -> None:
    """Bit t is set just when committing t works; nothing beyond the width is set."""
    constraint = state.constraint
    words = mask_words(state)
    allowed = set(ids_of(words).tolist())
    assert max(allowed, default=-1) < constraint.width, f"bits beyond the width {constraint.width}: {max(allowed)}"
    assert state.mask().tolist() == bits_of(words, constraint.width).tolist(), "mask() and fill_mask() differ"
    for token in range(constraint.width + 2):
        after = state.clone()
        try:
            after.commit_token(token)
            works = True
        except StateError:
            works = False
        assert works == (token in allowed), f"token {token}: in the mask {token in allowed}, commit works {works}"
        if works or (constraint.vocab.has(token) and not state.is_terminated()):
            assert after.is_rejected() != works, f"token {token}: commit works {works}, rejected {after.is_rejected()}"


def check_clone_is_replay(constraint: Constraint, ids: Sequence[int]) -> None:
    """A clone goes on like its origin, leaves it alone, and both are what replaying the tokens gives."""
    state = constraint.start()
    for at, token in enumerate(ids):
        before = mask_words(state)
        clone = state.clone()
        clone.commit_token(token)
        assert np.array_equal(before, mask_words(state)), f"committing to a clone changed its origin at {at}"
        state.commit_token(token)
        replay = constraint.start()
        replay.commit_tokens(ids[: at + 1])
        for other in (clone, replay):
            assert np.array_equal(mask_words(state), mask_words(other)), f"masks differ after {at + 1} of {ids}"
            assert state._flags() == other._flags(), f"flags differ after {at + 1} of {ids}"


def check_rollback_is_replay(constraint: Constraint, ids: Sequence[int]) -> None:
    """Undoing commits, failed ones included, leads back to the same masks."""
    state = constraint.start(len(ids) + 1)
    seen = [mask_words(state)]
    for token in ids:
        state.commit_token(token)
        seen.append(mask_words(state))
    bad = next((t for t in constraint.vocab.domain if not seen[-1][t >> 5] >> np.uint32(t & 31) & 1), None)
    if bad is not None and not state.is_terminated():
        try:
            state.commit_token(bad)
        except StateError:
            assert state.is_rejected() and not mask_words(state).any(), "a refused token must leave the state rejected"
        state.rollback(1)
        assert np.array_equal(seen[-1], mask_words(state)), "rollback of a failed commit"
    for count in range(1, len(ids) + 1):
        at_once = state.clone()
        at_once.rollback(len(ids) + 1 - count)
        assert np.array_equal(seen[0], mask_words(at_once)), f"rollback({len(ids) + 1 - count}) of {ids}"
        state.rollback(1)
        assert np.array_equal(seen[-1 - count], mask_words(state)), f"rollback of {count} of {ids}"
    try:
        state.rollback(1)
    except StateError:
        return
    raise AssertionError("rollback past the start of the history must raise StateError")


def check_completion(state: ConstraintState, most: int = 2) -> None:
    """The engine's own shortest completion is the one that trying bytes finds, as far as ``most`` bytes."""

    def ask(find: Callable[[ConstraintState, int], bytes | None]) -> bytes | str:
        try:
            text = find(state, most)
        except CompletionLengthError:
            return "longer"
        return "none" if text is None else text

    if state.is_rejected() or state.is_terminated():
        return
    with contextlib.suppress(LimitExceededError):
        expected, found = ask(completion), ask(type(state)._completion)
        same = found == expected or (expected, found) == ("none", "longer")  # both say: not so short
        assert same, f"shortest completion {found!r}, not {expected!r}"


def check_tokens_are_bytes(constraint: Constraint, ids: Sequence[int], exact: Iterable[int] = ()) -> None:
    """Feeding a token's bytes one by one leads where the token leads; not for exact and end tokens."""
    special = {*exact, *constraint.end_tokens}
    state, by_bytes = constraint.start(), constraint.start()
    for token in ids:
        if token in special:
            return
        state.commit_token(token)
        for byte in constraint.vocab.bytes_of(token):
            by_bytes.commit_bytes(bytes((byte,)))
        assert np.array_equal(mask_words(state), mask_words(by_bytes)), f"masks differ after the bytes of {ids}"
        assert state._flags() == by_bytes._flags(), f"flags differ after the bytes of {ids}"


def check_end_tokens(state: ConstraintState) -> None:
    """End tokens are allowed just when the text is complete, and end it."""
    words = mask_words(state)
    for token in state.constraint.end_tokens:
        allowed = bool(words[token >> 5] >> np.uint32(token & 31) & 1)
        assert allowed == (state.is_accepting() and not state.is_terminated()), f"end token {token}: {allowed}"
        if allowed:
            after = state.clone()
            after.commit_token(token)
            assert after.is_terminated() and after.is_accepting() and not mask_words(after).any()


def check_save_and_load(constraint: Constraint, ids: Sequence[int]) -> None:
    """Saving is deterministic; what is loaded gives the same masks and the same bytes again."""
    data = constraint.save()
    assert data == constraint.save(), "two saves differ"
    again = Constraint.load(data)
    assert data == again.save(), "saving what was loaded gives other bytes"
    state, other = constraint.start(), again.start()
    for token in ids:
        assert np.array_equal(mask_words(state), mask_words(other)), "masks of the loaded constraint differ"
        state.commit_token(token)
        other.commit_token(token)
    assert np.array_equal(mask_words(state), mask_words(other)), "masks of the loaded constraint differ"


def check_threads(constraint: Constraint, ids: Sequence[int], threads: int = 4) -> None:
    """One constraint used by several threads, each with its own state."""
    wanted = _masks_along(constraint, ids)
    wrong: list[object] = []

    def run() -> None:
        try:
            for _ in range(3):
                if any(not np.array_equal(a, b) for a, b in zip(wanted, _masks_along(constraint, ids), strict=True)):
                    wrong.append("a mask differs")
        except BaseException as error:
            wrong.append(error)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong[0]


def _masks_along(constraint: Constraint, ids: Sequence[int]) -> list[np.ndarray[tuple[int], np.dtype[np.uint32]]]:
    state = constraint.start()
    found = [mask_words(state)]
    for token in ids:
        state.commit_token(token)
        found.append(mask_words(state))
    return found


# -- front-ends ---------------------------------------------------------------------------------------------


def parse(frontend: Frontend, source: object, **options: object) -> Parsed:
    """Both steps of a front-end."""
    return frontend.parse(frontend.prepare(source, options), options)


def check_parse_is_stable(frontend: Frontend, source: object, **options: object) -> None:
    """Parsing twice gives the same module, and the codec brings it back with its places."""
    module = parse(frontend, source, **options).module
    assert module.digest == parse(frontend, source, **options).module.digest, "two parses differ"
    again = ir_codec.decode(ir_codec.encode(module))
    assert module.digest == again.digest, "the module does not survive encode and decode"
    assert dict(module.places) == dict(again.places), "places do not survive encode and decode"


def check_error(frontend: Frontend, source: object, needs_place: bool = True, **options: object) -> GrammarError:
    """A bad source raises ``GrammarError`` with a message and, usually, a place inside the text; returns it."""
    text = frontend.prepare(source, options)
    try:
        frontend.parse(text, options)
    except GrammarError as error:
        assert str(error).strip(), "the message is empty"
        if needs_place:
            places = [d.place for d in error.diagnostics if d.place is not None]
            assert places, f"no place in: {error}"
            for place in places:
                if isinstance(place, Span):
                    assert 0 <= place.start <= len(text) and place.line >= 1 and place.column >= 1, f"{place!r}"
        return error
    raise AssertionError(f"no error for {text[:200]!r}")


def check_hostile(frontend: Frontend, text: str, **options: object) -> None:
    """Any text is read or refused with an error of the library, in bounded time."""
    started = time.process_time()
    with contextlib.suppress(GlrmaskError):
        frontend.parse(text, options)
    spent = time.process_time() - started
    assert spent < HOSTILE_SECONDS, f"{spent:.1f} s for {text[:60]!r} ({len(text)} characters)"


def hostile_texts(sample: str, opening: str = "([{\"'/<", size: int = 20_000) -> list[str]:
    """Texts that break naive parsers: deep nesting, cut samples, controls, lone surrogates, long runs."""
    deep = [c * size for c in opening]
    cut = [sample[: len(sample) * k // 7] for k in range(1, 7)]
    odd = ["", "\0", "\ufeff" + sample, "\ud800", sample + "\ud800", "\u202e" + sample, sample.replace("\n", "\r")]
    return [*deep, *cut, *odd, sample[:1] * size, sample[-1:] * size, "a" * size, "é" * size, "9" * size]


def check_concurrent_use(constraint: Constraint, slow: Callable[[ConstraintState], object], tries: int = 200) -> bool:
    """Two threads on one state: every call works or raises ``ConcurrentUseError``; tells whether one was refused."""
    state = constraint.start()
    refused: list[bool] = []
    wrong: list[BaseException] = []

    def run() -> None:
        for _ in range(tries):
            try:
                slow(state)
            except ConcurrentUseError:
                refused.append(True)
            except BaseException as error:
                wrong.append(error)

    workers = [threading.Thread(target=run) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong, wrong[0]
    return bool(refused)
