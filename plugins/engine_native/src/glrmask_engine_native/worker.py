"""The process-wide worker of AUTO: made on first use, stopped at exit, made anew after a fork."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from ._native import ffi, lib


class Worker:
    """Hands constraints to the C worker thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pointer: Any = ffi.NULL
        self._made = False

    def add(self, constraint: Any) -> None:
        """Let the tables of a constraint be filled ahead of need."""
        if not self._made:
            with self._lock:
                if not self._made:
                    self._start()
        lib.gm_worker_add(self._pointer, constraint)

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is left to fill; False after ``seconds``. For tests and measurements."""
        import time

        end = time.monotonic() + seconds
        while not lib.gm_worker_idle(self._pointer):
            if time.monotonic() > end:
                return False
            time.sleep(0.001)
        return True

    def _start(self) -> None:
        self._pointer = lib.gm_worker_new()
        self._made = True
        atexit.register(self._stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: lib.gm_worker_pause(self._pointer),
                after_in_parent=lambda: lib.gm_worker_resume(self._pointer),
                after_in_child=self._abandon,
            )

    def _stop(self) -> None:
        pointer, self._pointer = self._pointer, ffi.NULL
        lib.gm_worker_free(pointer)

    def _abandon(self) -> None:
        """In a forked child the thread does not exist; its worker is left alone and a new one made."""
        self._lock = threading.Lock()
        self._pointer = lib.gm_worker_new()


worker = Worker()
