"""The arithmetic of the benchmarks: merging repeats, digests, exponents. Nothing is measured here."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def modules() -> Iterator[tuple[ModuleType, ModuleType]]:
    """``compare`` and ``measuring``, which import each other as scripts do."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import compare  # type: ignore[import-not-found]
        import measuring  # type: ignore[import-not-found]

        yield compare, measuring
    finally:
        sys.path.remove(str(BENCHMARKS))


def document(mask: list[int], compile_ns: int) -> dict[str, Any]:
    """What the harness writes: one schema that was run, one that was refused, one that took too long."""
    run = {
        "file": "a",
        "compile_ns": compile_ns,
        "compile_cpu_ns": 9_000_000,
        "start_ns": 1000,
        "first_mask_ns": mask[0],
    }
    run |= {"mask_ns": mask, "commit_ns": [500] * len(mask), "mismatch": 0, "peak_rss_kb": 2048}
    run["tests"] = [[True, True, True, None], [False, False, False, 1], [True, False, False, 0]]
    rows = [run, {"file": "b", "compile_error": "no"}, {"file": "c", "failure": "timeout"}]
    return {"rows": rows, "loadavg": [1.0], "timeout": 40, "wall_s": 1.0, "workers": [{}]}


def write(path: Path, value: dict[str, Any]) -> Path:
    with gzip.open(path, "wt") as file:
        json.dump(value, file)
    return path


def test_of_repeats_the_smallest_time_of_each_step_counts(
    modules: tuple[ModuleType, ModuleType], tmp_path: Path
) -> None:
    compare, _ = modules
    first = write(tmp_path / "1.gz", document([3000, 900, 5000], 4_000_000))
    second = write(tmp_path / "2.gz", document([2000, 1500, 6000], 5_000_000))
    row = compare.merged([first, second])["rows"][0]
    assert [2000, 900, 5000] == row["mask_ns"]
    assert 4_000_000 == row["compile_ns"]


def test_digest(modules: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    compare, _ = modules
    found = compare.digest(compare.merged([write(tmp_path / "1.gz", document([2000, 900, 5000], 4_000_000))]))
    assert (3, 1, 1, 1) == tuple(found[k] for k in ("files", "compiled", "refused", "failed"))
    assert (1, 0, 0) == tuple(found[k] for k in ("valid_rejected", "invalid_accepted", "run_errors"))
    assert 2.5 == found["tbm"][0] and 5.5 == found["tbm"][-1]  # mask + commit, us
    assert 4.003 == pytest.approx(found["ttfm"][0])  # compile + start + first mask, ms


def test_a_slow_grammar_is_named(modules: tuple[ModuleType, ModuleType], tmp_path: Path) -> None:
    compare, _ = modules
    value = document([2000], 4_000_000)
    value["rows"].append({**value["rows"][0], "file": f"{compare.WARM_NAME}.json"})
    found = compare.digest_grammars(compare.merged([write(tmp_path / "1.gz", value)]))
    assert ["a", "b", "c"] == list(found)
    assert "timeout (40 s)" == found["c"]["failed"]
    assert [1, 2] == found["a"]["valid_accepted"] and [1, 1] == found["a"]["broken_rejected"]


@pytest.mark.parametrize("power", [0, 1, 2])
def test_fitted_exponent(modules: tuple[ModuleType, ModuleType], power: int) -> None:
    _, measuring = modules
    assert power == pytest.approx(measuring.fitted_exponent([10, 100, 1000], [3 * n**power for n in (10, 100, 1000)]))
