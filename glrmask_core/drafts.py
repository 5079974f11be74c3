"""Masks along a draft: a chain or a tree of tokens that may or may not be kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .checks import as_u32, check_words
from .errors import StateError
from .state import check_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from .state import ConstraintState


def fill_draft_masks(
    state: ConstraintState, ids: Sequence[int], out: npt.NDArray[Any], parents: Sequence[int] | None
) -> None:
    """See :meth:`ConstraintState.fill_draft_masks`."""
    numbers = [as_u32(i, "token id") for i in ids]
    count = state._constraint.mask_len()
    view = check_words(out, count, dims=2)
    check_rows(view, len(numbers) + 1)
    above = _parents(parents, len(numbers))
    children = [0] * (len(numbers) + 1)
    for parent in above:
        children[parent + 1] += 1
    state._fill(view[0])
    view[0, count:] = 0
    after: list[ConstraintState | None] = [None] * (len(numbers) + 1)
    if numbers:
        after[0] = state.clone()
    for at, (token, parent) in enumerate(zip(numbers, above, strict=True)):
        before = after[parent + 1]
        row = view[at + 1]
        row[:] = 0
        if before is None:
            continue  # the branch was refused further up
        children[parent + 1] -= 1
        if children[parent + 1]:
            before = before.clone()
        else:
            after[parent + 1] = None  # its last child takes the state over
        if not before._commit_token(token):
            before._fill(row)
            after[at + 1] = before if children[at + 1] else None


def _parents(parents: Sequence[int] | None, count: int) -> list[int]:
    if parents is None:
        return list(range(-1, count - 1))
    if len(parents) != count:
        raise StateError(f"parents has {len(parents)} entries, {count} are needed")
    above = [-1 if p == -1 else as_u32(p, "parents entry") for p in parents]
    for at, parent in enumerate(above):
        if parent >= at:
            raise StateError(f"parents[{at}] is {parent}; a draft token follows an earlier one, or -1")
    return above
