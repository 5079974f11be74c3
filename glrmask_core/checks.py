"""Argument checks shared by the public objects; they raise by name and leave everything unchanged."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .errors import ArgumentTypeError, IdRangeError, MaskShapeError

if TYPE_CHECKING:
    import numpy.typing as npt

MAX_ID = 2**32 - 1
WORD = np.dtype(np.uint32)
SIGNED_WORD = np.dtype(np.int32)

Self = TypeVar("Self", bound="Closed")


class Closed:
    """Base of classes that only named constructors and engines may instantiate."""

    __slots__ = ()
    _made_by = ""

    def __new__(cls, *args: object, **kwargs: object) -> Any:
        raise ArgumentTypeError(f"{cls.__name__} cannot be instantiated directly; use {cls._made_by}")

    @classmethod
    def _new(cls: type[Self]) -> Self:
        """An empty instance, for the library's own constructors and for engines."""
        return object.__new__(cls)


def as_u32(value: Any, what: str, least: int = 0) -> int:
    """``value`` as an int in ``least``..2^32-1.

    Raises:
        ArgumentTypeError: not an integer (anything with ``__index__``).
        IdRangeError: an ``OverflowError`` too.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{what} must be an integer, not {type(value).__name__}") from None
    if not least <= number <= MAX_ID:
        raise IdRangeError(f"{what} {number} is outside {least}..{MAX_ID}")
    return number


def as_list(values: Any, what: str, of: str) -> list[Any]:
    """The members of a list, tuple, array or other iterable that has an order.

    Args:
        values: not text, bytes, a mapping or a set.
        what: name of the argument, for messages.
        of: what its members should be, for messages.

    Raises:
        ArgumentTypeError: another type.
    """
    if not isinstance(values, (str, bytes, bytearray, memoryview, Mapping, Set)):
        try:
            members = iter(values)
        except TypeError:
            pass  # told below
        else:
            return list(members)
    raise ArgumentTypeError(f"{what} must be a sequence of {of}, not {type(values).__name__}; pass a list")


def as_ids(values: Any, what: str) -> list[int]:
    """Token ids in order.

    Raises:
        ArgumentTypeError: no sequence (see :func:`as_list`), or a member that is no integer; the message has its index.
        IdRangeError: a member outside 0..2^32-1.
    """
    members = as_list(values, what, "token ids")
    if set(map(type, members)) <= {int} and (not members or (min(members) >= 0 and max(members) <= MAX_ID)):
        return members
    return [as_u32(value, f"{what}[{at}]") for at, value in enumerate(members)]


def as_text_bytes(data: Any, what: str = "data", any_format: bool = False) -> bytes:
    """Bytes of ``bytes``, ``bytearray`` or a contiguous buffer of bytes.

    Args:
        data: the buffer.
        what: name of the argument, for messages.
        any_format: also take buffers of wider items and of several dimensions, as the bytes they are in memory.

    Raises:
        ArgumentTypeError: another type; text must be encoded first.
    """
    if type(data) is bytes:
        return data
    try:
        view = memoryview(data)
    except (TypeError, ValueError):  # no buffer, or one that was released
        hint = "; encode the text first" if isinstance(data, str) else ""
        raise ArgumentTypeError(f"{what} must be bytes, not {type(data).__name__}{hint}") from None
    if not view.c_contiguous:
        raise ArgumentTypeError(f"{what} must be a contiguous buffer, not one with gaps; use bytes(...)")
    if not any_format and (view.ndim != 1 or view.format not in ("B", "b", "c")):
        raise ArgumentTypeError(
            f"{what} must be bytes, not a {view.ndim}-dimensional buffer of format {view.format!r} "
            f"({type(data).__name__}); use its tobytes() if its memory is meant"
        )
    return view.tobytes()


def as_bool(value: Any, what: str) -> bool:
    """``value`` as a bool.

    Raises:
        ArgumentTypeError: neither True nor False.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentTypeError(f"{what} must be True or False, not {type(value).__name__}")
    return bool(value)


def own_copy(value: Any) -> Any:
    """``value`` with the mappings, lists and sets in it copied, however deep they lie; anything else is shared."""
    out: list[Any] = [None]
    copies: dict[int, tuple[Any, Any]] = {}  # with the originals, so that their ids stay theirs
    todo: list[tuple[Any, Any, Any]] = [(out, 0, value)]
    while todo:
        holder, key, item = todo.pop()
        if not isinstance(item, (Mapping, list, set)):
            holder[key] = item
            continue
        if id(item) not in copies:
            copy: Any = dict(item) if isinstance(item, Mapping) else [*item] if isinstance(item, list) else {*item}
            copies[id(item)] = item, copy
            pairs = () if isinstance(copy, set) else enumerate(copy) if isinstance(copy, list) else copy.items()
            todo += [(copy, k, v) for k, v in pairs]
        holder[key] = copies[id(item)][1]
    return out[0]


def check_words(words: Any, mask_len: int, dims: int = 1) -> npt.NDArray[np.uint32]:
    """A mask buffer as a uint32 view of the same memory.

    Args:
        words: int32 or uint32 in native byte order, C-contiguous, aligned, writable.
        mask_len: least number of words (of the last axis).
        dims: 1 for one mask, 2 for one mask per row.

    Raises:
        ArgumentTypeError: not such an array, other dtype or number of dimensions.
        MaskShapeError: too short, not contiguous, misaligned or read-only.
    """
    if not isinstance(words, np.ndarray):
        raise ArgumentTypeError(f"a mask buffer must be a numpy array of int32 or uint32, not {type(words).__name__}")
    if type(words) is not np.ndarray:
        words = np.ndarray.view(words, np.ndarray)  # a subclass may tell another shape than it has
    if words.dtype != WORD and words.dtype != SIGNED_WORD:
        raise ArgumentTypeError(f"a mask buffer must be int32 or uint32 in native byte order, not {words.dtype}")
    if words.ndim != dims:
        raise ArgumentTypeError(f"a mask buffer here has {dims} dimension(s), not {words.ndim}")
    flags = words.flags
    if not flags.c_contiguous:
        raise MaskShapeError("the mask buffer is not C-contiguous; pass a contiguous array")
    if not flags.writeable:
        raise MaskShapeError("the mask buffer is read-only")
    if not flags.aligned:
        raise MaskShapeError("the mask buffer is not aligned to 4 bytes")
    if words.shape[-1] < mask_len:
        raise MaskShapeError(
            f"the mask buffer has {words.shape[-1]} words, at least {mask_len} are needed (mask_len())"
        )
    view: npt.NDArray[np.uint32] = words.view(WORD)
    return view
