"""Searches from a state on clones of it: forced tokens, completions, random outputs; budgets are in ``budget``.

All of it rests on the primitives of ``ConstraintState`` and bounds its work. States are merged only when
the engine says that they are the same (``ConstraintState._key``), so results are exact with every engine;
one without keys reaches the limits sooner.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from .errors import (
    ArgumentTypeError,
    CompletionLengthError,
    IdRangeError,
    LimitExceededError,
    StateError,
    StateRejectedError,
)
from .ir_link import exact_ids
from .state import ACCEPTING, REJECTED, TERMINATED, Commit, ConstraintState, ids_of, raise_commit

if TYPE_CHECKING:
    import numpy.typing as npt

    from .constraint import Constraint

SEARCH_COMMITS = 200_000  # about half a second with the native engine
SEARCH_LIMIT = "search_commits"  # what LimitExceededError.limit says then
COMPLETION_BYTES = 1 << 22
SAMPLE_TRIES = 20
BYTES = [bytes((b,)) for b in range(256)]


def forced(state: ConstraintState, max_bytes: int) -> list[int]:
    """See :meth:`ConstraintState.forced`."""
    if state._flags():
        return []
    text = _forced_bytes(state, max_bytes)
    return _spell(state, text) or _single_tokens(state, max_bytes)


def advance(state: ConstraintState, what: int | bytes) -> bool:
    """Commit a token or bytes; False when they cannot come here. A limit is no "cannot" and is raised."""
    code = state._commit_bytes(what) if isinstance(what, bytes) else state._commit_token(what)
    if code in (Commit.LIMIT, Commit.BUSY):
        raise_commit(state, code, what)
    return not code


def mask_words(state: ConstraintState) -> npt.NDArray[np.uint32]:
    """The mask in a fresh array."""
    words = np.zeros(state._constraint.mask_len(), np.uint32)
    state._fill(words)
    return words


def _forced_bytes(state: ConstraintState, most: int) -> bytes:
    """The bytes that every continuation starts with, up to the first complete output."""
    constraint = state._constraint
    first = constraint.vocab.first_bytes
    exact = exact_ids(constraint.module)
    at, text = state.clone(), bytearray()
    while len(text) < most:
        ids = ids_of(mask_words(at))
        # An id past the vocabulary, or without bytes, or of an exact token leaves more than one way on.
        if not len(ids) or ids[-1] >= len(first) or (len(exact) and np.isin(ids, exact).any()):
            break
        starts = first[ids]
        if starts[0] < 0 or (starts != starts[0]).any():
            break
        if not advance(at, BYTES[starts[0]]):
            break
        text.append(int(starts[0]))
        if at._flags() & (ACCEPTING | REJECTED):
            break
    return bytes(text)


def _spell(state: ConstraintState, text: bytes) -> list[int]:
    """Forced bytes as tokens, longest first, as far as the spelling is not open."""
    if not text:
        return []
    spelling = state._constraint.vocab.spelling
    at, place, ids = state.clone(), 0, list[int]()
    while place < len(text):
        rest = text[place : place + spelling.longest]
        if place + len(rest) == len(text) and spelling.extends(rest):
            break
        words = mask_words(at)
        found = next(
            (
                (i, size)
                for size in range(len(rest), 0, -1)
                for i in spelling.ids_of(rest[:size])
                if words[i >> 5] >> np.uint32(i & 31) & np.uint32(1)
            ),
            None,
        )
        if found is None or not advance(at, found[0]):
            break
        ids.append(found[0])
        place += found[1]
    return ids


def _single_tokens(state: ConstraintState, most: int) -> list[int]:
    """The tokens of masks that allow just one."""
    at, ids = state.clone(), list[int]()
    while len(ids) < most and not at._flags():
        allowed = ids_of(mask_words(at))
        if len(allowed) != 1 or not advance(at, int(allowed[0])):
            break
        ids.append(int(allowed[0]))
    return ids


class Work:
    """Counts commits and raises when there are too many."""

    def __init__(self, what: str, advice: str = "ask nearer to the end of the output") -> None:
        self._what, self._advice, self._left = what, advice, SEARCH_COMMITS

    def spend(self, count: int = 1) -> None:
        self._left -= count
        if self._left < 0:
            raise LimitExceededError(
                f"{self._what}: no answer within {SEARCH_COMMITS} commits; {self._advice}",
                SEARCH_LIMIT,
            )


class Trial:
    """Tries bytes or tokens on one clone of a state, each undone before the next: clones of deep states are dear."""

    def __init__(self, state: ConstraintState) -> None:
        self._origin = state
        self._at = state.clone()
        self._dirty = False

    def after(self, what: int | bytes) -> ConstraintState | None:
        """The state after it, good until the next call; None when it cannot come."""
        if self._dirty and not self._at._rollback(1):
            self._at = self._origin.clone()
        self._dirty = True
        return self._at if advance(self._at, what) else None


def next_bytes(state: ConstraintState) -> frozenset[int]:
    """The bytes that may come next."""
    trial = Trial(state)
    return frozenset(b for b in range(256) if trial.after(BYTES[b]) is not None)


def byte_steps(state: ConstraintState, work: Work | None = None) -> Iterator[tuple[int, ConstraintState]]:
    """The bytes that may come next, ascending, each with the state after it."""
    trial = Trial(state)
    for b in range(256):
        if work is not None:
            work.spend()
        after = trial.after(BYTES[b])
        if after is not None:
            yield b, after.clone()


def shortest_completion(state: ConstraintState) -> bytes:
    """See :meth:`ConstraintState.shortest_completion`."""
    flags = state._flags()
    if flags & REJECTED:
        raise StateRejectedError("shortest_completion: the state is rejected; nothing completes it")
    if flags & (ACCEPTING | TERMINATED):
        return b""
    text = state._completion(COMPLETION_BYTES)
    if text is None:
        raise StateError("shortest_completion: no bytes complete the output from here (an exact token may be needed)")
    return text


def completion(state: ConstraintState, most: int = COMPLETION_BYTES) -> bytes | None:
    """See :meth:`ConstraintState._completion`: breadth first, one commit per distinct state and byte."""
    if state._flags() & (ACCEPTING | TERMINATED):
        return b""
    work = Work("shortest_completion")
    seen: set[Hashable] = {state._key()}
    level: list[tuple[ConstraintState, bytes]] = [(state.clone(), b"")]
    while level:
        if len(level[0][1]) == most:
            raise CompletionLengthError(most + 1, most)
        longer: list[tuple[ConstraintState, bytes]] = []
        for at, text in level:
            for b, after in byte_steps(at, work):
                if after._flags() & ACCEPTING:
                    return text + BYTES[b]
                key = after._key()
                if key is None or key not in seen:
                    seen.add(key)
                    longer.append((after, text + BYTES[b]))
        level = longer
    return None


def sample(constraint: Constraint, rng: np.random.Generator | int | None, max_bytes: int) -> bytes:
    """See :meth:`Constraint.sample`."""
    generator = _generator(rng)
    for _ in range(SAMPLE_TRIES):
        text = _walk(constraint, generator, max_bytes)
        if text is not None:
            return text
    raise StateError("sample: no bytes completed an output (does the grammar need exact tokens?)")


def _generator(rng: object) -> np.random.Generator:
    if isinstance(rng, np.random.Generator):
        return rng
    try:
        seed = 0 if rng is None else operator.index(rng)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            f"sample: rng must be a numpy.random.Generator, a seed or None, not {type(rng).__name__}"
        ) from None
    if seed < 0:
        raise IdRangeError(f"sample: rng is the seed {seed}; a seed is an integer from 0 on")
    return np.random.default_rng(seed)


def _walk(constraint: Constraint, rng: np.random.Generator, max_bytes: int) -> bytes | None:
    """One random output; None when it ran into a dead end."""
    state, text = constraint.start(0), bytearray()
    while len(text) < max_bytes:
        if state._flags() & ACCEPTING and rng.random() < 0.3:
            return bytes(text)
        steps = list(byte_steps(state))
        if not steps:
            return bytes(text) if state._flags() & ACCEPTING else None
        weights = np.array([_weight(b) for b, _ in steps])
        sums = np.cumsum(weights)
        chosen = min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(steps) - 1)
        b, state = steps[chosen]
        text.append(b)
    try:
        return bytes(text) + state.shortest_completion()
    except StateError:
        return None


def _weight(byte: int) -> float:
    """Punctuation weighs as much as all letters, or texts would hardly ever leave a string."""
    char = chr(byte)
    if char.isascii() and char.isalpha():
        return 1 / 26
    if char.isdigit() and char.isascii():
        return 1 / 10
    return 1.0 if 0x20 <= byte < 0x7F else 1 / 64
