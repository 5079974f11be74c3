"""Fixtures: what a grammar does with texts, on every installed engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import pytest

SHARED = Path(__file__).resolve().parents[3].parent / "shared"
EXACT = 300
"""The id of an exact-only token of the vocabulary; in a text it is the event of committing it."""

Events = Union[str, bytes, Sequence[Union[str, bytes, int]]]


def _engines() -> list[str]:
    from glrmask_core.plugins import manager

    return sorted(manager().engines())


@pytest.fixture(params=_engines())
def engine(request: pytest.FixtureRequest) -> str:
    """The name of one installed engine."""
    return str(request.param)


@pytest.fixture
def large(engine: str) -> None:
    """For a test of large grammars or texts."""
    if engine == "oracle":
        pytest.skip("the oracle is for small grammars and texts")


@pytest.fixture(scope="session")
def vocab() -> Any:
    """One token per byte, id = byte, and two exact-only ones."""
    import glrmask

    entries = {byte: bytes([byte]) for byte in range(256)}
    return glrmask.Vocab.from_id_to_bytes({**entries, EXACT: b"", EXACT + 1: b""})


@pytest.fixture
def compiled(engine: str, vocab: Any) -> Callable[..., Any]:
    """``compiled(text, slot=id or text, ...)``: a constraint; slots are bound to exact tokens or GLRM grammars."""
    import glrmask

    def compiling(text: str, slots: Mapping[str, int | str] | None = None) -> Any:
        grammar = glrmask.Grammar.from_glrm(text)
        for name, value in (slots or {}).items():
            bound = vocab.token(value) if isinstance(value, int) else glrmask.Grammar.from_glrm(value)
            grammar = grammar.bind(name, bound)
        return grammar.compile(vocab, engine=engine)

    return compiling


@pytest.fixture(scope="session")
def read() -> Callable[[Any, Events], str]:
    """``read(constraint, events)`` says ``accept``, ``prefix`` or ``reject``; numbers are exact tokens."""
    import glrmask

    def reading(constraint: Any, events: Events) -> str:
        state = constraint.start()
        for event in [events] if isinstance(events, (str, bytes)) else events:
            data = event.encode() if isinstance(event, str) else event
            try:
                if isinstance(data, int):
                    state.commit_token(data)
                elif data:
                    state.commit_bytes(data)
            except glrmask.StateRejectedError:
                return "reject"
        return "accept" if state.is_accepting() else "prefix"

    return reading


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Any]:
    """The front-end alone."""
    from glrmask_frontend_glrm.plugin import GlrmFrontend

    frontend = GlrmFrontend()
    return lambda text: frontend.parse(frontend.prepare(text, {}), {})


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory ``shared`` beside the checkout; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip('no directory "shared" beside the checkout')
    return SHARED
