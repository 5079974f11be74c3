"""lark and we accept and refuse the same texts (a short run; ``agreement.py`` has the long one)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "grammars").glob("*.lark"))
FEW = 8  # texts, the shortest, for the engine that is slow by design


@pytest.fixture(scope="session")
def agreement() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glrmask_lark_agreement", HERE / "agreement.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_thirty_grammars() -> None:
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_agreement(name: str, engine: str, agreement: ModuleType) -> None:
    """At every optimisation level that the engine has; masks included where they are cheap."""
    from glrmask_core.plugins import manager

    slow = engine == "oracle"
    grammar = (HERE / "grammars" / f"{name}.lark").read_text(encoding="utf-8")
    sampler = agreement.Sampler(grammar, seed=20)
    texts = sorted(sampler.texts(12), key=len)[: FEW if slow else None]
    expected = [(text, sampler.accepts(text)) for text in texts]
    levels = sorted(level.value for level in manager().engines()[engine].capabilities.optimizations)
    for level in levels[:1] if slow else levels:
        accepts = agreement.acceptor(grammar, engine, level, masks=not slow)
        assert [(text, accepts(text)) for text in texts] == expected, level
