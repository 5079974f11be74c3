"""The memory policy: how engines give freed memory back, and what shows it.

Read from the environment once, when this module is imported (``import glrmask`` does that):

* ``MIMALLOC_PURGE_DELAY``: milliseconds that freed memory is kept before it is reset; default 1000. A
  negative number keeps it for good.
* ``MIMALLOC_PURGE_DECOMMITS``: 1 decommits instead of resetting, so that the resident size drops at once.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

DEFAULT_DELAY = 1000


@dataclass(frozen=True)
class PurgeSettings:
    """What engines go by.

    Attributes:
        delay_ms: how long freed memory is kept before it is given back; negative: for good.
        decommits: whether it is decommitted instead of reset.
    """

    delay_ms: int = DEFAULT_DELAY
    decommits: bool = False


def _read() -> PurgeSettings:
    try:
        delay = int(os.environ.get("MIMALLOC_PURGE_DELAY", ""))
    except ValueError:
        delay = DEFAULT_DELAY
    decommits = os.environ.get("MIMALLOC_PURGE_DECOMMITS", "").strip().lower() in ("1", "true", "yes", "on")
    return PurgeSettings(max(-1, min(delay, 2**31 - 1)), decommits)


SETTINGS = _read()


def mimalloc_purge_delay() -> int:
    """Milliseconds that engines keep freed memory before giving it back."""
    return SETTINGS.delay_ms


def mimalloc_purge_decommits() -> bool:
    """Whether engines decommit freed memory instead of resetting it."""
    return SETTINGS.decommits


def collect_allocator(force: bool = True) -> None:
    """Give unused memory of all engines back now; with ``force`` also drop caches that constraints share.

    Without an engine in use there is nothing to give back, and nothing happens.

    Raises:
        ArgumentTypeError: ``force`` is no bool.
    """
    from .checks import as_bool
    from .plugins import manager

    force = as_bool(force, "collect_allocator(): force")
    for engine in manager().loaded_engines():
        engine.purge(force)
