"""``ConstraintState``: the position of one generated sequence.

The class here is the whole public API on a handful of primitives (``_fill``, ``_commit_token``,
``_commit_bytes``, ``_flags``, ``_clone``, ``_rollback``). Each engine subclasses it, so that no second
layer of calls stands between a caller and the engine; an engine may override public methods for speed
and then uses the same checks (:func:`glrmask_core.checks.check_words`, :func:`raise_commit`).
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .checks import Closed, as_bool, as_ids, as_list, as_text_bytes, as_u32, check_words
from .errors import (
    ArgumentTypeError,
    ConcurrentUseError,
    IdRangeError,
    InternalError,
    LimitExceededError,
    MaskShapeError,
    StateError,
    StateRejectedError,
)

if TYPE_CHECKING:
    from typing import NoReturn

    import numpy.typing as npt

    from .constraint import Constraint
    from .explain import Explanation

Self = TypeVar("Self", bound="ConstraintState")

ACCEPTING, REJECTED, TERMINATED = 1, 2, 4
FORCED_BYTES = 10_000  # as comparable libraries have it


class Commit(enum.IntEnum):
    """What came of a commit; numbers are pinned, engines return them."""

    OK = 0
    TERMINATED = 1
    """Nothing changed: an end token had been committed before."""
    REJECTED = 2
    """Nothing changed: the state was rejected before."""
    UNKNOWN = 3
    """Nothing changed: the id is in neither vocabulary nor grammar and is no end token."""
    FAILED = 4
    """No reading survives: the state is rejected now."""
    FAILED_END = 5
    """An end token where the text is not complete: the state is rejected now."""
    BUSY = 6
    """Nothing changed: another thread is inside."""
    LIMIT = 7
    """Nothing changed: a limit of ``Limits`` was hit."""


class ConstraintState(Closed):
    """Mutable; one per generated sequence. Made by ``Constraint.start()``.

    It may move between threads, but two calls at the same time raise ``ConcurrentUseError``.
    """

    __slots__ = ("__weakref__", "_constraint")
    _made_by = "Constraint.start()"

    _constraint: Constraint

    # -- what an engine implements ------------------------------------------------------------

    def _fill(self, words: npt.NDArray[np.uint32]) -> None:
        """Write ``words[:mask_len]``: uint32, contiguous. All zero when rejected or terminated."""
        raise NotImplementedError

    def _commit_token(self, token_id: int) -> int:
        """Advance by a token; a :class:`Commit` code."""
        raise NotImplementedError

    def _commit_bytes(self, data: bytes) -> int:
        """Advance by bytes (not empty), byte reading only; a :class:`Commit` code."""
        raise NotImplementedError

    def _flags(self) -> int:
        """Bit 0 accepting, bit 1 rejected, bit 2 terminated."""
        raise NotImplementedError

    def _clone(self: Self) -> Self:
        """An independent copy; the base class sets its ``_constraint``."""
        raise NotImplementedError

    def _rollback(self, n: int) -> bool:
        """Undo ``n >= 1`` commits, failed ones included; False (and no change) when fewer are kept."""
        raise NotImplementedError

    def _key(self) -> Hashable | None:
        """Optional: equal keys mean equal futures (same masks and acceptance whatever follows).

        Lets searches merge states. None: unknown, states are never merged.
        """
        return None

    def _limit_error(self, what: str) -> Exception:
        """Optional: the exception for ``Commit.LIMIT``, raised right after it; engines that know more override it.

        Args:
            what: could not be committed; the message starts with it.
        """
        return LimitExceededError(
            f"{what}: memory limit of this state reached; nothing changed (Limits.state_bytes)", "state_bytes"
        )

    def _expected(self) -> Sequence[int] | None:
        """Optional: ids of the TERMINAL and TOKEN_IDS nodes of the module that are in progress or may start.

        None: unknown; :meth:`explain` then names the possible bytes only.
        """
        return None

    def _completion(self, most: int) -> bytes | None:
        """Optional: the fewest bytes that complete the output, of several the least in byte order; None: no bytes do.

        Not called when rejected. Exact tokens are not tried.

        Raises:
            CompletionLengthError: more than ``most`` bytes are needed.
            LimitExceededError: it takes too long to find.
        """
        from .search import completion

        return completion(self, most)

    @classmethod
    def _fill_many(
        cls,
        states: Sequence[ConstraintState],
        rows: Sequence[npt.NDArray[np.uint32]] | npt.NDArray[np.uint32],
        threads: int,
    ) -> None:
        """``states[i]._fill(rows[i])`` for all; engines with a batch call override it.

        Args:
            states: distinct states of this class.
            rows: one row per state; an array when they lie one after the other.
            threads: how many to use at most.
        """
        if threads < 2 or len(states) < 2:
            for state, row in zip(states, rows, strict=True):
                state._fill(row)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(min(threads, len(states))) as pool:
            list(pool.map(lambda pair: pair[0]._fill(pair[1]), zip(states, rows, strict=True)))

    # -- masks --------------------------------------------------------------------------------

    @property
    def constraint(self) -> Constraint:
        """What it was started from."""
        return self._constraint

    def mask(self, size: int | None = None, *, budget: int | None = None, exact: bool = True) -> npt.NDArray[np.bool_]:
        """The tokens that may come next.

        Args:
            size: length of the result, at least the constraint's width (the default); more is padded with False.
            budget: only tokens after which the output can still be finished when this many tokens may still
                come, the one chosen now and the end token included.
            exact: with a budget, False asks for less: keep a token if the shortest text that completes the output after
                it (see :meth:`shortest_completion`) can be spelled in so many tokens. What is kept can be finished,
                and never ends in a dead end; a token after which a longer text takes fewer tokens may be missing.

        Returns:
            A new writable bool array, indexed by token id.

        Raises:
            ArgumentTypeError, IdRangeError: ``size`` or ``budget`` is no integer, or negative.
            StateError: ``size`` is less than the width.
            LimitExceededError: with a budget, a limit of ``Limits``, or whether so many tokens are enough takes too
                long to find out; ``exact=False`` avoids that.

        Cost: as :meth:`fill_mask` and one pass over the bits. With a budget one commit and rollback per allowed token
        (a clone instead when ``max_rollback`` is 0), and a shortest completion per distinct state after them. Bytes
        settle most answers: those of the shortest completion, spelled in tokens, are enough, or so many that no tokens
        are long enough. In between tokens are tried, 200,000 at most.
        """
        width = self._constraint.width
        count = width if size is None else as_u32(size, "mask(): size")
        if count < width:
            raise StateError(f"mask({count}): at least {width} bits are needed, the largest token id is {width - 1}")
        words = np.zeros(self._constraint.mask_len(), np.uint32)
        self._fill(words)
        if budget is not None:
            from .budget import keep_within

            keep_within(self, words, as_u32(budget, "mask(): budget"), as_bool(exact, "mask(): exact"))
        return bits_of(words, count)

    def fill_mask(self, words: npt.NDArray[Any]) -> None:
        """Write the tokens that may come next into a buffer.

        Args:
            words: int32 or uint32[>= constraint.mask_len()], native byte order, C-contiguous, writable, fully
                overwritten. Bit ``t % 32`` of word ``t // 32`` is 1 when token ``t`` is allowed.

        Raises:
            ArgumentTypeError: not such an array, other dtype or dimensions. The buffer is untouched.
            MaskShapeError: too short, not contiguous, misaligned, read-only. The buffer is untouched.
            ConcurrentUseError: another thread is inside.
        """
        count = self._constraint.mask_len()
        view = check_words(words, count)
        self._fill(view)
        view[count:] = 0

    def fill_draft_masks(self, ids: Sequence[int], out: npt.NDArray[Any], parents: Sequence[int] | None = None) -> None:
        """Masks at every position of a draft; the state is left as it is.

        Args:
            ids: n draft tokens.
            out: int32 or uint32[n + 1, >= mask_len]. Row 0 is the mask now, row ``i + 1`` the mask after
                draft token ``i``; all zero from a token on that cannot be committed.
            parents: for a tree, the index of the draft token that each one follows, -1 for none, always
                smaller than its own index. None is the chain: -1, 0, 1, ...

        Raises:
            ArgumentTypeError, MaskShapeError: as :meth:`fill_mask`.
            StateError: ``parents`` of another length or not in order.

        Cost: n + 1 masks, n commits, one clone per branch.
        """
        from .drafts import fill_draft_masks

        fill_draft_masks(self, ids, out, parents)

    # -- commits ------------------------------------------------------------------------------

    def commit_token(self, token_id: int) -> None:
        """Advance by one model token, by its bytes and as an exact token at once.

        Raises:
            ArgumentTypeError, IdRangeError: no integer, or outside 0..2^32-1; nothing changes.
            StateError: terminated, or an id that nobody knows; nothing changes.
            StateRejectedError: no reading survives, or an end token while not accepting; the state is
                rejected from now on.
            ConcurrentUseError: another thread is inside; nothing changes.
            LimitExceededError: a limit of ``Limits``; nothing changes.
        """
        number = as_u32(token_id, "token id")
        code = self._commit_token(number)
        if code:
            raise_commit(self, code, number)

    def commit_bytes(self, data: bytes | bytearray | memoryview) -> None:
        """Advance by raw bytes, by the byte reading only. No bytes: no change, and no step for rollback.

        Raises:
            As :meth:`commit_token`; a failure in the middle leaves the state rejected.
        """
        text = as_text_bytes(data)
        if not text:
            if self._flags() & TERMINATED:
                raise_commit(self, Commit.TERMINATED, b"")
            return
        code = self._commit_bytes(text)
        if code:
            raise_commit(self, code, text)

    def commit_tokens(self, ids: Sequence[int]) -> None:
        """Advance by several tokens, all or nothing: on an error the state is as before.

        Raises:
            As :meth:`commit_token`, with the position of the token.

        Cost: every token twice (a trial on a clone first).
        """
        numbers = as_ids(ids, "commit_tokens: ids")
        trial = self.clone()
        for at, number in enumerate(numbers):
            code = trial._commit_token(number)
            if code:
                raise_commit(trial, code, number, f"commit_tokens: token {at} of {len(numbers)}: ")
        for at, number in enumerate(numbers):
            code = self._commit_token(number)
            if code:
                if at and not self._rollback(at):
                    raise InternalError(f"commit_tokens: token {at} failed after a trial that passed; state unclear")
                raise_commit(self, code, number, f"commit_tokens: token {at} of {len(numbers)}: ")

    def validate_tokens(self, ids: Sequence[int]) -> int:
        """How many leading ids could be committed one after the other; the state does not change.

        A commit that would hit a limit of ``Limits`` could not be made: it ends the count.

        Raises:
            ArgumentTypeError: no sequence, or an id that is no integer.
        """
        trial = None
        tokens = as_list(ids, "validate_tokens: ids", "token ids")
        for at, token in enumerate(tokens):
            try:
                number = as_u32(token, f"validate_tokens: ids[{at}]")
            except IdRangeError:
                return at
            trial = trial or self.clone()
            if trial._commit_token(number):
                return at
        return len(tokens)

    def rollback(self, n: int) -> None:
        """Undo the last ``n`` commits (of tokens or bytes, failed ones and end tokens included).

        Raises:
            StateError: more than the history holds; see ``start(max_rollback=...)``. Nothing changes.
        """
        count = as_u32(n, "rollback(): n")
        if count and not self._rollback(count):
            raise StateError(f"rollback({count}): the history is shorter; it keeps what start(max_rollback=...) allows")

    # -- questions ----------------------------------------------------------------------------

    def is_accepting(self) -> bool:
        """Whether the output so far is complete; it may still allow more. Stays true after an end token."""
        return bool(self._flags() & ACCEPTING)

    def is_rejected(self) -> bool:
        """Whether nothing can make the output valid any more."""
        return bool(self._flags() & REJECTED)

    def is_terminated(self) -> bool:
        """Whether an end token was committed."""
        return bool(self._flags() & TERMINATED)

    def forced(self, max_bytes: int = FORCED_BYTES) -> list[int]:
        """Tokens that the grammar leaves no choice about, up to the first point where the output is complete.

        Args:
            max_bytes: how many forced bytes to look at. Where more are forced, the result is the beginning of
                them: commit it and ask again, or ask for more at once.

        Empty when there is a choice, when accepting, rejected or terminated, or when how to spell the forced
        bytes is open (a token longer than the rest begins like it). The state does not change.

        Cost: one mask per forced byte and one per token; the first time for a vocabulary its tokens are sorted
        (0.2 s for 128,000).

        Raises:
            ArgumentTypeError, IdRangeError: ``max_bytes`` is no integer, or negative.
            LimitExceededError: a limit of ``Limits`` on the way.
        """
        from .search import forced

        return forced(self, as_u32(max_bytes, "forced(): max_bytes"))

    def shortest_completion(self) -> bytes:
        """The fewest bytes that complete the output, of several the least in byte order; ``b""`` when complete.

        Exact tokens are not tried: they have no bytes.

        Raises:
            StateRejectedError: rejected already.
            StateError: no bytes complete it.
            CompletionLengthError: more than 4 MiB are needed.
            LimitExceededError: a limit of ``Limits``, or the search is too long.

        Cost: with the native engine linear in the depth of the stack and the length of the result; where terminals
        forbid what follows them (an identifier right before a keyword), for parser programs and with other engines
        a search, of 200,000 commits at most.
        """
        from .search import shortest_completion

        return shortest_completion(self)

    def explain(self, what: int | bytes | bytearray | memoryview) -> Explanation:
        """Whether a token or bytes could come next and, if not, where and why they are refused.

        Args:
            what: a token id, or bytes.

        Cost: one commit per byte, and up to 256 more at the place of refusal.
        """
        from .explain import explain

        return explain(self, what)

    # -- copies -------------------------------------------------------------------------------

    def clone(self: Self) -> Self:
        """An independent copy, history included."""
        other = self._clone()
        other._constraint = self._constraint
        return other

    def __copy__(self: Self) -> Self:
        return self.clone()

    def __deepcopy__(self: Self, memo: object) -> Self:
        return self.clone()

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("a ConstraintState cannot be pickled; save the constraint and replay the tokens")

    def __repr__(self) -> str:
        flags = self._flags()
        words = [w for bit, w in ((1, "accepting"), (2, "rejected"), (4, "terminated")) if flags & bit]
        return f"<ConstraintState: {', '.join(words) or 'open'}>"


def bits_of(words: npt.NDArray[np.uint32], count: int) -> npt.NDArray[np.bool_]:
    """The first ``count`` bits of mask words as a bool array, padded with False."""
    raw = words.astype("<u4", copy=False).view(np.uint8)
    bits: npt.NDArray[np.bool_] = np.unpackbits(raw, count=count, bitorder="little").view(np.bool_)
    return bits


def ids_of(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.intp]:
    """The ids that mask words allow, ascending."""
    return np.flatnonzero(bits_of(words, 32 * len(words)))


def raise_commit(state: ConstraintState, code: int, what: int | bytes, prefix: str = "") -> NoReturn:
    """Turn a :class:`Commit` code other than OK into its exception.

    Args:
        state: that refused.
        code: why.
        what: the token id or the bytes.
        prefix: goes before the message.
    """
    shown = _shown(state, what)
    if code == Commit.TERMINATED:
        raise StateError(f"{prefix}{shown}: the state is already terminated by an end token; start a new one")
    if code == Commit.REJECTED:
        raise StateRejectedError(
            f"{prefix}{shown}: the state was rejected by an earlier commit; roll back or start anew"
        )
    if code == Commit.UNKNOWN:
        raise StateError(
            f"{prefix}{shown} is neither in the vocabulary nor an exact or end token of the grammar; nothing changed"
        )
    if code == Commit.FAILED:
        raise StateRejectedError(f"{prefix}{shown} cannot come here; the state is rejected now (explain() tells more)")
    if code == Commit.FAILED_END:
        raise StateRejectedError(f"{prefix}{shown} is an end token but the output is not complete; rejected now")
    if code == Commit.BUSY:
        raise ConcurrentUseError(f"{prefix}{shown}: another thread is using this state; clone it per thread")
    if code == Commit.LIMIT:
        raise state._limit_error(f"{prefix}{shown}")
    raise InternalError(f"commit code {code}")


def _shown(state: ConstraintState, what: int | bytes) -> str:
    if isinstance(what, bytes):
        return f"bytes {what[:40]!r}{'...' if len(what) > 40 else ''}"
    vocab = state._constraint.vocab
    text = vocab.bytes_of(what) if vocab.has(what) else b""
    return f"token {what} ({text[:40]!r})" if text else f"token {what}"


def fill_masks(states: Sequence[ConstraintState], out: npt.NDArray[Any], threads: int = 1) -> None:
    """Masks of many states in one call.

    Args:
        states: n states, of one or several constraints; a state may be given more than once.
        out: int32 or uint32[n, words], one row per state, as :meth:`ConstraintState.fill_mask` takes it.
        threads: how many to use at most; worth it from some 10 microseconds per mask.

    Raises:
        ArgumentTypeError, MaskShapeError: as :meth:`ConstraintState.fill_mask`; nothing is written.
        ConcurrentUseError: another thread uses one of the states.
    """
    states = as_list(states, "fill_masks: states", "ConstraintState")
    for at, state in enumerate(states):
        if not isinstance(state, ConstraintState):
            raise ArgumentTypeError(f"fill_masks: states[{at}] is a {type(state).__name__}, not a ConstraintState")
    lengths = [state._constraint.mask_len() for state in states]
    view = check_words(out, max(lengths, default=0), dims=2)
    check_rows(view, len(states))
    count = as_u32(threads, "fill_masks: threads")
    rows: dict[int, int] = {}
    for at, state in enumerate(states):
        rows.setdefault(id(state), at)
    by_class: dict[type[ConstraintState], list[int]] = {}
    for at in rows.values():
        by_class.setdefault(type(states[at]), []).append(at)
    for cls, places in by_class.items():
        if len(places) == len(states):
            cls._fill_many(states, view, count)
        else:
            cls._fill_many([states[at] for at in places], [view[at] for at in places], count)
    width = view.shape[1]
    for at, state in enumerate(states):
        first = rows[id(state)]
        if first != at:
            view[at] = view[first]
        if lengths[at] < width:
            view[at, lengths[at] :] = 0


def check_rows(view: npt.NDArray[np.uint32], rows: int) -> None:
    """Raise ``MaskShapeError`` unless the buffer has just this many rows."""
    if len(view) != rows:
        raise MaskShapeError(f"the mask buffer has {len(view)} rows, {rows} are needed")
