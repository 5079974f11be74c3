"""The entry point of the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..hookspecs import hookimpl

if TYPE_CHECKING:
    from ..protocols import Engine


@hookimpl
def glrmask_register_engines() -> list[Engine]:
    """The oracle engine."""
    from .oracle import OracleEngine

    return [OracleEngine()]
