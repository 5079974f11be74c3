"""Short forms for tests: compile a schema, ask about texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glrmask_frontend_jsonschema.plugin import JsonSchemaFrontend
from recogniser import Recogniser

from glrmask_core.protocols import Parsed

FRONTEND = JsonSchemaFrontend()
SHARED = Path(__file__).resolve().parents[4] / "shared"


def parse(schema: Any, **options: Any) -> Parsed:
    return FRONTEND.parse(schema if isinstance(schema, str) else json.dumps(schema), options)


def grammar(schema: Any, **options: Any) -> Recogniser:
    return Recogniser(parse(schema, **options).module)


def split(schema: Any, texts: list[str], **options: Any) -> list[str]:
    """Those of the texts that are accepted."""
    found = grammar(schema, **options)
    return [text for text in texts if found.accepts(text)]


def check(schema: Any, accept: list[str], reject: list[str], **options: Any) -> None:
    assert accept == split(schema, accept + reject, **options)
