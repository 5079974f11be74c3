"""``NativeState``: a ``ConstraintState`` on the C library, with the hot calls overridden."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from glrmask_core.checks import check_words
from glrmask_core.errors import CompletionLengthError
from glrmask_core.state import ConstraintState, raise_commit

from ._native import ffi, lib
from .status import LIMIT, NOMEM, new_error, raise_in_state, state_error

_mask = lib.gm_state_mask
_commit_token = lib.gm_state_commit_token
_from_buffer = ffi.from_buffer
MOST_EXPECTED = 1000  # nodes that an explanation may name
_NEVER = (object(), None, 0)  # no buffer was used yet; None could be passed as one


class _Errors(threading.local):
    """One ``GmError`` per thread: it is read after the call, when another thread may be inside."""

    def __init__(self) -> None:
        self.err = new_error()


_errors = _Errors()


class NativeState(ConstraintState):
    """One sequence. Made by ``NativeGrammar.start``."""

    __slots__ = ("_handle", "_last", "_n_words")

    _handle: Any
    _n_words: int
    _last: tuple[Any, Any, int]
    """The buffer used last, its words in C and their number: one attribute, so that threads see all three or none."""

    @classmethod
    def _of(cls, pointer: Any, n_words: int) -> NativeState:
        self = cls._new()
        self._handle = ffi.gc(pointer, lib.gm_state_free, 4096)
        self._n_words = n_words
        self._last = _NEVER
        return self

    def fill_mask(self, words: npt.NDArray[Any]) -> None:
        """As :meth:`ConstraintState.fill_mask`; a buffer used again is not checked again.

        Its export is held meanwhile, so NumPy refuses to resize it unless told not to look; then its size tells.
        """
        last, buffer, count = self._last
        if words is not last or words.size != count or not words.flags.writeable:
            view = check_words(words, self._n_words)
            buffer = _from_buffer("uint32_t[]", view, True) if len(view) else ffi.new("uint32_t[1]")
            count = len(view)
            if type(words) is np.ndarray:  # a subclass may tell another size than it has
                self._last = words, buffer, count
        err = _errors.err
        if _mask(self._handle, buffer, count, err):
            raise_in_state(err)

    def commit_token(self, token_id: int) -> None:
        """As :meth:`ConstraintState.commit_token`."""
        if type(token_id) is int and 0 <= token_id <= 0xFFFFFFFF:
            code = _commit_token(self._handle, token_id, _errors.err)
            if code:
                self._raise(code, token_id)
        else:
            super().commit_token(token_id)

    def _raise(self, code: int, what: int | bytes) -> None:
        raise_commit(self, code, what)

    # -- primitives ---------------------------------------------------------------------------

    def _limit_error(self, what: str) -> Exception:
        err = _errors.err
        if err.status not in (LIMIT, NOMEM):  # it was not this engine that failed
            return super()._limit_error(what)
        return state_error(err, f"{what}: nothing changed, ")

    def _fill(self, words: npt.NDArray[np.uint32]) -> None:
        buffer = _from_buffer("uint32_t[]", words, True) if len(words) else ffi.new("uint32_t[1]")
        if _mask(self._handle, buffer, len(words), _errors.err):
            raise_in_state(_errors.err)

    @classmethod
    def _fill_many(
        cls,
        states: Sequence[ConstraintState],
        rows: Sequence[npt.NDArray[np.uint32]] | npt.NDArray[np.uint32],
        threads: int,
    ) -> None:
        """As :meth:`ConstraintState._fill_many`: one C call per thread where the rows lie one after the other.

        Cost: about 60 us for each thread beyond the first.
        """
        if not isinstance(rows, np.ndarray) or not rows.size:
            super()._fill_many(states, rows, threads)
            return
        width = rows.shape[1]
        words = _from_buffer("uint32_t[]", rows, True)
        handles = ffi.new("GmState *[]", [state._handle for state in states])  # type: ignore[attr-defined]
        errors: list[BaseException] = []

        def fill(begin: int, end: int) -> None:
            try:
                if lib.gm_states_mask(handles + begin, end - begin, words + begin * width, width, _errors.err):
                    raise_in_state(_errors.err)
            except BaseException as error:
                errors.append(error)

        parts = max(1, min(threads, len(states)))
        bounds = [len(states) * i // parts for i in range(parts + 1)]
        helpers = [threading.Thread(target=fill, args=pair) for pair in pairwise(bounds[1:])]
        for helper in helpers:
            helper.start()
        fill(0, bounds[1])
        for helper in helpers:
            helper.join()
        if errors:
            raise errors[0]

    def _commit_token(self, token_id: int) -> int:
        return int(_commit_token(self._handle, token_id, _errors.err))

    def _commit_bytes(self, data: bytes) -> int:
        return int(lib.gm_state_commit_bytes(self._handle, _from_buffer("uint8_t[]", data), len(data), _errors.err))

    def _flags(self) -> int:
        flags = int(lib.gm_state_flags(self._handle, _errors.err))
        if flags < 0:
            raise_in_state(_errors.err)
        return flags

    def _key(self) -> tuple[int, int]:
        out = ffi.new("uint64_t[2]")
        if lib.gm_state_key(self._handle, out, _errors.err):
            raise_in_state(_errors.err)
        return int(out[0]), int(out[1])

    def _expected(self) -> list[int]:
        nodes = ffi.new("uint32_t[]", MOST_EXPECTED)
        count = int(lib.gm_state_expected(self._handle, nodes, MOST_EXPECTED, _errors.err))
        if count < 0:
            raise_in_state(_errors.err)
        return list(ffi.unpack(nodes, count)) if count else []

    def _completion(self, most: int) -> bytes | None:
        out, count, err = ffi.new("uint8_t **"), ffi.new("uint64_t *"), _errors.err
        code = int(lib.gm_state_completion(self._handle, most, out, count, err))
        if code < 0:
            raise_in_state(err)
        if code == 1:
            return None
        if code == 2:
            return super()._completion(most)
        if code == 3:
            raise CompletionLengthError(int(count[0]), most)
        try:
            return bytes(ffi.buffer(out[0], count[0])) if count[0] else b""
        finally:
            lib.gm_state_completion_free(self._handle, out[0], count[0])

    def _clone(self) -> NativeState:
        err = new_error()
        pointer = lib.gm_state_clone(self._handle, err)
        if not pointer:
            raise_in_state(err)
        return NativeState._of(pointer, self._n_words)

    def _rollback(self, n: int) -> bool:
        done = int(lib.gm_state_rollback(self._handle, n, _errors.err))
        if done < 0:
            raise_in_state(_errors.err)
        return bool(done)
