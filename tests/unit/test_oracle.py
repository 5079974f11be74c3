"""The oracle itself: what the language of a grammar is, told by examples; programs; the protocol of its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from glrmask_core.constraint import Constraint, compile_module
from glrmask_core.errors import GrammarError, LimitExceededError, StateError, StateRejectedError
from glrmask_core.ir import Builder
from glrmask_core.options import CompileOptions
from glrmask_core.program import ParserProgram
from glrmask_core.regex import Dialect, compile_regex
from glrmask_core.state import ids_of
from glrmask_core.testing.chart import Chart
from glrmask_core.testing.checks import check_mask_tells_commits, mask_words
from glrmask_core.testing.conformance import byte_vocab
from glrmask_core.testing.oracle import OracleEngine, texts_of
from glrmask_core.testing.program_worlds import IDENTITY, IDLE
from glrmask_core.testing.simulator import walk
from glrmask_core.vocab import Vocab

ACCEPTING, OPEN, REJECTED = "accepting", "open", "rejected"


class Made:
    """Short names for building."""

    def __init__(self) -> None:
        self.b = Builder()

    def re(self, pattern: str) -> int:
        return compile_regex(pattern, self.b, dialect=Dialect.GLRM)

    def t(self, pattern: str, exempt: bool = False) -> int:
        return self.b.terminal(self.re(pattern), pattern, exempt)

    def seq(self, *parts: int | str) -> int:
        return self.b.seq(self.t(p) if isinstance(p, str) else p for p in parts)

    def any(self, *parts: int | str) -> int:
        return self.b.choice(self.t(p) if isinstance(p, str) else p for p in parts)

    def scope(self, part: int, ignore: str | None) -> int:
        return self.b.scope(part, None if ignore is None else self.re(ignore))


def compiled(build: Callable[[Made], int], vocab: Vocab | None = None, end_tokens: tuple[int, ...] = ()) -> Constraint:
    made = Made()
    module = made.b.build(build(made))
    return compile_module(module, vocab or byte_vocab(), CompileOptions(end_tokens), OracleEngine(), (), (), 0.0)


def verdict(constraint: Constraint, text: bytes) -> str:
    state = constraint.start()
    try:
        state.commit_bytes(text)
    except StateRejectedError:
        return REJECTED
    return ACCEPTING if state.is_accepting() else OPEN


LANGUAGE: dict[str, tuple[Callable[[Made], int], dict[str, str]]] = {
    "keyword and identifier": (
        lambda m: m.any(m.seq("if", "x"), m.seq("[a-z]+", "!")),
        {"ifx": ACCEPTING, "if!": ACCEPTING, "iffy!": ACCEPTING, "if": OPEN, "!": REJECTED},
    ),
    "the first of two swallows all": (lambda m: m.seq("[a-z]+", "[a-z]+"), {"ab": OPEN, "a1": REJECTED}),
    "what follows is swallowed": (lambda m: m.seq("[a-z]+", "end"), {"abend": OPEN}),
    "the longer match is not in the text": (lambda m: m.seq("a|abc", "bd"), {"abd": ACCEPTING, "abcbd": ACCEPTING}),
    "cancelled when the longer match arrives": (
        lambda m: m.seq("a|abc", "bc"),
        {"ab": OPEN, "abc": OPEN, "abcbc": ACCEPTING},
    ),
    "two terminals, each longest": (lambda m: m.seq(m.any("a", "abc"), "bc"), {"abc": ACCEPTING, "abcbc": ACCEPTING}),
    "one-character terminals": (lambda m: m.seq(m.b.repeat(m.t("[a-z]"), 1), "end"), {"endend": ACCEPTING}),
    "overlapping starts": (lambda m: m.seq("a+", "a*b"), {"aab": ACCEPTING, "b": REJECTED}),
    "a difference is what counts": (
        lambda m: m.seq(m.b.terminal(m.b.without(m.re("[a-z]+"), m.re("abc"))), "c"),
        {"abc": ACCEPTING, "abdc": OPEN},
    ),
    "exempt terminals may stop early": (lambda m: m.seq(m.t("[a-z]+", True), "end"), {"abend": ACCEPTING}),
    "a nullable terminal": (lambda m: m.seq("a*", "b"), {"b": ACCEPTING, "aab": ACCEPTING, "a": OPEN, "c": REJECTED}),
    "ignored stretches are exempt": (
        lambda m: m.scope(m.seq("a", " b"), " +"),
        {"a  b": ACCEPTING, "a b": ACCEPTING, "ab": REJECTED, "  a": OPEN, "a b ": ACCEPTING},
    ),
    "a terminal that equals the ignored one": (lambda m: m.scope(m.seq("a", " ", "b"), " "), {"a b": ACCEPTING}),
    "only ignored bytes, nothing wanted": (lambda m: m.scope(m.any("a", m.b.empty()), " "), {"  ": ACCEPTING}),
    "only ignored bytes, something wanted": (lambda m: m.scope(m.seq("a"), " "), {"  ": OPEN}),
    "scopes ignore on their own": (
        lambda m: m.scope(m.seq("<", m.scope(m.seq("a", "b"), "\n"), ">"), " "),
        {"< \na\nb\n >": ACCEPTING, "<\n ab>": REJECTED, "<a b>": REJECTED, "< ab >": ACCEPTING},
    ),
    "an empty scope still ignores": (
        lambda m: m.scope(m.seq("<", m.scope(m.any("a", m.b.empty()), "\n"), ">"), " "),
        {"< \n >": ACCEPTING, "<\n \n>": REJECTED},
    ),
    "a scope that ignores nothing": (
        lambda m: m.scope(m.seq("<", m.scope(m.seq("a", "b"), None), ">"), " "),
        {"< ab >": ACCEPTING, "<a b>": REJECTED},
    ),
    "the longest match crosses scopes": (
        lambda m: m.seq(m.scope(m.seq("[a-z]+"), " "), "end"),
        {"abend": OPEN, "ab end": ACCEPTING, "ab endend": REJECTED},
    ),
    "counted": (
        lambda m: m.b.repeat(m.t("a"), 2, 100_000),
        {"a": OPEN, "aa": ACCEPTING, "aaaaaaaa": ACCEPTING, "ab": REJECTED},
    ),
    "counted with empty turns": (
        lambda m: m.seq(m.b.repeat(m.t("a?"), 3, 3), "b"),
        {"b": ACCEPTING, "aaab": ACCEPTING, "aaa": OPEN, "aaaa": REJECTED},
    ),
    "separated": (
        lambda m: m.b.repeat(m.t("[ab]"), 2, 3, m.t(",")),
        {"a": OPEN, "a,": OPEN, "a,b": ACCEPTING, "a,b,a": ACCEPTING, "a,b,a,": REJECTED, "": OPEN},
    ),
    "any order": (
        lambda m: m.b.any_order([(m.t("a"), True), (m.t("b"), False)], m.t(","), m.t("x"), 2, 3),
        {"a": OPEN, "b,a": ACCEPTING, "x,a": ACCEPTING, "b,x,a": ACCEPTING, "b,x,x": REJECTED, "a,a": REJECTED},
    ),
}


@pytest.mark.parametrize("name", LANGUAGE)
def test_language(name: str) -> None:
    build, wanted = LANGUAGE[name]
    constraint = compiled(build)
    assert wanted == {text: verdict(constraint, text.encode()) for text in wanted}


def test_what_cannot_be_completed_is_not_offered() -> None:
    def build(m: Made) -> int:
        endless = m.b.rule("endless")
        m.b.define(endless, m.seq("c", endless))
        return m.any(m.seq("a", endless), m.seq("a", "b"))

    constraint = compiled(build)
    state = constraint.start()
    state.commit_bytes(b"a")
    assert [ord("b")] == ids_of(mask_words(state)).tolist()
    with pytest.raises(GrammarError, match="nothing"):
        compiled(lambda m: m.b.nothing())
    with pytest.raises(GrammarError, match="empty text"):
        compiled(lambda m: m.b.any_order([(m.any("a", m.b.empty()), True)]))
    with pytest.raises(GrammarError, match="open"):
        compiled(lambda m: m.b.extern_grammar("child"))


def test_recursion_of_every_kind() -> None:
    def build(m: Made) -> int:
        x = m.b.rule("x")
        m.b.define(
            x, m.any(m.seq(m.any("b", m.b.empty()), x, "a"), m.seq(x, x), m.seq(r"\(", x, r"\)"), x, m.b.empty())
        )
        return x

    constraint = compiled(build)
    wanted = {"": ACCEPTING, "aa": ACCEPTING, "bba": OPEN, "(a)(": OPEN, "bb(ba)aa": ACCEPTING, ")": REJECTED}
    assert wanted == {text: verdict(constraint, text.encode()) for text in wanted}


def test_exact_tokens() -> None:
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b"", 3: b"ab"})
    constraint = compiled(lambda m: m.seq("ab?", m.b.token_ids([1, 2, 9]), "b"), vocab)
    assert 10 == constraint.width
    state = constraint.start()
    assert [0, 3] == ids_of(mask_words(state)).tolist()
    state.commit_token(0)
    assert [1, 2, 9] == ids_of(mask_words(state)).tolist()
    state.commit_token(1)  # the byte, which goes on with "a", and the exact token: both are kept
    assert [(97, -2), (97, 98)] == texts_of(state)
    check_mask_tells_commits(state)
    state.commit_token(1)
    assert [(97, -2, 98), (97, 98, -2)] == texts_of(state)
    assert state.is_accepting()


def test_exact_tokens_end_debts() -> None:
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b""})
    state = compiled(lambda m: m.seq("a|ab", m.b.token_ids([2]), "b"), vocab).start()
    state.commit_tokens([0, 2, 1])
    assert state.is_accepting()


def test_end_tokens_and_rollback() -> None:
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b"b"})
    state = compiled(lambda m: m.seq("a", m.b.repeat(m.t("b"))), vocab, (1, 7)).start(3)
    assert [0] == ids_of(mask_words(state)).tolist()
    state.commit_token(0)
    assert [1, 7] == ids_of(mask_words(state)).tolist()  # the bytes of an end token are never text
    state.commit_token(7)
    assert state.is_terminated() and state.is_accepting() and not mask_words(state).any()
    with pytest.raises(StateError, match="terminated"):
        state.commit_token(0)
    state.rollback(2)
    with pytest.raises(StateRejectedError):
        state.commit_token(1)
    assert state.is_rejected()
    with pytest.raises(StateRejectedError):
        state.commit_bytes(b"a")
    state.rollback(1)
    assert [0] == ids_of(mask_words(state)).tolist()
    with pytest.raises(StateError, match="history"):
        state.rollback(1)
    with pytest.raises(StateError, match="neither"):
        state.commit_token(5)


def test_texts_that_are_too_much_raise_by_name() -> None:
    m = Made()
    x = m.b.rule("x")
    m.b.define(x, m.any(m.seq("a", x), m.b.empty()))
    chart = Chart(m.b.build(x))
    with pytest.raises(LimitExceededError, match="oracle"):
        chart.recognise((97,) * 3000)
    assert (True, True) == chart.recognise((97,) * 20)


def template(**graphs: Any) -> dict[str, Any]:
    links = {"pop_to_read": [], "pop_to_push": [], "read_to_push": []}
    return {"pop": IDLE, "read": IDLE, "push": IDLE, **links, **graphs}


def states(*rows: tuple[bool, dict[Any, int]]) -> dict[str, Any]:
    made = []
    for accepting, edges in rows:
        labels = [{"label": k if k == "Default" else {"Symbol": k}, "target": v} for k, v in edges.items()]
        made.append({"accepting": accepting, "transitions": labels})
    return {"start": 0, "states": made}


def test_templates_by_hand() -> None:
    pop = states((False, {1: 1, "Default": 2}), (False, {}), (True, {}))
    assert {(0,)} == walk(template(pop=pop), (0, 2))
    assert set() == walk(template(pop=pop), (0, 1))  # the explicit edge hides Default and leads nowhere
    assert set() == walk(template(pop=pop), ())
    push = states((False, {5: 1, 6: 1}), (True, {}))
    assert {(0, 5), (0, 6)} == walk(template(pop=states((False, {})), push=push, pop_to_push=[0]), (0,))
    read = states((False, {3: 1}), (True, {}))
    both = template(pop=states((True, {})), read=read, pop_to_read=[0])
    assert {(0, 3)} == walk(both, (0, 3))
    assert {(0, 4)} == walk(both, (0, 4))
    assert {(5,), (6,)} == walk(template(push=push, pop_to_push=[0]), ())


def test_a_program_counts_brackets() -> None:
    opening = template(push=states((False, {1: 1}), (True, {})), pop_to_push=[0])
    closing = template(pop=states((False, {1: 1}), (True, {})))
    empty = template(read=states((False, {0: 1}), (True, {})), pop_to_read=[0])
    program = ParserProgram({"stack_symbol_count": 2, "terminals": [opening, closing, IDENTITY], "completion": empty})
    constraint = program.compile(byte_vocab(), [b"(", b")", " +"], ignore_terminal=2, engine="oracle")
    wanted = {"": ACCEPTING, "(": OPEN, "( () )": ACCEPTING, ")": REJECTED, "())": REJECTED, "  ": ACCEPTING}
    assert wanted == {text: verdict(constraint, text.encode()) for text in wanted}
