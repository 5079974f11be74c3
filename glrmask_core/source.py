"""Places in grammar text, and diagnostics that show them.

A *place* is either a :class:`Span` (text formats) or a JSON pointer (``str``, JSON Schema). Line and
column are 1-based; columns count code points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Span:
    """A stretch of source text: 1-based line and column of its first character, offsets in code points."""

    line: int
    column: int
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


Place = Union[Span, str]


@dataclass(frozen=True)
class Diagnostic:
    """One finding about a grammar.

    Attributes:
        message: what is wrong, what was expected, what to do next.
        place: where; None for the grammar as a whole.
        severity: ``"error"`` or ``"warning"``.
    """

    message: str
    place: Place | None = None
    severity: str = "error"

    def render(self, text: str = "", name: str = "<grammar>") -> str:
        """The message with its place and, for a span, the source line and a caret under it.

        Example:
            ``<grammar>:1:9: undefined rule "x"`` followed by the line and the caret.
        """
        if self.place is None:
            return f"{name}: {self.message}"
        if not isinstance(self.place, Span):
            return f"{name}#{self.place}: {self.message}"
        return f"{name}:{self.place}: {self.message}\n{caret(text, self.place)}".rstrip("\n")


def span_at(text: str, start: int, end: int | None = None) -> Span:
    """The span of ``text[start:end]`` (one character when ``end`` is None)."""
    start = min(max(start, 0), len(text))
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Span(line, column, start, start + 1 if end is None else max(end, start))


def caret(text: str, span: Span, width: int = 100) -> str:
    """The source line of ``span`` with a caret line under it, cut to ``width`` columns; "" without text."""
    lines = text.split("\n")
    if not 1 <= span.line <= len(lines):
        return ""
    line, at = lines[span.line - 1].rstrip("\r"), span.column - 1
    first = max(0, at - width // 2) if len(line) > width else 0
    shown = "".join(c if c.isprintable() else " " if c == "\t" else "\ufffd" for c in line[first : first + width])
    length = max(1, min(span.end - span.start, len(shown) - (at - first)))
    number = f"{span.line:5d} | "
    return f"{number}{shown}\n{' ' * (len(number) - 2)}| {' ' * (at - first)}{'^' * length}"
