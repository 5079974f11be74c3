"""Warnings about modules, and the proofs behind them."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from glrmask_core.automata import Automata
from glrmask_core.errors import LimitExceededError
from glrmask_core.ir import Builder
from glrmask_core.ir_lint import lint, never_adjacent
from glrmask_core.regex import Dialect, compile_regex
from glrmask_core.source import Span


def never(left: str, right: str) -> bool:
    b = Builder()
    nodes = [compile_regex(pattern, b, dialect=Dialect.GLRM) for pattern in (left, right)]
    return never_adjacent(Automata(b), *nodes)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("[a-z]+", "[a-z]+", True),
        ("[a-z]+", "end", True),
        ("[a-z]+", "END", False),
        ("a|abc", "bc", False),
        ("a+", "a*b", False),
        ("(aa)+", "aa", True),
        ("(aa)+", "a", False),
        ("a", "a*", False),
        ("[^ ]+", "é", True),
        ("[^é]+", "é", False),
        ("a|ab|abb", "b", False),
        ("a|ab|abc", "b", False),
        ("ab*", "bc", True),
        ("a.*", "x", True),
        ("a{1,3}", "a", False),
    ],
)
def test_pairs(left: str, right: str, expected: bool) -> None:
    assert never(left, right) is expected


def test_proofs_agree_with_enumeration() -> None:
    rng = random.Random(5)
    atoms = ["a", "b", "ab", "[ab]", "(ab)*", "a+", "b?", "(a|ba)", "a{1,2}"]
    texts = ["".join(word) for size in range(1, 6) for word in itertools.product("ab", repeat=size)]
    proved = 0
    for _ in range(150):
        left = "".join(rng.choices(atoms, k=rng.randint(1, 3)))
        right = "".join(rng.choices(atoms, k=rng.randint(1, 2)))
        is_left, is_right = re.compile(left).fullmatch, re.compile(right).fullmatch
        seen = any(
            is_left(u) and is_right(v) and not any(is_left(u + v[:k]) for k in range(1, len(v) + 1))
            for u in texts
            for v in texts
        )
        proof = never(left, right)
        assert not (proof and seen), (left, right)
        proved += proof
    assert 5 < proved < 140


def test_too_costly_questions_are_not_answered() -> None:
    with pytest.raises(LimitExceededError):
        never("a{1,5000}", "aa")
    b = Builder()
    many = b.terminal(b.repeat(b.literal(b"a"), 1, 5000))
    assert lint(b.build(b.seq((many, b.terminal(b.literal(b"aa")))))) == ()


def test_lint() -> None:
    b = Builder()
    name = b.terminal(b.repeat(b.bytes_class(b"abc"), 1), "NAME", place=Span(1, 2, 1, 2))
    start = b.rule("start")
    endless = b.rule("endless")
    b.define(endless, b.seq((name, endless)))
    b.rule("unused", name, place=Span(3, 1, 9, 15))
    b.define(start, b.choice((b.seq((name, b.terminal(b.literal(b"c")))), endless, b.repeat(name, 2))))
    found = [(d.severity, str(d.place), d.message) for d in lint(b.build(start))]
    assert [severity for severity, _, _ in found] == ["warning"] * 4
    assert found[0][2].startswith('rule "endless" matches nothing')
    assert found[1][1:] == ("3:1", 'rule "unused" is not used')
    assert {place for _, place, _ in found[2:]} == {"1:2"}
    assert sorted(message.split(" always")[0] for _, _, message in found[2:]) == ['terminal "NAME"'] * 2
    assert any('"c"' in message for _, _, message in found)


def test_ignored_text_can_stand_between() -> None:
    b = Builder()
    name = b.terminal(b.repeat(b.bytes_class(b"abc"), 1), "NAME")
    two = b.seq((name, name))
    assert len(lint(b.build(two))) == 1
    assert lint(b.build(b.scope(two, b.literal(b" ")))) == ()
    assert len(lint(b.build(b.scope(b.scope(two), b.literal(b" "))))) == 1


def test_nothing_to_say() -> None:
    b = Builder()
    start = b.rule("start")
    item = b.terminal(b.literal(b"x"))
    b.define(
        start, b.choice((b.repeat(item, 0, 3, separator=item), b.extern_grammar("g"), b.token_ids([1]), b.empty()))
    )
    assert lint(b.build(b.seq((start, b.any_order([(item, True), (start, False)]))))) == ()
