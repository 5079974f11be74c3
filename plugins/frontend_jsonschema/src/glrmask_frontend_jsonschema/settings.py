"""The options of ``Grammar.from_json_schema``, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from glrmask_core.errors import ArgumentTypeError, GrammarError
from glrmask_core.protocols import option_names

OPTIONS = ("whitespace", "escapes", "property_order", "lenient", "resources", "unknown_formats", "max_nodes")
WHITESPACE = ("flexible", "free", "dumps", "compact")
LONGEST_BLANK = 64  # bytes of one white-space run in "flexible"; json_schema.md section 2
MAX_NODES = 100_000


@dataclass(frozen=True)
class Settings:
    """Options with defaults.

    Attributes:
        whitespace: one of :data:`WHITESPACE`, or the longest run of blanks in bytes.
        escapes: ``"canonical"`` or ``"any"``.
        property_order: ``"schema"`` or ``"any"``.
        lenient: drop and report what cannot be enforced instead of raising.
        resources: URI to schema, for references that leave the document.
        unknown_formats: ``"error"`` or ``"ignore"``.
        max_nodes: most schema objects that one compile may visit.
    """

    whitespace: str | int = "flexible"
    escapes: str = "canonical"
    property_order: str = "schema"
    lenient: bool = False
    resources: Mapping[str, Any] = field(default_factory=dict)
    unknown_formats: str = "error"
    max_nodes: int = MAX_NODES


_CHOICES = {
    "escapes": ("canonical", "any"),
    "property_order": ("schema", "any"),
    "unknown_formats": ("error", "ignore"),
}
_DEFAULT = Settings()


def read_settings(options: Mapping[str, Any]) -> Settings:
    """Check names, types and values.

    Raises:
        ArgumentTypeError: an unknown option, or a value of the wrong type.
        GrammarError: a value of the right type that is none of the choices.
    """
    if not options:
        return _DEFAULT
    option_names(options, OPTIONS, "from_json_schema")
    blank = options.get("whitespace", "flexible")
    if isinstance(blank, bool) or not isinstance(blank, (str, int)):
        raise ArgumentTypeError(f"whitespace: expected a str or an int, found {type(blank).__name__}")
    if isinstance(blank, str) and blank not in WHITESPACE:
        raise GrammarError(f"whitespace: expected one of {', '.join(WHITESPACE)} or a number of bytes, found {blank!r}")
    if isinstance(blank, int) and not 0 <= blank <= 1_000_000:
        raise GrammarError(f"whitespace: expected 0 to 1000000 bytes, found {blank}")
    for name, choices in _CHOICES.items():
        value = options.get(name, choices[0])
        if not isinstance(value, str):
            raise ArgumentTypeError(f"{name}: expected a str, found {type(value).__name__}")
        if value not in choices:
            raise GrammarError(f"{name}: expected {' or '.join(map(repr, choices))}, found {value!r}")
    if not isinstance(options.get("lenient", False), bool):
        raise ArgumentTypeError(f"lenient: expected a bool, found {type(options['lenient']).__name__}")
    limit = options.get("max_nodes", MAX_NODES)
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise ArgumentTypeError(f"max_nodes: expected an int, found {type(limit).__name__}")
    resources = options.get("resources")
    if resources is not None and not isinstance(resources, Mapping):
        raise ArgumentTypeError(f"resources: expected a mapping of URI to schema, found {type(resources).__name__}")
    known = {name: options[name] for name in OPTIONS if name in options and options[name] is not None}
    return Settings(**known)


def resource_text(uri: object, schema: Any) -> str:
    """A resource as JSON text (a ``str`` is JSON text already)."""
    if not isinstance(uri, str):
        raise ArgumentTypeError(f"resources: expected str keys, found {type(uri).__name__}")
    if isinstance(schema, str):
        return schema
    try:
        return json.dumps(schema)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"resources: {uri!r} is not JSON: {error}") from None
    except RecursionError:
        raise GrammarError(f"resources: {uri!r} nests too deeply; expected at most about 900 levels") from None
