"""``scripts/mutations.py`` follows the C sources: every mutation still applies (``tox -e mutation`` runs them)."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
MUTATIONS: tuple[Any, ...] = runpy.run_path(str(ROOT / "scripts" / "mutations.py"), run_name="mutations")["MUTATIONS"]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_it_applies(mutation: Any) -> None:
    for name, old, new in mutation.edits:
        source = (ROOT / "plugins" / "engine_native" / "csrc" / name).read_text(encoding="utf-8")
        assert 1 == source.count(old), f"{name} changed: write the mutation for the new text, or say why it goes"
        assert new != old


def test_names_differ() -> None:
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 30
