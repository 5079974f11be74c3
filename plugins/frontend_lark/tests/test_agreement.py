"""lark and we accept and refuse the same texts (a short run; ``agreement.py`` has the long one)."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "grammars").glob("*.lark"))
LONGEST = 60  # bytes, on engines that are slow by design


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
    grammar = (HERE / "grammars" / f"{name}.lark").read_text(encoding="utf-8")
    sampler, accepts = agreement.Sampler(grammar, seed=20), agreement.acceptor(grammar, engine)
    slow = engine == "oracle"
    verdicts = []
    for text in sampler.texts(4 if slow else 25):
        if slow and len(text) > LONGEST:
            continue
        expected = sampler.accepts(text)
        verdicts.append(expected)
        assert (text, accepts(text)) == (text, expected)
    assert verdicts
