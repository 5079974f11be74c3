"""The hooks of the entry-point group ``glrmask``.

A plug-in module marks functions with :data:`hookimpl` and lists itself under the entry-point group
``glrmask``. Both hooks only *register*: they are called when plug-ins are first looked up, must be cheap
and must not import a parser or compile anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from .protocols import Engine, Frontend

PROJECT = "glrmask"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def glrmask_register_frontends() -> list[Frontend]:  # type: ignore[empty-body]
    """Front-ends this plug-in provides. Called once, when a format is first looked up."""


@hookspec
def glrmask_register_engines() -> list[Engine]:  # type: ignore[empty-body]
    """Engines this plug-in provides. Called once, when an engine is first looked up."""
