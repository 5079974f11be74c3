"""Errors that show their place in the source, and notes for texts that look like another format."""

from __future__ import annotations

import re

from glrmask_core.errors import GrammarError, GrammarSyntaxError
from glrmask_core.grammar_text import GrammarText
from glrmask_core.source import Diagnostic


class Reporter:
    """Makes exceptions about one text; the first one that is raised ends the work."""

    def __init__(self, text: str) -> None:
        self.lines = GrammarText(text)

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
