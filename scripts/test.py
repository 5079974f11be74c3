"""Run the tests: each part alone on this Python, everything together on each supported Python, lint and types.

    python scripts/test.py                   # Pythons that are not installed are named and left out
    python scripts/test.py --every-python    # Pythons that are not installed are an error (CI)
    python scripts/test.py --only all        # environments whose name ends so

The whole matrix is ``tox`` by hand. This script only chooses environments of tox.ini and adds up their results.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ((3, 10), (3, 11), (3, 12), (3, 13))
PARTS = ("core", "glrm", "ebnf", "lark", "jsonschema", "native", "all")
EXTRA = ("lint", "type", "model", "c-unit")


def runs(python: str) -> bool:
    """Whether a command is a working interpreter (a pyenv shim may exist and still refuse)."""
    try:
        done = subprocess.run([python, "-c", ""], capture_output=True, timeout=60, check=False)
    except OSError:
        return False
    return done.returncode == 0


def choose(every_python: bool) -> tuple[list[str], list[str]]:
    """The environments to run, and the Pythons that are missing."""
    own = sys.version_info[:2]
    if own not in SUPPORTED:
        raise SystemExit(f"run this with one of Python {_names(SUPPORTED)}, not {own[0]}.{own[1]}")
    missing = [v for v in SUPPORTED if v != own and not runs(f"python{v[0]}.{v[1]}")]
    if missing and every_python:
        raise SystemExit(f"not on the PATH: Python {_names(missing)}; install it or leave out --every-python")
    environments = [f"py{own[0]}{own[1]}-{part}" for part in PARTS]
    environments += [f"py{v[0]}{v[1]}-all" for v in SUPPORTED if v != own and v not in missing]
    return [*environments, *EXTRA], [f"{v[0]}.{v[1]}" for v in missing]


def _names(versions: tuple[tuple[int, int], ...] | list[tuple[int, int]]) -> str:
    return ", ".join(f"{a}.{b}" for a, b in versions)


def counts(environment: str, since: float) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of an environment, from the report it wrote in this run."""
    report = ROOT / ".tox" / environment / "tmp" / "junit.xml"
    if not report.exists() or report.stat().st_mtime < since:
        return 0, 0, 0
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None, report
    total, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return total - failed - skipped, failed, skipped


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the tests.")
    parser.add_argument("--every-python", action="store_true", help="fail when a supported Python is missing")
    parser.add_argument("--only", metavar="PART", nargs="+", help="environments whose name ends so")
    parser.add_argument("--jobs", default="2", help="environments at a time (default 2)")
    arguments = parser.parse_args()
    environments, missing = choose(arguments.every_python)
    if arguments.only:
        environments = [e for e in environments if e.endswith(tuple(arguments.only))]
    if importlib.util.find_spec("tox") is None:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "tox>=4.11"], check=True)
    started = time.time()
    subprocess.run([sys.executable, str(ROOT / "scripts" / "wheels.py"), "build"], check=True)
    command = [sys.executable, "-m", "tox", "run-parallel", "--parallel", arguments.jobs, "--parallel-no-spinner"]
    code = subprocess.run([*command, "-e", ",".join(environments)], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    sums = [0, 0, 0]
    for environment in environments:
        numbers = counts(environment, started)
        sums = [a + b for a, b in zip(sums, numbers, strict=True)]
        if environment not in EXTRA:
            print(f"{environment:18} {numbers[0]} passed, {numbers[1]} failed, {numbers[2]} skipped")
    for version in missing:
        print(f"Python {version} is not installed: its tests were not run")
    print(f"{time.time() - started:.0f} s; tox exit code {code}")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return code or (1 if sums[1] or not sums[0] else 0)


if __name__ == "__main__":
    sys.exit(main())
