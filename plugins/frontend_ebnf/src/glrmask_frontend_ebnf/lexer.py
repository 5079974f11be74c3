"""Tokens of EBNF, and where rules end.

A newline ends a rule unless a bracket is open, the token before it is ``|`` or the separator, or the next
line that is not blank begins with ``|``. A line that begins with ``name ::=`` always begins a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark.lexer import Lexer, Token

from glrmask_core.grammar_text import MAX_NESTING, Fault

from .dialects import foreign

TOKEN = re.compile(
    r"""(?P<NAME>[A-Za-z_][A-Za-z0-9_]*)|(?P<_SEPARATOR>::=|:=|:)|(?P<PUNCTUATION>[()|*+?.])"""
    r"""|(?P<STRING>["'])|(?P<CLASS>\[)|(?P<TOKEN>@token\([0-9]+\))|(?P<NEWLINE>\n[ \t\r\n]*)"""
    r"""|(?P<BLANK>[ \t\r]+|\#[^\n]*)"""
)
PUNCTUATION = {"(": "LPAR", ")": "RPAR", "|": "_BAR", "*": "STAR", "+": "PLUS", "?": "QUESTION", ".": "DOT"}
TO_NEXT = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
RULE_START = re.compile(r"[ \t\r]*[A-Za-z_][A-Za-z0-9_]*[ \t\r]*:")
SUFFIX = re.compile(r"i(?![A-Za-z0-9_])")


def find_close(text: str, at: int, close: str) -> int:
    """The offset of the first ``close`` at or behind ``at`` on this line that no backslash escapes, or -1."""
    line_end = text.find("\n", at)
    end, limit = at, len(text) if line_end < 0 else line_end
    while (end := text.find(close, end, limit)) >= 0:
        back = end
        while back > at and text[back - 1] == "\\":
            back -= 1
        if (end - back) % 2 == 0:
            return end
        end += 1
    return -1


class EbnfLexer(Lexer):
    """Hands out tokens of a whole text. Stateless between calls."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, text: str) -> Iterator[Token]:  # type: ignore[override]
        """Tokens with ``start_pos`` and ``end_pos``, ``_END`` after every rule.

        Raises:
            Fault: a character, literal or nesting depth that no EBNF text has.
        """
        return Scan(text).tokens()


class Scan:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._opened: list[int] = []  # offsets of open brackets
        self._before = "_END"  # the previous token type; _END: between rules
        self._next = -1  # the first offset behind newlines, blanks and comments, once looked for

    def tokens(self) -> Iterator[Token]:
        text, length, at = self._text, len(self._text), 0
        line_begins = True
        while at < length:
            if line_begins:
                line_begins = False
                if self._before != "_END" and RULE_START.match(text, at):
                    yield self._end(at)
            match = TOKEN.match(text, at)
            if match is None:
                raise foreign(text, at)
            kind, end = str(match.lastgroup), match.end()
            if kind == "NEWLINE":
                if self._ends_rule(end):
                    yield self._end(at)
                line_begins = True
            elif kind != "BLANK":
                kind, end = self._significant(kind, at, end)
                self._before = kind
                yield Token(kind, text[at:end], at, None, None, None, None, end)
            at = end
        if self._before != "_END":
            yield self._end(length)

    def innermost_open(self) -> int | None:
        """The offset of the bracket that is open where the scan stands."""
        return self._opened[-1] if self._opened else None

    def _end(self, at: int) -> Token:
        if self._opened:
            raise Fault('this "(" is not closed; expected ")" before the rule ends', self._opened[-1], is_syntax=True)
        self._before = "_END"
        return Token("_END", "", at, None, None, None, None, at)

    def _ends_rule(self, at: int) -> bool:
        """Whether a newline ends a rule; ``at`` is behind it and the blanks that follow."""
        if self._opened or self._before in ("_END", "_BAR", "_SEPARATOR"):
            return False
        if at > self._next:  # else a newline before this one has looked already
            match = TO_NEXT.match(self._text, at)
            assert match is not None, "the pattern matches the empty text"
            self._next = match.end()
        return not self._text.startswith("|", self._next)

    def _significant(self, kind: str, at: int, end: int) -> tuple[str, int]:
        """Token type and end of a token that is neither blank nor newline."""
        text = self._text
        if kind == "PUNCTUATION":
            kind = PUNCTUATION[text[at]]
            if kind == "LPAR":
                self._opened.append(at)
                if len(self._opened) > MAX_NESTING:
                    message = f"brackets nest deeper than {MAX_NESTING}; give the inner part a rule of its own"
                    raise Fault(message, at, is_syntax=True)
            elif kind == "RPAR" and self._opened:
                self._opened.pop()
        elif kind in ("STRING", "CLASS"):
            close = text[at] if kind == "STRING" else "]"
            end = find_close(text, at + 1, close) + 1
            if not end:
                what = "string" if kind == "STRING" else "character class"
                raise Fault(f"this {what} is not closed; expected {close} on the same line", at, is_syntax=True)
            if kind == "STRING" and SUFFIX.match(text, end):
                message = (
                    'there is no suffix for case-insensitive strings; write classes such as [Aa], '
                    'or a space in front of "i" if it is a rule'
                )
                raise Fault(message, end, is_syntax=True)
        return kind, end


