"""Inputs that ruin parsers: their work is counted, not timed.

``figures`` are those of a constraint's report; of a state, ``work`` counts members of stack sets that were looked at.
Where linear growth is claimed, 16 times the text may cost 16 * SLACK times the work: compaction copies a growing stack
now and then, which the factor is for. Quadratic growth would be 256 times.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from glrmask_engine_native._native import ffi, lib
from glrmask_engine_native.engine import NativeEngine

from glrmask_core.ir import Builder
from glrmask_core.options import CompileOptions, Optimization
from glrmask_core.state import ConstraintState
from glrmask_core.vocab import Vocab

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "vocab_llama3.json.gz"
SLACK = 2.0
"""24.4 times was the most that was measured for 16 times the text."""


# -- tools -------------------------------------------------------------------------------------------------------


def small_vocab() -> Vocab:
    texts = [bytes((b,)) for b in range(256)]
    texts += [b"aa", b"aaa", b"((", b"))", b"ab", b"--", b"key", b"value", b'":', b'","', b" ", b"item_", b"\n\n"]
    return Vocab.from_id_to_bytes(dict(enumerate(dict.fromkeys(texts))))


SMALL = small_vocab()


@lru_cache(maxsize=1)
def large_vocab() -> Vocab:
    """128,000 tokens; the test is skipped where they are not there."""
    if not SHARED.exists():
        pytest.skip(f"needs {SHARED.name} beside the checkout")
    with gzip.open(SHARED, "rt", encoding="utf-8") as file:
        data = json.load(file)
    return Vocab.from_id_to_bytes({i: base64.b64decode(text) for i, text in enumerate(data["tokens"])})


class Run:
    """One grammar, one text that is written, and what that cost."""

    def __init__(self, build: Callable[[Builder], int], vocab: Vocab = SMALL, **options: Any) -> None:
        builder = Builder()
        module = builder.build(build(builder))
        settings = CompileOptions(optimization=Optimization.FAST_BUILD, **options)
        self.compiled = NativeEngine().compile(module, vocab, settings)
        self.state: ConstraintState = self.compiled.start(0)
        self.words = np.zeros((self.compiled.width + 31) // 32, np.uint32)

    def write(self, text: bytes, masks_every: int = 0) -> Run:
        """Commit byte by byte; every byte must be allowed."""
        for i, byte in enumerate(text):
            assert 0 == self.state._commit_bytes(bytes((byte,))), f"byte {i} of {text[:40]!r}"
            if masks_every and i % masks_every == 0:
                self.state._fill(self.words)
        return self

    def mask(self) -> set[int]:
        self.state._fill(self.words)
        return set(np.flatnonzero(np.unpackbits(self.words.view(np.uint8), bitorder="little")).tolist())

    @property
    def accepting(self) -> bool:
        return bool(self.state._flags() & 1)

    @property
    def figures(self) -> dict[str, int]:
        return dict(self.compiled.report())

    @property
    def size(self) -> Any:
        out = ffi.new("GmStateReport *")
        assert 0 == lib.gm_state_report(self.state._handle, out, ffi.NULL)
        return out


def literal(b: Builder, text: bytes) -> int:
    return b.terminal(b.literal(text))


def growth(build: Callable[[Builder], int], text: Callable[[int], bytes], n: int, times: int, **options: Any) -> float:
    """Work for ``times * n`` units of text over work for n units, masks included."""
    costs = [Run(build, **options).write(text(k), masks_every=16).size.work for k in (n, times * n)]
    return costs[1] / costs[0]


# -- ambiguity and recursion in rules ----------------------------------------------------------------------------


def doubling(b: Builder) -> int:  # s: s s | a
    s = b.rule("s")
    b.define(s, b.choice([b.seq([s, s]), literal(b, b"a")]))
    return s


def hidden_right(b: Builder) -> int:  # s: a s b? | a
    s = b.rule("s")
    b.define(s, b.choice([b.seq([literal(b, b"a"), s, b.optional(literal(b, b"b"))]), literal(b, b"a")]))
    return s


def hidden_left(b: Builder) -> int:  # s: b? s a | a
    s = b.rule("s")
    b.define(s, b.choice([b.seq([b.optional(literal(b, b"b")), s, literal(b, b"a")]), literal(b, b"a")]))
    return s


def minus(b: Builder) -> int:  # e: NAME | "-" e | "--" e
    e = b.rule("e")
    name = b.terminal(b.repeat(b.bytes_class(b"xyz"), 1))
    b.define(e, b.choice([name, b.seq([literal(b, b"-"), e]), b.seq([literal(b, b"--"), e])]))
    return e


def if_else(b: Builder) -> int:  # s: i s | i s e s | a
    s = b.rule("s")
    i, e = literal(b, b"i"), literal(b, b"e")
    b.define(s, b.choice([b.seq([i, s]), b.seq([i, s, e, s]), literal(b, b"a")]))
    return s


def sums(b: Builder) -> int:  # e: e "+" e | e e | a
    e = b.rule("e")
    b.define(e, b.choice([b.seq([e, literal(b, b"+"), e]), b.seq([e, e]), literal(b, b"a")]))
    return e


def nullable_chain(b: Builder) -> int:  # s: x? x? x? s? a
    s = b.rule("s")
    x = b.optional(literal(b, b"a"))
    b.define(s, b.seq([x, x, x, b.optional(s), literal(b, b"a")]))
    return s


def ones_and_twos_in_rules(b: Builder) -> int:  # ("a" | "aa")*
    return b.repeat(b.choice([literal(b, b"a"), literal(b, b"aa")]))


def right_list(b: Builder) -> int:  # p: a p | nothing
    p = b.rule("p")
    b.define(p, b.choice([b.seq([literal(b, b"a"), p]), b.empty()]))
    return p


def brackets(b: Builder) -> int:  # p: ( "(" p ")" )*
    p = b.rule("p")
    b.define(p, b.repeat(b.seq([literal(b, b"("), p, literal(b, b")")])))
    return p


def palindromes(b: Builder) -> int:
    p = b.rule("p")
    a, c = literal(b, b"a"), literal(b, b"b")
    b.define(p, b.choice([b.seq([a, p, a]), b.seq([c, p, c]), a, c, b.empty()]))
    return p


LINEAR: dict[str, tuple[Callable[[Builder], int], Callable[[int], bytes]]] = {
    "s: s s | a": (doubling, lambda n: b"a" * n),
    "s: a s b? | a": (hidden_right, lambda n: b"a" * n),
    "s: a s b? | a, closing": (hidden_right, lambda n: b"a" * n + b"b" * (n - 1)),
    "s: b? s a | a": (hidden_left, lambda n: b"a" * n),
    "e: NAME | - e | -- e": (minus, lambda n: b"-" * n + b"x"),
    "s: i s | i s e s | a, any frames open": (if_else, lambda n: b"i" * n),
    "s: i s | i s e s | a, closed": (if_else, lambda n: b"ia" + b"eia" * n),
    "e: e + e | e e | a": (sums, lambda n: b"aa+" * n + b"a"),
    "(a | aa)*": (ones_and_twos_in_rules, lambda n: b"a" * n),
    "p: a p |": (right_list, lambda n: b"a" * n),
    "brackets": (brackets, lambda n: b"(" * n + b")" * n),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear(name: str) -> None:
    build, text = LINEAR[name]
    assert growth(build, text, 200, 16) <= 16 * SLACK


QUADRATIC: dict[str, tuple[Callable[[Builder], int], Callable[[int], bytes]]] = {
    "palindromes": (palindromes, lambda n: b"ab" * (n // 2)),
    "s: x? x? x? s? a": (nullable_chain, lambda n: b"a" * n),
}


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic(name: str) -> None:
    """After n bytes n depths are possible and none covers another, so each byte handles n stacks; but no more."""
    build, text = QUADRATIC[name]
    assert growth(build, text, 100, 4) <= 16 * 1.3


def test_palindromes_accept() -> None:
    run = Run(palindromes).write(b"ab" * 100 + b"a" + b"ba" * 100)
    assert run.accepting
    assert not Run(palindromes).write(b"ab" * 100).accepting


def halves(levels: int, parts: int = 2) -> Callable[[Builder], int]:
    """``r_0: r_1 r_1``, ``r_1: r_2 r_2`` and so on, to ``"a"?``: every level may end wherever the text does."""

    def build(b: Builder) -> int:
        rule = b.rule(f"r{levels}", b.optional(literal(b, b"a")))
        for i in reversed(range(levels)):
            rule = b.rule(f"r{i}", b.seq([rule] * parts))
        return rule

    return build


def test_towers_of_rules_that_may_end() -> None:
    """Every level may end, and go on: a byte and a mask look at each level a few times.

    Entered one by one, the rules below 60 levels were 18,000 nodes, and a mask took 1,000,000 looks.
    """
    costs = []
    for levels in (60, 240):
        run = Run(halves(levels)).write(b"aa", masks_every=1)
        before = run.size.work
        run.write(b"a" * 64, masks_every=1)
        costs.append((run.size.work - before) / 64)
        assert run.size.nodes <= 4 * levels + 256
        assert run.size.memory_bytes <= 64 * levels * levels
        assert run.accepting
    assert costs[0] <= 60 * 40
    assert costs[1] <= 4 * SLACK * costs[0]


def test_exact_tokens_in_towers() -> None:
    """Where 500 levels may each go on with an exact token, what starts is kept once a level, not once a pair."""

    def build(b: Builder) -> int:
        rule = b.rule("leaf", b.optional(b.choice([literal(b, b"a"), b.token_ids([3])])))
        for i in reversed(range(500)):
            rule = b.rule(f"r{i}", b.seq([rule, rule]))
        return rule

    run = Run(build).write(b"aaa", masks_every=1)
    assert 3 in run.mask()
    assert 0 == run.state._commit_token(3)
    assert run.accepting
    assert run.figures["memory_bytes"] <= 3 << 20


def test_towers_of_thirds() -> None:
    """Three calls a level leave more stacks than two, but as many after 256 bytes as after 64."""
    run = Run(halves(30, 3)).write(b"a" * 64, masks_every=1)
    first = run.size.work
    assert run.size.nodes <= 4000
    run.write(b"a" * 192, masks_every=1)
    assert run.size.work <= 3 * SLACK * first
    assert run.size.nodes <= 4000


def test_masks_do_not_walk_towers_of_complete_frames() -> None:
    """1,600 frames that are all complete: a mask after them costs what it costs after 100."""
    costs = []
    for n in (100, 1600):
        run = Run(hidden_right).write(b"a" * n)
        run.mask()
        before = run.size.work
        run.write(b"a").mask()
        costs.append(run.size.work - before)
    assert costs[1] <= 2 * costs[0] + 16


# -- ambiguity in terminals --------------------------------------------------------------------------------------


def test_ones_and_twos_in_a_terminal() -> None:
    def build(b: Builder) -> int:
        return b.terminal(b.repeat(b.choice([b.literal(b"a"), b.literal(b"aa")]), 0))

    figures = Run(build).write(b"a" * 5000).figures
    assert figures["lexer_states"] <= 16


@pytest.mark.parametrize("n", [20, 40])
def test_nested_stars(n: int) -> None:
    """``((a*)*)*...b``: exponential for matchers that go back."""

    def build(b: Builder) -> int:
        part = b.literal(b"a")
        for _ in range(n):
            part = b.repeat(part, 0)
        return b.terminal(b.seq([part, b.literal(b"b")]))

    run = Run(build).write(b"a" * 2000)
    assert run.figures["lexer_states"] <= 16
    assert ord("b") in run.mask()


def test_the_nth_letter_from_the_end() -> None:
    """``[ab]*a[ab]{12}``: its automaton has 2^12 states; only those that a text meets are made."""

    def build(b: Builder) -> int:
        letters = b.bytes_class(b"ab")
        return b.terminal(b.seq([b.repeat(letters, 0), b.literal(b"a"), b.repeat(letters, 12, 12)]))

    run = Run(build).write(b"ab" * 200)
    assert run.figures["lexer_states"] <= 400
    assert run.accepting == (b"ab" * 200)[-13:].startswith(b"a")


def test_overlapping_patterns() -> None:
    """200 patterns ``[a-z]*<i>[a-z]*!``, all alive after the first letters."""

    def build(b: Builder) -> int:
        letters = b.bytes_class(bytes(range(ord("a"), ord("z") + 1)))
        many = b.repeat(letters, 0)
        parts = [b.terminal(b.seq([many, b.literal(str(i).encode()), many])) for i in range(200)]
        return b.choice([b.seq([part, literal(b, b"!")]) for part in parts])

    run = Run(build).write(b"abc", masks_every=1)
    assert 200 == run.size.threads
    run.write(b"17def", masks_every=1)
    assert run.figures["states"] <= 8
    assert run.size.threads <= 2
    assert run.size.work <= 200 * 8 * 4
    assert run.figures["lexer_states"] <= 1000
    assert run.figures["walked"] <= 200 * 8 * 60  # patterns x bytes; all that is below a letter is taken at once
    assert ord("!") in run.mask()


def test_many_terminals_with_a_common_prefix() -> None:
    """10,000 terminals in progress: each reading is found by its hash, not among all others."""
    n = 10_000

    def build(b: Builder) -> int:
        parts = [(literal(b, b"prefix%05d" % i), literal(b, b"!%d" % i)) for i in range(n)]
        return b.choice([b.seq(part) for part in parts])

    run = Run(build).write(b"prefix", masks_every=1)
    assert n == run.size.threads
    assert run.size.work <= 6 * 4 * n
    run.write(b"00077!77")
    assert run.accepting


def test_many_terminals_that_owe() -> None:
    """The same behind a terminal that could go on: 1,000 tops, then 1,000 threads with a debt each."""
    n = 1000

    def build(b: Builder) -> int:
        heads = [b.terminal(b.choice([b.literal(b"a"), b.literal(b"abcde%03d" % i)])) for i in range(n)]
        return b.choice([b.seq([head, literal(b, b"bcdef%03d" % i)]) for i, head in enumerate(heads)])

    run = Run(build).write(b"a", masks_every=1)
    assert n == run.size.tops
    run.write(b"bcde", masks_every=1)
    assert 2 * n == run.size.threads
    assert run.size.work <= 5 * 16 * n
    run.write(b"f001")
    assert run.accepting


# -- size --------------------------------------------------------------------------------------------------------


def optional_keys(b: Builder, n: int = 1000) -> int:
    """``{ k0? , k1? ... }`` in order, each key once, commas between."""
    colon_value = b.seq([literal(b, b":"), b.terminal(b.repeat(b.bytes_class(b"0123456789"), 1))])
    tail = b.empty()
    head = b.empty()
    comma = literal(b, b",")
    for i in reversed(range(n)):
        key = b.seq([literal(b, b'"key_%d"' % i), colon_value])
        head = b.choice([b.seq([key, tail]), head])
        tail = b.choice([b.seq([comma, key, tail]), tail])
    return b.seq([literal(b, b"{"), head, literal(b, b"}")])


def test_optional_keys() -> None:
    """Linear: 500,000 pairs of keys that may follow each other are never written down."""
    memory = {}
    for n in (500, 1000):
        run = Run(lambda b, n=n: optional_keys(b, n))  # type: ignore[misc]
        run.write(b'{"key_0":1,"key_%d":22,"key_%d":3}' % (n // 2, n - 1), masks_every=1)
        assert run.accepting
        memory[n] = run.figures["memory_bytes"]
        assert run.figures["states"] <= 3 * n
        assert run.figures["walked"] <= 16 * n
        assert run.size.work <= 4000
    assert memory[1000] <= 2 * 1.3 * memory[500]


def test_any_order() -> None:
    """1,000 items in any order: as many states as were asked for, not 2^1000."""

    def build(b: Builder) -> int:
        items = [(literal(b, b"item_%d;" % i), False) for i in range(1000)]
        return b.any_order(items, None, None, 0, None)

    run = Run(build).write(b"item_7;item_999;item_42;item_0;", masks_every=4)
    assert run.accepting
    assert run.figures["states"] <= 6 * 1000
    assert 4 == run.state._commit_bytes(b"item_42;")


def enum_values(b: Builder) -> int:
    return b.terminal(b.literals(sorted(b"value %d %d" % (i, i * i) for i in range(10_000))))


def test_enum_values() -> None:
    """10,000 values cost their bytes: states are made along the text only."""
    run = Run(enum_values).write(b"value 77 5929", masks_every=1)
    assert run.accepting
    assert run.figures["lexer_states"] <= 64
    assert run.figures["walked"] <= 4000
    assert run.figures["memory_bytes"] <= 1 << 20


def counted(low: int, high: int | None) -> Callable[[Builder], int]:
    def build(b: Builder) -> int:
        letter = b.chars([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, 0x10FFFF)])
        quote = b.literal(b'"')
        return b.terminal(b.seq([quote, b.repeat(letter, low, high), quote]))

    return build


def test_max_length() -> None:
    """``maxLength`` 100,000 costs what no maximum costs, as long as no token can reach it."""
    text = b'"' + b"hello world " * 100
    free, bounded = (Run(counted(0, high)).write(text, masks_every=1) for high in (None, 100_000))
    assert free.mask() == bounded.mask()
    assert bounded.figures["steps"] <= free.figures["steps"] + 2
    assert bounded.figures["walked"] <= 2 * free.figures["walked"]
    assert bounded.figures["lexer_states"] <= 4 * len(text)


def test_max_length_is_kept() -> None:
    run = Run(counted(0, 100_000)).write(b'"')
    assert 0 == run.state._commit_bytes(b"a" * 99_999)
    assert SMALL.bytes_of(256) == b"aa"
    assert 256 not in run.mask()
    assert ord("a") in run.mask()
    assert 0 == run.state._commit_bytes(b"a")
    assert {ord('"')} == {t for t in run.mask() if t < 256}


def test_counted_items() -> None:
    """Up to 100,000 items of syntax: states along the text, summaries as for an unbounded list."""

    def items(high: int | None) -> Callable[[Builder], int]:
        def build(b: Builder) -> int:
            number = b.terminal(b.repeat(b.bytes_class(b"0123456789"), 1))
            return b.seq([literal(b, b"["), b.repeat(number, 0, high, literal(b, b",")), literal(b, b"]")])

        return build

    text = b"[" + b"12," * 500
    free, bounded = Run(items(None)).write(text, masks_every=1), Run(items(100_000)).write(text, masks_every=1)
    assert free.mask() == bounded.mask()
    assert bounded.figures["summaries"] <= free.figures["summaries"] + 8
    assert bounded.figures["states"] <= 3 * 500 + 32


def test_deep_nesting() -> None:
    """10,000 open brackets, and back: one stack node per level, nothing recursive."""
    run = Run(brackets)
    run.write(b"(" * 10_000, masks_every=100)
    assert run.size.nodes <= 5 * 10_000
    assert run.size.memory_bytes <= 400 * 10_000
    assert run.size.work <= 8 * 10_000
    assert not run.accepting
    run.write(b")" * 10_000, masks_every=100)
    assert run.accepting
    assert run.figures["summaries"] <= 16


def test_many_rules() -> None:
    def build(b: Builder) -> int:
        following = b.rule("r5000", literal(b, b"z"))
        for i in reversed(range(5000)):
            following = b.rule(f"r{i}", b.choice([b.seq([literal(b, b"a%d" % i), following]), literal(b, b"b")]))
        return following

    run = Run(build).write(b"a0a1a2a3b", masks_every=1)
    assert run.accepting
    assert run.figures["rules"] >= 5000
    assert run.figures["states"] <= 32
    assert run.figures["summaries"] <= 64


def test_many_unit_rules() -> None:
    """A chain of 5,000 rules that start each other: each is looked at once, and never again."""

    def build(b: Builder) -> int:
        following = b.rule("r5000", literal(b, b"z"))
        for i in reversed(range(5000)):
            following = b.rule(f"r{i}", b.choice([following, literal(b, b"b%d" % i)]))
        return following

    run = Run(build)
    run.mask()
    first = run.figures
    assert first["states"] <= 5100
    assert first["summaries"] <= 5100
    assert first["walked"] <= 5100 * 4
    run.write(b"z").mask()
    assert run.accepting
    assert run.figures["summaries"] <= first["summaries"] + 4


def test_many_left_recursive_rules() -> None:
    """300 rules in one left-recursive ring."""

    def build(b: Builder) -> int:
        rules = [b.rule(f"r{i}") for i in range(300)]
        for i, rule in enumerate(rules):
            start = b.seq([rules[(i + 1) % 300], literal(b, b"+")])
            b.define(rule, b.choice([start, literal(b, b"a")]))
        return rules[0]

    run = Run(build).write(b"a" + b"+" * 300, masks_every=10)
    assert run.figures["states"] <= 1000
    assert run.figures["left_recursive_rules"] == 300


# -- memory ------------------------------------------------------------------------------------------------------


def nested_lists(b: Builder) -> int:
    value = b.rule("value")
    number = b.terminal(b.repeat(b.bytes_class(b"0123456789"), 1))
    comma = literal(b, b",")
    b.define(value, b.choice([number, b.seq([literal(b, b"["), b.repeat(value, 0, None, comma), literal(b, b"]")])]))
    return value


@pytest.mark.parametrize("rollback", [0, 64])
def test_memory_of_a_long_text(rollback: int) -> None:
    """1,000,000 bytes of nesting that comes and goes: the second half needs no more than the first."""
    run = Run(nested_lists)
    run.state = run.compiled.start(rollback)
    piece = b"[" * 30 + b"1,2" + b"]" * 30 + b"," + b"[[3],[4,[5]]],"
    assert 0 == run.state._commit_bytes(b"[")
    sizes = []
    for _ in range(2):
        most = 0
        for _ in range(100):
            assert 0 == run.state._commit_bytes(piece * (5000 // len(piece)))
            most = max(most, run.size.memory_bytes)
        sizes.append((most, run.figures["memory_bytes"]))
    assert sizes[1][0] <= sizes[0][0] * 1.05
    assert sizes[1][1] == sizes[0][1]
    assert sizes[1][0] <= 1 << 20


def two_brackets(b: Builder) -> int:  # p: ( "(" p ")" | "[" p "]" )*
    p = b.rule("p")
    pairs = [b.seq([literal(b, left), p, literal(b, right)]) for left, right in ((b"(", b")"), (b"[", b"]"))]
    b.define(p, b.repeat(b.choice(pairs)))
    return p


def test_memory_of_stacks_that_never_come_again() -> None:
    """Brackets of two kinds at random, 60 deep: what is dead is cleared away, or each byte would leave a node."""
    rng = random.Random(1)
    run = Run(two_brackets)
    most = 0
    for _ in range(2000):
        kinds = [rng.choice(("()", "[]")) for _ in range(60)]
        text = "".join(kind[0] for kind in kinds) + "".join(kind[1] for kind in reversed(kinds))
        assert 0 == run.state._commit_bytes(text.encode())
        most = max(most, run.size.memory_bytes)
    assert most <= 300_000
    assert run.size.nodes <= 1000
    assert run.accepting


def test_memory_token_by_token() -> None:
    run = Run(nested_lists)
    run.state = run.compiled.start(8)
    piece = b"[" * 12 + b"1" + b"]" * 12 + b","
    run.write(b"[" + piece * 40, masks_every=7)
    first = run.size.memory_bytes
    run.write(piece * 400, masks_every=7)
    assert run.size.memory_bytes <= 1.5 * first


# -- the large vocabulary ----------------------------------------------------------------------------------------


def test_large_vocabulary_enum() -> None:
    run = Run(enum_values, large_vocab()).write(b"value 77 5929", masks_every=1)
    assert run.accepting
    assert run.figures["walked"] <= 60_000


def test_large_vocabulary_max_length() -> None:
    """A text in a string of up to 100,000 characters: one walk of the vocabulary, as without a maximum."""
    text = b'"' + b"hello world " * 50
    free = Run(counted(0, None), large_vocab()).write(text, masks_every=1).figures
    bounded = Run(counted(0, 100_000), large_vocab()).write(text, masks_every=1).figures
    assert bounded["walked"] <= 2 * free["walked"] + 200_000
    assert bounded["steps"] <= free["steps"] + 2


def test_large_vocabulary_optional_keys() -> None:
    run = Run(optional_keys, large_vocab()).write(b'{"key_0":1,"key_500":22,"key_999":3}', masks_every=1)
    assert run.accepting
    assert run.figures["memory_bytes"] <= 32 << 20
    assert run.figures["walked"] <= 400_000


def test_large_vocabulary_doubling() -> None:
    assert growth(doubling, lambda n: b"a" * n, 200, 16, vocab=large_vocab()) <= 16 * SLACK
