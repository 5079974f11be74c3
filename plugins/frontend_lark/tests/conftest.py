"""Fixtures: what a grammar does with a text, on every installed engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3].parent / "shared"


def _engines() -> list[str]:
    from glrmask_core.plugins import manager

    return sorted(manager().engines())


@pytest.fixture(params=_engines())
def engine(request: pytest.FixtureRequest) -> str:
    """The name of one installed engine."""
    return str(request.param)


@pytest.fixture(scope="session")
def bytes_vocab() -> Any:
    """One token per byte, id = byte."""
    import glrmask

    return glrmask.Vocab.from_dict({bytes([byte]): byte for byte in range(256)})


Reader = Callable[..., str]


@pytest.fixture
def read(engine: str, bytes_vocab: Any) -> Reader:
    """``read(constraint or grammar text, text)`` says ``accept``, ``prefix`` or ``reject``."""
    import glrmask

    def reading(grammar: Any, text: str | bytes, bindings: dict[str, int] | None = None) -> str:
        constraint = grammar
        if isinstance(grammar, str):
            source = glrmask.Grammar.from_lark(grammar)
            for name, token in (bindings or {}).items():
                source = source.bind(name, bytes_vocab.token(token))
            constraint = source.compile(bytes_vocab, engine=engine)
        state = constraint.start()
        data = text.encode() if isinstance(text, str) else text
        try:
            if data:
                state.commit_bytes(data)
        except glrmask.StateRejectedError:
            return "reject"
        return "accept" if state.is_accepting() else "prefix"

    return reading


@pytest.fixture
def compiled(engine: str, bytes_vocab: Any) -> Callable[[str], Any]:
    """Compile a grammar text once, for several texts."""
    import glrmask

    def compiling(grammar: str) -> Any:
        return glrmask.Grammar.from_lark(grammar).compile(bytes_vocab, engine=engine)

    return compiling


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Any]:
    """The front-end alone."""
    from glrmask_frontend_lark.plugin import LarkFrontend

    frontend = LarkFrontend()
    return lambda text: frontend.parse(frontend.prepare(text, {}), {})


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory ``shared`` beside the checkout; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip('no directory "shared" beside the checkout')
    return SHARED
