"""api.md sections 2 and 3: Grammar, binding, compile arguments, optimization and backend."""

from __future__ import annotations

import copy
import enum
import pickle
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Grammar, Limits, Optimization, ParserBackend, Vocab


def masks(constraint: glrmask.Constraint, tokens: list[int]) -> list[list[int]]:
    """Allowed ids before each token and at the end."""
    state, found = constraint.start(), []
    for token in [*tokens, None]:
        found.append(np.flatnonzero(state.mask()).tolist())
        if token is not None:
            state.commit_token(token)
    return found


# -- constructors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["from_glrm", "from_ebnf", "from_lark", "from_json_schema"])
def test_the_four_formats_are_read_or_the_package_is_named(name: str) -> None:
    make = getattr(Grammar, name)
    try:
        made = make("{}")
    except glrmask.UnknownFormatError as error:
        format = {"from_json_schema": "jsonschema"}.get(name, name[5:])
        assert f"glrmask-frontend-{format}" in str(error)
    else:
        assert isinstance(made, Grammar)


def test_source_must_be_text() -> None:
    with pytest.raises(TypeError):
        Grammar.from_source(b"a", format="mini")
    with pytest.raises(TypeError, match="format must be a str"):
        Grammar.from_source("a", format=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["glrm", "ebnf", "lark"])
@pytest.mark.parametrize("source", [None, 3, b"a", bytearray(b"a"), ["a"], {}, object()])
def test_sources_of_the_text_formats_are_str(format: str, source: object) -> None:
    need(format)
    with pytest.raises(TypeError, match="str"):
        getattr(Grammar, f"from_{format}")(source)


BAD = {"glrm": "glrm 1; start s; nt s = (;", "ebnf": "start ::= (", "lark": "start: (", "json_schema": {"type": 3}}


@pytest.mark.parametrize("format", BAD)
def test_faults_of_a_text_are_told_when_it_is_needed(format: str, letters: Vocab) -> None:
    need(format.replace("_", ""))
    bad = getattr(Grammar, f"from_{format}")(BAD[format])
    for call in (
        lambda: bad.bind("P", bad),
        lambda: bad.compile(letters, engine="null"),
        lambda: bad.compile_unlinked(letters),
    ):
        with pytest.raises(glrmask.GrammarError, match=r"\d:\d|#/type"):
            call()
    with pytest.raises(TypeError, match="not NoneType"):
        bad.bind("P", None)


@pytest.mark.parametrize("format", ["ebnf", "lark", "json_schema"])
def test_parents_without_slots_take_nothing(format: str, letters: Vocab) -> None:
    need(format.replace("_", ""))
    parent = getattr(Grammar, f"from_{format}")(
        {"ebnf": 'start ::= "a"', "lark": 'start: "a"', "json_schema": True}[format]
    )
    for value in (parent, letters.token(0)):
        with pytest.raises(glrmask.BindError, match='no slot "P"; no open slots'):
            parent.bind("P", value)


def test_a_subclass_of_str_is_the_text_it_holds(grammar: Any) -> None:
    class Text(str):
        def __len__(self) -> int:
            return 60

        def __str__(self) -> str:
            return "other"

    assert grammar("a b") == grammar(Text("a b")) and str is type(grammar(Text("a b")).text)


def test_unknown_option_and_format() -> None:
    with pytest.raises(TypeError, match="no option 'loud'"):
        Grammar.from_source("a", format="mini", loud=True)
    with pytest.raises(ValueError, match='no front-end for "nope"'):
        Grammar.from_source("a", format="nope")


def test_format_names_are_read_loosely(grammar: Any) -> None:
    assert grammar("a") == Grammar.from_source("a", format="MINI")


def test_sources_are_parsed_on_need_and_once(grammar: Any, letters: Vocab, mini: Any) -> None:
    before = mini.parses
    made = grammar("a $P")
    assert before == mini.parses
    bound = made.bind("P", grammar("b"))
    bound.compile(letters, engine="oracle")
    bound.compile(letters, engine="oracle")
    bound.slots()
    assert before + 2 == mini.parses


def test_syntax_errors_surface_at_bind_compile_and_compile_unlinked(grammar: Any, letters: Vocab) -> None:
    bad = grammar("a !")
    calls = (
        lambda: bad.bind("P", grammar("a")),
        lambda: bad.compile(letters, engine="oracle"),
        lambda: bad.compile_unlinked(letters),
        lambda: bad.slots(),
    )
    for call in calls:
        with pytest.raises(glrmask.GrammarSyntaxError, match="1:3"):
            call()


class Model:
    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {"type": "null"}


def test_json_schema_takes_text_json_values_and_models() -> None:
    need("jsonschema")
    for schema in ("true", True, {"type": "null"}, Model, Model()):
        assert "jsonschema" == Grammar.from_json_schema(schema).format
    for wrong in ({1, 2}, b"{}", object(), {"enum": {1}}, {(1, 2): 3}):
        with pytest.raises(TypeError):
            Grammar.from_json_schema(wrong)


def test_json_values_that_are_no_schemas_are_refused_when_needed(letters: Vocab) -> None:
    need("jsonschema")
    for text, value in (("[]", []), ("null", None), ("3", 3), ("[1]", (1,))):
        made = Grammar.from_json_schema(value)
        assert text == made.text and made == Grammar.from_json_schema(text)
        with pytest.raises(glrmask.GrammarError, match="expected a schema"):
            made.compile(letters, engine="null")


def glrmask_formats() -> Any:
    from glrmask_core.plugins import manager

    return manager().frontends()


def need(format: str) -> None:
    if format not in glrmask_formats():
        pytest.skip(f"front-end {format} is not installed")


def test_no_direct_instances() -> None:
    with pytest.raises(TypeError, match="from_glrm"):
        Grammar()


# -- values ---------------------------------------------------------------------------------------------------


def test_equality_by_value(grammar: Any, letters: Vocab) -> None:
    assert grammar("a") == grammar("a") and hash(grammar("a")) == hash(grammar("a"))
    assert grammar("a") != grammar("b") and grammar("a") != grammar("a", warn=True) and grammar("a") != "a"
    bound = grammar("a $P").bind("P", grammar("b"))
    assert bound == grammar("a $P").bind("P", grammar("b")) and bound != grammar("a $P")
    assert bound != grammar("a $P").bind("P", grammar("c"))
    token = grammar("@T").bind("T", letters.token(0))
    assert token == grammar("@T").bind("T", letters.token(0)) and token != grammar("@T").bind("T", letters.token(1))
    assert bound.digest() == grammar("a $P").bind("P", grammar("b")).digest() != grammar("a $P").digest()


def test_copies_are_the_same_object_and_pickling_is_refused(grammar: Any) -> None:
    made = grammar("a")
    assert copy.copy(made) is made and copy.deepcopy(made) is made
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(made)


def test_options_are_the_grammars_own(grammar: Any) -> None:
    given = {"http://a/": {"enum": [1, 2]}}
    need("jsonschema")
    made = Grammar.from_json_schema({"$ref": "http://a/"}, resources=given)
    before, value = made.digest(), hash(made)
    given["http://a/"]["enum"].append(3)
    made.options["resources"].clear()
    assert {"resources": {"http://a/": {"enum": [1, 2]}}} == made.options
    assert (before, value) == (made.digest(), hash(made))
    vocab = Vocab.from_id_to_bytes(dict(enumerate((b"1", b"2", b"3"))))
    assert [[0, 1], []] == masks(made.compile(vocab, engine="oracle"), [0])
    one, other = {"http://a/": {"x": 1, "y": 2}, "http://b/": {}}, {"http://b/": {}, "http://a/": {"y": 2, "x": 1}}
    assert Grammar.from_json_schema(True, resources=one) == Grammar.from_json_schema(True, resources=other)
    deep: Any = {}
    for _ in range(200_000):
        deep = {"not": deep}
    with pytest.raises(glrmask.GrammarError, match="'http://a/' nests too deeply"):
        Grammar.from_json_schema(True, resources={"http://a/": deep})


def test_own_copy() -> None:
    from glrmask_core.checks import own_copy

    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert len(own_copy(deep)) == 1
    ring: Any = {"a": {3}}
    ring["ring"] = [ring]
    found = own_copy(ring)
    assert found["ring"][0] is found and found is not ring and found["a"] == {3} and found["a"] is not ring["a"]


def test_what_a_grammar_tells(grammar: Any) -> None:
    made = grammar("a $P", warn=True).bind("P", grammar("b"))
    assert ("mini", "a $P", {"warn": True}) == (made.format, made.text, made.options)
    assert {"P": grammar("b")} == made.bindings
    assert ["watch out"] == [w.message for w in made.warnings]
    assert "bound: P" in repr(made)


# -- bind -----------------------------------------------------------------------------------------------------


def test_bind_leaves_the_receiver(grammar: Any) -> None:
    parent = grammar("a $P @T")
    bound = parent.bind("P", grammar("b"))
    assert {"P": "grammar", "T": "token"} == parent.slots()
    assert {"T": "token"} == bound.slots()


@pytest.mark.parametrize("value", ["a", None, 3, b"a"])
def test_bind_refuses_other_types(grammar: Any, value: object) -> None:
    with pytest.raises(TypeError, match="Grammar or exact tokens"):
        grammar("$P").bind("P", value)


def test_bind_refuses_compiled_parts(grammar: Any, letters: Vocab) -> None:
    compiled = grammar("a").compile(letters, engine="oracle")
    for value in (compiled, grammar("$P").compile_unlinked(letters)):
        with pytest.raises(TypeError, match="compile_unlinked"):
            grammar("$P").bind("P", value)


def test_bind_checks_at_once(grammar: Any, letters: Vocab) -> None:
    parent = grammar("$P @T").bind("P", grammar("a"))
    with pytest.raises(glrmask.BindError, match='no slot "Q"; open slots: "T" \\(token\\)'):
        parent.bind("Q", grammar("a"))
    with pytest.raises(glrmask.BindError, match='slot "P" is bound already'):
        parent.bind("P", grammar("a"))
    with pytest.raises(glrmask.BindError, match='slot "T" takes a token'):
        parent.bind("T", grammar("a"))
    with pytest.raises(glrmask.BindError, match='slot "P" takes a grammar'):
        grammar("$P").bind("P", letters.token(0))
    with pytest.raises(TypeError, match="slot name"):
        parent.bind(3, grammar("a"))


def test_the_childs_source_is_not_checked_before_compile(grammar: Any, letters: Vocab) -> None:
    bound = grammar("a $P").bind("P", grammar("!"))
    with pytest.raises(glrmask.GrammarSyntaxError):
        bound.compile(letters, engine="oracle")


def test_open_slots_of_a_child_propagate(grammar: Any, letters: Vocab, engine: str) -> None:
    bound = grammar("a $P").bind("P", grammar("b @T"))
    assert {"P.T": "token"} == bound.slots()
    with pytest.raises(glrmask.BindError, match=r'"P.T" \(token\)'):
        bound.compile(letters, engine=engine)
    assert {"P.T": "token"} == bound.compile_unlinked(letters).unbound_slots()
    expected = masks(
        grammar("a $P").bind("P", grammar("b @T").bind("T", letters.token(20))).compile(letters, engine=engine),
        [0, 1, 20],
    )
    for name in ("P.T", "P::T"):
        late = bound.bind(name, letters.token(20))
        assert {} == late.slots()
        assert expected == masks(late.compile(letters, engine=engine), [0, 1, 20])
    with pytest.raises(glrmask.BindError, match=r'slot "P.T" is bound already'):
        bound.bind("P.T", letters.token(20)).bind("P.T", letters.token(20))
    with pytest.raises(glrmask.BindError, match=r'no slot "P.X"'):
        bound.bind("P.X", letters.token(20))


def test_a_grammar_bound_into_itself_is_another_one(grammar: Any, letters: Vocab) -> None:
    made = grammar("a $P | b")
    twice = made.bind("P", made)
    assert {"P": "grammar"} == made.slots() and {"P.P": "grammar"} == twice.slots()
    closed = twice.bind("P.P", grammar("c")).compile(letters, engine="oracle")
    assert [True, True, True, False] == [closed.accepts(text) for text in ("b", "ab", "aac", "aaa")]


def test_names_that_mean_two_slots(grammar: Any, letters: Vocab) -> None:
    """No bundled format has such names; what a plug-in's grammar calls its slots may clash all the same."""
    token = letters.token(20)
    apart = grammar("@a.X @a::X")
    assert [["a::X"], ["a.X"]] == [list(apart.bind(name, token).slots()) for name in ("a.X", "a::X")]
    several = grammar("@a::b.X @a.b::X")
    for host in (several, several.compile_unlinked(letters)):
        with pytest.raises(glrmask.BindError, match=r"slot \"a.b.X\" may be 'a::b.X' or 'a.b::X'"):
            host.bind("a.b.X", token)
    for parent, kind in (("$P @P.T", "@T"), ("$P @P.T", "$T"), ("$P @P::T", "@T"), ("$P $P.Q $Q", "$Q")):
        clash = grammar(parent).bind("P", grammar(kind))
        for call in (clash.slots, lambda: clash.compile_unlinked(letters)):  # noqa: B023
            with pytest.raises(glrmask.BindError, match=r'slot "P\.[TQ]" is open twice'):
                call()


def test_vocabulary_mismatch_shows_at_compile(grammar: Any, letters: Vocab, engine: str) -> None:
    other = Vocab.from_dict({b"a": 0})
    bound = grammar("a @T").bind("T", other.token(0))
    for call in (lambda: bound.compile(letters, engine=engine), lambda: bound.compile_unlinked(letters)):
        with pytest.raises(glrmask.BindError, match='slot "T"'):
            call()
    nested = grammar("$P").bind("P", bound)
    with pytest.raises(ValueError, match=r'slot "P.T"'):
        nested.compile(letters, engine=engine)
    bound.compile(Vocab.from_dict({b"a": 0}), engine=engine)


def test_unbound_slots_stop_compile_used_or_not(grammar: Any, letters: Vocab) -> None:
    with pytest.raises(glrmask.BindError, match='"P" \\(grammar\\), "T" \\(token\\)'):
        grammar("a $P @T").compile(letters, engine="oracle")


def test_source_binding_equals_inlining(grammar: Any, letters: Vocab, engine: str) -> None:
    bound = grammar("a $P z | $P x").bind("P", grammar("b | xy"))
    inline = grammar("a b z | a xy z | b x | xy x")
    for tokens in ([0, 1, 5], [0, 9, 5], [1, 3], [9, 3], [6, 5]):
        expected = masks(inline.compile(letters, engine=engine), tokens)
        assert expected == masks(bound.compile(letters, engine=engine), tokens)


# -- compile arguments ----------------------------------------------------------------------------------------


def test_all_but_the_vocabulary_is_keyword_only(grammar: Any, letters: Vocab) -> None:
    backend = ParserBackend.TEMPLATE_DFA
    for call in (
        lambda: grammar("a").compile(letters, [3]),
        lambda: grammar("a").compile_unlinked(letters, backend),
        lambda: grammar("a").compile_unlinked(letters).link([3]),
    ):
        with pytest.raises(TypeError, match="positional"):
            call()


def test_what_none_stands_for(grammar: Any, letters: Vocab) -> None:
    for made in (
        grammar("a").compile(letters, end_tokens=None, optimization=None, parser_backend=None, engine="oracle"),
        grammar("a").compile_unlinked(letters).link(optimization=None, parser_backend=None, engine="oracle"),
    ):
        assert (Optimization.AUTO, ParserBackend.TEMPLATE_DFA) == (made.optimization, made.parser_backend)
        assert [] == made.end_tokens


@pytest.mark.parametrize("vocab", [None, {b"a": 0}, "vocab"])
def test_vocab_must_be_one(grammar: Any, vocab: object) -> None:
    for call in (lambda: grammar("a").compile(vocab), lambda: grammar("a").compile_unlinked(vocab)):
        with pytest.raises(TypeError, match="Vocab"):
            call()


@pytest.mark.parametrize("end_tokens", [3, "3", b"3", 3.0, {3: 4}, (i for i in (3,)), [3.0], ["3"], [None]])
def test_end_tokens_of_wrong_types(grammar: Any, letters: Vocab, end_tokens: object) -> None:
    with pytest.raises(TypeError):
        grammar("a").compile(letters, end_tokens=end_tokens, engine="oracle")


@pytest.mark.parametrize("as_type", [list, tuple, set, frozenset, np.array])
def test_end_tokens_of_right_types(grammar: Any, letters: Vocab, as_type: Any) -> None:
    made = grammar("a").compile(letters, end_tokens=as_type([20, 3]), engine="oracle")
    assert [3, 20] == made.end_tokens


def test_end_tokens_as_exact_tokens(grammar: Any, letters: Vocab) -> None:
    made = [
        grammar("a").compile(letters, end_tokens=ends, engine="oracle").end_tokens
        for ends in ([letters.token(20), 3], letters.tokens([3, 20]))
    ]
    assert [[3, 20], [3, 20]] == made
    other = Vocab.from_dict({b"a": 3})
    with pytest.raises(ValueError, match="end token 3 was taken from another vocabulary"):
        grammar("a").compile(letters, end_tokens=[other.token(3)], engine="oracle")


def test_no_end_tokens(grammar: Any, letters: Vocab) -> None:
    for none in ([], (), set(), np.array([], np.int64)):
        assert [] == grammar("a").compile(letters, end_tokens=none, engine="oracle").end_tokens


def test_end_tokens_twice(grammar: Any, letters: Vocab) -> None:
    for ends in ([3, 4, 3], {3, letters.token(3)}, [True, 1, 3, 3]):
        with pytest.raises(ValueError, match=r"end token [13] is given twice"):
            grammar("a").compile(letters, end_tokens=ends, engine="oracle")


@pytest.mark.parametrize("id", [-1, 2**32])
def test_end_tokens_outside_32_bits(grammar: Any, letters: Vocab, id: int) -> None:
    with pytest.raises(OverflowError):
        grammar("a").compile(letters, end_tokens=[id], engine="oracle")


def test_unknown_end_tokens_widen_the_mask(grammar: Any, engine: str) -> None:
    vocab = Vocab.from_dict({bytes([97 + i]): i for i in range(6)})
    made = grammar("a").compile(vocab, end_tokens=[99], engine=engine)
    assert 4 == made.mask_len()
    assert [[0], [99]] == masks(made, [0])


def test_giant_unknown_ids_are_refused(grammar: Any, letters: Vocab) -> None:
    with pytest.raises(ValueError, match="end token 16777216"):
        grammar("a").compile(letters, end_tokens=[2**24], engine="oracle")
    assert [2**24 - 1] == grammar("a").compile(letters, end_tokens=[2**24 - 1], engine="oracle").end_tokens
    with pytest.raises(ValueError, match="exact token 16777216"):
        grammar("#16777216").compile(letters, engine="oracle")
    known = Vocab.from_id_to_bytes({2**24: b"a"})
    assert [2**24] == grammar("a").compile(known, end_tokens=[2**24], engine="oracle").end_tokens


def test_an_exact_token_cannot_be_an_end_token(grammar: Any, letters: Vocab) -> None:
    bound = grammar("a @T").bind("T", letters.tokens([3, 20]))
    for call in (
        lambda: bound.compile(letters, end_tokens=[20], engine="oracle"),
        lambda: bound.compile_unlinked(letters).link(end_tokens=[20], engine="oracle"),
        lambda: grammar("a #20").compile(letters, end_tokens=[20], engine="oracle"),
    ):
        with pytest.raises(ValueError, match="token 20 is an end token and an exact token"):
            call()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimization", "auto"),
        ("optimization", 0),
        ("parser_backend", "template_dfa"),
        ("parser_backend", 0),
        ("parser_backend", Optimization.AUTO),
        ("limits", 3),
        ("background", 1),
        ("engine", 3),
    ],
)
def test_options_of_wrong_types(grammar: Any, letters: Vocab, name: str, value: object) -> None:
    with pytest.raises(TypeError, match=name):
        grammar("a").compile(letters, **{name: value})


def test_unknown_engine(grammar: Any, letters: Vocab) -> None:
    with pytest.raises(ValueError, match='no engine "quick"'):
        grammar("a").compile(letters, engine="quick")


def test_options_reach_the_engine(grammar: Any, letters: Vocab) -> None:
    limits = Limits(states=7000)
    made = grammar("a").compile(letters, engine="oracle", limits=limits, background=False)
    assert made.options.limits is limits and made.options.background is False


def test_exact_tokens_outside_the_vocabulary(grammar: Any, letters: Vocab, engine: str) -> None:
    made = grammar("a #70 | #71 b").compile(letters, engine=engine)
    assert 72 == made.width and 3 == made.mask_len()
    assert [[0, 21, 71], [70], []] == masks(made, [0, 70])


# -- section 3 ------------------------------------------------------------------------------------------------


def test_optimization_members() -> None:
    assert ["AUTO", "FAST_BUILD", "BALANCED", "FAST_RUNTIME"] == [o.name for o in Optimization]
    assert ["TEMPLATE_DFA", "LR_TABLE"] == [b.name for b in ParserBackend]
    assert issubclass(Optimization, enum.Enum) and issubclass(ParserBackend, enum.Enum)
    assert 4 == len(set(Optimization)) and Optimization.AUTO != 0


def test_modes_give_the_same_masks(grammar: Any, letters: Vocab, engine: str) -> None:
    made = [
        masks(grammar("a b* c | ab x*").compile(letters, optimization=o, end_tokens=[20], engine=engine), [6, 3, 9 - 6])
        for o in Optimization
    ]
    assert [made[0]] * 4 == made


def test_parser_backend(grammar: Any, letters: Vocab, engine: str) -> None:
    for backend in (None, ParserBackend.TEMPLATE_DFA):
        made = grammar("a").compile(letters, parser_backend=backend, engine=engine)
        assert made.parser_backend is ParserBackend.TEMPLATE_DFA
        assert glrmask.Constraint.load(made.save()).parser_backend is ParserBackend.TEMPLATE_DFA
    with pytest.raises(AttributeError):
        made.parser_backend = ParserBackend.LR_TABLE


@pytest.mark.parametrize("name", [None, "oracle"])
def test_lr_table_is_refused(grammar: Any, letters: Vocab, name: str | None) -> None:
    with pytest.raises(ValueError, match="LR_TABLE"):
        grammar("a").compile(letters, parser_backend=ParserBackend.LR_TABLE, engine=name)
    with pytest.raises(ValueError, match="LR_TABLE"):
        grammar("a").compile_unlinked(letters, parser_backend=ParserBackend.LR_TABLE)
    with pytest.raises(ValueError, match="LR_TABLE"):
        grammar("a").compile_unlinked(letters).link(parser_backend=ParserBackend.LR_TABLE, engine=name)
