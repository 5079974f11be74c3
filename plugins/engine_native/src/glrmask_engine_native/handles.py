"""Ownership of C objects: each handle frees its object once, whatever order Python drops them in.

The C side counts references (a state keeps its constraint, a constraint its vocabulary), so handles need
no order among themselves.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from glrmask_core.options import Limits
from glrmask_core.vocab import Vocab

from ._native import ffi, lib
from .heap import heap
from .status import new_error, raise_for

CACHE_KEY = "native"
_vocabularies: WeakValueDictionary[int, Vocab] = WeakValueDictionary()
"""Those that have a handle, by object: equal ones have handles of their own."""


def owned(pointer: Any, free: Any, size: int = 0) -> Any:
    """A pointer that calls ``free`` when it is dropped; ``size`` bytes hint the garbage collector."""
    return ffi.gc(pointer, free, size)


def vocab_handle(vocab: Vocab, limits: Limits) -> Any:
    """The C vocabulary of ``vocab``, built once and shared by all its constraints.

    Cost: about 100 ms for 128,000 tokens, once.
    """
    found = vocab.engine_cache.get(CACHE_KEY)
    if found is None:
        with vocab.engine_lock:
            found = vocab.engine_cache.get(CACHE_KEY)
            if found is None:
                found = vocab.engine_cache[CACHE_KEY] = _build(vocab, limits)
                _vocabularies[id(vocab)] = vocab
    return found


def forget_shared() -> None:
    """Let go of what constraints of a vocabulary share; those that are there keep theirs."""
    for reference in _vocabularies.valuerefs():
        vocab, err = reference(), new_error()
        if vocab is not None and lib.gm_vocab_forget(vocab.engine_cache[CACHE_KEY], err):
            raise_for(err)


def _build(vocab: Vocab, limits: Limits) -> Any:
    ids, offsets, blob = vocab.entries()
    err = new_error()
    ids = np.ascontiguousarray(ids, np.uint32)
    offsets = np.ascontiguousarray(offsets, np.int64)
    pointer = lib.gm_vocab_new_in(
        heap.pointer(),
        ffi.from_buffer("uint32_t[]", ids),
        ffi.from_buffer("int64_t[]", offsets),
        ffi.from_buffer("uint8_t[]", blob),
        len(ids),
        limits.token_bytes,
        err,
    )
    if not pointer:
        raise_for(err)
    return owned(pointer, lib.gm_vocab_free, int(lib.gm_vocab_bytes(pointer)))
