"""``api_statements.txt`` is in order, and every test that it names exists."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAP = Path(__file__).with_name("api_statements.txt")
SECTIONS = ["0", "1", "2", "3", "4", "5", "7", "8", "10", "S"]


@functools.cache
def names_in(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".c":
        return set(re.findall(r"^static void (test_\w+)\(", text, re.M))
    tree = ast.parse(text)
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def lines() -> list[tuple[str, str, list[str]]]:
    """(number, statement, tests)."""
    found = []
    for line in MAP.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            number, statement, tests = line.split(" | ")
            found.append((number, statement, tests.split()))
    return found


def test_numbers_run_on() -> None:
    numbers = [number for number, _, _ in lines()]
    sections = list(dict.fromkeys(number.split(".")[0] for number in numbers))
    assert SECTIONS == sections
    counts = {s: sum(number.split(".")[0] == s for number in numbers) for s in sections}
    assert [f"{s}.{n}" for s in sections for n in range(1, counts[s] + 1)] == numbers
    assert len(numbers) == len({statement for _, statement, _ in lines()})


def test_every_named_test_exists() -> None:
    missing = []
    for number, _, tests in lines():
        assert tests, number
        for name in tests:
            path, _, test = name.partition("::")
            file = ROOT / path if "/" in path else MAP.parent / path
            if not file.is_file() or test not in names_in(file):
                missing.append(f"{number}: {name}")
    assert [] == missing
