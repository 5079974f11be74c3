"""Small random worlds: a module with a vocabulary, that engines can be compared on.

The terminals are few and chosen to meet: prefixes of each other, counted with debts longer than a token,
intersections, differences, an automaton, multi-byte characters. Choices come from a :class:`Dice`, so the same
worlds can be rolled from a seed and drawn (and shrunk) by hypothesis.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ..ir import Builder, Module
from ..vocab import Vocab

T = TypeVar("T")
ALPHABET = b"ab ()"
ACCENT = "é".encode()
EXACT = {"X": (0, 900), "Y": (901, 20)}  # two ids that are also spelled, two without bytes
END = 902
LONG_TOKENS = b"bb bba abb abb( bbb) abbb) bbbb( abbbbb( abbbbba (bb) bb)( a)((".split()
END_WITH_BYTES = 7


class Dice(Protocol):
    """Where choices come from."""

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        ...

    def randint(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``."""
        ...

    def chance(self, percent: int) -> bool:
        """True in about so many of a hundred cases."""
        ...


class RandomDice:
    """Dice of a seed."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.choice = rng.choice
        self.randint = rng.randint

    def chance(self, percent: int) -> bool:
        """See :meth:`Dice.chance`."""
        return self.randint(1, 100) <= percent


@dataclass(frozen=True)
class World:
    """A closed module and what to try on it.

    Attributes:
        module: the grammar; it may match nothing.
        vocab: its vocabulary.
        end_tokens: may be empty.
        letters: bytes that texts are made of.
        exact: ids that texts are made of beside them.
        note: what it is about.
        texts: byte strings worth trying, beside random ones.
    """

    module: Module
    vocab: Vocab
    end_tokens: tuple[int, ...] = ()
    letters: bytes = ALPHABET
    exact: tuple[int, ...] = ()
    note: str = ""
    texts: tuple[bytes, ...] = field(default=())


Lexical = Callable[[Builder], int]


def _any(b: Builder) -> int:
    return b.bytes_class(ALPHABET)


def _ab(b: Builder, low: int, high: int | None) -> int:
    return b.repeat(b.bytes_class(b"ab"), low, high)


LEXICALS: dict[str, Lexical] = {
    "A": lambda b: b.literal(b"a"),
    "B": lambda b: b.literal(b"b"),
    "AB": lambda b: b.literal(b"ab"),
    "N": lambda b: _ab(b, 1, None),
    "S": lambda b: b.repeat(b.literal(b" "), 1),
    "C": lambda b: b.literals([b"a", b"abb"]),
    "L": lambda b: b.literal(b"("),
    "R": lambda b: b.literal(b")"),
    # counted, with a debt longer than the longest token
    "K": lambda b: b.choice([b.literal(b"a"), b.seq([b.literal(b"a"), b.repeat(b.literal(b"b"), 5, 5)])]),
    "M": lambda b: b.seq([b.literal(b"("), _ab(b, 2, 9)]),
    "H": lambda b: b.repeat(b.literal(b"ab"), 2, 60),
    "I": lambda b: b.both(
        b.choice([b.seq([b.literal(b"a"), b.repeat(_any(b))]), b.repeat(b.literal(b"b"), 7, 7)]),
        b.repeat(_any(b), 1, 6),
    ),
    # whole groups of bytes, so that subtrees of the vocabulary are read at once
    "G": lambda b: b.repeat(b.bytes_class(b"( "), 2, 5),
    "D": lambda b: b.without(_ab(b, 1, 4), b.literal(b"aba")),
    "F": lambda b: b.automaton(
        3, 0, [1, 2], [(0, b.literal(b"(a"), 1), (1, b.literal(b"b"), 2), (2, b.literal(b" "), 1), (0, None, 2)]
    ),
    "U": lambda b: b.chars([(0xE8, 0xEA), (ord("a"), ord("a"))]),
    "O": lambda b: b.optional(b.literal(b"a)")),
}
"""Lexical languages by name. ``F`` and ``O`` match the empty text too."""

NOT_EMPTY = tuple(name for name in LEXICALS if name not in "FO")


class Maker:
    """Rolls one module."""

    def __init__(self, dice: Dice, builder: Builder | None = None) -> None:
        self.dice, self.b = dice, builder or Builder()
        count = dice.randint(2, 6)
        self.terms = [dice.choice(tuple(LEXICALS)) for _ in range(count)]
        self.rules = [self.b.rule(name) for name in ("R0", "R1", "R2")[: dice.randint(1, 3)]]

    def module(self, depth: int = 3) -> Module:
        """Rules, with a scope around them in every second module."""
        for rule in self.rules:
            body = self.part(depth)
            # A way out of most recursions, or every fourth module would match nothing.
            self.b.define(rule, self.b.choice([body, self.terminal()]) if self.dice.chance(60) else body)
        ignore = self.ignore() if self.dice.chance(50) else None
        return self.b.build(self.b.scope(self.rules[0], ignore))

    def ignore(self) -> int:
        """A language to ignore."""
        return LEXICALS[self.dice.choice(("S", "S", "S", "A", "K"))](self.b)

    def terminal(self, names: Sequence[str] | None = None) -> int:
        """One terminal; a few are exempt."""
        name = self.dice.choice(names or self.terms)
        return self.b.terminal(LEXICALS[name](self.b), name, exempt=self.dice.chance(4))

    def exact(self) -> int:
        """One exact token."""
        return self.b.token_ids(EXACT[self.dice.choice("XY")])

    def part(self, depth: int) -> int:
        """A syntactic part."""
        dice, b = self.dice, self.b
        if depth == 0 or dice.chance(35):
            if dice.chance(10):
                return self.exact()
            return self.terminal() if dice.chance(55) else dice.choice(self.rules)
        kind = dice.choice(
            (
                "seq",
                "seq",
                "seq",
                "choice",
                "choice",
                "choice",
                "star",
                "optional",
                "repeat",
                "separated",
                "order",
                "scope",
            )
        )
        if kind in ("seq", "choice"):
            parts = [self.part(depth - 1) for _ in range(dice.randint(1, 3))]
            return b.seq(parts) if kind == "seq" else b.choice(parts)
        if kind == "order":
            return self.any_order()
        inner = self.part(depth - 1)
        if kind == "star":
            return b.repeat(inner)
        if kind == "optional":
            return b.optional(inner)
        if kind == "scope":
            return b.scope(inner, self.ignore() if dice.chance(50) else None)
        low, high = self.bounds()
        separator = self.part(0) if kind == "separated" else None
        return b.repeat(inner, low, high, separator)

    def bounds(self) -> tuple[int, int | None]:
        """Of a counted repeat: mostly small, sometimes far beyond any text."""
        low = self.dice.randint(0, 3)
        high = self.dice.choice((None, low, low, low + 1, low + 1, low + 2, low + 2, 30, 1000, 100_000))
        return (low, high) if high != 0 else (0, 1)

    def solid(self) -> int:
        """A part that is never empty, for members of any_order."""
        dice = self.dice
        if dice.chance(10):
            return self.exact()
        parts = [self.terminal(NOT_EMPTY) for _ in range(dice.randint(1, 2))]
        return self.b.seq(parts) if dice.chance(70) else self.b.choice(parts)

    def any_order(self) -> int:
        """Items in any order, with or without separator, extra member and bounds."""
        dice = self.dice
        items = [(self.solid(), dice.chance(50)) for _ in range(dice.randint(1, 3))]
        separator = self.solid() if dice.chance(40) else None
        extra = self.solid() if dice.chance(30) else None
        low = dice.choice((0, 0, 1, 2))
        high = dice.choice((None, None, None, 3, 2))
        return self.b.any_order(items, separator, extra, low, high)


def roll_vocab(dice: Dice, letters: bytes = ALPHABET, longest: int = 3, more: int = 40) -> Vocab:
    """Every letter, some longer tokens (a few twice), two exact-only ids and two that can end a text."""
    texts = [bytes((b,)) for b in letters]
    for _ in range(more):
        size = dice.choice((2, 2, 3, longest))
        texts.append(bytes(dice.choice(letters) for _ in range(size)))
    return Vocab.from_id_to_bytes({**dict(enumerate(texts)), 900: b"", 901: b"", END: b""})


def roll_world(dice: Dice) -> World:
    """A random module with a random vocabulary."""
    maker = Maker(dice)
    module = maker.module()
    letters = ALPHABET + ACCENT if "U" in maker.terms else ALPHABET
    ends = dice.choice(((), (END,), (END_WITH_BYTES, END)))
    return World(module, roll_vocab(dice, letters, dice.choice((3, 3, 5, 7))), ends, letters, (0, 20, 900), "random")


def fixed_worlds() -> Iterator[World]:
    """What random modules hit too rarely."""
    vocab = roll_vocab(RandomDice(0))
    wide = Vocab.from_id_to_bytes(dict(enumerate([bytes((b,)) for b in ALPHABET] + LONG_TOKENS)))

    runs = [bytes(w) for k in (1, 2, 3, 4) for w in _words(b"( ", k)]
    runs += [b")", b"a", b"b", b"  )", b"a(", b"a( (", b")(", b")((", b"  )("]
    spaces = Vocab.from_id_to_bytes(dict(enumerate(runs)))

    def world(
        note: str,
        texts: Sequence[bytes],
        build: Callable[[Builder, Callable[[str], int]], int],
        tokens: Vocab = vocab,
        exact: tuple[int, ...] = (),
    ) -> World:
        b = Builder()
        root = build(b, lambda name: b.terminal(LEXICALS[name](b), name))
        return World(b.build(root), tokens, (END,), ALPHABET, exact, note, tuple(texts))

    def stacks(b: Builder, t: Callable[[str], int]) -> int:
        y = b.rule("Y", t("B"))
        return b.choice([b.seq([t("K"), y, t("L")]), b.seq([t("A"), y, t("R")])])

    def threads(b: Builder, t: Callable[[str], int]) -> int:
        y = b.rule("Y", t("N"))
        return b.choice([b.seq([t("K"), y, t("L")]), b.seq([t("A"), y, t("R")])])

    def ring(b: Builder, t: Callable[[str], int]) -> int:
        x, y = b.rule("X"), b.rule("Y")
        b.define(x, b.choice([b.seq([y, t("A")]), t("L")]))
        b.define(y, b.choice([b.seq([x, t("B")]), t("R")]))
        return b.choice([b.seq([t("S"), y]), x])

    def either(b: Builder, t: Callable[[str], int]) -> int:
        head = b.rule("Head", b.choice([t("C"), t("A")]))
        return b.seq([head, b.choice([b.seq([t("B"), t("B"), t("L")]), b.seq([t("N"), t("R")])])])

    def owed(b: Builder, t: Callable[[str], int]) -> int:
        # After "ab" and "(b" the same terminal is in progress and the same one comes next; only "ab" owes.
        long = b.seq([b.bytes_class(b"a("), b.literal(b"bb")])
        head = b.choice([b.terminal(b.choice([b.literal(b"a"), long])), t("L")])
        return b.seq([b.repeat(b.terminal(b.literal(b" "))), head, t("B"), t("B"), t("B"), t("R"), t("L")])

    def many(b: Builder, t: Callable[[str], int]) -> int:
        return b.seq([b.repeat(b.choice([t("A"), t("B"), t("L")]), 20, 23), t("R")])

    def shapes(b: Builder, t: Callable[[str], int]) -> int:
        both = b.bytes_class(b"( ")
        body = b.seq([b.literal(b"a"), b.repeat(b.choice([both, b.literal(b")(")])), b.literal(b"a")])
        chain = b.seq([both, b.bytes_class(b"( a"), both, b.literal(b")")])
        leaving = b.seq([b.literal(b"b"), b.repeat(both, 0, 4), b.literal(b")b")])
        parts = [b.seq([t("G"), t("R")]), b.terminal(body), b.seq([b.terminal(chain), t("A")]), b.terminal(leaving)]
        return b.choice(parts)

    def ended(b: Builder, t: Callable[[str], int]) -> int:
        return b.seq([t("C"), b.token_ids(EXACT["X"]), t("B"), t("B"), b.optional(t("R"))])

    def lasting(b: Builder, t: Callable[[str], int]) -> int:
        return b.seq([t("K"), b.terminal(b.repeat(b.literal(b"b"), 1)), t("L")])

    def empty_items(b: Builder, t: Callable[[str], int]) -> int:
        item = b.optional(b.choice([b.literal(b"a"), b.literal(b"bb")]))
        return b.terminal(b.seq([b.literal(b"("), b.repeat(item, 2, 3), b.literal(b")")]))

    def free_keys(b: Builder, t: Callable[[str], int]) -> int:
        rest = b.repeat(b.bytes_class(bytes(set(range(256)) - set(b")"))))
        declared = b.choice([b.literal(b"ab"), b.literal(b" "), b.seq([b.literal(b"(b"), rest])])
        return b.seq([b.terminal(b.without(rest, declared)), t("R"), b.repeat(t("L"))])

    def never(b: Builder, t: Callable[[str], int]) -> int:
        # Texts of every length end in "a", and in "b", but none in both: only a search shows it.
        ends = [b.seq([_ab(b, 0, None), b.literal(last)]) for last in (b"a", b"b")]
        return b.seq([b.terminal(b.choice([b.literal(b"()"), b.seq([b.literal(b"("), b.both(*ends)])])), t("B")])

    def leaving(b: Builder, t: Callable[[str], int]) -> int:
        return b.seq([b.rule("Y", t("N")), t("B")])

    def left(b: Builder, t: Callable[[str], int]) -> int:
        x = b.rule("X")
        b.define(x, b.seq([b.rule("Y", b.optional(t("S"))), x, t("A")]))
        return b.choice([x, t("B")])

    def hidden(b: Builder, t: Callable[[str], int]) -> int:
        x = b.rule("X")
        b.define(x, b.choice([b.seq([b.optional(t("B")), x, t("A")]), t("L"), x, b.empty()]))
        return x

    def order(b: Builder, t: Callable[[str], int]) -> int:
        many = [(b.terminal(b.literal(b"a" * k + b")"), f"I{k}"), k < 2) for k in range(6)]
        return b.scope(b.any_order(many, t("L"), t("B"), 1, 4), LEXICALS["S"](b))

    def together(b: Builder, t: Callable[[str], int]) -> int:
        # After "a" five states call the same rule, each to go on differently.
        def one(letter: bytes, end: bytes) -> int:
            head = b.rule(f"H{letter!r}", b.seq([t("K"), b.optional(b.terminal(b.literal(letter)))]))
            return b.seq([head, middle, b.terminal(b.literal(end))])

        middle = b.rule("Q", b.choice([b.seq([t("B"), b.optional(t("A"))]), b.token_ids(EXACT["X"])]))
        ends = (b"(", b")", b" (", b" )", b"))")
        return b.choice([one(bytes((letter,)), end) for letter, end in zip(ALPHABET, ends, strict=True)])

    yield world("one reading owes, one does not, on different stacks", [b"ab(", b"abbbbb(", b"ab)"], stacks)
    yield world("the same, in terminals that go on", [b"abb(", b"abb)", b"abbbbb("], threads)
    yield world("rules that are each other's left corner", [b"(ba", b")", b" )ab"], ring)
    yield world("a head that owes or does not", [b"abb(", b"abbb)"], either, wide)
    yield world("tokens that go on under a debt", [b"abbbb(", b"abbbbb("], lasting, wide)
    yield world("what is owed tells states apart", [b" abb", b"  (bbb)(", b" (bbb)("], owed, wide)
    yield world("an exact token ends what is owed", [b"abb"], ended, vocab, (0, 900))
    yield world("counts near their end", [b"ab(" * 8, b"ab" * 10 + b")", b"ab" * 11 + b"a)"], many, wide)
    yield world("subtrees read at once", [b"(( ((", b"( (  )", b"a( )()(a", b"(a )a", b"b ( )b"], shapes, spaces)
    yield world("a minimum of what may be empty", [b"()", b"(abb)", b"(aaa)"], empty_items)
    yield world("all but a few", [b"ab)", b"abb)(", b"(b)", b"(a)"], free_keys)
    yield world("an intersection without texts", [b"()b", b"(ab"], never)
    yield world("the debt leaves its rule", [b"ab", b"aab"], leaving)
    yield world("a left-recursive rule that never ends", [b"a", b" a", b"b"], left)
    yield world("hidden left recursion, a rule that is itself", [b"", b"a", b"b(a", b"bb(aa"], hidden)
    yield world("members in any order", [b"a)(b", b")(a)", b"a) ( )(b(aaa)"], order)
    yield world("a rule that many call at once", [b"ab(", b"a(ba )", b"abbbbbb))"], together, vocab, (0, 900))
    yield world("nested counts", [b"ab" * 7], lambda b, t: b.repeat(b.repeat(b.seq([t("A"), t("B")]), 2, 3), 2, 2))


def _words(letters: bytes, size: int) -> Iterator[tuple[int, ...]]:
    return itertools.product(letters, repeat=size)


def small_worlds(letters: bytes = b"ab", size: int = 3) -> Iterator[World]:
    """Every sequence of up to ``size`` terminals out of seven, and choices of two sequences of two."""
    names = ("A", "AB", "N", "C", "D", "B", "K")
    words = [bytes(w) for k in (1, 2, 3) for w in _words(letters, k)]
    vocab = Vocab.from_id_to_bytes(dict(enumerate(words)))
    sequences = [s for k in range(1, size + 1) for s in itertools.product(names, repeat=k)]
    pairs = list(itertools.combinations([s for s in sequences if len(s) == 2], 2))
    for choice in [*((s,) for s in sequences), *pairs[::7]]:
        b = Builder()
        parts = [b.seq([b.terminal(LEXICALS[name](b), name) for name in sequence]) for sequence in choice]
        yield World(b.build(b.choice(parts)), vocab, (), letters, (), " | ".join(" ".join(s) for s in choice))
