"""Errors with their place: refusals (lenient mode may drop the keyword) and faults of the schema."""

from __future__ import annotations

from typing import Any

from glrmask_core.errors import GrammarError
from glrmask_core.source import Diagnostic

# Where a schema stands: the parent's place and the last token of the JSON pointer; the root is None.
Where = tuple[Any, str] | None


def pointer(where: Where, *more: str) -> str:
    """The JSON pointer of a place, as a URI fragment without ``#``."""
    parts = list(more[::-1])
    while where is not None:
        where, part = where
        parts.append(part)
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in reversed(parts))


class Refusal(GrammarError):
    """A keyword that is understood but cannot be enforced exactly.

    Attributes:
        schema: the schema object that holds the keyword.
        keyword: its name.
        where: JSON pointer of the keyword.
        reason: why.
    """

    def __init__(self, schema: object, where: str, keyword: str, reason: str, hint: str) -> None:
        message = f"cannot enforce {keyword!r} at #{where}: {reason}. {hint}"
        super().__init__(message, [Diagnostic(f"cannot enforce {keyword!r}: {reason}. {hint}", where)])
        self.schema, self.keyword, self.where, self.reason = schema, keyword, where, reason


def fault(where: str, expected: str, found: object) -> GrammarError:
    """A schema that is wrong in itself: malformed keyword, missing target."""
    text = found if isinstance(found, str) and found[:1] not in '"' else repr(found)
    if len(text) > 120:
        text = text[:117] + "..."
    message = f"schema error at #{where}: expected {expected}, found {text}"
    return GrammarError(message, [Diagnostic(f"expected {expected}, found {text}", where)])
