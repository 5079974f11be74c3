"""Refusals and faults: pointer, keyword, reason, hint. Options. Lenient mode."""

from __future__ import annotations

import json
from typing import Any

import pytest
from judge import FRONTEND, check, grammar, parse

from glrmask_core.errors import ArgumentTypeError, GrammarError, GrammarSyntaxError


@pytest.mark.parametrize(
    ("schema", "place", "words"),
    [
        ({"properties": {"a": {"uniqueItems": True}}}, "/properties/a/uniqueItems", "distinct"),
        ({"not": {"uniqueItems": True, "type": "array"}}, "/not", "complement"),
        ({"items": {"format": "iri"}}, "/items/format", "unknown_formats"),
        ({"type": "integer", "format": "no-such"}, "/format", "no-such"),
        ({"anyOf": [{}, {"pattern": "(?=a)b"}]}, "/anyOf/1/pattern", "lookahead"),
        ({"patternProperties": {"a\\b": {}}}, "/patternProperties/a\\b", "pattern"),
        ({"$ref": "http://e/x"}, "/$ref", "resources"),
        ({"disallow": ["string"]}, "/disallow", "draft 3"),
        ({"multipleOf": 123457}, "/multipleOf", "remainders"),
        ({"$schema": "http://e/dialect"}, "/$schema", "draft"),
    ],
)
def test_refusals(schema: dict[str, Any], place: str, words: str) -> None:
    with pytest.raises(GrammarError, match="cannot enforce") as caught:
        grammar(schema)
    assert place == caught.value.diagnostics[0].place
    assert f"#{place}" in str(caught.value) or place in str(caught.value)
    assert words in str(caught.value)
    assert place.split("/")[1].split("/")[0]


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "strin"}, "/type"),
        ({"type": []}, "/type"),
        ({"type": None}, "/type"),
        ({"properties": []}, "/properties"),
        ({"properties": {"a": 1}}, "/properties/a"),
        ({"required": "a"}, "/required"),
        ({"required": [1]}, "/required"),
        ({"minLength": -1}, "/minLength"),
        ({"maxLength": 1.5}, "/maxLength"),
        ({"minItems": True}, "/minItems"),
        ({"minimum": "1"}, "/minimum"),
        ({"multipleOf": 0}, "/multipleOf"),
        ({"multipleOf": -2}, "/multipleOf"),
        ({"pattern": 1}, "/pattern"),
        ({"pattern": "("}, "/pattern"),
        ({"enum": []}, "/enum"),
        ({"enum": "a"}, "/enum"),
        ({"allOf": []}, "/allOf"),
        ({"anyOf": {}}, "/anyOf"),
        ({"oneOf": [1]}, "/oneOf/0"),
        ({"not": "a"}, "/not"),
        ({"uniqueItems": 1}, "/uniqueItems"),
        ({"prefixItems": [{}], "items": [{}]}, "/items"),
        ({"dependentRequired": {"a": "b"}}, "/dependentRequired/a"),
        ({"format": 1}, "/format"),
        ({"$defs": {"a/b": {"type": 1}}, "$ref": "#/$defs/a~1b"}, "/$defs/a~1b/type"),
    ],
)
def test_malformed_keywords(schema: dict[str, Any], place: str) -> None:
    with pytest.raises(GrammarError) as caught:
        grammar(schema)
    assert place == caught.value.diagnostics[0].place


@pytest.mark.parametrize(
    "text", ["", "{", "nul", '{"a":1,"a":2}', '{"const":NaN}', '{"const":Infinity}', "[1]", "3", '"a"']
)
def test_bad_texts(text: str) -> None:
    with pytest.raises(GrammarError):
        parse(text)


def test_syntax_errors_say_where() -> None:
    with pytest.raises(GrammarSyntaxError, match="line 2, column 3"):
        parse('{"a":\n  }')


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"type": "string", "enum": [1]},
        {"minimum": 3, "maximum": 2, "type": "integer"},
        {"type": "integer", "minimum": 0.1, "maximum": 0.9},
        {"minLength": 3, "maxLength": 2, "type": "string"},
        {"type": "object", "required": ["a"], "additionalProperties": False},
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"type": "object", "minProperties": 2, "maxProperties": 1},
        {"type": "array", "minItems": 1, "items": False},
        {"allOf": [{"type": "string"}, {"type": "number"}]},
        {"type": "object", "required": ["a"], "properties": {"a": {"allOf": [{"const": 1}, {"const": 2}]}}},
        {"const": "\ud800"},
    ],
)
def test_unsatisfiable(schema: Any) -> None:
    with pytest.raises(GrammarError, match="unsatisfiable"):
        grammar(schema)


def test_unsatisfiable_parts_are_pruned() -> None:
    schema = {"properties": {"a": {"type": "string", "enum": [1]}, "b": {}}, "type": "object"}
    check(schema, ['{"b":1}', "{}"], ['{"a":1}', '{"a":""}'])
    check({"anyOf": [{"type": "null"}, False, {"not": {}}]}, ["null"], ["1"])


def test_unknown_keywords_and_annotations_are_ignored() -> None:
    check(
        {"type": "null", "x-any": 1, "nullable": True, "title": 5, "default": {}, "contentMediaType": "x"},
        ["null"],
        ["1"],
    )


@pytest.mark.parametrize("dialect", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
def test_dialects(dialect: str) -> None:
    check({"$schema": f"http://json-schema.org/{dialect}/schema#", "type": "null"}, ["null"], ["1"])


def test_lenient_leaves_out_only_what_it_lists() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "uniqueItems": True, "minItems": 1},
            "b": {"format": "no-such", "type": "string"},
        },
        "additionalProperties": False,
    }
    with pytest.warns(UserWarning, match="uniqueItems.*format"):
        parsed = parse(schema, lenient=True)
    assert ["#/properties/a/uniqueItems: uniqueItems", "#/properties/b/format: format"] == [
        ": ".join(line.split(": ")[:2]) for line in parsed.left_out
    ]
    assert ["/properties/a/uniqueItems", "/properties/b/format"] == [d.place for d in parsed.warnings]
    with pytest.warns(UserWarning):
        check(schema, ['{"a":[1,1],"b":"x"}'], ['{"a":[]}', '{"b":1}', '{"c":1}'], lenient=True)


def test_lenient_one_of_is_a_union() -> None:
    overlapping = {"type": "array", "uniqueItems": True}
    with pytest.warns(UserWarning):
        check({"oneOf": [overlapping, {"minItems": 1}]}, ["[1]", "[]", "1"], [], lenient=True)


def test_lenient_does_not_hide_faults() -> None:
    for schema in ({"type": "strin"}, {"minLength": -1}, {"$ref": "#/nowhere"}):
        with pytest.raises(GrammarError, match="schema error"):
            grammar(schema, lenient=True)


def test_unknown_formats() -> None:
    check({"type": "string", "format": "no-such"}, ['"a"'], ["1"], unknown_formats="ignore")
    check({"type": "string", "format": "date"}, ['"2020-01-01"'], ['"a"'], unknown_formats="ignore")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"nope": 1}, ArgumentTypeError),
        ({"whitespace": 1.5}, ArgumentTypeError),
        ({"whitespace": True}, ArgumentTypeError),
        ({"whitespace": "loose"}, GrammarError),
        ({"whitespace": -1}, GrammarError),
        ({"escapes": 1}, ArgumentTypeError),
        ({"escapes": "all"}, GrammarError),
        ({"property_order": "sorted"}, GrammarError),
        ({"lenient": 1}, ArgumentTypeError),
        ({"resources": []}, ArgumentTypeError),
        ({"resources": {"a": {1}}}, ArgumentTypeError),
        ({"max_nodes": "1"}, ArgumentTypeError),
        ({"unknown_formats": "drop"}, GrammarError),
    ],
)
def test_options_are_checked_at_once(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        FRONTEND.prepare("{}", options)


def test_prepare() -> None:
    assert '{"type": "null"}' == FRONTEND.prepare({"type": "null"}, {})
    assert "true" == FRONTEND.prepare(True, {})
    assert "not json" == FRONTEND.prepare("not json", {})
    for source in ({1, 2}, b"{}", object()):
        with pytest.raises(ArgumentTypeError):
            FRONTEND.prepare(source, {})


def test_node_limit() -> None:
    with pytest.raises(GrammarError, match="max_nodes"):
        grammar({"properties": {f"a{i}": {"minimum": i} for i in range(20)}}, max_nodes=10)


def test_too_many_cases_are_refused_by_name() -> None:
    triggers = {f"a{i}": [f"b{i}"] for i in range(40)}
    with pytest.raises(GrammarError, match=r"dependentRequired.*alternatives"):
        grammar({"dependentRequired": triggers})
    patterns = {f"x{i}": {"minimum": i} for i in range(10)}
    with pytest.raises(GrammarError, match=r"patternProperties.*64"):
        grammar({"patternProperties": patterns})


def test_parsing_twice_gives_the_same_module() -> None:
    text = json.dumps(
        {"properties": {"a": {"format": "date-time"}, "b": {"minimum": 3}}, "patternProperties": {"^x": {"not": {}}}}
    )
    assert parse(text).module.digest == parse(text).module.digest
