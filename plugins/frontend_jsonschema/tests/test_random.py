"""Random schemas and values against ``jsonschema``, in both directions.

``jsonschema`` is the judge. Its gaps, kept out of these schemas and tested elsewhere: ``multipleOf`` with binary
floats (ours is decimal), patterns by Python's ``re`` (``$`` before a final line feed, ``.``, ``\\d``), and
formats that it checks only with extras installed.
"""

from __future__ import annotations

import json
import random

import jsonschema
import random_schemas
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judge import parse
from recogniser import Recogniser
from respell import spell

from glrmask_core.errors import GrammarError


@settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), depth=st.integers(0, 3), unevaluated=st.booleans())
def test_same_verdict(seed: int, depth: int, unevaluated: bool) -> None:
    rng = random.Random(seed)
    schema = random_schemas.schema(rng, depth, unevaluated)
    judge = jsonschema.Draft202012Validator(schema)
    try:
        free = Recogniser(parse(schema, property_order="any").module)
        ordered = Recogniser(parse(schema).module)
    except GrammarError as error:
        assert "unsatisfiable" in str(error) or "cannot enforce" in str(error)
        free = ordered = None
        if "cannot enforce" in str(error):
            return
    for _ in range(8):
        value = random_schemas.value(rng)
        valid = judge.is_valid(value)
        accepted = free is not None and free.accepts(spell(value))
        assert valid == accepted, (json.dumps(schema), spell(value))
        some_order = ordered is not None and any(ordered.accepts(spell(v)) for v in random_schemas.orders(value))
        assert valid == some_order, (json.dumps(schema), spell(value))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(text=st.text(max_size=6), low=st.integers(0, 4), high=st.integers(0, 6))
def test_any_text_in_its_spelling(text: str, low: int, high: int) -> None:
    spelled = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    encodable = not any(0xD800 <= ord(c) <= 0xDFFF for c in text)
    schema = {"type": "string", "minLength": low, "maxLength": max(low, high)}
    if encodable:
        assert (low <= len(text) <= max(low, high)) == Recogniser(parse(schema).module).accepts(spelled)
        escaped = Recogniser(parse(schema, escapes="any").module)
        assert (low <= len(text) <= max(low, high)) == escaped.accepts(json.dumps(text))
        assert Recogniser(parse({"const": text}).module).accepts(spelled)
        assert Recogniser(parse({"const": {text: text}}).module).accepts(f"{{{spelled}:{spelled}}}")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(value=st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text("ab\n\"é", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
    max_leaves=8,
), other=st.integers(0, 5))  # fmt: skip
def test_constants(value: object, other: int) -> None:
    found = Recogniser(parse({"const": value}).module)
    assert found.accepts(spell(value))
    assert (value == other and not isinstance(value, bool)) == found.accepts(str(other))
    rest = Recogniser(parse({"not": {"const": value}}).module)
    assert not rest.accepts(spell(value))
