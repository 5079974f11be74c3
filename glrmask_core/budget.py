"""Masks under a token budget: which tokens leave enough for finishing the output. Searches on clones."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from .errors import CompletionLengthError, LimitExceededError
from .ir_link import exact_ids
from .search import BYTES, COMPLETION_BYTES, SEARCH_LIMIT, Trial, Work, advance, mask_words
from .state import ACCEPTING, REJECTED, TERMINATED, ConstraintState, ids_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from .constraint import Constraint

BUDGET_DEPTH = 200  # tokens looked ahead; each is one level of recursion


def keep_within(state: ConstraintState, words: npt.NDArray[np.uint32], budget: int, exact: bool = True) -> None:
    """Clear the bits of tokens after which the output cannot be finished with ``budget`` tokens in all.

    Not ``exact``: ... after which the shortest completion takes more tokens.
    """
    if not budget:
        words[:] = 0
        return
    judge = _Judge(state._constraint, exact)
    trial = Trial(state)
    kept: dict[Hashable, bool] = {}
    for token in ids_of(words).tolist():
        after = trial.after(token)
        if after is not None:
            key = after._key()
            ok = kept.get(key) if key is not None else None
            if ok is None:
                ok = judge.can_finish(after, budget - 1)
                if key is not None:
                    kept[key] = ok
        if after is None or not ok:
            words[token >> 5] &= np.uint32(~(1 << (token & 31)) & 0xFFFFFFFF)


class _Judge:
    """Whether outputs can be finished with so many tokens: by the bytes they need, else by trying tokens."""

    def __init__(self, constraint: Constraint, exact: bool) -> None:
        spelling, ends = constraint.vocab.spelling, set(constraint.options.end_tokens)
        self._spelling, self._ends = spelling, ends
        self._longest = spelling.longest
        self._needs_end = bool(ends)
        self._search = exact
        # An exact token stands for any number of bytes; where it is none of our business, only bytes count.
        self._exact = exact and bool(len(exact_ids(constraint.module)))
        self._single = frozenset(b for b in range(256) if self._has(BYTES[b]))
        self._finish = _Finish()

    def can_finish(self, state: ConstraintState, left: int) -> bool:
        """Whether ``left`` tokens, the end token included, are enough from here; the state does not change."""
        self._finish.work.spend()
        flags = state._flags()
        if flags & TERMINATED:
            return True
        if flags & REJECTED:
            return False
        left_for_text = left - self._needs_end
        if left_for_text < 0 or flags & ACCEPTING:
            return left_for_text >= 0
        known = self._by_bytes(state, left_for_text)
        if known is None and self._search:
            return self._finish.within(state.clone(), left)
        return bool(known)

    def _by_bytes(self, state: ConstraintState, left: int) -> bool | None:
        """What the shortest completion tells about ``left`` tokens; None when it does not settle it."""
        try:
            text = state._completion(COMPLETION_BYTES if self._exact else min(left * self._longest, COMPLETION_BYTES))
        except CompletionLengthError as error:
            if not self._exact and error.least > left * self._longest:
                return False
            if not self._search:
                raise
            return None
        except LimitExceededError as error:
            if error.limit == SEARCH_LIMIT and self._search:
                return None
            raise
        if text is None:  # exact tokens have no bytes
            return None if self._exact else False
        if (len(text) <= left and self._single.issuperset(text)) or self._spelled(text, left):
            return True
        return None

    def _has(self, text: bytes) -> bool:
        return any(i not in self._ends for i in self._spelling.ids_of(text))

    def _spelled(self, text: bytes, most: int) -> bool:
        """Whether at most ``most`` tokens spell the text."""
        far = most + 1  # not reached
        least = [0] + [far] * len(text)
        for at in range(len(text)):
            count = least[at] + 1
            if count > most:
                continue
            for end in range(at + 1, min(len(text), at + self._longest) + 1):
                piece = text[at:end]
                if count < least[end] and self._has(piece):
                    least[end] = count
                if not self._spelling.extends(piece):
                    break
        return least[-1] <= most


class _Finish:
    """Whether outputs can be finished with few tokens, by iterative deepening."""

    def __init__(self) -> None:
        self.work = Work("mask(budget=...)", "exact=False asks for shortest completions only")
        self._least: dict[Hashable, int] = {}
        """Per key, fewer tokens than this are not enough."""

    def within(self, state: ConstraintState, budget: int) -> bool:
        """Whether ``budget`` tokens are enough from here."""
        for depth in range(budget + 1):
            if depth > BUDGET_DEPTH:
                raise LimitExceededError(
                    f"mask(budget={budget + 1}): no way to finish within {BUDGET_DEPTH} tokens was found; "
                    "exact=False asks for shortest completions only",
                    "budget",
                )
            if self._finishes(state, depth):
                return True
            if not len(ids_of(mask_words(state))):
                return False
        return False

    def _finishes(self, state: ConstraintState, depth: int) -> bool:
        flags = state._flags()
        if flags & TERMINATED:
            return True
        if flags & ACCEPTING:
            return depth >= 1 or not state._constraint.options.end_tokens
        if not depth or flags & REJECTED:
            return False
        key = state._key()
        if key is not None and self._least.get(key, 0) > depth:
            return False
        after_keys: set[Hashable] = set()
        for token in ids_of(mask_words(state)).tolist():
            self.work.spend()
            after = state.clone()
            if not advance(after, token):
                continue
            after_key = after._key()
            if after_key is not None:
                if after_key in after_keys:
                    continue
                after_keys.add(after_key)
            if self._finishes(after, depth - 1):
                return True
        if key is not None:
            self._least[key] = depth + 1
        return False
