"""Help for front-ends that read text: faults with places, suggestions, and deep recursion without the call stack.

A front-end raises :class:`Fault` (or a subclass of its own) wherever something is wrong, knowing only
offsets. Its outermost function turns that into the public exception with :meth:`GrammarText.raise_fault`,
which adds line, column, the source line and a caret.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Generator, Iterable
from typing import Any, NoReturn, TypeVar

from .errors import GrammarError, GrammarSyntaxError
from .source import Diagnostic, Span

T = TypeVar("T")
Task = Generator["Task[Any]", Any, T]
"""A function written as a generator: it yields the tasks whose results it needs. See :func:`run`."""

MAX_NESTING = 200
"""How deep brackets and scopes may nest in a grammar text."""
MAX_SHOWN = 40  # characters of a name or a token in a message
MAX_CANDIDATES = 2000  # names that "did you mean" compares with; keeps a message about 1 ms per 1,000 names


class Fault(Exception):
    """Something wrong at ``text[start:end]``.

    Attributes:
        message: what was expected, what was found, what to do next.
        start, end: offsets in code points; ``end`` None means one character.
        is_syntax: whether the text cannot be read at all (else it cannot mean what it says).
        notes: further lines, such as another place that is involved.
    """

    def __init__(
        self, message: str, start: int, end: int | None = None, *, is_syntax: bool = False, notes: Iterable[str] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.is_syntax = is_syntax
        self.notes = tuple(notes)


class GrammarText:
    """A grammar text with places by offset. Making one costs a scan for newlines, a span a binary search."""

    def __init__(self, text: str, name: str = "<grammar>") -> None:
        self.text = text
        self.name = name
        self._lines = [0]
        at = text.find("\n")
        while at >= 0:
            self._lines.append(at + 1)
            at = text.find("\n", at + 1)

    def span(self, start: int, end: int | None = None) -> Span:
        """The span of ``text[start:end]``."""
        start = min(max(start, 0), len(self.text))
        line = bisect_right(self._lines, start)
        return Span(line, start - self._lines[line - 1] + 1, start, start + 1 if end is None else max(start, end))

    def warning(self, message: str, start: int, end: int | None = None) -> Diagnostic:
        """A finding that does not stop compiling."""
        return Diagnostic(message, self.span(start, end), "warning")

    def raise_fault(self, fault: Fault) -> NoReturn:
        """Raise ``GrammarSyntaxError`` or ``GrammarError`` for a fault in this text."""
        message = "\n".join((fault.message, *(f"note: {note}" for note in fault.notes)))
        found = Diagnostic(message, self.span(fault.start, fault.end))
        kind = GrammarSyntaxError if fault.is_syntax else GrammarError
        # The caret belongs under the source line, the notes below it.
        first = Diagnostic(fault.message, found.place).render(self.text, self.name)
        raise kind("\n".join((first, *(f"note: {note}" for note in fault.notes))), [found]) from None


def check_scalars(text: str) -> None:
    """Raise ``Fault`` for a lone surrogate, the one thing in a ``str`` that has no UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError as e:
        raise Fault(
            f"U+{ord(text[e.start]):04X} is half of a surrogate pair and has no UTF-8 form", e.start, is_syntax=True
        ) from None


def shown(text: str) -> str:
    """A piece of the source as messages quote it: cut short, control characters escaped."""
    cut = text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``'; did you mean "x"?'`` for the most similar known name, or ``""``."""
    if len(name) > MAX_SHOWN:
        return ""
    near = [k for k in known if abs(len(k) - len(name)) <= 3][:MAX_CANDIDATES]
    found = difflib.get_close_matches(name, near, 1) or [k for k in near if k.lower() == name.lower()]
    return f'; did you mean "{found[0]}"?' if found else ""


def run(task: Task[T]) -> T:
    """Run a task and the tasks it yields with a stack of our own, so depth is bounded by memory only.

    A task receives the result of ``yield other_task``; exceptions pass through the waiting tasks as they
    would pass through callers.
    """
    stack: list[Task[Any]] = [task]
    value: Any = None
    error: BaseException | None = None
    while stack:
        try:
            if error is not None:
                raised, error = error, None
                child = stack[-1].throw(raised)
            else:
                child = stack[-1].send(value)
        except StopIteration as stop:
            stack.pop()
            value = stop.value
        except BaseException as e:
            stack.pop()
            if not stack:
                raise
            error = e
        else:
            stack.append(child)
            value = None
    result: T = value
    return result
