"""Grammars and cases that are shared with other projects; skipped where they are absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_the_cases_for_lark(shared: Path, engine: str, compiled, read) -> None:
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((shared / "cases").rglob("*.json"))]
    cases = [case for case in cases if case.get("format") == "lark"]
    assert cases
    for case in cases:
        text = case["grammar"]
        values = case
        if text is None:
            values = {}
            exec(case["generate"], values)
            text = values["grammar"]
        if case.get("expect_error"):
            with pytest.raises(ValueError):
                compiled(text)
            continue
        constraint = compiled(text)
        for output in values.get("accept") or ():
            assert (case["id"], output, read(constraint, output)) == (case["id"], output, "accept")
        for output in values.get("reject") or ():
            assert (case["id"], output, read(constraint, output) != "accept") == (case["id"], output, True)


def test_the_grammars_of_the_benchmark_load(shared: Path, parse) -> None:
    paths = sorted((shared / "bench" / "peers" / "grammars").glob("*.lark"))
    assert paths
    for path in paths:
        parsed = parse(path.read_text(encoding="utf-8"))
        assert parsed.warnings == ()
        assert len(parsed.module.rules) > 0
