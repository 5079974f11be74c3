"""The shared cases of all formats on the native engine; those of one regular expression on the oracle too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glrmask_core.plugins import manager
from glrmask_core.testing.cases import load_cases, run_case

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "cases" / "bugs"
OPTIONS = {"B39": {"escapes": "any"}}  # the case wants "\/", which the default spelling leaves out
CASES = load_cases(FOLDER)
TINY = {
    "format": "regex",
    "grammar": "a+",
    "accept": ["a", "aaa"],
    "reject": ["", "b"],
    "vocab": {"0": "61", "1": "62"},
    "vocab_size": 10,
    "accept_tokens": [[0], [0, 0]],
    "reject_tokens": [[1], [7], [0, 1]],
}


@pytest.mark.parametrize("case", CASES or [None], ids=lambda case: case["id"] if case else "none")
def test_shared_case(case: dict[str, Any] | None) -> None:
    if case is None:
        pytest.skip("needs a folder 'shared/cases' beside the checkout")
    if case["format"] != "regex" and case["format"].replace("_", "") not in manager().frontends():
        pytest.skip(f"no front-end for {case['format']} is installed")
    if "native" not in manager().engines():
        pytest.skip("the native engine is not installed")
    run_case(case, OPTIONS.get(case["id"], {}), "native")


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["format"] == "regex"] or [None], ids=lambda c: c["id"] if c else "none"
)
def test_shared_regex_case_on_the_oracle(case: dict[str, Any] | None) -> None:
    if case is None:
        pytest.skip("needs a folder 'shared/cases' beside the checkout")
    run_case(case, engine="oracle")


def test_a_case_that_holds() -> None:
    assert 2 == len(run_case(TINY, engine="oracle"))
    assert () == run_case({"format": "regex", "grammar": "(", "expect_error": True}, engine="oracle")
    assert () == run_case({"format": "regex", "grammar": "(", "may_error": True}, engine="oracle")
    generated = {"format": "regex", "grammar": None, "generate": "grammar='b'\naccept=['b']\nreject=['a']"}
    assert 1 == len(run_case(generated, engine="oracle"))


@pytest.mark.parametrize(
    "change",
    [
        {"accept": ["b"]},
        {"reject": ["a"]},
        {"reject_policy": ["aa"]},
        {"accept_tokens": [[1]]},
        {"reject_tokens": [[0, 0]]},
        {"grammar": "("},
        {"expect_error": True},
    ],
    ids=str,
)
def test_a_case_that_does_not_hold(change: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        run_case({**TINY, **change}, engine="oracle")
