"""What holds for any front-end."""

from __future__ import annotations

from glrmask_core.testing.conformance import FrontendSuite, Sample

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


class TestConformance(FrontendSuite):
    format = "jsonschema"
    samples = (
        Sample(
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            accept=('{"a":1}', '{ "a": -20 }'),
            reject=("{}", '{"a":"x"}', '{"a":1,"b":2}', "[]"),
        ),
        Sample({"enum": ["x", None, [1]]}, accept=('"x"', "null", "[1]"), reject=("1", '"y"')),
    )
    errors = ({"type": "number", "minimum": "x"}, {"type": "strin"}, {"$ref": "#/nowhere"}, {"pattern": "(?=a)"})
    wrong_types = (b"bytes", {1, 2})
