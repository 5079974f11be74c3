"""The tokens of a Lark text, with offsets; and what is a name of what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from glrmask_core.grammar_text import shown

from .report import Reporter

MARK = "\ue000"

_TOKEN = re.compile(
    r"""
      (?P<skip>   [ \t\r\f]+ | \\[ \t]*\r?\n | //[^\n]* | \#[^\n]* )
    | (?P<nl>     \n[ \t\r\f\n]* )
    | (?P<string> "[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"i? | '[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'i? )
    | (?P<regexp> /(?!/)[^/\\]*(?:\\[\s\S][^/\\]*)*/[imslux]* )
    | (?P<ident>  [A-Za-z_][A-Za-z0-9_]* )
    | (?P<number> [+-]?[0-9]+ )
    | (?P<exact>  @token\([0-9]+\) )
    | (?P<directive> %[A-Za-z_]* )
    | (?P<arrow>  -> )
    | (?P<dots>   \.\. )
    | (?P<punct>  [:|(){}\[\],~*+?!.] )
    """,
    re.VERBOSE,
)
RULE = re.compile(r"_?[a-z][_a-z0-9]*")
TERMINAL = re.compile(r"_?[A-Z][_A-Z0-9]*")
MIXED = re.compile(r"_?[A-Za-z][A-Za-z0-9_]*")


class Token(NamedTuple):
    """A piece of the source: kind (a group name of ``_TOKEN``), text, offsets."""

    kind: str
    value: str
    start: int
    end: int


def tokens(text: str, report: Reporter) -> Iterator[Token]:
    """All but white space and comments; raises ``GrammarSyntaxError`` when it comes to what is no token."""
    at, match = 0, _TOKEN.match
    if text.startswith("\ufeff"):
        at = 1
    while at < len(text):
        found = match(text, at)
        if found is None:
            raise report.syntax(_why(text[at]), at)
        kind, end = found.lastgroup or "", found.end()
        if kind != "skip":
            yield Token(kind, found.group(), at, end)
        at = end


def _why(char: str) -> str:
    if char in "\"'":
        return f"expected a closing {char} before the end of the line"
    if char == "/":
        return "expected a closing / of this regular expression, found the end of the text"
    if char == "@":
        return "expected @token(n) with a decimal token id and no spaces"
    if char == "<":
        return 'unexpected "<"; special tokens are written @token(n), or %declare NAME and bind("NAME", ...)'
    name = f'"{char}"' if char.isprintable() else f"U+{ord(char):04X}"
    return f"unexpected character {name}; expected a rule, a terminal or a directive"


def show(token: Token | None) -> str:
    """A token as messages quote it; None is the end."""
    if token is None:
        return "the end of the text"
    if token.kind == "nl":
        return "the end of the line"
    return shown(token.value) if token.kind == "string" else f'"{shown(token.value)}"'


def is_terminal(name: str) -> bool:
    """Whether Lark's case rule makes this the name of a terminal."""
    return TERMINAL.fullmatch(name) is not None


def placeholder_index(literal: str) -> int | None:
    """The token number in a placeholder, None for a literal that lark read from its own grammars."""
    return int(literal[2:-1]) if literal.startswith(('"' + MARK, "/" + MARK)) else None
