"""Every exception that glrmask raises on purpose.

One tree under :class:`GlrmaskError`. Each class also derives from the built-in exception that callers of
comparable libraries catch, so ``except ValueError`` works without importing anything from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .source import Diagnostic


class GlrmaskError(Exception):
    """Root of the tree."""


class GrammarError(GlrmaskError, ValueError):
    """A grammar means something that cannot be compiled (undefined name, unsupported keyword, ...).

    Attributes:
        diagnostics: what was found, in source order; the first one is the message.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)


class GrammarSyntaxError(GrammarError):
    """A grammar text that its front-end cannot read."""


class BindError(GlrmaskError, ValueError):
    """A slot that does not exist, is bound already, is still open, or does not fit the value."""


class CompileError(GlrmaskError, ValueError):
    """A well-formed grammar that cannot be compiled against this vocabulary with these options."""


class LimitExceededError(CompileError):
    """A limit of :class:`glrmask.Limits` was reached.

    Attributes:
        limit: the field of ``Limits``.
    """

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit


class CompletionLengthError(LimitExceededError):
    """The shortest completion is longer than what was asked for.

    Attributes:
        least: bytes that it has at least.
    """

    def __init__(self, least: int, most: int) -> None:
        super().__init__(f"the shortest completion has at least {least} bytes, more than {most}", "completion_bytes")
        self.least = least


class ArtifactError(GlrmaskError, ValueError):
    """Saved bytes that are corrupt, of another kind or version, or for another vocabulary."""


class StateError(GlrmaskError, ValueError):
    """A call that does not fit the state: terminated, unknown token id, history too short."""


class StateRejectedError(StateError):
    """The output cannot be continued: an earlier or this commit left no live reading."""


class MaskShapeError(GlrmaskError, ValueError):
    """A mask buffer that is too short, not contiguous, misaligned or read-only."""


class PluginError(GlrmaskError, ValueError):
    """A front-end or engine that is missing, failed to load, or declares an unsupported API version."""


class UnknownFormatError(PluginError):
    """No installed front-end reads this format."""


class ArgumentTypeError(GlrmaskError, TypeError):
    """An argument of the wrong Python type."""


class TokenBytesError(ArgumentTypeError, ValueError):
    """A token whose bytes are not ``bytes``; a ``ValueError`` as well, as in comparable libraries."""


class ConcurrentUseError(GlrmaskError, RuntimeError):
    """Two threads used one ``ConstraintState`` at the same time."""


class InternalError(GlrmaskError, RuntimeError):
    """A broken invariant: our bug, please report it."""


class VocabError(GlrmaskError, ValueError):
    """A vocabulary that contradicts itself, a token id it does not know, or a tokenizer that cannot be read exactly."""


class IdRangeError(GlrmaskError, OverflowError):
    """An integer outside 0..2^32-1 where a token id, a size or a count is needed."""
