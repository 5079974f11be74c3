"""Registers the oracle. Importing this module compiles and loads nothing."""

from __future__ import annotations

from ..hookspecs import hookimpl
from ..protocols import Engine


@hookimpl
def glrmask_register_engines() -> list[Engine]:
    """The oracle, imported when engines are first looked up; used when it is named or alone."""
    from .oracle import OracleEngine

    return [OracleEngine()]
