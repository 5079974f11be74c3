"""The one place where results of the C engine become exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from glrmask_core.errors import (
    ArtifactError,
    CompileError,
    ConcurrentUseError,
    GrammarError,
    InternalError,
    LimitExceededError,
)
from glrmask_core.source import Diagnostic, Place

from ._native import ffi

if TYPE_CHECKING:
    from glrmask_core.ir import Module

NOMEM, LIMIT, ARG, FORMAT, VERSION, INTERNAL = 1, 2, 3, 5, 6, 7


def new_error() -> Any:
    """A fresh ``GmError``."""
    return ffi.new("GmError *")


def text_of(err: Any) -> str:
    """The message of a failed call."""
    return ffi.string(err.text).decode("utf-8", "replace")  # type: ignore[no-any-return]


def _place_of(module: Module | None, node: int) -> tuple[Place | None, str]:
    """Where a node came from, and the rule around it as words."""
    if module is None or node < 0:
        return None, ""
    place = module.places.get(node)
    for number in range(len(module.rules) // 2):
        if module.rules[2 * number + 1] == node:
            name = module.names[module.rules[2 * number]]
            return place or module.rule_places.get(number), f' (rule "{name}")'
    return place, ""


def raise_for(err: Any, module: Module | None = None) -> NoReturn:
    """Raise what a failed call of the C engine means."""
    code, message = int(err.status), text_of(err)
    place, rule = _place_of(module, int(err.detail))
    message += rule
    if place is not None:
        message += f" at {place}"
    if code == NOMEM:
        raise MemoryError(message)
    if code == LIMIT:
        raise LimitExceededError(message, ffi.string(err.limit).decode())
    if code == ARG:
        raise GrammarError(message, [Diagnostic(message, place)])
    if code in (FORMAT, VERSION):
        raise ArtifactError(message)
    if code == INTERNAL:
        raise InternalError(f"{message}; this is a bug in glrmask-engine-native, please report it with the grammar")
    raise CompileError(message)


def state_error(err: Any, prefix: str = "") -> Exception:
    """What a failed call on a state means: another thread, a limit, or no memory."""
    codes: dict[int, Callable[[str], Exception]] = {
        ARG: ConcurrentUseError,
        LIMIT: lambda text: LimitExceededError(text, ffi.string(err.limit).decode()),
        NOMEM: MemoryError,
    }
    return codes.get(int(err.status), InternalError)(prefix + text_of(err))


def raise_in_state(err: Any) -> NoReturn:
    """Raise what a failed call on a state means."""
    raise state_error(err)
