"""The programs in ``examples/`` run, and the schemas there are as rich as they claim."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCHEMAS = sorted((EXAMPLES / "schemas").glob("*.json"))


@pytest.fixture(autouse=True)
def jsonschema_installed() -> None:
    try:
        importlib.metadata.distribution("glrmask-frontend-jsonschema")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("glrmask-frontend-jsonschema is not installed here")


def keywords(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        return set(schema).union(*map(keywords, schema.values()))
    return set().union(*map(keywords, schema)) if isinstance(schema, list) else set()


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda p: p.stem)
def test_schema_is_valid_and_has_title(path: Path) -> None:
    from jsonschema import Draft202012Validator

    schema = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["title"]


def test_schema_of_the_readme_is_not_trivial() -> None:
    schema = json.loads((EXAMPLES / "schemas" / "person.schema.json").read_text(encoding="utf-8"))
    wanted = {"$ref", "enum", "const", "anyOf", "pattern", "format", "minimum", "maxLength", "items", "minItems"}
    assert wanted <= keywords(schema)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda p: p.stem)
def test_quickstart(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from jsonschema import validate

    monkeypatch.setattr(sys, "argv", ["quickstart.py", str(path)])
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(str(EXAMPLES / "quickstart.py"), run_name="__main__")
    assert stop.value.code == 0
    validate(json.loads(capsys.readouterr().out), json.loads(path.read_text(encoding="utf-8")))
