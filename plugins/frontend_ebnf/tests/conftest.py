"""Fixtures: what a grammar does with texts, on every installed engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


@pytest.fixture(scope="session")
def vocab() -> Any:
    """One token per byte, id = byte, and two exact-only ones."""
    import glrmask

    entries = {byte: bytes([byte]) for byte in range(256)}
    return glrmask.Vocab.from_id_to_bytes({**entries, EXACT: b"", EXACT + 1: b""})


@pytest.fixture
def compiled(engine: str, vocab: Any) -> Callable[[str], Any]:
    """Compile a grammar text once, for several texts."""
    import glrmask

    return lambda text: glrmask.Grammar.from_ebnf(text).compile(vocab, engine=engine)


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
    from glrmask_frontend_ebnf.plugin import EbnfFrontend

    frontend = EbnfFrontend()
    return lambda text: frontend.parse(frontend.prepare(text, {}), {})


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory ``shared`` beside the checkout; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip('no directory "shared" beside the checkout')
    return SHARED
