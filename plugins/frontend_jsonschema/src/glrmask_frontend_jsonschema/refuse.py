"""Errors with their place: refusals (lenient mode may drop the keyword) and faults of the schema."""

from __future__ import annotations

from typing import Any

from glrmask_core.errors import GrammarError
from glrmask_core.source import Diagnostic

# Where a schema stands: the parent's place and the last token of the JSON pointer; the root is None.
Where = tuple[Any, str] | None


class Document(str):
    """The URI of another document, where a place is not in the schema itself."""

    __slots__ = ()


def pointer(where: Where, *more: str) -> str:
    """The JSON pointer of a place; behind ``URI#`` when it is in another document."""
    parts, start = list(more[::-1]), ""
    while where is not None:
        where, part = where
        if isinstance(part, Document):
            start = part + "#"
            break
        parts.append(part)
    return start + "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in reversed(parts))


def shown(place: str) -> str:
    """A place in a message: ``#/...``, or with its document."""
    return place if place and place[0] != "/" else "#" + place


class Refusal(GrammarError):
    """A keyword that is understood but cannot be enforced exactly.

    Attributes:
        schema: the schema object that holds the keyword.
        keyword: its name.
        where: JSON pointer of the keyword.
        reason: why.
    """

    def __init__(self, schema: object, where: str, keyword: str, reason: str, hint: str) -> None:
        message = f"cannot enforce {keyword!r} at {shown(where)}: {reason}. {hint}"
        super().__init__(message, [Diagnostic(f"cannot enforce {keyword!r}: {reason}. {hint}", where)])
        self.schema, self.keyword, self.where, self.reason = schema, keyword, where, reason


def fault(where: str, expected: str, found: object) -> GrammarError:
    """A schema that is wrong in itself: malformed keyword, missing target."""
    try:
        text = found if isinstance(found, str) and found[:1] not in '"' else repr(found)
    except (ValueError, RecursionError):  # digits or levels beyond the interpreter's limits
        text = f"a very large {type(found).__name__}"
    if len(text) > 120:
        text = text[:117] + "..."
    message = f"schema error at {shown(where)}: expected {expected}, found {text}"
    return GrammarError(message, [Diagnostic(f"expected {expected}, found {text}", where)])
