"""Judges texts against schemas with an installed engine; shared by the two scripts beside it."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "plugins" / "frontend_jsonschema" / "tests"))

from glrmask import Constraint, Grammar, Optimization, Vocab  # noqa: E402

BYTES = Vocab.from_dict({bytes([b]): b for b in range(256)})


def rows(path: str | None, name: str) -> Iterator[dict[str, Any]]:
    """The lines of a data file: the given one, or ``../shared/data/NAME`` beside the checkout."""
    found = Path(path) if path else ROOT.parent / "shared" / "data" / name
    if not found.exists():
        raise SystemExit(f"no data at {found}; give its path")
    with gzip.open(found, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def compile_schema(schema: Any, engine: str | None, **options: Any) -> Constraint:
    """The constraint of a schema over single bytes."""
    grammar = Grammar.from_json_schema(json.dumps(schema), **options)
    return grammar.compile(BYTES, optimization=Optimization.FAST_BUILD, engine=engine)
