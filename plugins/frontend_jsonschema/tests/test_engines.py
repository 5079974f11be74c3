"""Through the public API, on every installed engine: masks agree with feeding bytes."""

from __future__ import annotations

import warnings

import pytest

glrmask = pytest.importorskip("glrmask")

TOKENS = [
    b'{"',
    b'"a"',
    b'a"',
    b'":',
    b"1",
    b"12",
    b",",
    b'"',
    b"}",
    b" ",
    b"b",
    b"[",
    b"]",
    b"tru",
    b"e",
    b"{",
    b"-",
    b":",
    b".5",
]
SCHEMA = {
    "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"items": {"type": "boolean"}, "type": "array"}},
    "required": ["b"], "type": "object", "additionalProperties": {"type": "number"},
}  # fmt: skip


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize("optimization", list(glrmask.Optimization))
def test_masks_agree_with_bytes(optimization: object, order: str) -> None:
    tokens = dict.fromkeys(TOKENS + [bytes([b]) for b in range(256)])
    vocab = glrmask.Vocab.from_dict({token: i for i, token in enumerate(tokens)})
    grammar = glrmask.Grammar.from_json_schema(SCHEMA, property_order=order)
    try:
        constraint = grammar.compile(vocab, optimization=optimization)
    except glrmask.PluginError:
        pytest.skip("no engine is installed")
    state = constraint.start()
    for step in (b'{"', b"a", b'":', b"12", b",", b'"', b"b", b'"', b":", b"[", b"tru", b"e", b"]", b"}"):
        mask = state.mask()
        for token, i in vocab_items(tokens):
            probe = state.clone()
            try:
                probe.commit_bytes(token)
                alive = True
            except glrmask.StateError:
                alive = False
            assert alive == bool(mask[i]), (step, token)
        state.commit_bytes(step)
    assert state.is_accepting()


def vocab_items(tokens: dict[bytes, None]) -> list[tuple[bytes, int]]:
    return [(token, i) for i, token in enumerate(tokens)]


def test_report_of_a_lenient_compile() -> None:
    vocab = glrmask.Vocab.from_dict({bytes([b]): b for b in range(256)})
    grammar = glrmask.Grammar.from_json_schema({"type": "array", "uniqueItems": True}, lenient=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            constraint = grammar.compile(vocab)
        except glrmask.PluginError:
            pytest.skip("no engine is installed")
    assert 1 == len(constraint.report.left_out)
    assert constraint.accepts("[1,1]")


def test_model_classes() -> None:
    class Person:
        @staticmethod
        def model_json_schema() -> dict[str, object]:
            return {"properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False}

    assert glrmask.Grammar.from_json_schema(Person) == glrmask.Grammar.from_json_schema(Person.model_json_schema())


@pytest.mark.parametrize("engine", ["native", "oracle"])
@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"type": "integer", "minimum": 9}, ["9", "10"], ["8", "9.0"]),
        ({"enum": ["a", 1, None]}, ['"a"', "1", "null"], ['"b"', "2"]),
        ({"type": "string", "maxLength": 2}, ['"ab"', '"\\n"'], ['"abc"']),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, ["[ ]", "[true,false]"], ["[true,]"]),
        ({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}, ['{"a":1}'], ["{}", '{"a":2}']),
        ({"not": {"required": ["a"]}, "type": "object"}, ["{}", '{"b":1}'], ['{"a":1}']),
    ],
)
def test_engines_agree(engine: str, schema: object, accept: list[str], reject: list[str]) -> None:
    vocab = glrmask.Vocab.from_dict({bytes([b]): b for b in range(256)})
    try:
        constraint = glrmask.Grammar.from_json_schema(schema).compile(vocab, engine=engine)
    except glrmask.PluginError:
        pytest.skip(f"the engine {engine} is not installed")
    assert accept == [text for text in accept + reject if constraint.accepts(text)]
