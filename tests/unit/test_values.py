"""api.md, before section 1: what holds for all values, and for the tree of exceptions."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glrmask
from glrmask import Constraint, Grammar, UnlinkedConstraint, Vocab

MAKE: dict[str, Callable[[Any, Vocab], Any]] = {
    "Vocab": lambda grammar, vocab: vocab,
    "ExactToken": lambda grammar, vocab: vocab.token(20),
    "ExactTokens": lambda grammar, vocab: vocab.tokens([3, 20]),
    "Grammar": lambda grammar, vocab: grammar("a $P").bind("P", grammar("b")),
    "UnlinkedConstraint": lambda grammar, vocab: grammar("a $P").compile_unlinked(vocab),
    "Constraint": lambda grammar, vocab: grammar("a b").compile(vocab, engine="oracle"),
}
FOR_ENGINES = {"engine_cache", "engine_lock"}


@pytest.mark.parametrize("name", MAKE)
def test_values_are_immutable_and_copies_are_the_same(grammar: Any, letters: Vocab, name: str) -> None:
    value = MAKE[name](grammar, letters)
    assert name == type(value).__name__
    public = [a for a in dir(value) if not a.startswith("_") and a not in FOR_ENGINES]
    assert public
    for attribute in [*public, "something_new"]:
        with pytest.raises(AttributeError):
            setattr(value, attribute, None)
        with pytest.raises(AttributeError):
            delattr(value, attribute)
    assert copy.copy(value) is value and copy.deepcopy({"a": [value]})["a"][0] is value


def test_what_a_value_hands_out_is_a_copy(grammar: Any, letters: Vocab) -> None:
    bound = grammar("a $P @T").bind("P", grammar("b"))
    unlinked = grammar("a $P @T").compile_unlinked(letters)
    constraint = grammar("a").compile(letters, end_tokens=[20], engine="oracle")
    for read, change in (
        (lambda: bound.slots(), lambda found: found.clear()),
        (lambda: bound.bindings, lambda found: found.clear()),
        (lambda: unlinked.unbound_slots(), lambda found: found.clear()),
        (lambda: constraint.end_tokens, lambda found: found.append(3)),
        (lambda: letters.tokens([3]).ids, lambda found: found.append(3)),
        (lambda: letters.llama_cpp_end_token_ids, lambda found: found.append(3)),
    ):
        before = read()
        change(read())
        assert before == read()


def test_arrays_of_a_vocabulary_cannot_be_made_writable(letters: Vocab) -> None:
    for array in (*letters.entries()[:2], letters.first_bytes):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


def test_values_keep_what_they_need_alive(grammar: Any, engine: str) -> None:
    vocab = Vocab.from_dict({b"a": 0, b"b": 1})
    child = grammar("b").compile(vocab, engine=engine)
    bound = grammar("a $P").compile_unlinked(vocab).bind("P", child)
    seen = weakref.ref(vocab)
    del vocab, child
    gc.collect()
    linked = bound.link(engine=engine)
    del bound
    gc.collect()
    state = linked.start()
    del linked
    gc.collect()
    state.commit_token(0)
    assert [False, True] == state.mask().tolist()
    del state
    gc.collect()
    assert seen() is None


TREE: dict[str, tuple[type, ...]] = {
    "GrammarError": (ValueError,),
    "GrammarSyntaxError": (ValueError, glrmask.GrammarError),
    "BindError": (ValueError,),
    "CompileError": (ValueError,),
    "LimitExceededError": (ValueError, glrmask.CompileError),
    "ArtifactError": (ValueError,),
    "StateError": (ValueError,),
    "StateRejectedError": (ValueError, glrmask.StateError),
    "MaskShapeError": (ValueError,),
    "PluginError": (ValueError,),
    "UnknownFormatError": (ValueError, glrmask.PluginError),
    "ArgumentTypeError": (TypeError,),
    "IdRangeError": (OverflowError,),
    "ConcurrentUseError": (RuntimeError,),
    "InternalError": (RuntimeError,),
}


@pytest.mark.parametrize("name", TREE)
def test_the_tree_of_exceptions(name: str) -> None:
    cls = getattr(glrmask, name)
    known = {glrmask.GlrmaskError, ValueError, TypeError, RuntimeError, OverflowError}
    known |= {getattr(glrmask, other) for other in TREE}
    assert {cls, glrmask.GlrmaskError, *TREE[name]} == known & set(cls.__mro__)
    assert Exception is glrmask.GlrmaskError.__base__


# -- a value that is used many times is one value --------------------------------------------------------------------


def doubled(grammar: Any, leaf: Grammar, levels: int) -> Grammar:
    """Each level has the one below in two slots: 2^levels leaves, one text per level."""
    for _ in range(levels):
        leaf = grammar("$P $Q").bind("P", leaf).bind("Q", leaf)
    return leaf


def test_grammars_used_twice_on_every_level(grammar: Any, letters: Vocab, tmp_path: Path) -> None:
    one, other = (doubled(grammar, grammar("a* ~gone @T", warn=True).bind("T", letters.token(20)), 60) for _ in "ab")
    assert one == other and hash(one) == hash(other) and one.digest() == other.digest()
    assert 1 == len(one.warnings)
    made = one.compile(letters, engine="null")
    assert 10_000 == len(made.report.left_out) and made.report.left_out[-1].endswith(" more")
    assert len(made.module) < 400
    assert made.save() == glrmask.Cache(tmp_path).compile(other, letters, engine="null").save()
    with pytest.raises(glrmask.BindError, match=r'slot "P\..*another vocabulary'):
        one.compile(Vocab.from_dict({b"a": 20}), engine="null")


def test_open_slots_do_not_double_without_end(grammar: Any, letters: Vocab) -> None:
    assert 8192 == len(doubled(grammar, grammar("@T"), 13).slots())
    for levels in (14, 60):
        deep = doubled(grammar, grammar("@T"), levels)
        for call in (deep.slots, lambda: deep.compile(letters, engine="null"), lambda: deep.compile_unlinked(letters)):  # noqa: B023
            with pytest.raises(glrmask.BindError, match="more than 10000 slots are open"):
                call()
    wide = grammar(" ".join(f"@T{n}" for n in range(30)))
    with pytest.raises(glrmask.BindError, match=r'"T19" \(token\) and 10 more'):
        wide.compile(letters, engine="null")


def test_children_with_open_slots_are_bounded_in_size(grammar: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from glrmask_core import grammar as module

    child = grammar("a b c @T")
    parent = grammar("$P $Q").bind("P", child).bind("Q", child)
    nodes = 2 * len(child._resolve().module)
    for most in (nodes, nodes - 1):
        monkeypatch.setattr(module, "MAX_NODES", most)
        again = grammar("$P $Q").bind("P", child).bind("Q", child)
        assert again == parent
        if most == nodes:
            assert ["P.T", "Q.T"] == list(again.slots())
        else:
            with pytest.raises(glrmask.BindError, match=f"more than {most} nodes in children with open slots"):
                again.slots()


def test_linked_children_used_twice_on_every_level(grammar: Any, letters: Vocab) -> None:
    host = grammar("$P $Q").compile_unlinked(letters)
    child: Constraint = grammar("a* ~gone", warn=True).compile(letters, engine="null")
    for _ in range(60):
        child = host.bind("P", child).bind("Q", child).link(engine="null")
    assert 10_000 == len(child.report.left_out) and 1 == len(child.report.warnings)
    assert 10_000 == len(Constraint.load(child.save()).report.left_out)


def test_equal_children_are_one_child(grammar: Any, letters: Vocab) -> None:
    """Same inputs, same bytes: whether the two are one object is no input."""
    parent, one, other = grammar("$P x $Q"), grammar("a b*"), grammar("a b*")
    expected = parent.bind("P", one).bind("Q", one).compile(letters, engine="oracle").save()
    assert expected == parent.bind("P", one).bind("Q", other).compile(letters, engine="oracle").save()
    host = parent.compile_unlinked(letters)
    made, twin = (g.compile(letters, engine="oracle") for g in (one, other))
    for second in (made, twin, Constraint.load(made.save())):
        bound = host.bind("P", made).bind("Q", second)
        assert expected == bound.link(engine="oracle").save()
        assert expected == UnlinkedConstraint.load(bound.save()).link(engine="oracle").save()
    different = host.bind("P", made).bind("Q", grammar("a c*").compile(letters, engine="oracle"))
    assert different.link(engine="oracle").accepts("abxacc")
