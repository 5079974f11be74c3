"""api.md section 9: checking of parser program definitions, and what compile checks."""

from __future__ import annotations

import copy
import json
from types import MappingProxyType
from typing import Any

import pytest

import glrmask
from glrmask import ParserProgram, Vocab


def graph(*states: tuple[bool, list[tuple[Any, int]]], start: int = 0) -> dict[str, Any]:
    return {
        "start": start,
        "states": [
            {
                "accepting": accepting,
                "transitions": [
                    {"label": label if label == "Default" else {"Symbol": label}, "target": target}
                    for label, target in edges
                ],
            }
            for accepting, edges in states
        ],
    }


def template(pop: Any = None, read: Any = None, push: Any = None, **links: Any) -> dict[str, Any]:
    idle = graph((False, []))
    return {
        "pop": pop or graph((True, [])),
        "read": read or idle,
        "push": push or idle,
        "pop_to_read": [],
        "pop_to_push": [],
        "read_to_push": [],
        **links,
    }


def definition(**changes: Any) -> dict[str, Any]:
    """Terminals: 0 pushes symbol 1, 1 pops it, 2 is the identity; complete on the initial stack."""
    push = template(graph((False, [])), push=graph((False, [(1, 1)]), (True, [])), pop_to_push=[0])
    pop = template(graph((False, [(1, 1)]), (True, [])))
    made: dict[str, Any] = {
        "stack_symbol_count": 2,
        "terminals": [push, pop, template()],
        "completion": template(graph((False, [(0, 1)]), (True, []))),
    }
    made.update(changes)
    return made


def changed(path: str, value: Any) -> dict[str, Any]:
    """The definition with one place replaced; ``del`` removes it."""
    made = copy.deepcopy(definition())
    at: Any = made
    *way, last = (int(p) if p.isdigit() else p for p in path.split("."))
    for step in way:
        at = at[step]
    if value is DELETE:
        del at[last]
    else:
        at[last] = value
    return made


DELETE = object()


# -- making one -----------------------------------------------------------------------------------------------


def test_text_and_mappings_are_equal_and_copied() -> None:
    source = definition()
    programs = [ParserProgram(source), ParserProgram(json.dumps(source)), ParserProgram(MappingProxyType(source))]
    assert programs[0] == programs[1] == programs[2] and 1 == len({hash(p) for p in programs})
    assert (3, 2) == (programs[0].terminal_count, programs[0].stack_symbol_count)
    source["terminals"].clear()
    assert 3 == programs[0].terminal_count
    assert programs[0] == ParserProgram(programs[0].to_json()) != ParserProgram(definition(stack_symbol_count=3))
    assert "3 terminals" in repr(programs[0])


@pytest.mark.parametrize("wrong", [b"{}", None, 3, [], {1, 2}, len, bytearray(b"{}")])
def test_other_types(wrong: Any) -> None:
    with pytest.raises(TypeError):
        ParserProgram(wrong)


def test_mappings_that_are_not_json() -> None:
    with pytest.raises(TypeError, match="JSON"):
        ParserProgram({"stack_symbol_count": {1, 2}})
    circular: dict[str, Any] = {}
    circular["terminals"] = circular
    with pytest.raises(ValueError, match="JSON"):
        ParserProgram(circular)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"a": 1}', "[" * 100_000, "{" * 3, "\ud800"])
def test_bad_json(text: str) -> None:
    with pytest.raises(ValueError):
        ParserProgram(text)


def test_a_field_given_twice() -> None:
    text = json.dumps(definition())
    with pytest.raises(ValueError, match='"start" twice'):
        ParserProgram(text.replace('{"start": 0', '{"start": 0, "start": 0', 1))


FIELDS = ["stack_symbol_count", "terminals", "completion"]
TEMPLATE = [f"terminals.0.{n}" for n in ("pop", "read", "push", "pop_to_read", "pop_to_push", "read_to_push")]
STATE = ["terminals.0.pop.start", "terminals.0.pop.states", "terminals.0.push.states.0.accepting"]
EDGE = [
    "terminals.0.push.states.0.transitions",
    *(f"terminals.0.push.states.0.transitions.0.{n}" for n in ("label", "target")),
]


@pytest.mark.parametrize("path", [*FIELDS, *TEMPLATE, *STATE, *EDGE])
def test_every_field_is_required_and_typed(path: str) -> None:
    with pytest.raises(ValueError, match=f'"{path.rsplit(".", 1)[-1]}" is missing'):
        ParserProgram(changed(path, DELETE))
    with pytest.raises(ValueError) as raised:
        ParserProgram(changed(path, "text"))
    assert path.split(".")[0] in str(raised.value)


@pytest.mark.parametrize(
    "path",
    [
        "extra",
        "terminals.0.extra",
        "terminals.0.pop.extra",
        "terminals.0.pop.states.0.extra",
        "terminals.0.push.states.0.transitions.0.extra",
        "terminals.0.push.states.0.transitions.0.label.Other",
    ],
)
def test_unknown_fields(path: str) -> None:
    with pytest.raises(ValueError, match="unknown field"):
        ParserProgram(changed(path, 1))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("stack_symbol_count", 0),
        ("stack_symbol_count", True),
        ("stack_symbol_count", 2.0),
        ("terminals.0.pop.states", []),
        ("terminals.0.pop.start", 1),
        ("terminals.0.pop.start", -1),
        ("terminals.0.push.states.0.transitions.0.target", 2),
        ("terminals.0.push.states.0.transitions.0.target", False),
        ("terminals.0.push.states.0.transitions.0.label", {"Symbol": 2}),
        ("terminals.0.push.states.0.transitions.0.label", {"Symbol": -1}),
        ("terminals.0.push.states.0.transitions.0.label", "Default"),
        ("terminals.0.push.states.0.transitions.0.label", None),
        ("terminals.0.push.states.0.accepting", 1),
        ("terminals.0.pop_to_push", [0, None]),
        ("terminals.0.pop_to_push", [2]),
        ("terminals.0.pop_to_push", [-1]),
        ("terminals.0.read_to_push", [True]),
        ("completion", None),
        ("terminals", {}),
    ],
)
def test_bad_values(path: str, value: Any) -> None:
    with pytest.raises(glrmask.GrammarError):
        ParserProgram(changed(path, value))


def test_links_may_be_null_or_missing_at_the_end() -> None:
    ParserProgram(changed("terminals.1.pop_to_push", []))
    ParserProgram(changed("terminals.1.pop_to_push", [None]))
    ParserProgram(changed("terminals.1.pop_to_push", [None, 0]))


@pytest.mark.parametrize(
    "pop",
    [
        graph((True, [(0, 0)])),
        graph((True, [(0, 1)]), (False, [(0, 2)]), (False, [(0, 1)])),
        graph((True, []), (False, [("Default", 1)])),  # not reachable
    ],
)
def test_graphs_are_acyclic_unreachable_parts_too(pop: Any) -> None:
    with pytest.raises(ValueError, match=r"terminals\[2\].pop.states: the graph has a cycle"):
        ParserProgram(changed("terminals.2.pop", pop))


def test_labels_are_unique_per_state() -> None:
    for label in (0, "Default"):
        pop = graph((True, [(label, 1), (label, 2)]), (False, []), (False, []))
        with pytest.raises(ValueError, match="second transition"):
            ParserProgram(changed("terminals.2.pop", pop))


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    from glrmask_core import program_definition

    with pytest.raises(glrmask.LimitExceededError, match="stack_symbol_count"):
        ParserProgram(definition(stack_symbol_count=2**20 + 1))
    monkeypatch.setattr(program_definition, "MAX_STATES", 5)
    with pytest.raises(glrmask.LimitExceededError, match="5 states"):
        ParserProgram(definition())
    monkeypatch.setattr(program_definition, "MAX_STATES", 100)
    monkeypatch.setattr(program_definition, "MAX_EDGES", 1)
    with pytest.raises(glrmask.LimitExceededError, match="1 transitions"):
        ParserProgram(definition())
    monkeypatch.setattr(program_definition, "MAX_TEXT", 50)
    with pytest.raises(glrmask.LimitExceededError, match="50 bytes"):
        ParserProgram(definition())


def test_a_long_graph_is_checked_without_recursion() -> None:
    states = [(False, [(0, n + 1)]) for n in range(20_000)] + [(True, [])]
    ParserProgram(changed("terminals.2.pop", graph(*states)))


# -- compiling ------------------------------------------------------------------------------------------------

VOCAB = Vocab.from_dict({b"(": 0, b")": 1, b"()": 2, b" ": 3, b"))": 4, b"x": 5})
PATTERNS = [b"(", b")", b" "]


@pytest.mark.parametrize("patterns", [b"()", "()", None, 3, {b"("}, [b"(", b")", 3], [b"(", b")", None]])
def test_pattern_types(patterns: Any) -> None:
    with pytest.raises(TypeError, match="terminal_patterns"):
        ParserProgram(definition()).compile(VOCAB, patterns, engine="null")


def test_pattern_count_and_empty_literals() -> None:
    program = ParserProgram(definition())
    for patterns in ([], [b"("], [b"(", b")", b" ", b"x"]):
        with pytest.raises(ValueError, match="3 terminals"):
            program.compile(VOCAB, patterns, engine="null")
    with pytest.raises(ValueError, match=r"terminal_patterns\[1\] is empty"):
        program.compile(VOCAB, [b"(", b"", b" "], engine="null")


@pytest.mark.parametrize(
    ("pattern", "message"), [("a*", "matches the empty text"), ("(", ""), ("", "empty text"), ("^a", "")]
)
def test_bad_regular_expressions(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"terminal_patterns\[2\].*{message}"):
        ParserProgram(definition()).compile(VOCAB, [b"(", b")", pattern], engine="null")


def test_ignore_terminal_arguments() -> None:
    program = ParserProgram(definition())
    program.compile(VOCAB, PATTERNS, ignore_terminal=2, engine="null")
    with pytest.raises(ValueError, match="ignore_terminal is 3"):
        program.compile(VOCAB, PATTERNS, ignore_terminal=3, engine="null")
    with pytest.raises(ValueError, match="terminal 0 is not the identity"):
        program.compile(VOCAB, PATTERNS, ignore_terminal=0, engine="null")
    with pytest.raises(OverflowError):
        program.compile(VOCAB, PATTERNS, ignore_terminal=-1, engine="null")
    with pytest.raises(TypeError):
        program.compile(VOCAB, PATTERNS, ignore_terminal="2", engine="null")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        program.compile(VOCAB, PATTERNS, 2)  # type: ignore[misc]


def test_the_module_of_terminals() -> None:
    made = ParserProgram(definition()).compile(VOCAB, [b"(", "[)]", b" "], ignore_terminal=2, engine="null")
    module = made.module
    bodies = [module.row(module.rules[2 * at + 1]) for at in range(3)]
    assert [(16, 0), (16, 0), (16, 1)] == [(op, exempt) for op, _, exempt, _ in bodies]
    assert made.program == ParserProgram(definition())


def test_saved_programs_are_checked(mini: Any) -> None:
    made = ParserProgram(definition()).compile(VOCAB, PATTERNS, ignore_terminal=2, end_tokens=[9], engine="null")
    loaded = glrmask.Constraint.load(made.save())
    assert made.save() == loaded.save() and loaded.program == made.program and [9] == loaded.end_tokens
    external = glrmask.Constraint.load(made.save_with_external_vocab(), vocab=VOCAB)
    assert external.vocab is VOCAB and external.program == made.program


@pytest.fixture
def program_engine(engine: str) -> str:
    from glrmask_core.plugins import manager

    if not manager().engines()[engine].capabilities.programs:
        pytest.skip(f"engine {engine} does not run parser programs")
    return engine


def test_brackets(program_engine: str) -> None:
    made = ParserProgram(definition()).compile(VOCAB, PATTERNS, ignore_terminal=2, engine=program_engine)
    words = ["", "()", "(())", "( ( )  )", " ", "(", ")", "())", "x"]
    assert ["", "()", "(())", "( ( )  )", " "] == [w for w in words if made.accepts(w)]
    state = made.start()
    assert [0, 2, 3] == state.mask().nonzero()[0].tolist()
    state.commit_token(0)
    assert [0, 1, 2, 3] == state.mask().nonzero()[0].tolist()
    state.commit_token(0)
    assert [0, 1, 2, 3, 4] == state.mask().nonzero()[0].tolist()
    loaded = glrmask.Constraint.load(made.save())
    assert loaded.accepts("( )") and not loaded.accepts("(")


def test_patterns_are_what_they_hold(program_engine: str) -> None:
    class Bytes(bytes):
        def __len__(self) -> int:
            return 60

    class Text(str):
        def __len__(self) -> int:
            return 60

    patterns = [Bytes(b"("), Text("\\)"), *PATTERNS[2:]]
    made = ParserProgram(definition()).compile(VOCAB, patterns, engine=program_engine)
    assert (
        made.save()
        == ParserProgram(definition()).compile(VOCAB, [b"(", "\\)", *PATTERNS[2:]], engine=program_engine).save()
    )
    with pytest.raises(ValueError, match=r"terminal_patterns\[0\] is empty"):
        ParserProgram(definition()).compile(VOCAB, [Bytes(b""), *PATTERNS[1:]], engine=program_engine)


def test_programs_cannot_be_embedded(grammar: Any, program_engine: str) -> None:
    made = ParserProgram(definition()).compile(VOCAB, PATTERNS, engine=program_engine)
    bound = grammar("x $P").compile_unlinked(VOCAB).bind("P", made)
    with pytest.raises(ValueError, match='slot "P": a parser program cannot be embedded'):
        bound.link(engine=program_engine)
