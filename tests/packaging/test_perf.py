"""The regression guard of ``tox -e perf``: its judgement, its inputs and its stored counts, without valgrind."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

PERF = Path(__file__).resolve().parents[2] / "benchmarks" / "perf"
FRONT_ENDS = ("glrmask_engine_native", "glrmask_frontend_glrm", "glrmask_frontend_jsonschema")


@pytest.fixture(scope="module")
def guard() -> dict[str, Any]:
    for name in FRONT_ENDS:
        pytest.importorskip(name)
    return runpy.run_path(str(PERF / "guard.py"), run_name="guard")


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PERF / "counts.json").read_text(encoding="utf-8"))
    return found


def judge(guard: dict[str, Any], stored: dict[str, Any], change: dict[str, float], **options: Any) -> int:
    """The exit code when some paths take so many times their stored count."""
    counts = {name: round(n * change.get(name, 1)) for name, n in stored["counts"].items()}
    guard["compare"].__globals__["toolchain"] = lambda: options.get("toolchain", stored["toolchain"])
    return int(guard["compare"](counts, stored["inputs"], 5.0, options.get("strict", False)))


def test_a_path_outside_its_tolerance_fails(guard: dict[str, Any], stored: dict[str, Any]) -> None:
    assert judge(guard, stored, {}) == 0
    assert judge(guard, stored, {"commit": 1.04}) == 0
    assert judge(guard, stored, {"commit": 1.06}) == 1
    assert judge(guard, stored, {"mask_cached": 0.9}) == 1


def test_another_compiler_is_not_judged(
    guard: dict[str, Any], stored: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(guard, stored, {"commit": 2}, toolchain="another") == 0
    assert "NOT JUDGED" in capsys.readouterr().out
    assert judge(guard, stored, {}, toolchain="another", strict=True) == 1


def test_a_path_that_is_not_stored_fails(guard: dict[str, Any], stored: dict[str, Any]) -> None:
    counts = {**stored["counts"], "new": 1}
    guard["compare"].__globals__["toolchain"] = lambda: stored["toolchain"]
    assert guard["compare"](counts, stored["inputs"], 5.0, False) == 1


def test_every_path_of_the_driver_is_stored(stored: dict[str, Any]) -> None:
    text = (PERF / "driver.c").read_text(encoding="utf-8")
    assert len(stored["counts"]) >= 10
    for name in stored["counts"]:
        assert f'"{name}"' in text


@pytest.mark.skipif(sys.platform == "win32", reason="the examples are read as POSIX paths")
def test_inputs_are_the_same_every_time(guard: dict[str, Any], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    assert guard["write_inputs"](first) == guard["write_inputs"](second)
    assert sorted(p.name for p in first.iterdir()) == sorted(p.name for p in second.iterdir())
