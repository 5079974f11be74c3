"""Resident memory over some hundred compilations, and the purge settings (``tox -e memory`` runs 10,000 cycles)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "memory_cycles.py"
pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux's figures of memory")


def run(*options: str, **settings: str) -> str:
    command = [sys.executable, str(SCRIPT), *options]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_memory_is_flat() -> None:
    assert "grown by" in run("--cycles", "400", "--cycles-only")


@pytest.mark.parametrize("decommits", ["0", "1"])
def test_dropped_memory_goes_back_as_the_settings_say(decommits: str) -> None:
    """MB in use, at once after the drop, after the delay, collected; each with what is lazily freed of it."""
    found = run("--purge", MIMALLOC_PURGE_DELAY="300", MIMALLOC_PURGE_DECOMMITS=decommits)
    numbers = [float(cell) for cell in found.replace("(", " ").replace(")", " ").split()]
    used, dropped, later, collected = numbers[::2]
    lazily = numbers[1::2]
    assert used > 80
    assert dropped > used * 0.6  # kept for the next constraint
    if decommits == "1":
        assert later < used * 0.4
        assert collected < used * 0.25
    else:
        assert lazily[1] < used * 0.2
        assert lazily[2] > used * 0.4
