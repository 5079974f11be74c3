"""How much work a schema is: counted in calls and nodes, which no clock disturbs."""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from glrmask_frontend_jsonschema import digits
from glrmask_frontend_jsonschema.lower import Lowering
from glrmask_frontend_jsonschema.lower_object import ObjectLowering
from glrmask_frontend_jsonschema.meaning import Meaning
from glrmask_frontend_jsonschema.patterns import fragment_of
from glrmask_frontend_jsonschema.plugin import JsonSchemaFrontend
from glrmask_frontend_jsonschema.settings import Settings
from glrmask_frontend_jsonschema.shape import Str
from glrmask_frontend_jsonschema.spelling import Speller
from glrmask_frontend_jsonschema.texts import Texts

from glrmask_core.ir import Builder
from glrmask_core.regex import Dialect, compile_regex

frontend = JsonSchemaFrontend()


def calls(schema: Any) -> int:
    """Calls of functions, in Python and in C, that one parse makes."""
    text = json.dumps(schema)
    frontend.parse("{}", {})
    count = 0

    def note(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        frontend.parse(text, {})
    finally:
        sys.setprofile(before)
    return count


def exponent(make: Callable[[int], Any], small: int, large: int) -> float:
    """How calls grow between two sizes; the part that every schema needs is taken off."""
    base = calls(make(1))
    return math.log((calls(make(large)) - base) / (calls(make(small)) - base)) / math.log(large / small)


def objects(size: int) -> Any:
    kinds = [{"type": "string"}, {"type": "integer", "minimum": 0}, {"enum": ["a", "b"]}, {"type": "array"}]
    return {"type": "object", "properties": {f"key{i}": kinds[i % 4] for i in range(size)}}


@pytest.mark.parametrize(
    "make",
    [
        objects,
        lambda n: objects(n) | {"required": [f"key{i}" for i in range(0, n, 2)]},
        lambda n: objects(n) | {"additionalProperties": False},
        lambda n: {"properties": {f"key{i}": {"properties": {f"in{i}": {"type": "null"}}} for i in range(n)}},
        lambda n: {"enum": list(range(n))},
        lambda n: {"type": "integer", "enum": [17 * i for i in range(n)]},
        lambda n: {"enum": [i / 8 for i in range(n)]},
        lambda n: {"enum": [f"text {i}" for i in range(n)]},
        lambda n: {"enum": [{"a": i, "b": [f"x{i}"]} for i in range(n)]},
        lambda n: {"anyOf": [{"const": f"text {i}"} for i in range(n)]},
        lambda n: {
            "type": "object",
            "oneOf": [{"properties": {"kind": {"const": f"k{i}"}}, "required": ["kind"]} for i in range(n)],
        },
        lambda n: {"allOf": [{"properties": {f"key{i}": {"type": "string"}}} for i in range(n)]},
    ],
    ids=[
        "objects", "required", "closed", "nested", "integers", "typed integers", "decimals", "texts", "values",
        "anyOf", "oneOf", "allOf",
    ],
)  # fmt: skip
def test_work_is_linear(make: Callable[[int], Any]) -> None:
    assert exponent(make, 100, 800) < 1.1


def test_nodes_are_linear() -> None:
    sizes = [len(frontend.parse(json.dumps(objects(size)), {}).module) for size in (10, 100, 1000)]
    assert sizes[2] - sizes[1] == 10 * (sizes[1] - sizes[0])


def calls_of(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[tuple[Any, ...]]:
    """The arguments of every call of a method from now on; it works as before."""
    calls: list[tuple[Any, ...]] = []
    method = getattr(owner, name)

    def counted(self: Any, *args: Any) -> Any:
        calls.append(args)
        return method(self, *args)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_a_type_alone_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = calls_of(monkeypatch, Lowering, "_build")
    schemas = [{"type": "string", "title": "x"}, {"type": ["null", "integer"]}, {"description": "anything"}]
    frontend.parse(json.dumps({"properties": {f"k{i}": schemas[i % 3] for i in range(30)}}), {})
    assert len(built) == 1 + 2  # the object, two types; what is unconstrained needs none


def test_large_divisors_are_made_in_bulk() -> None:
    schema = {"type": "integer", "multipleOf": 65_521}
    assert calls(schema) < 3_000  # not one per remainder
    module = frontend.parse(json.dumps(schema), {}).module
    assert len(module.args) < 31 * 65_521


def test_a_divisor_beyond_the_limit_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="remainders"):
        frontend.parse('{"type": "number", "multipleOf": 0.65521}', {})
    assert calls({"type": "integer", "multipleOf": 0.65521}) < 3_000


@pytest.mark.parametrize("modulus", [257, 321, 1001])
@pytest.mark.parametrize(("fraction", "wanted"), [(False, True), (True, True), (True, False)])
def test_bulk_machines_are_the_general_ones(
    modulus: int, fraction: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bulk = digits.remainder_machine(digits.Remainder(modulus, wanted), fraction, 10**6)
    monkeypatch.setattr(digits, "MANY_REMAINDERS", 10**9)
    general = digits.remainder_machine(digits.Remainder(modulus, wanted), fraction, 10**6)
    assert bulk is not None
    assert general is not None
    assert (general.states, len(general.edges)) == (bulk.states, len(bulk.edges))
    of_bulk, of_general = ways(bulk), ways(general)
    rng = random.Random(modulus)
    for _ in range(2000):
        text = str(modulus * rng.randrange(9999) + rng.randrange(2)) + rng.choice(["", ".0", ".", ".00", ".10", ".05"])
        text = text if rng.random() < 0.7 else "".join(rng.choice("0123.") for _ in range(rng.randrange(6)))
        assert accepts(general, of_general, text) == accepts(bulk, of_bulk, text), text


def ways(machine: digits.Machine) -> dict[tuple[int, int], int]:
    """Targets by source and byte; there is never more than one."""
    made: dict[tuple[int, int], int] = {}
    for source, label, target in zip(machine.edges[0::3], machine.edges[1::3], machine.edges[2::3], strict=True):
        for byte in machine.labels[label]:
            assert (source, byte) not in made
            made[source, byte] = target
    return made


def accepts(machine: digits.Machine, moves: dict[tuple[int, int], int], text: str) -> bool:
    state: int | None = machine.start
    for byte in text.encode():
        if state is not None:
            state = moves.get((state, byte))
    return state in machine.accepting


def test_witnesses_are_shared_among_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = calls_of(monkeypatch, ObjectLowering, "_free")
    sizes = []
    for most in (3, 8):
        asked.clear()
        schema = objects(10) | {"not": {"patternProperties": {"^a": False}}, "maxProperties": most}
        frontend.parse(json.dumps(schema), {})
        sizes.append(len(asked))
    assert sizes[0] == sizes[1]


def test_references_are_followed_once() -> None:
    def schema(size: int) -> Any:
        return {
            "definitions": {"deep": {"a": {"b": {"c": {"type": "object", "properties": {"x": {"type": "null"}}}}}}},
            "properties": {f"k{i}": {"$ref": "#/definitions/deep/a/b/c"} for i in range(size)},
        }

    one = calls(schema(200)) - calls(schema(100))
    plain = calls(objects(200)) - calls(objects(100))
    assert one < plain, "a reference costs less than a small schema in its place"


PATTERNS = ["^ab", "b$", "^[xy]*$", "", "^(cat|dog)?$", "^x{3}$", ".", "\\d", "é$", '^"', "^a|z$", "^(?:a*b)*$"]


def test_borders_say_no_only_where_nothing_fits() -> None:
    texts = ["", "a", "b", "ab", "xb", "x", "y", "xxx", "cat", "dogs", "7", "né", '\\"', "zz", "é"]
    for pattern in PATTERNS:
        fragment = fragment_of("pattern", pattern, False)
        firsts, lasts, may_be_empty = fragment.borders
        for text in texts:
            spelled = text.encode()
            if len(spelled) in fragment._ends(fragment.root, 0, spelled, {}):
                assert fragment.matches(spelled)
                assert firsts >> spelled[0] & lasts >> spelled[-1] & 1 if spelled else may_be_empty


def test_plainly_disjoint_patterns_need_no_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = calls_of(monkeypatch, Texts, "_compute_empty")
    texts = Texts(Settings())
    for left, right, empty in (
        ("^a", "^b", True), ("a$", "b$", True), ("^.{4}$", "^.{0,3}$", True), ("^(?:ab)?$", "^(?:cd)?$", False),
    ):  # fmt: skip
        tests = tuple(("pattern", text, True) for text in (left, right))
        assert empty == texts.is_empty_string(Str(tests=tests))
    assert len(asked) == 1  # of the pair that shares the empty text


def test_alternatives_of_different_types_are_told_apart_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(Meaning, "subtract", lambda self, *args: asked.append(args))
    schema = {"oneOf": [{"type": "null"}, {"type": "string", "maxLength": 3}, {"const": 5}, {"type": "object"}]}
    frontend.parse(json.dumps(schema), {})
    assert asked == []


def test_equal_leaves_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = calls_of(monkeypatch, Lowering, "_build")
    kinds = [
        {"type": "integer", "minimum": 1},
        {"enum": ["a", "b"]},
        {"type": "array", "items": {"$ref": "#/definitions/x"}},
        {"oneOf": [{"type": "null"}, {"$ref": "#/definitions/x"}]},
    ]
    properties = {f"k{i}": kinds[i % 4] | {"description": str(i)} for i in range(40)}
    definitions = {"x": {"type": "object", "properties": {"y": {"type": "null"}}}}
    frontend.parse(json.dumps({"type": "object", "properties": properties, "definitions": definitions}), {})
    assert len(built) == 1 + 4 + 2  # the object, four kinds, the definition and what is in it


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('{"const": 1}', '{"const": true}'),
        ('{"const": 1}', '{"const": 1.0}'),
        ('{"enum": ["1"]}', '{"enum": [1]}'),
        ('{"exclusiveMinimum": false, "minimum": 0}', '{"exclusiveMinimum": 0, "minimum": 0}'),
        ('{"items": {"type": "string"}}', '{"items": {"$ref": "#/definitions/string"}}'),
        ('{"enum": ["a", "b"]}', '{"enum": ["b", "a", "c"]}'),
        ('{"oneOf": [{"type": "null"}]}', '{"not": {"type": "null"}}'),
    ],
)
def test_what_differs_is_kept_apart(left: str, right: str) -> None:
    text = '{"type": "object", "properties": {"l": %s, "r": %s}, "definitions": {"string": {"maxLength": 2}}}'
    mixed, same = (frontend.parse(text % pair, {}).module for pair in ((left, right), (left, left)))
    swapped = frontend.parse(text % (right, right), {}).module
    assert len({mixed.digest, same.digest, swapped.digest}) == 3


def test_equal_references_of_different_documents_are_kept_apart() -> None:
    def part(name: str, kind: str) -> Any:
        inner = {"properties": {"x": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}
        return {"$id": f"http://x.example/{name}", "$defs": {"a": {"type": kind}}, "type": "object"} | inner

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "array"}
    both = schema | {"prefixItems": [part("a", "string"), part("b", "null")]}
    once = schema | {"prefixItems": [part("a", "string"), part("b", "string")]}
    assert frontend.parse(json.dumps(both), {}).module.digest != frontend.parse(json.dumps(once), {}).module.digest


def test_each_place_of_equal_refusals_is_reported() -> None:
    bad = {"type": "string", "pattern": "(?=x)"}
    schema = {"type": "object", "properties": {"a": bad, "b": bad}}
    with pytest.warns(UserWarning, match="not enforced"):
        parsed = frontend.parse(json.dumps(schema), {"lenient": True})
    assert [line.split(":")[0] for line in parsed.left_out] == ["#/properties/a/pattern", "#/properties/b/pattern"]


@pytest.mark.parametrize("any_escape", [False, True])
@pytest.mark.parametrize("pattern", [*PATTERNS, "^(?:[a-f]{2,5}-)+$", "^a?b?$"])
def test_a_replayed_pattern_is_the_compiled_one(pattern: str, any_escape: bool) -> None:
    speller = Speller(Builder(), any_escape)
    builder = speller.builder
    node = compile_regex(
        pattern, builder, dialect=Dialect.ECMA, search=True, chars=speller.chars, text=speller.text
    )  # fmt: skip
    before = len(builder.build(builder.empty()))
    assert node == fragment_of("pattern", pattern, any_escape).replay(builder)[-1]
    assert before == len(builder.build(builder.empty())), "nothing new"


def test_remainders_that_no_digits_complete_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = calls_of(monkeypatch, digits.Remainder, "part_digits")
    machine = digits.remainder_machine(digits.Remainder(Fraction(6553, 1000), True), True, 10**6)
    assert machine is not None
    assert len(asked) <= 1000 + 100 + 10 + 1  # not 4 * 6,553
    moves = ways(machine)
    for i in range(400):
        value = Fraction(6553, 1000) * i
        text = f"{value.numerator * 1000 // value.denominator:04d}"
        assert accepts(machine, moves, f"{int(text[:-3])}.{text[-3:]}0")
        assert not accepts(machine, moves, f"{int(text[:-3])}.{text[-3:]}1")
