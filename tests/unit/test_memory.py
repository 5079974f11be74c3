"""api.md section 10: the diagnostics of the memory policy."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from glrmask import _internal
from glrmask_core.plugins import manager

PROBE = """
import os, glrmask
from glrmask import _internal
os.environ["MIMALLOC_PURGE_DELAY"] = "7"
os.environ["MIMALLOC_PURGE_DECOMMITS"] = "0"
print(_internal.mimalloc_purge_delay(), _internal.mimalloc_purge_decommits(), _internal.collect_allocator(force=True))
"""


@pytest.mark.parametrize(
    ("delay", "decommits", "expected"),
    [
        (None, None, "1000 False None"),
        ("250", "1", "250 True None"),
        ("0", "0", "0 False None"),
        ("-5", "", "-1 False None"),
        ("soon", "yes", "1000 True None"),
    ],
)
def test_settings_are_read_once_at_import(delay: str | None, decommits: str | None, expected: str) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MIMALLOC")}
    if delay is not None:
        env["MIMALLOC_PURGE_DELAY"] = delay
    if decommits is not None:
        env["MIMALLOC_PURGE_DECOMMITS"] = decommits
    done = subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=True)
    assert expected == done.stdout.strip()


def test_types_of_the_diagnostics() -> None:
    assert (int, bool) == (type(_internal.mimalloc_purge_delay()), type(_internal.mimalloc_purge_decommits()))
    for force in (None, 1, "no", []):
        with pytest.raises(TypeError, match="force must be True or False"):
            _internal.collect_allocator(force)  # type: ignore[arg-type]


def test_without_engines_the_settings_are_told_and_nothing_is_purged() -> None:
    code = (
        "from glrmask import _internal\n"
        "from glrmask_core.plugins import manager\n"
        "assert {} == dict(manager().engines())\n"
        "print(_internal.mimalloc_purge_delay(), _internal.mimalloc_purge_decommits(), _internal.collect_allocator())"
    )
    env = {**os.environ, "GLRMASK_DISABLE_PLUGINS": "*", "MIMALLOC_PURGE_DELAY": "9", "MIMALLOC_PURGE_DECOMMITS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "9 True None" == done.stdout.strip()


def test_collecting_asks_every_engine() -> None:
    null = manager().engines()["null"]
    before = len(null.purges)
    _internal.collect_allocator()
    _internal.collect_allocator(force=False)
    assert [True, False] == null.purges[before:]
