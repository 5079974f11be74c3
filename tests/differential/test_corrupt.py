"""A few thousand corruptions of saved constraints (``tox -e corrupt`` tries 200,000)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "corrupt.py"


def test_corrupt_artifacts_are_refused_or_work() -> None:
    command = [sys.executable, str(SCRIPT), "--cases", "2000", "--seed", "7", "--jobs", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "raw: 2000 corruptions" in done.stdout
    assert "sealed: 2000 corruptions" in done.stdout
    assert "flip: loaded" in done.stdout  # validation has been tried
