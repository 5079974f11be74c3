"""What the builder makes: orders of members, large automata, shared nodes."""

from __future__ import annotations

import itertools
from array import array

import pytest

from glrmask_core import ir
from glrmask_core.errors import GrammarError
from glrmask_core.ir import Builder, Module
from glrmask_core.languages import matches


def texts(module: Module, node: int) -> set[bytes]:
    """All texts of a node of sequences, choices and terminals of literals."""
    op, a, b, _ = module.row(node)
    if op == ir.LITERAL:
        return {module.blob[a : a + b]}
    if op == ir.TERMINAL:
        return texts(module, a)
    parts = [texts(module, part) for part in module.args[a : a + b]]
    if op == ir.SEQ:
        return {b"".join(words) for words in itertools.product(*parts)}
    assert op == ir.CHOICE
    return set().union(*parts)


def member(builder: Builder, name: str, required: bool, nested: bool = False) -> tuple[int, int, bool]:
    key, value = (builder.terminal(builder.literal(part.encode())) for part in (name, name.upper()))
    if nested:  # a value that is a sequence itself
        value = builder.seq([value, value])
    return key, value, required


@pytest.mark.parametrize("size", range(5))
@pytest.mark.parametrize("tail", ["", "maybe", "needed"])
@pytest.mark.parametrize("nested", [False, True])
def test_in_order_is_every_subset_in_order(size: int, tail: str, nested: bool) -> None:
    for required in itertools.product([False, True], repeat=size):
        builder = Builder()
        items = [member(builder, "abcde"[i], needed, nested) for i, needed in enumerate(required)]
        comma = builder.terminal(builder.literal(b","))
        rest = builder.terminal(builder.literal(b"t")) if tail else builder.nothing()
        node = builder.in_order(items, comma, rest, tail == "needed")
        expected = set()
        for chosen in itertools.product([False, True], repeat=size + 1):
            if any(needed and not there for needed, there in zip(required, chosen, strict=False)):
                continue
            if (chosen[-1] and not tail) or (tail == "needed" and not chosen[-1]):
                continue
            words = [
                name + name.upper() * (2 if nested else 1)
                for name, there in zip("abcde"[:size], chosen, strict=False) if there
            ]  # fmt: skip
            words += ["t"] if chosen[-1] else []
            if words:
                expected.add(",".join(words).encode())
        if node == builder.nothing():
            assert expected == set()
        else:
            assert expected == texts(builder.build(node), node)


def test_in_order_is_linear_and_shared() -> None:
    builder = Builder()
    comma = builder.terminal(builder.literal(b","))
    items = [member(builder, f"k{i}", False) for i in range(500)]
    before = len(builder.build(comma))
    node = builder.in_order(items, comma, builder.nothing(), False)
    after = len(builder.build(node))
    assert after - before <= 4 * 500
    assert node == builder.in_order(items, comma, builder.nothing(), False)
    builder.in_order(items[1:], comma, builder.nothing(), False)
    assert after == len(builder.build(node)), "the same members, or the last of them, are there already"


def test_in_order_wants_syntactic_members() -> None:
    builder = Builder()
    word = builder.literal(b"x")
    node = builder.terminal(word)
    for key, value in ((word, node), (node, word)):
        with pytest.raises(GrammarError, match="in_order"):
            builder.in_order([(key, value, True)], node, builder.nothing(), False)


def test_automaton_rows_is_the_automaton() -> None:
    builder = Builder()
    one, two = builder.literal(b"1"), builder.literal(b"22")
    general = builder.automaton(3, 0, [1, 2], [(0, one, 1), (0, two, 2), (1, one, 0)])
    rows = builder.automaton_rows(3, 0, (1, 2), [one, two], array("i", [0, 0, 1, 0, 1, 2, 1, 0, 0]))
    assert general == rows
    other = builder.automaton_rows(2, 0, (1,), [two], array("i", [0, 0, 1]))
    words = builder.literals([b"a", b"b"])  # args of its own, made after automata
    module = builder.build(builder.terminal(builder.choice([rows, other, words])))
    for node, yes, no in ((rows, b"1", b"11"), (other, b"22", b"1"), (words, b"b", b"c")):
        for source in (builder, module):
            assert matches(source, node, yes)
            assert not matches(source, node, no)


@pytest.mark.parametrize(
    ("states", "start", "accepting", "edges"),
    [
        (2, 2, (1,), [0, 0, 1]),
        (2, 0, (2,), [0, 0, 1]),
        (2, 0, (1,), [0, 0, 2]),
        (2, 0, (1,), [0, 0, -1]),
        (2, 0, (1,), [0, 1, 1]),
        (2, 0, (1,), [1, 0, 1, 0, 0, 1]),
        (2, 0, (1, 0), [0, 0, 1]),
    ],
)
def test_automaton_rows_are_checked(states: int, start: int, accepting: tuple[int, ...], edges: list[int]) -> None:
    builder = Builder()
    with pytest.raises(GrammarError, match="automaton"):
        builder.automaton_rows(states, start, accepting, [builder.literal(b"x")], array("i", edges))


@pytest.mark.parametrize("label", ["empty", "nothing", "optional"])
def test_automaton_rows_have_no_silent_moves(label: str) -> None:
    builder = Builder()
    labels = {
        "empty": builder.empty(),
        "nothing": builder.nothing(),
        "optional": builder.optional(builder.literal(b"x")),
    }
    with pytest.raises(GrammarError, match="automaton"):
        builder.automaton_rows(2, 0, (1,), [labels[label]], array("i", [0, 0, 1]))


def test_a_copy_goes_its_own_way() -> None:
    builder = Builder()
    builder.automaton_rows(2, 0, (1,), [builder.literal(b"x")], array("i", [0, 0, 1]))
    made = builder.copy()
    made.automaton_rows(2, 0, (1,), [made.literal(b"y")], array("i", [0, 0, 1]))
    made.optional(made.literal(b"z"))
    assert len(made.build(made.empty())) == len(builder.build(builder.empty())) + 4


@pytest.mark.parametrize("rest", [b":", b" : ", b""])
@pytest.mark.parametrize("data", [b'"a"', b""])
def test_keyword_is_its_long_form(rest: bytes, data: bytes) -> None:
    builder = Builder()
    blank = builder.repeat(builder.literal(b" "), 0, 4)
    for tail in (builder.literal(rest), builder.seq([blank, builder.literal(rest), blank]), blank):
        short = builder.keyword(data, tail, "a key")
        before = len(builder.build(builder.empty()))
        assert builder.terminal(builder.seq((builder.literal(data), tail)), "a key") == short
        assert short == builder.keyword(data, tail, "a key")
        assert before == len(builder.build(builder.empty())), "nothing new"


def test_literals_join_across_parts() -> None:
    builder = Builder()
    a, b, x = builder.literal(b"a"), builder.literal(b"b"), builder.repeat(builder.literal(b"x"), 1, None)
    node = builder.seq([a, b, x, b, a, a, x])
    assert builder.seq([builder.literal(b"ab"), x, builder.literal(b"baa"), x]) == node
    before, after = builder.seq([x, a]), builder.seq([b, x])
    assert builder.seq([before, after]) == builder.seq([x, builder.literal(b"ab"), x])
    assert builder.seq([a, b]) == builder.literal(b"ab")


def test_list_of_is_what_seq_and_choice_make() -> None:
    builder = Builder()
    parts = (builder.literal(b"a"), builder.repeat(builder.literal(b"b"), 0, None))
    more = (parts[1], builder.repeat(builder.literal(b"c"), 0, 3))
    assert builder.list_of(parts, False) == builder.seq(parts)
    assert builder.list_of(parts, True) == builder.choice(parts)
    assert builder.is_nullable(builder.list_of(parts, True))
    assert not builder.is_nullable(builder.list_of(parts, False))
    assert builder.is_nullable(builder.list_of(more, False))
