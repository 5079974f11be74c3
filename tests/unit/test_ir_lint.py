"""Warnings about modules, and the proofs behind them."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from glrmask_core.derivatives import Prover, Reader, TooCostly, derive, nullable, utf8_ranges
from glrmask_core.ir import Builder
from glrmask_core.ir_lint import lint
from glrmask_core.regex import Dialect, compile_regex
from glrmask_core.source import Span


def expression(pattern: str):  # type: ignore[no-untyped-def]
    b = Builder()
    node = compile_regex(pattern, b, dialect=Dialect.GLRM)
    return Reader(b.build(b.terminal(node))).read(node)


@pytest.mark.parametrize(
    ("left", "right", "never"),
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
def test_pairs(left: str, right: str, never: bool) -> None:
    assert Prover().never_adjacent(expression(left), expression(right)) is never


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
        never = Prover().never_adjacent(expression(left), expression(right))
        assert not (never and seen), (left, right)
        proved += never
    assert 10 < proved < 140


def test_derivatives_match_like_a_regex() -> None:
    for pattern in ("a(b|c)*d?", "[a-c]{2,3}", "(ab|a)(c|bc)", "(a?b?){2}", "[^b]+"):
        for size in range(5):
            for word in itertools.product("abcd", repeat=size):
                rest = expression(pattern)
                for byte in "".join(word).encode():
                    rest = derive(rest, byte)
                assert nullable(rest) == (re.fullmatch(pattern, "".join(word)) is not None)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (0, 0x7F),
        (0x70, 0x900),
        (0x7FF, 0x800),
        (0xE000, 0x10FFFF),
        (0xFFFF, 0x10000),
        (0x1F5F3, 0x20001),
        (0x3FF, 0x1041),
    ],
)
def test_utf8_ranges(first: int, last: int) -> None:
    found: set[bytes] = set()
    for low, high in utf8_ranges(first, last):
        assert len(low) == len(high)
        spans = [range(x, y + 1) for x, y in zip(low, high, strict=True)]
        if last - first < 0x11000:
            new = {bytes(word) for word in itertools.product(*spans)}
            assert not new & found
            found |= new
        else:
            assert bytes(low).decode() <= bytes(high).decode()
    if last - first < 0x11000:
        assert found == {chr(c).encode() for c in range(first, last + 1)}


def test_too_costly_questions_are_refused() -> None:
    with pytest.raises(TooCostly):
        Prover().never_adjacent(expression("a{1,1000}"), expression("b"))
    with pytest.raises(TooCostly):
        expression("(ab|cd)" * 200)
    b = Builder()
    with pytest.raises(TooCostly):
        automaton = b.automaton(1, 0, [0], [(0, b.literal(b"a"), 0)])
        Reader(b.build(b.terminal(automaton))).read(automaton)


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
