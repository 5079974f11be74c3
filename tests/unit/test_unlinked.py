"""api.md section 4: UnlinkedConstraint."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Constraint, UnlinkedConstraint, Vocab


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
