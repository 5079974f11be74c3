"""References, identifiers, recursion."""

from __future__ import annotations

import contextlib

import pytest
from judge import check, grammar

from glrmask_core.errors import GrammarError


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, ["null"], ["1"]),
        ({"$ref": "#/$defs/a~1b~0c%25", "$defs": {"a/b~c%": {"type": "null"}}}, ["null"], ["1"]),
        ({"$ref": "#/$defs//$defs/", "$defs": {"": {"$defs": {"": {"type": "null"}}}}}, ["null"], ["1"]),
        ({"prefixItems": [{"type": "null"}, {"$ref": "#/prefixItems/0"}]}, ["[null,null]"], ["[null,1]"]),
        (
            {"properties": {"n": {"$ref": "#"}}, "additionalProperties": False},
            ['{"n":{"n":{}}}', "{}"],
            ['{"n":{"m":1}}'],
        ),
        ({"$ref": "#/$defs/a", "maxLength": 2, "$defs": {"a": {"minLength": 1}}}, ['"a"', '"ab"'], ['""', '"abc"']),
        ({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "null"}}}, ["null"], ["1"]),
        ({"$ref": "#x", "definitions": {"a": {"$id": "#x", "type": "null"}}}, ["null"], ["1"]),
        ({"$id": "http://e/a/b", "$ref": "c", "$defs": {"c": {"$id": "/a/c", "type": "null"}}}, ["null"], ["1"]),
        (
            {"id": "http://e/a", "allOf": [{"$ref": "b"}], "definitions": {"c": {"id": "b", "type": "null"}}},
            ["null"],
            ["1"],
        ),
        (
            {
                "$id": "http://e/a",
                "$ref": "b#/$defs/x",
                "$defs": {
                    "b": {"$id": "b", "$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"type": "null"}}},
                    "y": {"type": "string"},
                },
            },
            ["null"],
            ["1", '"a"'],
        ),
        ({"properties": {"$ref": {"type": "null"}}}, ['{"$ref":null}'], ['{"$ref":1}']),
        ({"enum": [{"$ref": "#/nowhere"}]}, ['{"$ref":"#/nowhere"}'], ["{}"]),
        ({"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x", "type": "null"}}}, ["null"], ["1"]),
        ({"items": {"$recursiveRef": "#"}, "type": "array"}, ["[[],[[]]]"], ["[1]"]),
    ],
)  # fmt: skip
def test_references(schema: dict[str, object], accept: list[str], reject: list[str]) -> None:
    check(schema, accept, reject)


def test_dynamic_scope() -> None:
    schema = {
        "$id": "http://e/strict",
        "$ref": "tree",
        "$dynamicAnchor": "node",
        "unevaluatedProperties": False,
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "type": "object",
                "properties": {"kids": {"type": "array", "items": {"$dynamicRef": "#node"}}},
            }
        },
    }
    check(schema, ['{"kids":[{"kids":[]}]}'], ['{"kids":[{"other":1}]}', '{"other":1}'])


def test_resources() -> None:
    resources = {"http://e/x.json": {"$defs": {"n": {"type": "null"}}, "items": {"$ref": "#/$defs/n"}}}
    check({"$ref": "http://e/x.json"}, ["[null]"], ["[1]"], resources=resources)
    check({"$ref": "http://e/x.json#/$defs/n"}, ["null"], ["1"], resources=resources)
    with pytest.raises(GrammarError, match="resources="):
        grammar({"$ref": "http://e/y.json"}, resources=resources)


def test_metaschemas_are_bundled() -> None:
    options = {"unknown_formats": "ignore", "lenient": True}
    with pytest.warns(UserWarning, match="uniqueItems"):
        accepts = grammar({"$ref": "http://json-schema.org/draft-07/schema#"}, **options).accepts
    assert accepts('{"minLength":1}') and not accepts('{"minLength":-1}')


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$ref": "#/$defs/a", "$defs": {}}, "to exist"),
        ({"$ref": "#nope"}, "an anchor"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "cycle"),
        ({"allOf": [{"$ref": "#"}]}, "cycle"),
        ({"anyOf": [{"type": "null"}, {"$ref": "#"}]}, "cycle"),
        ({"$ref": 1}, "a reference"),
        ({"$ref": "/$defs/a", "$defs": {"a": {}}}, '"#/\\$defs/a"'),
        ({"$ref": "#/title", "title": "x"}, "a schema"),
    ],
)
def test_bad_references(schema: dict[str, object], words: str) -> None:
    with pytest.raises(GrammarError, match=words):
        grammar(schema)


def test_unreachable_definitions_are_not_checked() -> None:
    check({"type": "null", "$defs": {"bad": {"type": "nonsense", "pattern": "("}}}, ["null"], [])


def test_deep_recursion_of_data_and_schema() -> None:
    node = {"properties": {"v": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "type": "object", "required": ["v", "next"], "additionalProperties": False}  # fmt: skip
    text = "null"
    for _ in range(40):
        text = f'{{"v":1,"next":{text}}}'
    check({"$defs": {"node": node}, "$ref": "#/$defs/node"}, [text], [text[:-1], text.replace("null", "{}")])
    deep: dict[str, object] = {"type": "null"}
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": False}
    assert grammar(deep).accepts('{"a":' * 200 + "null" + "}" * 200)


@pytest.mark.parametrize("depth", [100, 400, 3000, 100_000])
@pytest.mark.parametrize("opening", ['{"allOf":[', '{"not":', '{"items":', "["])
def test_nesting_is_bounded_by_name(depth: int, opening: str) -> None:
    closing = {"{": "]}", "[": "]"}[opening[0]] if opening[-1] == "[" else "}"
    text = opening * depth + '{"type":"null"}' + closing * depth
    with contextlib.suppress(GrammarError):
        grammar(text)
