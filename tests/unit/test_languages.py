"""Questions about regular languages, against sets of words made by hand and at random."""

from __future__ import annotations

import itertools
import random

import pytest

from glrmask_core.automata import DEAD, Automata
from glrmask_core.errors import LimitExceededError
from glrmask_core.ir import Builder
from glrmask_core.languages import are_disjoint, finite_texts, is_empty, is_subset, matches

LONGEST = 5
WORDS = [bytes(w) for k in range(LONGEST + 1) for w in itertools.product(b"ab", repeat=k)]
Words = set[bytes]


def product(left: Words, right: Words) -> Words:
    return {x + y for x in left for y in right if len(x + y) <= LONGEST}


class Roller:
    """Random nodes together with their words of up to LONGEST letters."""

    def __init__(self, seed: int) -> None:
        self.rng, self.b = random.Random(seed), Builder()

    def word(self) -> bytes:
        return bytes(self.rng.choice(b"ab") for _ in range(self.rng.randint(0, 3)))

    def roll(self, depth: int) -> tuple[int, Words]:
        leaf = ("literal", "literals", "class")
        inner = ("literal", "seq", "seq", "choice", "repeat", "both", "without", "automaton")
        kind = self.rng.choice(inner if depth else leaf)
        made: tuple[int, Words] = getattr(self, f"roll_{kind}".replace("class", "bytes"))(depth - 1)
        return made

    def roll_literal(self, depth: int) -> tuple[int, Words]:
        text = self.word()
        return self.b.literal(text), {text}

    def roll_literals(self, depth: int) -> tuple[int, Words]:
        texts = {self.word() for _ in range(3)}
        return self.b.literals(texts), texts

    def roll_bytes(self, depth: int) -> tuple[int, Words]:
        members = [c for c in b"ab" if self.rng.random() < 0.7]
        return self.b.bytes_class(members), {bytes((c,)) for c in members}

    def parts(self, depth: int) -> list[tuple[int, Words]]:
        return [self.roll(depth) for _ in range(self.rng.randint(1, 3))]

    def roll_seq(self, depth: int) -> tuple[int, Words]:
        words, parts = {b""}, self.parts(depth)
        for _, more in parts:
            words = product(words, more)
        return self.b.seq(node for node, _ in parts), words

    def roll_choice(self, depth: int) -> tuple[int, Words]:
        parts = self.parts(depth)
        return self.b.choice(node for node, _ in parts), {w for _, words in parts for w in words}

    def roll_repeat(self, depth: int) -> tuple[int, Words]:
        node, words = self.roll(depth)
        low = self.rng.randint(0, 3)
        high = self.rng.choice([None, low, low + 1, low + 3])
        reached: Words = {b""}
        found: Words = set()
        for count in range(low + LONGEST + 2 if high is None else high + 1):
            found |= reached if count >= low else set()
            reached = product(reached, words)
        return self.b.repeat(node, low, high), found

    def roll_both(self, depth: int) -> tuple[int, Words]:
        (left, a), (right, b) = self.roll(depth), self.roll(depth)
        return self.b.both(left, right), a & b

    def roll_without(self, depth: int) -> tuple[int, Words]:
        (left, a), (right, b) = self.roll(depth), self.roll(depth)
        return self.b.without(left, right), a - b

    def roll_automaton(self, depth: int) -> tuple[int, Words]:
        labels = [self.roll(depth), self.roll(depth), None]
        pick = self.rng.choice
        edges = [(pick(range(3)), pick(labels), pick(range(3))) for _ in range(self.rng.randint(1, 5))]
        ends = [q for q in range(3) if self.rng.random() < 0.5]
        found: list[Words] = [{b""}, set(), set()]
        before = None
        while before != found:
            before = [set(words) for words in found]
            for source, label, target in edges:
                found[target] |= product(found[source], {b""} if label is None else label[1])
        node = self.b.automaton(3, 0, ends, [(s, None if x is None else x[0], t) for s, x, t in edges])
        return node, {w for q in ends for w in found[q]}


def test_random_nodes_match_their_words() -> None:
    for seed in range(400):
        roller = Roller(seed)
        node, words = roller.roll(3)
        automata = Automata(roller.b)
        found = set()
        for word in WORDS:
            state = automata.start(node)
            for byte in word:
                state = automata.step(state, byte)
            if automata.accepts(state):
                found.add(word)
        assert words == found, seed


def test_random_nodes_are_empty_or_have_texts() -> None:
    for seed in range(400):
        roller = Roller(seed)
        node, words = roller.roll(3)
        texts = finite_texts(roller.b, node, 300)
        if texts is not None:
            assert sorted(set(texts)) == texts
            assert words == {t for t in texts if len(t) <= LONGEST}
        assert is_empty(roller.b, node) == (texts == [])


def test_random_pairs_are_compared() -> None:
    seen = set()
    for seed in range(300):
        roller = Roller(seed)
        (left, a), (right, b) = roller.roll(2), roller.roll(2)
        disjoint, subset = are_disjoint(roller.b, left, right), is_subset(roller.b, left, right)
        assert not (a & b and disjoint), seed
        assert not (a - b and subset), seed
        assert disjoint == is_empty(roller.b, roller.b.both(left, right))
        assert subset == is_empty(roller.b, roller.b.without(left, right))
        seen.add((disjoint, subset))
    assert len(seen) > 2


@pytest.fixture
def b() -> Builder:
    return Builder()


def test_characters_are_utf8(b: Builder) -> None:
    node = b.chars([(0x24, 0x24), (0xA2, 0x939), (0xFFFF, 0x10348)])
    for code in (0x23, 0x24, 0xA1, 0xA2, 0x7FF, 0x800, 0x939, 0x93A, 0xFFFE, 0xFFFF, 0x10000, 0x10348, 0x10349):
        wanted = code == 0x24 or 0xA2 <= code <= 0x939 or 0xFFFF <= code <= 0x10348
        assert wanted == matches(b, node, chr(code).encode()), hex(code)
    anything = b.chars([(0, 0x10FFFF)])
    for raw in (b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\xc3", b"\x80"):
        assert not matches(b, anything, raw)
    assert is_subset(b, node, anything)
    assert not is_subset(b, anything, node)


def test_every_state_is_live(b: Builder) -> None:
    a_and_c = b.both(b.seq([b.literal(b"a"), b.repeat(b.any_byte())]), b.repeat(b.literal(b"c")))
    automata = Automata(b)
    assert DEAD == automata.start(a_and_c)
    state = automata.start(b.choice([b.literal(b"x"), b.seq([b.literal(b"y"), a_and_c])]))
    assert DEAD == automata.step(state, ord("y"))
    assert automata.accepts(automata.step(state, ord("x")))


def test_large_counts(b: Builder) -> None:
    char = b.chars([(0, 0x10FFFF)])
    lower, upper = b.chars([(97, 122)]), b.chars([(65, 90)])
    bounded = b.repeat(char, 10, 100_000)
    holds = b.seq([b.repeat(char), b.literal(b"foobar"), b.repeat(char)])
    assert not is_empty(b, b.both(bounded, holds))
    assert is_empty(b, b.both(bounded, b.both(b.repeat(lower), b.seq([b.literal(b"x"), b.repeat(upper)]))))
    assert are_disjoint(b, b.repeat(char, 0, 3), b.repeat(char, 4, 100_000))
    assert finite_texts(b, b.repeat(b.literal(b"a"), 3, 100_000), 10) is None
    assert [b"a" * 2000] == finite_texts(b, b.repeat(b.literal(b"a"), 2000, 2000), 10)


def test_unbounded_proofs_stop_at_the_limit(b: Builder) -> None:
    char = b.bytes_class(b"ab")
    left, right = b.repeat(char, 90_000, 100_000), b.repeat(char, 0, 80_000)
    with pytest.raises(LimitExceededError) as caught:
        are_disjoint(b, left, right, limit=2000)
    assert "lexer_states" == caught.value.limit


def test_what_is_disjoint_without_counting_is_found(b: Builder) -> None:
    two_letters = b.repeat(b.bytes_class(b"ab"), 0, 50_000)
    odd_one = b.seq([b.repeat(b.bytes_class(b"ac"), 1, 50_000), b.literal(b"c")])
    assert are_disjoint(b, two_letters, odd_one, limit=500)


def test_deep_nesting_ends_in_an_error(b: Builder) -> None:
    node = b.literal(b"x")
    for _ in range(3000):
        node = b.repeat(b.choice([b.seq([b.literal(b"a"), node]), b.literal(b"b")]), 0, 2)
    with pytest.raises(LimitExceededError, match="deep"):
        matches(b, node, b"aaab")


def test_questions_work_on_modules(b: Builder) -> None:
    node = b.literals([b"one", b"two"])
    module = b.build(b.terminal(node))
    assert [b"one", b"two"] == finite_texts(module, node, 2)
    assert finite_texts(module, node, 1) is None
    assert not is_empty(module, node)


def test_texts_of_many_literals(b: Builder) -> None:
    words = [f"word{i}".encode() for i in range(2000)]
    node = b.literals(words)
    assert sorted(words) == finite_texts(b, node, 2000)
    assert matches(b, node, b"word77")
    assert not matches(b, node, b"word2000")
