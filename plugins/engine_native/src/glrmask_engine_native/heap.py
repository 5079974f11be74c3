"""The process-wide heap of the C library, with the memory policy of ``glrmask_core.memory``."""

from __future__ import annotations

import os
import threading
from typing import Any

from glrmask_core.memory import SETTINGS

from ._native import ffi, lib


class Heap:
    """Made when the first vocabulary is; kept for good."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pointer: Any = None

    def pointer(self) -> Any:
        """The ``GmHeap``.

        Raises:
            MemoryError: it cannot be made.
        """
        if self._pointer is None:
            with self._lock:
                if self._pointer is None:
                    self._pointer = self._make()
        return self._pointer

    def purge(self) -> int:
        """Purge what is kept of freed memory; the bytes of it."""
        return 0 if self._pointer is None else int(lib.gm_heap_purge(self._pointer))

    def kept(self) -> int:
        """Bytes of freed memory that are kept at the moment, not counting what was purged."""
        return 0 if self._pointer is None else int(lib.gm_heap_kept(self._pointer))

    @staticmethod
    def _make() -> Any:
        pointer = lib.gm_heap_new(SETTINGS.delay_ms, SETTINGS.decommits)
        if not pointer:
            raise MemoryError("no memory for the engine's heap")
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: lib.gm_heap_pause(pointer),
                after_in_parent=lambda: lib.gm_heap_resume(pointer),
                after_in_child=lambda: lib.gm_heap_resume(pointer),
            )
        return ffi.gc(pointer, lib.gm_heap_free)


heap = Heap()
