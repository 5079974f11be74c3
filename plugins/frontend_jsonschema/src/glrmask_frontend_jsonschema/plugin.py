"""The front-end: JSON Schema text to an IR module."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

from glrmask_core.errors import ArgumentTypeError, GrammarError, GrammarSyntaxError
from glrmask_core.hookspecs import hookimpl
from glrmask_core.ir import Module
from glrmask_core.protocols import API_VERSION, Frontend, Parsed
from glrmask_core.source import Diagnostic

from .lower import Lowering
from .meaning import Meaning
from .reading import read_json
from .refuse import Refusal, fault, shown
from .resolve import NeedsScopes, Resolver
from .settings import Settings, read_settings, resource_text

MOST_LEFT_OUT = 10_000
DRAFTS = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")


class JsonSchemaFrontend:
    """JSON Schema, drafts 4 to 2020-12: enforced exactly, or refused."""

    name = "json_schema"
    api_version = API_VERSION

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        """JSON text of the schema: a ``str`` is that text, anything else goes through ``json.dumps``."""
        settings = read_settings(options)
        for uri, schema in settings.resources.items():
            resource_text(uri, schema)
        if isinstance(source, str):
            return source
        try:
            return json.dumps(source)
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"expected JSON text or a JSON-serializable schema: {error}") from None
        except RecursionError:
            raise GrammarSyntaxError("the schema nests too deeply; expected at most about 900 levels") from None

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        """Lower a schema.

        Raises:
            GrammarSyntaxError: not JSON.
            GrammarError: a malformed or unsatisfiable schema, or a keyword that cannot be enforced exactly.
        """
        settings = read_settings(options)
        schema = read_json(text)
        scoped = False  # until a dynamic reference turns up
        left_out: list[Refusal] = []
        dropped: set[tuple[int, str]] = set()
        while True:
            try:
                module = _compile(schema, settings, scoped, dropped)
                break
            except NeedsScopes:
                scoped = True
            except Refusal as refusal:
                key = (id(refusal.schema), refusal.keyword)
                if not settings.lenient or key in dropped or len(left_out) >= MOST_LEFT_OUT:
                    raise
                dropped.add(key)
                left_out.append(refusal)
            except RecursionError:
                raise GrammarError("the schema is nested too deeply: simplify its combinators") from None
        lines = tuple(f"{shown(refusal.where)}: {refusal.keyword}: {refusal.reason}" for refusal in left_out)
        if lines:
            warnings.warn(f"the schema is not enforced completely; left out: {'; '.join(lines)}", stacklevel=2)
        return Parsed(module, tuple(Diagnostic(str(r), r.where, "warning") for r in left_out), lines)


def _compile(schema: Any, settings: Settings, scoped: bool, dropped: set[tuple[int, str]]) -> Module:
    if not isinstance(schema, (dict, bool)):
        raise fault("", "a schema (an object or a boolean)", schema)
    if isinstance(schema, dict) and "$schema" in schema and (id(schema), "$schema") not in dropped:
        _check_dialect(schema, settings)
    resolver = Resolver(schema, settings, scoped)
    meaning = Meaning(resolver, settings, dropped)
    lowering = Lowering(meaning, settings)
    try:
        return lowering.module(meaning.atom(schema, None, resolver.start))
    finally:
        lowering.close()


def _check_dialect(schema: dict[str, Any], settings: Settings) -> None:
    dialect = schema["$schema"]
    if not isinstance(dialect, str):
        raise fault("/$schema", "the URI of a draft (a string)", dialect)
    if "json-schema.org/" in dialect:
        if any(draft in dialect for draft in DRAFTS) or dialect.rstrip("#").endswith("json-schema.org/schema"):
            return
    elif dialect in settings.resources or dialect.rstrip("#") in settings.resources:
        return
    hint = f"Use one of the drafts {', '.join(DRAFTS)}, or remove it."
    raise Refusal(schema, "/$schema", "$schema", f"the dialect {dialect!r} is not known", hint)


@hookimpl
def glrmask_register_frontends() -> list[Frontend]:
    """The front-end of this package."""
    return [JsonSchemaFrontend()]
