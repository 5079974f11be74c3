"""Registers the engine. Importing this module compiles and loads nothing."""

from __future__ import annotations

from glrmask_core.hookspecs import hookimpl
from glrmask_core.protocols import Engine


@hookimpl
def glrmask_register_engines() -> list[Engine]:
    """The native engine, imported when engines are first looked up."""
    from .engine import NativeEngine

    return [NativeEngine()]
