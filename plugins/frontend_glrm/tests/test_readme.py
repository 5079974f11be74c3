"""The README does what it says."""

from __future__ import annotations

import re
from pathlib import Path

from glrmask_core.grammar_text import MAX_NESTING

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_code_of_the_readme_runs(engine: str) -> None:
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    code = "".join(blocks).replace(".compile(vocab)", f".compile(vocab, engine={engine!r})")
    assert code.count("engine=") >= 3
    exec(compile(code, str(README), "exec"), {})


def test_the_limit_is_that_of_the_code() -> None:
    assert f"nest up to {MAX_NESTING} deep" in README.read_text(encoding="utf-8")
