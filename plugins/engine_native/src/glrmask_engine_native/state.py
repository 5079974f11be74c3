"""``NativeState``: a ``ConstraintState`` on the C library, with the hot calls overridden."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glrmask_core.checks import check_words
from glrmask_core.state import ConstraintState, raise_commit

from ._native import ffi, lib
from .status import new_error, raise_in_state, state_error

_mask = lib.gm_state_mask
_commit_token = lib.gm_state_commit_token
_from_buffer = ffi.from_buffer
MOST_EXPECTED = 1000  # nodes that an explanation may name
_NEVER = object()  # no buffer was used yet; None could be passed as one


class NativeState(ConstraintState):
    """One sequence. Made by ``NativeGrammar.start``."""

    __slots__ = ("_buffer", "_err", "_handle", "_last", "_n_buffer", "_n_words")

    _handle: Any
    _err: Any
    _n_words: int
    _n_buffer: int
    _last: Any
    _buffer: Any

    @classmethod
    def _of(cls, pointer: Any, n_words: int) -> NativeState:
        self = cls._new()
        self._handle = ffi.gc(pointer, lib.gm_state_free, 4096)
        self._err = new_error()
        self._n_words = n_words
        self._last, self._buffer = _NEVER, None
        return self

    def fill_mask(self, words: npt.NDArray[Any]) -> None:
        """As :meth:`ConstraintState.fill_mask`; a buffer used again is not checked again.

        Its export is held meanwhile, so NumPy refuses to resize it.
        """
        if words is not self._last or not words.flags.writeable:
            view = check_words(words, self._n_words)
            self._buffer = _from_buffer("uint32_t[]", view, True) if len(view) else ffi.new("uint32_t[1]")
            self._n_buffer = len(view)
            self._last = words
        if _mask(self._handle, self._buffer, self._n_buffer, self._err):
            raise_in_state(self._err)

    def commit_token(self, token_id: int) -> None:
        """As :meth:`ConstraintState.commit_token`."""
        if type(token_id) is int and 0 <= token_id <= 0xFFFFFFFF:
            code = _commit_token(self._handle, token_id, self._err)
            if code:
                self._raise(code, token_id)
        else:
            super().commit_token(token_id)

    def _raise(self, code: int, what: int | bytes) -> None:
        raise_commit(self, code, what)

    # -- primitives ---------------------------------------------------------------------------

    def _limit_error(self, what: str) -> Exception:
        if not self._err.status:  # nobody has failed
            return super()._limit_error(what)
        return state_error(self._err, f"{what}: nothing changed, ")

    def _fill(self, words: npt.NDArray[np.uint32]) -> None:
        buffer = _from_buffer("uint32_t[]", words, True) if len(words) else ffi.new("uint32_t[1]")
        if _mask(self._handle, buffer, len(words), self._err):
            raise_in_state(self._err)

    def _commit_token(self, token_id: int) -> int:
        return int(_commit_token(self._handle, token_id, self._err))

    def _commit_bytes(self, data: bytes) -> int:
        return int(lib.gm_state_commit_bytes(self._handle, _from_buffer("uint8_t[]", data), len(data), self._err))

    def _flags(self) -> int:
        flags = int(lib.gm_state_flags(self._handle, self._err))
        if flags < 0:
            raise_in_state(self._err)
        return flags

    def _key(self) -> tuple[int, int]:
        out = ffi.new("uint64_t[2]")
        if lib.gm_state_key(self._handle, out, self._err):
            raise_in_state(self._err)
        return int(out[0]), int(out[1])

    def _expected(self) -> list[int]:
        nodes = ffi.new("uint32_t[]", MOST_EXPECTED)
        count = int(lib.gm_state_expected(self._handle, nodes, MOST_EXPECTED, self._err))
        if count < 0:
            raise_in_state(self._err)
        return list(ffi.unpack(nodes, count)) if count else []

    def _clone(self) -> NativeState:
        err = new_error()
        pointer = lib.gm_state_clone(self._handle, err)
        if not pointer:
            raise_in_state(err)
        return NativeState._of(pointer, self._n_words)

    def _rollback(self, n: int) -> bool:
        done = int(lib.gm_state_rollback(self._handle, n, self._err))
        if done < 0:
            raise_in_state(self._err)
        return bool(done)
