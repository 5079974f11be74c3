"""Help for front-ends that read text."""

from __future__ import annotations

import pytest

from glrmask_core.errors import GrammarError, GrammarSyntaxError
from glrmask_core.grammar_text import Fault, GrammarText, Task, check_scalars, did_you_mean, run, shown
from glrmask_core.source import span_at


def test_spans_are_those_of_a_scan() -> None:
    text = "ab\n\ncd\r\né\U0001f600x"
    source = GrammarText(text)
    for at in range(len(text) + 3):
        assert source.span(at) == span_at(text, at)
        assert source.span(at, at + 2) == span_at(text, at, at + 2)


def test_a_fault_becomes_an_exception_with_a_caret() -> None:
    source = GrammarText("one\ntwo three", "<x>")
    with pytest.raises(GrammarError) as caught:
        source.raise_fault(Fault("no such number", 8, 13, notes=["count again"]))
    assert type(caught.value) is GrammarError
    assert str(caught.value) == "<x>:2:5: no such number\n    2 | two three\n      |     ^^^^^\nnote: count again"
    assert caught.value.diagnostics[0].message == "no such number\nnote: count again"
    with pytest.raises(GrammarSyntaxError):
        source.raise_fault(Fault("cannot read", 0, is_syntax=True))


def test_unprintable_characters_keep_the_caret_in_place() -> None:
    with pytest.raises(GrammarSyntaxError) as caught:
        GrammarText("a\t\x00\ud800b").raise_fault(Fault("here", 4, is_syntax=True))
    assert str(caught.value).splitlines()[1:] == ["    1 | a \ufffd\ufffdb", "      |     ^"]


def test_a_long_line_is_cut_around_the_caret() -> None:
    with pytest.raises(GrammarError) as caught:
        GrammarText("x" * 5000 + "!" + "y" * 5000).raise_fault(Fault("here", 5000))
    _, line, caret = str(caught.value).splitlines()
    assert len(line) < 120
    assert line[caret.index("^")] == "!"


def test_lone_surrogates() -> None:
    check_scalars("é\U0001f600")
    with pytest.raises(Fault) as caught:
        check_scalars("ab\udc00")
    assert caught.value.start == 2


def test_suggestions() -> None:
    assert did_you_mean("valu", ["value", "other"]) == '; did you mean "value"?'
    assert did_you_mean("VALUE", ["value"]) == '; did you mean "value"?'
    assert did_you_mean("x", ["value"]) == ""
    assert did_you_mean("v" * 1000, ["v" * 999]) == ""


def test_shown() -> None:
    assert shown("a\n\x00é") == "a\\n\\x00é"
    assert len(shown("x" * 1000)) == 40


def test_tasks_recurse_without_the_call_stack() -> None:
    def count(depth: int) -> Task[int]:
        return 0 if depth == 0 else 1 + (yield count(depth - 1))

    assert run(count(100_000)) == 100_000


def test_exceptions_pass_through_tasks() -> None:
    def fails() -> Task[int]:
        raise ValueError("inner")
        yield

    def catches() -> Task[str]:
        try:
            yield fails()
        except ValueError as error:
            return f"caught {error}"
        return "not raised"

    def passes() -> Task[int]:
        result: int = yield fails()
        return result

    assert run(catches()) == "caught inner"
    with pytest.raises(ValueError, match="inner"):
        run(passes())
