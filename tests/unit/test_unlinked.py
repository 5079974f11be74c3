"""api.md section 4: UnlinkedConstraint."""

from __future__ import annotations

import gc
import itertools
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Constraint, Grammar, Optimization, UnlinkedConstraint, Vocab
from glrmask_core.plugins import manager


def trace(constraint: Constraint, tokens: list[int]) -> list[tuple[list[int], bool, bool]]:
    """Allowed ids, accepting, rejected before each token and at the end, stopping at a refusal."""
    state, found = constraint.start(), []
    for token in [*tokens, None]:
        found.append((np.flatnonzero(state.mask()).tolist(), state.is_accepting(), state.is_rejected()))
        if token is None or state.is_rejected():
            break
        try:
            state.commit_token(token)
        except glrmask.StateError:
            continue
    return found


def test_no_direct_instances_and_no_pickling(grammar: Any, letters: Vocab) -> None:
    with pytest.raises(TypeError, match="compile_unlinked"):
        UnlinkedConstraint()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(grammar("$P").compile_unlinked(letters))


def test_compile_unlinked_takes_no_link_options(grammar: Any, letters: Vocab) -> None:
    for name in ("end_tokens", "optimization"):
        with pytest.raises(TypeError):
            grammar("a").compile_unlinked(letters, **{name: None})


def test_bind_refuses_other_types(grammar: Any, letters: Vocab) -> None:
    host = grammar("$P @T").compile_unlinked(letters)
    for value in (grammar("a"), host, "a", None, 3):
        with pytest.raises(TypeError, match="Constraint or exact tokens"):
            host.bind("P", value)
    with pytest.raises(TypeError, match="slot name"):
        host.bind(None, letters.token(0))  # type: ignore[arg-type]


def test_bind_checks_at_once(grammar: Any, letters: Vocab) -> None:
    host, child = grammar("$P @T").compile_unlinked(letters), grammar("a").compile(letters, engine="oracle")
    other = Vocab.from_dict({b"a": 0})
    with pytest.raises(glrmask.BindError, match='no slot "Q"; open slots: "P" \\(grammar\\), "T" \\(token\\)'):
        host.bind("Q", child)
    with pytest.raises(glrmask.BindError, match='slot "T" takes a token'):
        host.bind("T", child)
    with pytest.raises(glrmask.BindError, match='slot "P" takes a grammar'):
        host.bind("P", letters.token(0))
    with pytest.raises(glrmask.BindError, match='slot "P" is bound already'):
        host.bind("P", child).bind("P", child)
    with pytest.raises(glrmask.BindError, match='slot "T" is bound already'):
        host.bind("T", letters.token(0)).bind("T", letters.token(0))
    with pytest.raises(glrmask.BindError, match='slot "P": the value belongs to another vocabulary'):
        host.bind("P", grammar("a").compile(other, engine="oracle"))
    with pytest.raises(glrmask.BindError, match='slot "T": the value belongs to another vocabulary'):
        host.bind("T", other.token(0))


def test_an_equal_vocabulary_is_fine_and_the_receiver_stays(grammar: Any, letters: Vocab) -> None:
    twin = Vocab.from_id_to_bytes({i: letters.bytes_of(i) for i in letters.domain})
    host = grammar("$P @T").compile_unlinked(letters)
    bound = host.bind("P", grammar("a").compile(twin, engine="oracle")).bind("T", twin.token(20))
    assert {} == bound.unbound_slots()
    assert {"P": "grammar", "T": "token"} == host.unbound_slots()


def test_a_child_of_an_equal_vocabulary_that_is_gone(grammar: Any, letters: Vocab, engine: str) -> None:
    """The child has run and was closed for the twin; both are dropped before what was linked runs."""
    host = grammar("x $P y").compile_unlinked(letters)
    for mode in Optimization if engine == "native" else [Optimization.AUTO]:
        twin = Vocab.from_id_to_bytes({i: letters.bytes_of(i) for i in letters.domain})
        child = grammar("a b* | abc").compile(twin, engine=engine, optimization=mode)
        trace(child, [0, 1, 1])
        linked = host.bind("P", child).link(engine=engine, optimization=mode)
        own = host.bind("P", grammar("a b* | abc").compile(letters, engine=engine, optimization=mode))
        del twin, child
        gc.collect()
        assert linked.vocab is letters and linked.save() == own.link(engine=engine, optimization=mode).save()
        for tokens in ([3, 0, 1, 1, 4], [3, 8, 4], [3, 6, 2, 4], [9, 4]):
            assert trace(own.link(engine="oracle"), tokens) == trace(linked, tokens)


def test_order_of_binds_is_irrelevant(grammar: Any, letters: Vocab, engine: str) -> None:
    host = grammar("$P @T $Q").compile_unlinked(letters)
    values = {
        "P": grammar("a | ab").compile(letters, engine=engine),
        "T": letters.tokens([1, 20]),
        "Q": grammar("x*").compile(letters, engine=engine),
    }
    saved = set()
    for order in itertools.permutations(values):
        bound = host
        for slot in order:
            bound = bound.bind(slot, values[slot])
        saved.add((bound.save(), bound.link(engine=engine).save()))
    assert 1 == len(saved)


def test_link_equals_source_binding_and_inlining(grammar: Any, letters: Vocab, engine: str) -> None:
    inline = grammar("a b x | a b c x | a z x").compile(letters, engine=engine)
    source = grammar("a $P x").bind("P", grammar("b | b c | z")).compile(letters, engine=engine)
    child = grammar("b | b c | z").compile(letters, engine=engine)
    linked = grammar("a $P x").compile_unlinked(letters).bind("P", child).link(engine=engine)
    for tokens in itertools.product((0, 1, 2, 5, 6, 7, 8, 3), repeat=3):
        expected = trace(inline, list(tokens))
        assert expected == trace(source, list(tokens)) == trace(linked, list(tokens))


CROSSING = Vocab.from_id_to_bytes(
    dict(
        enumerate((b"<", b">", b"a", b"b", b" ", b"\n", b"<a", b"a>", b" a", b"b ", b">\n", b"a b", b"\n>", b"<>", b""))
    )
)
# a parent's body, its child's, and what the child's own slot Q takes
COMPOSED = {
    "ignores of their own": ('ignore W; t W = / +/; nt s = "<" P ">";', 'ignore N; t N = /\n/; nt s = "a" "b"?;', ""),
    "ignore of the parent alone": ('ignore W; t W = / +/; nt s = P ">" P;', 'nt s = "a" "b";', ""),
    "ignore of the child alone": ('nt s = "<" P ">";', 'ignore W; t W = /[ \n]/; nt s = "a" "b";', ""),
    "a child that may be empty": (
        'ignore W; t W = / +/; nt s = "<" P ">" | P;',
        'ignore N; t N = /\n/; nt s = "a"?;',
        "",
    ),
    "longest matches across": ('nt s = "<"? P "a" ">"?;', "t I = /[ab]+/; nt s = I;", ""),
    "a child of a child": (
        'ignore W; t W = / +/; nt s = "<" P ">" s?;',
        'ignore N; t N = /\n/; nt s = "a" Q? "b" | "b";',
        'ignore W; t W = /b/; nt s = "a" "a"? T;',
    ),
    "the parent's slot many times": ('nt s = P ("<" P)* | "<" s ">";', 'nt s = "a" s "b" | eps;', ""),
}


@pytest.mark.parametrize("case", COMPOSED)
def test_inline_source_binding_and_linking_are_one(case: str, engine: str) -> None:
    """Every text of a few tokens, those that cross the boundaries too: mask, accepting, rejected."""
    if "glrm" not in manager().frontends():
        pytest.skip("front-end glrm is not installed")
    parent, child, inner = COMPOSED[case]
    q = f"g Q = {{ start s; extern token T; {inner} }};" if inner else ""
    outer = Grammar.from_glrm(f"glrm 1; start s; extern grammar P; {parent}")
    inline = Grammar.from_glrm(f"glrm 1; start s; g P = {{ start s; {q} {child} }}; {parent}")
    bound = Grammar.from_glrm(f"glrm 1; start s; {'extern grammar Q;' if inner else ''} {child}")
    token, modes = CROSSING.token(14), list(Optimization) if engine == "native" else [Optimization.AUTO]
    if inner:
        inline = inline.bind("P::Q::T", token)
        leaf = Grammar.from_glrm(f"glrm 1; start s; extern token T; {inner}").bind("T", token)
    for mode in modes:
        source = outer.bind("P", bound.bind("Q", leaf) if inner else bound)
        built = [g.compile(CROSSING, optimization=mode, engine=engine) for g in (inline, source)]
        if inner:
            part = leaf.compile(CROSSING, optimization=mode, engine=engine, end_tokens=[0])
            middle = bound.compile_unlinked(CROSSING).bind("Q", part).link(engine=engine, end_tokens=[1])
        else:
            middle = bound.compile(CROSSING, optimization=mode, engine=engine, end_tokens=[1])
        built.append(outer.compile_unlinked(CROSSING).bind("P", middle).link(optimization=mode, engine=engine))
        assert compare([c.start(0) for c in built], 6 if engine == "native" else 2) > 10


def compare(states: list[glrmask.ConstraintState], depth: int) -> int:
    """Walk all texts of up to ``depth`` tokens that live; how many there are."""
    assert 1 == len({(s.is_accepting(), s.is_rejected(), s.mask().tobytes()) for s in states})
    found = 1
    for token in np.flatnonzero(states[0].mask()).tolist() if depth else ():
        after = [s.clone() for s in states]
        for s in after:
            s.commit_token(token)
        found += compare(after, depth - 1)
    return found


def test_a_host_takes_one_child_after_the_other(grammar: Any, letters: Vocab, engine: str) -> None:
    host = grammar("a $P x").compile_unlinked(letters)
    made = {
        text: host.bind("P", grammar(text).compile(letters, engine=engine)).link(engine=engine) for text in ("b", "c")
    }
    assert [(True, False), (False, True)] == [(c.accepts("abx"), c.accepts("acx")) for c in made.values()]
    assert {"P": "grammar"} == host.unbound_slots()


def test_open_slots_stop_link(grammar: Any, letters: Vocab) -> None:
    with pytest.raises(glrmask.BindError, match='"P" \\(grammar\\)'):
        grammar("$P").compile_unlinked(letters).link(engine="oracle")


def test_a_closed_grammar_links_directly(grammar: Any, letters: Vocab, engine: str) -> None:
    unlinked = grammar("a b").compile_unlinked(letters)
    assert {} == unlinked.unbound_slots()
    assert unlinked.link(engine=engine).accepts(b"ab")


def test_a_child_gives_its_exact_tokens_but_not_its_end_tokens(grammar: Any, letters: Vocab, engine: str) -> None:
    child = grammar("b @T").bind("T", letters.token(20)).compile(letters, end_tokens=[3], engine=engine)
    linked = grammar("a $P x").compile_unlinked(letters).bind("P", child).link(end_tokens=[9], engine=engine)
    assert [9] == linked.end_tokens
    # 3 is "x": an ordinary token of the parent, though the child ended with it
    assert [[0, 21, 6], [20], [3], [9]] == [
        sorted(ids, key=[0, 21, 6, 20, 3, 9].index) for ids, _, _ in trace(linked, [6, 20, 3])
    ]


def test_one_constraint_in_several_slots(grammar: Any, letters: Vocab, engine: str) -> None:
    child = grammar("a | b").compile(letters, engine=engine)
    linked = grammar("$P x $Q").compile_unlinked(letters).bind("P", child).bind("Q", child).link(engine=engine)
    assert linked.accepts("axb") and linked.accepts("bxb") and not linked.accepts("axc")


def test_linked_constraints_are_children_again(grammar: Any, letters: Vocab, engine: str) -> None:
    inner = grammar("@T").bind("T", letters.token(20)).compile(letters, engine=engine)
    middle = grammar("x $P").compile_unlinked(letters).bind("P", inner).link(engine=engine)
    outer = grammar("a $P b").compile_unlinked(letters).bind("P", Constraint.load(middle.save())).link(engine=engine)
    assert [[0, 21], [3], [20], [1], []] == [ids for ids, _, _ in trace(outer, [0, 3, 20, 1])]


def test_nested_slot_names(grammar: Any, letters: Vocab, engine: str) -> None:
    host = grammar("a $P").bind("P", grammar("b @T")).compile_unlinked(letters)
    assert {"P.T": "token"} == host.unbound_slots()
    for name in ("P.T", "P::T"):
        assert [[0, 21, 6], [20], []] == [
            sorted(ids, key=[0, 21, 6, 20].index)
            for ids, _, _ in trace(host.bind(name, letters.token(20)).link(engine=engine), [6, 20])
        ]


def test_nested_slots_of_scopes_and_children_after_loading(letters: Vocab, engine: str) -> None:
    if "glrm" not in manager().frontends():
        pytest.skip("front-end glrm is not installed")
    text = """glrm 1; start s; extern grammar P; extern token T;
        g in = { start q; extern token X; g deep = { start r; extern token X; nt r = X; }; nt q = X deep; };
        nt s = "a" in P | T;"""
    outer = Grammar.from_glrm(text)
    host = outer.bind("P", outer).compile_unlinked(letters)
    own = {"T": "token", "in::X": "token", "in::deep::X": "token"}
    assert {**own, "P.P": "grammar", **{f"P.{name}": kind for name, kind in own.items()}} == host.unbound_slots()
    child = grammar_of("x").compile(letters, engine=engine)
    binds: list[tuple[str, Any]] = [
        ("in::X", letters.token(1)),
        ("in.deep::X", letters.token(2)),
        ("P::in.X", letters.token(3)),
        ("P.in.deep.X", letters.tokens([4, 20])),
        ("P::P", child),
        ("T", letters.token(5)),
        ("P.T", letters.token(7)),
    ]
    kept, loaded = host, host
    for name, value in binds:
        kept = kept.bind(name, value)
        with pytest.raises(glrmask.BindError, match="bound already"):
            kept.bind(name, value)
    for name, value in reversed(binds):
        loaded = UnlinkedConstraint.load(loaded.bind(name, value).save())
        with pytest.raises(glrmask.BindError, match="bound already"):
            loaded.bind(name, value)
    assert {} == loaded.unbound_slots() and kept.save() == loaded.save()
    linked = loaded.link(engine=engine)
    assert kept.link(engine=engine).save() == linked.save()
    for tokens in ([0, 1, 2, 0, 3, 20, 3], [0, 1, 2, 7], [5]):
        state = linked.start()
        state.commit_tokens(tokens)
        assert state.is_accepting()


def grammar_of(text: str) -> Grammar:
    return Grammar.from_source(text, format="mini")


def test_threads_share_a_host(grammar: Any, letters: Vocab, engine: str) -> None:
    """Eight threads read, bind, link, save and load at once, each in its own order."""
    source = grammar("$P @T $Q")
    found: list[tuple[bytes, bytes]] = []
    failures: list[BaseException] = []
    gate = threading.Barrier(8)
    vocab = Vocab.from_id_to_bytes({i: letters.bytes_of(i) for i in letters.domain})
    shared = grammar("a | ab")

    def run(number: int) -> None:
        try:
            gate.wait()
            child = shared.compile(vocab, engine=engine)
            binds = list({"P": child, "T": vocab.tokens([1, 20]), "Q": child}.items())
            host = source.compile_unlinked(vocab)
            for name, value in binds[number % 3 :] + binds[: number % 3]:
                host = host.bind(name, value)
            linked = host.link(engine=engine)
            assert Constraint.load(linked.save()).accepts("abb") is linked.accepts("abb") is False
            found.append((host.save(), linked.save()))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures and 8 == len(found) and 1 == len(set(found))


def test_unused_slots_must_be_bound_too(grammar: Any, letters: Vocab) -> None:
    from glrmask_core.ir import Builder, Module

    builder = Builder()
    root, unused = builder.terminal(builder.literal(b"a")), builder.extern_token("T")
    module: Module = builder.build(root)
    assert unused and {"T": "token"} == dict(module.slots)
    host = grammar("a").compile_unlinked(letters)
    open_host = UnlinkedConstraint._make(module, letters, host.parser_backend, (), (), 0.0)
    with pytest.raises(glrmask.BindError, match='"T"'):
        open_host.link(engine="oracle")
    assert open_host.bind("T", letters.token(20)).link(engine="oracle").accepts("a")


def test_save_keeps_slots_binds_and_vocabulary(grammar: Any, letters: Vocab, engine: str) -> None:
    child = grammar("b ~gone", warn=True).compile(letters, engine=engine)
    host = grammar("a $P @T").compile_unlinked(letters).bind("P", child)
    loaded = UnlinkedConstraint.load(host.save())
    assert {"T": "token"} == loaded.unbound_slots()
    assert letters == loaded.vocab
    assert host.save() == loaded.save()
    expected = host.bind("T", letters.token(20)).link(engine=engine)
    linked = loaded.bind("T", letters.token(20)).link(engine=engine)
    assert trace(expected, [0, 1, 20]) == trace(linked, [0, 1, 20])
    assert ('in "P": gone',) == linked.report.left_out == expected.report.left_out
    assert ["watch out"] == [w.message for w in linked.report.warnings]
    tokens = UnlinkedConstraint.load(host.bind("T", letters.tokens([3, 20])).save())
    assert {} == tokens.unbound_slots()
    assert tokens.link(engine=engine).start().mask().any()


def test_load_shares_an_equal_vocabulary_and_refuses_others(grammar: Any, letters: Vocab) -> None:
    data = grammar("$P").compile_unlinked(letters).save()
    twin = Vocab.from_id_to_bytes({i: letters.bytes_of(i) for i in letters.domain})
    assert UnlinkedConstraint.load(data, twin).vocab is twin
    assert UnlinkedConstraint.load(bytearray(data), vocab=twin).vocab is twin
    with pytest.raises(ValueError, match="another vocabulary"):
        UnlinkedConstraint.load(data, Vocab.from_dict({b"a": 0}))


def test_kinds_are_told_apart(grammar: Any, letters: Vocab) -> None:
    closed, unlinked = grammar("a").compile(letters, engine="oracle"), grammar("a").compile_unlinked(letters)
    with pytest.raises(ValueError, match="kind 'constraint'"):
        UnlinkedConstraint.load(closed.save())
    with pytest.raises(ValueError, match="kind 'unlinked'"):
        Constraint.load(unlinked.save())
