"""Arrays, objects, white space."""

from __future__ import annotations

import pytest
from judge import check, grammar

from glrmask_core.errors import GrammarError


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"items": {"type": "integer"}}, ["[]", "[1]", "[1,2,3]"], ['["a"]', "[1,]", "[,1]", "[1 2]"]),
        ({"prefixItems": [{"const": 1}, {"const": 2}]}, ["[]", "[1]", "[1,2]", "[1,2,3]"], ["[2]", "[1,1]"]),
        ({"prefixItems": [{"const": 1}], "items": False}, ["[]", "[1]"], ["[1,1]"]),
        ({"items": [{"const": 1}], "additionalItems": {"const": 2}}, ["[]", "[1]", "[1,2,2]"], ["[2]", "[1,1]"]),
        ({"minItems": 2, "maxItems": 3}, ["[1,2]", "[1,2,3]"], ["[]", "[1]", "[1,2,3,4]"]),
        ({"prefixItems": [{"const": 1}, {}], "minItems": 3, "maxItems": 4}, ["[1,0,0]", "[1,0,0,0]"], ["[1,0]"]),
        ({"items": False}, ["[]"], ["[1]"]),
        ({"maxItems": 0}, ["[]"], ["[1]"]),
        ({"prefixItems": [{}, False]}, ["[]", "[1]"], ["[1,2]"]),
        ({"contains": {"const": 1}}, ["[1]", "[0,1]", "[1,0]"], ["[]", "[0]"]),
        ({"contains": {"const": 1}, "minContains": 2}, ["[1,1]", "[1,0,1,0]"], ["[1]", "[0,1,0]"]),
        ({"contains": {"const": 1}, "minContains": 0}, ["[]", "[0]"], []),
        ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, ["[]", "[0,1,0]"], ["[1,1]", "[1,0,1]"]),
        ({"contains": {"const": 1}, "items": {"type": "integer"}}, ["[0,1]"], ['["a",1]', "[2]"]),
        ({"contains": {"const": 1}, "maxItems": 2, "minItems": 2}, ["[0,1]"], ["[1]", "[0,0,1]"]),
        ({"allOf": [{"contains": {"const": 1}}, {"contains": {"const": 2}}]}, ["[2,1]", "[0,1,0,2]"], ["[1]", "[2,0]"]),
        ({"uniqueItems": True, "items": {"enum": [1, 2, 1.0]}}, ["[]", "[2,1]"], ["[1,1]", "[1,2,1]"]),
        (
            {"uniqueItems": True, "items": {"type": "boolean"}, "minItems": 2},
            ["[true,false]"],
            ["[true]", "[true,true]"],
        ),
        ({"uniqueItems": True, "maxItems": 1}, ["[]", "[[1]]"], ["[1,2]"]),
        (
            {"uniqueItems": True, "prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "items": False},
            ["[]", "[true]", "[true,false]"],
            ["[true,true]", "[true,false,true]"],
        ),
        (
            {"uniqueItems": True, "items": {"enum": [[1], [1.0], {"a": 1}]}},
            ['[[1],{"a":1}]'],
            ["[[1],[1.0]]", "[[1],[1]]"],
        ),
        ({"not": {"items": {"const": 1}}}, ["[2]", "[1,2]"], ["[]", "[1,1]"]),
        ({"not": {"contains": {"const": 1}}}, ["[]", "[2]"], ["[1]", "[2,1]"]),
        ({"prefixItems": [{}], "unevaluatedItems": False}, ["[]", "[1]"], ["[1,2]"]),
        ({"contains": {"const": 1}, "unevaluatedItems": False}, ["[1]", "[1,1]"], ["[1,2]"]),
    ],
)
def test_arrays(schema: dict[str, object], accept: list[str], reject: list[str]) -> None:
    check({"type": "array", **schema}, accept, reject)


AB = {"a": {"type": "integer"}, "b": {"type": "integer"}}


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        (
            {"properties": AB},
            ["{}", '{"a":1}', '{"b":1}', '{"a":1,"b":2}', '{"a":1,"z":[]}'],
            ['{"b":1,"a":2}', '{"a":""}'],
        ),
        (
            {"properties": AB, "required": ["b"]},
            ['{"b":1}', '{"a":1,"b":1}', '{"b":1,"c":0}'],
            ["{}", '{"a":1}', '{"c":0,"b":1}'],
        ),
        ({"properties": AB, "additionalProperties": False}, ["{}", '{"b":1}'], ['{"c":1}', '{"a":1,}', "{,}"]),
        ({"properties": {"a": False}}, ["{}", '{"b":1}'], ['{"a":1}']),
        ({"required": ["y", "x"]}, ['{"y":1,"x":2}', '{"y":1,"x":2,"a":3}'], ['{"x":2,"y":1}', '{"a":3,"y":1,"x":2}']),
        ({"properties": AB, "required": ["c"]}, ['{"c":0}', '{"a":1,"c":0}'], ["{}", '{"c":0,"a":1}']),
        ({"additionalProperties": {"type": "null"}}, ["{}", '{"x":null,"":null}'], ['{"x":1}']),
        ({"patternProperties": {"^x": {"type": "null"}}}, ['{"x1":null}', '{"y":1}'], ['{"x1":1}', '{"x":0}']),
        ({"patternProperties": {"^x": True}, "additionalProperties": False}, ["{}", '{"xy":1}'], ['{"y":1}']),
        (
            {"patternProperties": {"^x": {"minimum": 3}, "y$": {"maximum": 5}}},
            ['{"xy":4}', '{"x":9}'],
            ['{"xy":2}', '{"xy":6}'],
        ),
        (
            {"properties": {"st": {"multipleOf": 5}}, "patternProperties": {"^s": {"minimum": 6}}},
            ['{"st":10}'],
            ['{"st":5}'],
        ),
        ({"propertyNames": {"pattern": "^a"}}, ["{}", '{"a":1,"ab":2}'], ['{"b":1}']),
        ({"propertyNames": {"maxLength": 1}, "properties": AB}, ['{"a":1}', '{"x":1}'], ['{"xy":1}']),
        ({"propertyNames": {"enum": ["p", "q"]}}, ["{}", '{"q":1,"p":2}'], ['{"r":1}']),
        ({"propertyNames": False}, ["{}"], ['{"a":1}']),
        ({"propertyNames": {"const": "a"}, "properties": AB}, ['{"a":1}'], ['{"b":1}', '{"c":1}']),
        (
            {"properties": AB, "minProperties": 1, "additionalProperties": False},
            ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'],
            ["{}"],
        ),
        ({"properties": AB, "minProperties": 3}, ['{"a":1,"b":1,"c":1}', '{"x":1,"y":1,"z":1}'], ['{"a":1,"b":1}']),
        ({"properties": AB, "maxProperties": 1}, ["{}", '{"b":1}', '{"c":1}'], ['{"a":1,"c":1}', '{"a":1,"b":1}']),
        ({"minProperties": 1, "maxProperties": 2}, ['{"a":1}', '{"a":1,"b":1}'], ["{}", '{"a":1,"b":1,"c":1}']),
        ({"properties": AB, "dependentRequired": {"a": ["b"]}}, ["{}", '{"b":1}', '{"a":1,"b":1}'], ['{"a":1}']),
        ({"properties": AB, "dependencies": {"b": ["a"]}}, ["{}", '{"a":1}', '{"a":1,"b":1}'], ['{"b":1}']),
        ({"dependentSchemas": {"a": {"required": ["z"]}}}, ["{}", '{"b":1}', '{"a":1,"z":1}'], ['{"a":1}']),
        ({"dependencies": {"a": {"properties": {"b": False}}}}, ['{"b":1}', '{"a":1}'], ['{"a":1,"b":1}']),
        ({"not": {"required": ["a"]}}, ["{}", '{"b":1}'], ['{"a":1}']),
        ({"not": {"properties": {"a": {"type": "integer"}}}}, ['{"a":""}'], ["{}", '{"a":1}']),
        ({"not": {"additionalProperties": {"type": "integer"}}}, ['{"x":""}', '{"y":1,"x":""}'], ["{}", '{"a":1}']),
        ({"not": {"maxProperties": 1}}, ['{"a":1,"b":1}'], ["{}", '{"a":1}']),
        ({"properties": AB, "unevaluatedProperties": False}, ["{}", '{"a":1}'], ['{"c":1}']),
        ({"allOf": [{"properties": AB}], "unevaluatedProperties": False}, ["{}", '{"a":1}'], ['{"c":1}']),
        (
            {"anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {"const": 2}}}],
             "unevaluatedProperties": False},
            ["{}", '{"a":1}', '{"b":2}', '{"a":1,"b":2}'],
            ['{"a":3}', '{"a":1,"b":3}', '{"c":1}'],
        ),
        (
            {"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"properties": {"x": {}}},
             "else": {"properties": {"y": {}}}, "unevaluatedProperties": False},
            ['{"x":0,"k":1}', '{"y":0}', "{}"],
            ['{"y":0,"k":1}', '{"x":0}'],
        ),
        ({"const": {"b": 1, "a": [None]}}, ['{"b":1,"a":[null]}'], ['{"a":[null],"b":1}', '{"b":1}']),
    ],
)  # fmt: skip
def test_objects(schema: dict[str, object], accept: list[str], reject: list[str]) -> None:
    check({"type": "object", **schema}, accept, reject)


def test_free_keys_exclude_declared_names_exactly() -> None:
    schema = {"properties": {"for": {}, "forecast": {"type": "integer"}}}
    check(schema, ['{"forec":"x"}', '{"forecasts":"x"}', '{"fo":1}', '{"forecast":1}'], ['{"z":1,"forecast":1}'])


def test_any_order() -> None:
    schema = {"properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {}}, "required": ["b"]}
    check(
        schema,
        ['{"b":2}', '{"b":2,"a":1}', '{"c":0,"x":[],"b":2,"a":1}', '{"x":1,"b":2,"y":2}'],
        ["{}", '{"a":1}', '{"b":2,"b":2}', '{"b":1}', '{"b":2,"a":1,"a":1}'],
        property_order="any",
    )
    bounded = {**schema, "minProperties": 2, "maxProperties": 3, "additionalProperties": False}
    check(bounded, ['{"c":1,"b":2}'], ['{"b":2}', '{"x":1,"b":2}'], property_order="any")
    check({"not": {"additionalProperties": {"const": 1}}}, ['{"a":1,"x":2}', '{"x":2,"a":1}'], ['{"a":1}', "{}"],
          property_order="any")  # fmt: skip
    witness = {"type": "object", "not": {"patternProperties": {"^x": False}}, "maxProperties": 2}
    check(witness, ['{"x":1}', '{"a":1,"xx":1}'], ["{}", '{"a":1}'], property_order="any")


def test_many_optional_members_stay_linear() -> None:
    from judge import parse

    def size(count: int) -> int:
        properties = {f"p{i}": {"type": "integer"} for i in range(count)}
        module = parse({"type": "object", "properties": properties, "additionalProperties": False}).module
        return len(module) + len(module.args)

    assert size(400) < 2.2 * size(200)
    required = {
        "type": "object",
        "properties": {f"p{i}": {} for i in range(300)},
        "required": [f"p{i}" for i in range(300)],
    }
    assert len(parse(required).module.args) < 300 * 16


def test_counting_limit() -> None:
    properties = {f"p{i}": {} for i in range(200)}
    with pytest.raises(GrammarError, match=r"minProperties.*4096"):
        grammar({"properties": properties, "minProperties": 100})


@pytest.mark.parametrize(
    ("whitespace", "accept", "reject"),
    [
        ("flexible", ['{"a":[1,2]}', '{ "a" :\n[ 1 ,\t2 ]\r\n}', '{' + " " * 64 + '"a":[1,2]}'],
         [' {"a":[1,2]}', '{"a":[1,2]} ', '{' + " " * 65 + '"a":[1,2]}', '{"a":[1 2]}']),
        ("free", ['{' + " " * 500 + '"a":[1,2]}'], [' {"a":[1,2]}']),
        ("dumps", ['{"a": [1, 2]}'], ['{"a":[1,2]}', '{"a": [1,2]}', '{ "a": [1, 2]}']),
        ("compact", ['{"a":[1,2]}'], ['{"a": [1, 2]}']),
        (2, ['{  "a":[1,2]}', '{"a":[1,2]}'], ['{   "a":[1,2]}']),
        (0, ['{"a":[1,2]}'], ['{ "a":[1,2]}']),
    ],
)  # fmt: skip
def test_white_space(whitespace: str | int, accept: list[str], reject: list[str]) -> None:
    check({"type": "object"}, accept, reject, whitespace=whitespace)
    check(
        {"properties": {"a": {"items": {"type": "integer"}}}, "type": "object"}, accept, reject, whitespace=whitespace
    )


def test_white_space_in_empty_structures() -> None:
    check({}, ["[ ]", "{\n}", "[" + 64 * " " + "]"], ["[" + 65 * " " + "]", "{" + 65 * " " + "}"])


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"allOf": [{"type": "integer", "minimum": 10}, {"maximum": 20}]}, ["10", "20"], ["9", "21", '"x"', "15.5"]),
        ({"anyOf": [{"type": "string"}, {"minimum": 3}], "type": ["string", "integer"]}, ['"a"', "3"], ["2", "null"]),
        ({"oneOf": [{"type": "integer"}, {"minimum": 2}], "type": "number"}, ["1", "2.5"], ["3", "1.5"]),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, ['{"a":1}', '{"b":1}'], ["{}", '{"a":1,"b":1}']),
        ({"oneOf": [{"maxLength": 2}, {"pattern": "^a"}], "type": "string"}, ['"b"', '"abc"'], ['"a"', '"bcd"']),
        ({"not": {"type": ["string", "object"]}}, ["1", "[]", "null"], ['"a"', "{}"]),
        (
            {"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"type": "null"}},
            ['"ab"', "null"],
            ['"a"', "1"],
        ),
        ({"then": {"minLength": 2}}, ['"a"'], []),
        ({"type": "integer", "enum": [1, "a", 2.5]}, ["1"], ['"a"', "2.5"]),
    ],
)
def test_combinators(schema: dict[str, object], accept: list[str], reject: list[str]) -> None:
    check(schema, accept, reject)


def test_order_of_keys_over_combinators() -> None:
    base = {"allOf": [{"properties": {"x": {}}}, {"properties": {"y": {}}}], "properties": {"z": {}}, "required": ["q"]}
    check(base, ['{"x":1,"y":2,"z":3,"q":4,"r":5}'], ['{"z":3,"x":1,"q":1}', '{"q":1,"x":1}'])
    late = {"dependencies": {"c": ["a"]}, "properties": {"a": {}, "b": {}, "c": {}}}
    check(late, ['{"a":1,"b":2,"c":3}'], ['{"c":3,"a":1}', '{"c":1}'])
