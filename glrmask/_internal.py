"""Diagnostics of the memory policy, without any promise of compatibility."""

from __future__ import annotations

from glrmask_core.memory import collect_allocator, mimalloc_purge_decommits, mimalloc_purge_delay

__all__ = ["collect_allocator", "mimalloc_purge_decommits", "mimalloc_purge_delay"]
