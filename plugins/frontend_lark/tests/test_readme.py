"""The grammars of the README do what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_code_of_the_readme_runs() -> None:
    """With the engine that is chosen when none is named."""
    import glrmask
    from glrmask_core.plugins import manager

    if not manager().engines():
        pytest.skip("no engine is installed")
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    space: dict[str, object] = {}
    exec(compile("".join(blocks), str(README), "exec"), space)
    assert isinstance(space["sql"], glrmask.Constraint)


def test_the_limits_are_those_of_the_code() -> None:
    from glrmask_frontend_lark.scan import GRAMMARS, MAX_TOKENS
    from glrmask_frontend_lark.templates import MAX_INSTANCES
    from glrmask_frontend_lark.terminals import MAX_PARTS

    from glrmask_core.grammar_text import MAX_NESTING

    text = README.read_text(encoding="utf-8")
    for number in (MAX_NESTING, MAX_TOKENS, MAX_INSTANCES, MAX_PARTS):
        assert f"{number:,}" in text
    assert all(f"`{name}`" in text for name in GRAMMARS)
