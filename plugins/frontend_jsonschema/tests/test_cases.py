"""The JSON Schema cases of the shared folder beside the checkout."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from judge import SHARED, grammar

from glrmask_core.errors import GrammarError

# B39 wants "\/", which json_schema.md section 3 leaves to escapes="any".
OPTIONS = {"B39": {"escapes": "any"}}
# White space after the last token is never accepted; json_schema.md section 2.
OUTSIDE = {"B114"}


def _cases() -> list[Any]:
    files = sorted((SHARED / "cases" / "bugs").glob("*.json"))
    found = [
        case
        for case in map(json.loads, (f.read_text(encoding="utf-8") for f in files))
        if case["format"] == "json_schema"
    ]
    return found or [None]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"] if case else "none")
def test_case(case: dict[str, Any] | None) -> None:
    if case is None:
        pytest.skip("needs a folder 'shared/cases' beside the checkout")
    schema, accept, reject = case["grammar"], case["accept"], case["reject"]
    if schema is None and "generate" in case:
        made: dict[str, Any] = {}
        exec(case["generate"], made)
        schema, accept, reject = made["grammar"], made.get("accept", accept), made.get("reject", reject)
    started = time.process_time()
    try:
        found = grammar(schema, **OPTIONS.get(case["id"], {}))
    except GrammarError as error:
        assert case["expect_error"] or case.get("may_error"), error
        return
    assert not case["expect_error"]
    assert time.process_time() - started < case.get("max_compile_s", 5.0)
    extra = [] if case["id"] in OUTSIDE else case.get("accept_ws", [])
    assert [] == [text for text in (*accept, *extra) if not found.accepts(text)]
    assert [] == [text for text in (*reject, *case.get("reject_policy", ())) if found.accepts(text)]
