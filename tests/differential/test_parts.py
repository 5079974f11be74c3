"""Linking uses the tables of the compiled parts again: nothing is walked twice, masks are those of a fresh compile."""

from __future__ import annotations

import random
import threading
from contextlib import nullcontext

import pytest

import glrmask
from glrmask_core.constraint import compile_module, select_engine
from glrmask_core.ir import Builder, Module
from glrmask_core.ir_link import inline
from glrmask_core.options import CompileOptions
from glrmask_core.testing.checks import mask_words, random_walk
from glrmask_core.testing.compare import compile_world
from glrmask_core.testing.worlds import RandomDice, World, roll_world

HOSTS = (
    'nt start = "a" X | X "b" | "c";',
    "ignore SPACE;\nt SPACE = /[ b]+/;\nnt start = X X?;",
    'nt start = "(" start ")" | X | start "+" X;',
    "t W = /[ab]+/;\nnt start = W X W;",
)


def host(number: int) -> str:
    return f"glrm 1;\nstart start;\nextern grammar X;\n{HOSTS[number % len(HOSTS)]}\n"


def left(state: glrmask.ConstraintState) -> int | None:
    """Bytes of a shortest completion, None when bytes do not complete it."""
    try:
        return len(state.shortest_completion())
    except (glrmask.StateError, glrmask.LimitExceededError):
        return None


def alike(one: glrmask.Constraint, other: glrmask.Constraint, seed: int, steps: int = 10) -> None:
    x, y = one.start(0), other.start(0)
    for token in [*random_walk(one, random.Random(seed), steps), None]:
        assert mask_words(x).tobytes() == mask_words(y).tobytes()
        assert (x.is_accepting(), x.is_rejected()) == (y.is_accepting(), y.is_rejected())
        assert str(x.explain(b"a!")) == str(y.explain(b"a!"))
        if token is not None:
            x.commit_token(token)
            y.commit_token(token)


def roll_child(seed: int) -> tuple[World, glrmask.Optimization, glrmask.Constraint]:
    """A random world, a mode of those in which parts are taken over, and the world compiled in it."""
    world = roll_world(RandomDice(seed))
    mode = [glrmask.Optimization.FAST_BUILD, glrmask.Optimization.BALANCED][seed % 2]
    try:
        child = compile_world(world, "native", mode)
    except glrmask.LimitExceededError:
        pytest.skip("past a limit")
    if child is None:
        pytest.skip("matches nothing")
    return world, mode, child


def twin(vocab: glrmask.Vocab) -> glrmask.Vocab:
    """An equal vocabulary: what is compiled for it has nothing in common with the other."""
    return glrmask.Vocab.from_id_to_bytes({i: vocab.bytes_of(i) for i in vocab.entries()[0].tolist()})


@pytest.mark.parametrize("seed", range(120))
def test_random_grammars(seed: int) -> None:
    world, mode, child = roll_child(31_000 + seed)
    for walk in range(6):
        state = child.start(0)
        for token in random_walk(child, random.Random(walk), 8):
            mask_words(state)
            state.commit_token(token)
    text = host(seed)
    vocab = world.vocab
    linked = glrmask.Grammar.from_glrm(text).compile_unlinked(vocab).bind("X", child).link(optimization=mode)
    unused = compile_world(world, "native", mode)
    fresh = twin(vocab)
    assert unused is not None
    apart = glrmask.Grammar.from_glrm(text).compile_unlinked(fresh).bind("X", unused).link(optimization=mode)
    assert left(linked.start(0)) == left(apart.start(0))
    for walk in range(8):
        alike(linked, apart, walk)


BOTH = (
    'nt start = X "a" Y | Y X;',
    "ignore SPACE;\nt SPACE = /[ b]+/;\nnt start = (X | Y)*;",
    'nt start = X start Y | "c";',
)


@pytest.mark.parametrize("seed", range(60))
def test_several_children(seed: int) -> None:
    """The larger one is taken as it is, wherever its slot stands; the other one is built behind it."""
    world, mode, first = roll_child(47_000 + seed)
    vocab = world.vocab
    words = glrmask.Grammar.from_ebnf('start ::= "a" start | "b" | "a!" start "a"').compile(vocab, optimization=mode)
    text = f"glrm 1;\nstart start;\nextern grammar X;\nextern grammar Y;\n{BOTH[seed % len(BOTH)]}\n"
    unlinked = glrmask.Grammar.from_glrm(text).compile_unlinked(vocab)
    fresh = twin(vocab)
    apart = glrmask.Grammar.from_glrm(text).compile_unlinked(fresh)
    for x, y in ((first, words), (words, first), (first, first)):
        linked = unlinked.bind("X", x).bind("Y", y).link(optimization=mode)
        plain = apart.bind("X", x).bind("Y", y).link(optimization=mode)
        again = unlinked.bind("X", linked).bind("Y", x).link(optimization=mode)
        deeper = apart.bind("X", linked).bind("Y", x).link(optimization=mode)
        for walk in range(3):
            alike(linked, plain, walk)
            alike(again, deeper, walk)


def letters() -> glrmask.Vocab:
    return glrmask.Vocab.from_id_to_bytes({i: bytes([97 + i]) for i in range(26)})


def compiled(module: Module, vocab: glrmask.Vocab, parts: tuple[glrmask.Constraint, ...] = ()) -> glrmask.Constraint:
    options = CompileOptions(optimization=glrmask.Optimization.FAST_BUILD)
    return compile_module(module, vocab, options, select_engine(options, "native"), (), (), 0.0, parts)


def test_equal_tables_of_two_children_are_one() -> None:
    """Sets of literals and automata: else twice as many lexer states are walked, and saved in an order by chance."""
    sizes = []
    for words in ({"X": b"x"}, {"X": b"x", "Y": b"y"}):
        children = {}
        for slot, word in words.items():
            b = Builder()
            texts = b.literals([b"ab", b"abc", b"q"])
            automaton = b.automaton(2, 0, [1], [(0, b.literal(b"ab"), 1), (1, b.bytes_class(b"ab"), 0)])
            children[slot] = b.build(b.choice([b.terminal(part) for part in (b.literal(word), texts, automaton)]))
        b = Builder()
        module = inline(b.build(b.seq([b.extern_grammar(slot) for slot in children])), children, {})
        sizes.append(compiled(module, letters()).compiled.report()["lexer_states"])
    assert sizes[1] == sizes[0] + 1


def test_a_child_that_is_not_reached_lends_nothing() -> None:
    """Its exact tokens are none of the whole, as from source: masks are no wider, and its ids unknown."""
    b = Builder()
    inner = b.build(b.rule("inner", b.choice([b.token_ids([500]), b.terminal(b.literal(b"a"))])))
    for reached in (False, True):
        b = Builder()
        word, unused = b.terminal(b.literal(b"b")), b.rule("unused", b.extern_grammar("X"))
        module = inline(b.build(b.choice([word, unused] if reached else [word])), {"X": inner}, {})
        vocab = letters()
        linked = compiled(module, vocab, (compiled(inner, vocab),))
        source = compiled(module, letters())
        assert linked.width == source.width == (501 if reached else 26)
        for constraint in (linked, source):
            with pytest.raises(glrmask.StateError) if not reached else nullcontext():
                constraint.start().commit_token(500)


def test_states_taken_over_do_not_count_for_the_limit() -> None:
    """What a link may do does not depend on whether its child has been used."""
    vocab = letters()
    child = glrmask.Grammar.from_glrm('glrm 1;\nstart s;\nnt s = ("a" "b" "c"){0,1000};\n').compile(
        vocab, background=False
    )
    use(child, b"abc" * 100)
    made = child.compiled.report()["states"]
    host = glrmask.Grammar.from_glrm('glrm 1;\nstart s;\nextern grammar X;\nnt s = "x" X "y";\n').compile_unlinked(
        vocab
    )
    linked = host.bind("X", child).link(background=False, limits=glrmask.Limits(states=made + 1))
    use(linked, b"xabcab")
    assert linked.compiled.report()["states"] > made + 1


def objects(n: int) -> glrmask.Grammar:
    properties = {f"key_{i}": [{"type": "string"}, {"type": "integer"}][i % 2] for i in range(n)}
    return glrmask.Grammar.from_json_schema({"type": "object", "properties": properties, "additionalProperties": False})


def vocabulary() -> glrmask.Vocab:
    rng = random.Random(3)
    texts = [bytes([b]) for b in range(256)] + [b'{"', b'":', b'",', b'"key', b"_1", b'"}', b"<x>{", b"}</", b'<x>{"k']
    texts += ["".join(rng.choices('aeiou019"{}[]:, ', k=rng.randint(2, 6))).encode() for _ in range(3000)]
    return glrmask.Vocab.from_id_to_bytes(dict(enumerate(dict.fromkeys(texts))))


TAGGED = 'glrm 1;\nstart start;\nextern grammar X;\nnt start = "<x>" X "</x>" start?;\n'


def use(constraint: glrmask.Constraint, text: bytes) -> None:
    state = constraint.start(0)
    for byte in text:
        mask_words(state)
        state.commit_bytes(bytes([byte]))
    mask_words(state)


def walked(constraint: glrmask.Constraint) -> int:
    return int(constraint.compiled.report()["walked"])


def test_a_used_child_costs_nothing_again() -> None:
    vocab, text = vocabulary(), b'{"key_1": 12, "key_2": "a b"'
    child = objects(200).compile(vocab, background=False)
    use(child, text)
    unlinked = glrmask.Grammar.from_glrm(TAGGED).compile_unlinked(vocab)
    linked = unlinked.bind("X", child).link(background=False)
    source = glrmask.Grammar.from_glrm(TAGGED).bind("X", objects(200)).compile(vocabulary(), background=False)
    use(linked, b"<x>" + text)
    use(source, b"<x>" + text)
    assert walked(linked) * 5 < walked(source)
    for seed in range(5):
        alike(linked, source, seed, 20)


def test_a_mask_inside_a_used_child_makes_nothing() -> None:
    vocab = vocabulary()
    child = objects(200).compile(vocab, background=False)
    use(child, b"")
    host = glrmask.Grammar.from_glrm('glrm 1;\nstart start;\nextern grammar X;\nnt start = "<x>" X "</x>";\n')
    linked = host.compile_unlinked(vocab).bind("X", child).link(background=False)
    source = host.bind("X", objects(200)).compile(vocabulary(), background=False)
    made = []
    for constraint in (linked, source):
        before = constraint.compiled.report()
        state = constraint.start(0)
        state.commit_bytes(b"<x>")
        mask_words(state)
        after = constraint.compiled.report()
        made.append({name: after[name] - before[name] for name in ("states", "steps", "summaries", "walked")})
    assert made[0]["walked"] == 0
    assert made[0]["steps"] * 20 < made[1]["steps"]
    assert made[0]["states"] * 20 < made[1]["states"]


def test_closed_tables_do_not_depend_on_parts() -> None:
    closed, saved = glrmask.Optimization.FAST_RUNTIME, []
    for text in (b"", b'{"key_1": 12, "key_2": "a b"'):
        vocab = vocabulary()
        child = objects(8).compile(vocab, background=False)
        use(child, text)
        unlinked = glrmask.Grammar.from_glrm(TAGGED).compile_unlinked(vocab)
        saved.append(unlinked.bind("X", child).link(optimization=closed).save())
    assert saved[0] == saved[1]


def test_parts_live_as_long_as_what_was_linked_of_them() -> None:
    """Thousands of links in a row, dropped in both orders."""
    vocab = letters()
    unlinked = glrmask.Grammar.from_glrm('glrm 1;\nstart s;\nextern grammar X;\nnt s = X | "z";\n').compile_unlinked(
        vocab
    )
    for keep_last in (True, False):
        made = glrmask.Grammar.from_glrm('glrm 1;\nstart s;\nnt s = "a" "b"*;\n').compile(vocab, background=False)
        kept = [made]
        for _ in range(60):
            made = unlinked.bind("X", made).link(background=False)
            made.start().mask()
            kept.append(made)
        first = kept[0]
        if keep_last:
            kept.clear()
        else:
            del made
            kept.reverse()
            kept.clear()
            made = first
        state = made.start()
        state.commit_bytes(b"ab")
        assert state.is_accepting()


def test_threads_on_parts_and_whole() -> None:
    vocab = vocabulary()
    child = objects(60).compile(vocab)
    linked = glrmask.Grammar.from_glrm(TAGGED).compile_unlinked(vocab).bind("X", child).link()
    expected = glrmask.Grammar.from_glrm(TAGGED).bind("X", objects(60)).compile(vocabulary())
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            if number % 2:
                use(child, b'{"key_%d": ' % number)
            else:
                alike(linked, expected, number, 20)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
