"""The shared cases of faults that users reported elsewhere; skipped where they are absent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def load(shared: Path, formats: tuple[str, ...]) -> list[dict[str, Any]]:
    """The cases of some formats, with generated ones filled in."""
    cases = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((shared / "cases").rglob("*.json"))]
    cases = [case for case in cases if case.get("format") in formats]
    for case in cases:
        if case["grammar"] is None:
            values: dict[str, Any] = {}
            exec(case["generate"], values)
            case.update({name: values[name] for name in ("grammar", "accept", "reject")})
    return cases


def vocabulary(case: dict[str, Any]) -> Any:
    """The vocabulary of a case that has one."""
    import glrmask

    return glrmask.Vocab.from_id_to_bytes({int(i): bytes.fromhex(data) for i, data in case["vocab"].items()})


def run_tokens(constraint: Any, ids: list[int], width: int) -> bool:
    """Whether each id is in the mask when its turn comes, and the end is a whole sentence."""
    state = constraint.start()
    for token in ids:
        mask = state.mask(width)
        assert not mask[constraint.mask_len() * 32 :].any()
        if not mask[token]:
            return False
        state.commit_token(token)
    return bool(state.is_accepting())


FORMATS = ("glrm", "regex")


def grammar_of(case: dict[str, Any]) -> str:
    """The GLRM document of a case; a regex becomes one terminal."""
    if case["format"] == "glrm":
        return str(case["grammar"])
    assert "\\/" not in case["grammar"], "the slash is escaped already"
    return "glrm 1; start s; t s = /" + case["grammar"].replace("/", "\\/") + "/;"


@pytest.fixture
def cases(shared: Path) -> list[dict[str, Any]]:
    found = load(shared, FORMATS)
    if not found:
        pytest.skip("the shared directory has no cases of this format")
    return found


def test_texts(cases: list[dict[str, Any]], compiled: Callable[[str], Any], read: Callable[[Any, Any], str]) -> None:
    for case in cases:
        if case["expect_error"]:
            with pytest.raises(ValueError) as caught:
                compiled(grammar_of(case))
            assert ":1:" in str(caught.value), case["id"]  # a place
            continue
        constraint = compiled(grammar_of(case))
        for text in case["accept"]:
            assert (case["id"], text, read(constraint, text)) == (case["id"], text, "accept")
        for text in case["reject"]:
            assert (case["id"], text, read(constraint, text) != "accept") == (case["id"], text, True)


def test_tokens(cases: list[dict[str, Any]], engine: str) -> None:
    import glrmask

    for case in cases:
        if "vocab" not in case or case["expect_error"]:
            continue
        grammar = glrmask.Grammar.from_glrm(grammar_of(case))
        constraint = grammar.compile(vocabulary(case), end_tokens=case["end_tokens"], engine=engine)
        width = case.get("vocab_size") or 1 + max(map(int, case["vocab"]))
        for ids in case.get("accept_tokens", []):
            assert (case["id"], ids, run_tokens(constraint, ids, width)) == (case["id"], ids, True)
        for ids in case.get("reject_tokens", []):
            assert (case["id"], ids, run_tokens(constraint, ids, width)) == (case["id"], ids, False)
