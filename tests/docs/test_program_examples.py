"""The parser programs in ``examples/`` agree with the recognisers beside them, which notice mistakes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import glrmask

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("program_dyck", "program_stack_machine")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def an_engine_for_programs() -> None:
    if importlib.util.find_spec("glrmask_engine_native") is None:
        pytest.skip("glrmask-engine-native is not installed here")


@pytest.mark.parametrize("name", NAMES)
def test_example_runs(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", [name, "60"])
    assert load(name).main() == 0
    assert "60" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "value"),
    {
        "3 dup *": 9,
        '"ab" "c" cat len': 3,
        '1 "a" swap drop 2': None,
        '"a" dup =': 1,
        '1 "a" =': None,
        "1234": None,
        "1 2": None,
        "": None,
        "dup": None,
        "12dropdrop": None,
        "7": 7,
    }.items(),
)
def test_stack_machine_by_hand(text: str, value: int | None) -> None:
    module = load("program_stack_machine")
    program, patterns = module.stack_machine()
    vocab = glrmask.Vocab.from_id_to_bytes({b: bytes([b]) for b in range(128)})
    constraint = program.compile(vocab, patterns, ignore_terminal=len(patterns) - 1)
    assert module.run(text) == value
    assert module.accepts(constraint, text) == (value is not None)


@pytest.mark.parametrize("name", NAMES)
def test_examples_notice_disagreement(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = load(name)
    wrong = {
        "program_dyck": ("is_balanced", lambda text: "()" not in text),
        "program_stack_machine": ("run", lambda text: 1),
    }
    monkeypatch.setattr(module, *wrong[name])
    monkeypatch.setattr(sys, "argv", [name, "60"])
    assert module.main() == 1
    assert capsys.readouterr().err
