"""Masks along a draft: a chain or a tree of tokens that may or may not be kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .checks import as_ids, as_list, as_u32, check_words
from .errors import StateError
from .state import Commit, check_rows, raise_commit

if TYPE_CHECKING:
    import numpy.typing as npt

    from .state import ConstraintState


def fill_draft_masks(
    state: ConstraintState, ids: Sequence[int], out: npt.NDArray[Any], parents: Sequence[int] | None
) -> None:
    """See :meth:`ConstraintState.fill_draft_masks`."""
    numbers = as_ids(ids, "fill_draft_masks: ids")
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
        code = before._commit_token(token)
        if code in (Commit.LIMIT, Commit.BUSY):
            raise_commit(before, code, token, f"fill_draft_masks: ids[{at}]: ")
        if not code:
            before._fill(row)
            after[at + 1] = before if children[at + 1] else None


def _parents(parents: Sequence[int] | None, count: int) -> list[int]:
    if parents is None:
        return list(range(-1, count - 1))
    members = as_list(parents, "fill_draft_masks: parents", "indices (-1 for none)")
    if len(members) != count:
        raise StateError(f"fill_draft_masks: parents has {len(members)} entries, {count} are needed, one per token")
    above = []
    for at, member in enumerate(members):
        parent = as_u32(member, f"fill_draft_masks: parents[{at}]", least=-1)
        if parent >= at:
            raise StateError(
                f"fill_draft_masks: parents[{at}] is {parent}; a draft token follows an earlier one, or -1 for none"
            )
        above.append(parent)
    return above
