"""Errors that show their place in the source, and notes for texts that look like another format."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Iterable

from glrmask_core.errors import GrammarError, GrammarSyntaxError
from glrmask_core.source import Diagnostic, Span


class Lines:
    """Offsets to spans of one text, O(log lines) each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def span(self, start: int, end: int | None = None) -> Span:
        """The span of ``text[start:end]``, one character when ``end`` is None."""
        start = min(max(start, 0), len(self.text))
        line = bisect_right(self._starts, start) - 1
        return Span(line + 1, start - self._starts[line] + 1, start, start + 1 if end is None else max(end, start))


class Reporter:
    """Makes exceptions about one text; the first one that is raised ends the work."""

    def __init__(self, text: str) -> None:
        self.lines = Lines(text)

    def syntax(self, message: str, start: int, end: int | None = None) -> GrammarSyntaxError:
        """The text cannot be read here."""
        return GrammarSyntaxError(*self._render([Diagnostic(message, self.lines.span(start, end))]))

    def meaning(self, message: str, start: int | None, end: int | None = None) -> GrammarError:
        """The text can be read but means nothing that can be represented."""
        place = None if start is None else self.lines.span(start, end)
        return GrammarError(*self._render([Diagnostic(message, place)]))

    def several(self, findings: list[Diagnostic]) -> GrammarError:
        """One exception for several findings, in source order."""
        return GrammarError(*self._render(findings))

    def _render(self, findings: list[Diagnostic]) -> tuple[str, list[Diagnostic]]:
        text = self.lines.text
        shown = [finding.render(text) for finding in findings[:5]]
        if len(findings) > 5:
            shown.append(f"... and {len(findings) - 5} more")
        note = other_format(text)
        if note:
            shown.append(f"note: {note}")
        return "\n".join(shown), findings


_LARK_LINE = r"^[?!]*\w+(?:\{[^}\n]*\})?(?:\.\d+)?[ \t]*:(?![:=])"
_LOOKS = (
    (r"^[ \t]*grammar[ \t]+\w+[ \t]*;", "this looks like ANTLR; Lark ends a rule with the line, not with ';'"),
    (r"\A\s*glrm\s+\d+\s*;", "this looks like GLRM; read it with Grammar.from_glrm"),
    (r"\A\s*[{\[]\s*(?:[\"}\]]|\Z)", "this looks like JSON; a JSON Schema is read with Grammar.from_json_schema"),
    (
        r"^[ \t]*%llguidance\b|^\w+\[",
        "this looks like llguidance's dialect of Lark; its attributes and directives do not exist here",
    ),
    (
        r"^[ \t]*root[ \t]*::=",
        "this looks like GBNF (llama.cpp); Lark writes 'name: ...', and the start rule is 'start'",
    ),
    (
        r"^[ \t]*<?[\w-]+>?[ \t]*::=",
        "this looks like EBNF or GBNF; Lark writes 'name: ...', EBNF is read with Grammar.from_ebnf",
    ),
)
_LOOKS_WITHOUT_LARK = (
    (
        r"^[ \t]*(?:nt|t|internal[ \t]+t)[ \t]+\w+[ \t]*=",
        "this looks like GLRM without its 'glrm 1;' header; see Grammar.from_glrm",
    ),
    (r"^[ \t]*\w+[ \t]*:=", "this looks like EBNF (':='); read it with Grammar.from_ebnf"),
    (r"^[ \t]*\w[\w ]*=", "this looks like ISO EBNF ('name = ... ;'); Lark writes 'name: ...', one rule per line"),
)


def other_format(text: str) -> str | None:
    """What else a refused text may be; only the beginning is looked at."""
    head = text[:20000]
    looks = _LOOKS if re.search(_LARK_LINE, head, re.MULTILINE) else _LOOKS + _LOOKS_WITHOUT_LARK
    for pattern, note in looks:
        if re.search(pattern, head, re.MULTILINE):
            return note
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean "x"?`` or nothing."""
    names = list(known)
    if len(name) > 200 or len(names) > 20000:
        return ""
    lowered = {known_name.lower(): known_name for known_name in names}
    close = difflib.get_close_matches(name, names, 1, 0.6)
    if not close:
        close = [lowered[match] for match in difflib.get_close_matches(name.lower(), list(lowered), 1, 0.75)]
    return f'; did you mean "{close[0]}"?' if close else ""
