"""Tokens of GLRM.

Keywords are contextual: ``start`` is a keyword where an item begins and a name elsewhere. The lexer
therefore follows the braces. It also stops at the nesting limit, before the parser has built anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark.lexer import Lexer, Token

from glrmask_core.grammar_text import MAX_NESTING, Fault, shown

from .dialects import missing_header

WHITE = re.compile(r"[ \t\r\n]*")
DIGITS = re.compile(r"[0-9]+")
WORD_END = re.compile(r"(?![A-Za-z0-9_])")
TOKEN = re.compile(
    r"""(?P<NAME>[A-Za-z_][A-Za-z0-9_]*)|(?P<INT>[0-9]+)|(?P<ARROW>->)|(?P<PUNCTUATION>[;=(){}|&\-~*+?,.:@])"""
    r"""|(?P<QUOTE>["'])|(?P<REGEX>/)|(?P<CLASS>\[)"""
)
UTF8 = re.compile(r"[ \t\r\n]*/utf8(?![A-Za-z0-9_])")
PUNCTUATION = {
    ";": "_SEMICOLON",
    "=": "_EQUAL",
    "(": "LPAR",
    ")": "RPAR",
    "{": "_LBRACE",
    "}": "RBRACE",
    "|": "_BAR",
    "&": "_AND",
    "-": "_MINUS",
    "->": "_ARROW",
    ":": "_COLON",
    ",": "_COMMA",
    "~": "_TILDE",
    "*": "STAR",
    "+": "PLUS",
    "?": "QUESTION",
    ".": "DOT",
    "@": "AT",
}
ITEMS = {
    "start": "_START",
    "ignore": "_IGNORE",
    "nt": "NT",
    "t": "T",
    "internal": "_INTERNAL",
    "g": "_G",
    "subgrammar": "_G",
    "extern": "_EXTERN",
    "pragma": "_PRAGMA",
}
LITERALS = {"QUOTE": "string", "REGEX": "regex", "CLASS": "character class"}


def skip_blank(text: str, at: int) -> int:
    """The offset of the next token.

    Raises:
        Fault: a block comment is not closed.
    """
    while True:
        match = WHITE.match(text, at)
        assert match is not None, "the pattern matches the empty text"
        at = match.end()
        if text.startswith("//", at):
            at = text.find("\n", at)
            if at < 0:
                return len(text)
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise Fault('this comment is not closed; expected "*/"', at, at + 2, is_syntax=True)
            at = end + 2
        else:
            return at


def find_close(text: str, at: int, close: str) -> int:
    """The offset of the first ``close`` at or behind ``at`` that no backslash escapes, or -1."""
    end = at
    while (end := text.find(close, end)) >= 0:
        back = end
        while back > at and text[back - 1] == "\\":
            back -= 1
        if (end - back) % 2 == 0:
            return end
        end += 1
    return -1


def read_header(text: str) -> int:
    """Check ``glrm 1;`` and return the offset behind it."""
    start = skip_blank(text, 0)
    word_end = start + len("glrm")
    number = None
    if text.startswith("glrm", start) and WORD_END.match(text, word_end):
        number = DIGITS.match(text, skip_blank(text, word_end))
    end = skip_blank(text, number.end()) if number else 0
    if number is None or not text.startswith(";", end):
        raise missing_header(text, start)
    if number.group().lstrip("0") != "1":
        raise Fault(
            f'this is GLRM version {shown(number.group())}; expected "glrm 1;", the only version known',
            number.start(),
            number.end(),
            is_syntax=True,
        )
    return end + 1


class GlrmLexer(Lexer):
    """Hands out tokens of a whole text, header checked and left out. Stateless between calls."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, text: str) -> Iterator[Token]:  # type: ignore[override]
        """Tokens with ``start_pos`` and ``end_pos``.

        Raises:
            Fault: a character, literal or nesting depth that no GLRM text has.
        """
        yield from Scan(text).tokens(read_header(text))


class Scan:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._modes = ["scope"]  # what each open brace holds: scope, fa, pragma or count
        self._opened: list[int] = []  # offsets of open brackets of both kinds
        self._fresh = True  # at the beginning of an item
        self._item = ""  # token type that began the item
        self._before = ""  # the previous token type
        self._in_expr = False

    def tokens(self, at: int) -> Iterator[Token]:
        text, length = self._text, len(self._text)
        while (at := skip_blank(text, at)) < length:
            match = TOKEN.match(text, at)
            if match is None:
                raise _unexpected(text, at, self._before)
            kind, value, end = match.lastgroup, match.group(), match.end()
            if kind == "NAME":
                type_ = self._name(value, end)
            elif kind == "PUNCTUATION" or kind == "ARROW":
                type_ = PUNCTUATION[value]
                self._follow(value, at)
            elif kind == "INT":
                type_ = "INT"
                self._fresh = False
            else:
                type_, value, end = self._literal(str(kind), at)
                self._fresh = False
            self._before = type_
            yield Token(type_, value, at, None, None, None, None, end)
            at = end

    def _name(self, word: str, end: int) -> str:
        fresh, self._fresh = self._fresh, False
        mode = self._modes[-1]
        if self._in_expr:
            if self._before == "_EQUAL" and word == "fa" and self._opens_automaton(end):
                self._in_expr = False
                return "FA"
            return "EPS" if word == "eps" else "NAME"
        if mode == "fa":
            if fresh and word in ("start", "accept") and not self._text.startswith("->", skip_blank(self._text, end)):
                return "_START" if word == "start" else "_ACCEPT"
        elif mode == "pragma":
            if fresh and word == "lexer":
                return "_LEXER"
            if self._before == "_LEXER" and word == "group":
                return "_GROUP"
        elif fresh:
            self._item = ITEMS.get(word, "NAME")
            return self._item
        elif self._before == "_INTERNAL" and word == "t":
            self._item = "T"
            return "T"
        elif self._before == "_EXTERN" and word in ("grammar", "token"):
            return "EXTERN_KIND"
        return "NAME"

    def _opens_automaton(self, end: int) -> bool:
        """Whether a brace follows that is not a count, as in ``fa{2}`` with a rule called ``fa``."""
        text = self._text
        at = skip_blank(text, end)
        if not text.startswith("{", at):
            return False
        digits = DIGITS.match(text, skip_blank(text, at + 1))
        return digits is None or not text.startswith((",", "}"), skip_blank(text, digits.end()))

    def _follow(self, mark: str, at: int) -> None:
        """Keep track of where we are after a punctuation mark."""
        self._fresh = False
        if mark in "({":
            self._opened.append(at)
            if len(self._opened) > MAX_NESTING:
                raise Fault(
                    f"brackets nest deeper than {MAX_NESTING}; give the inner part a rule of its own",
                    at,
                    is_syntax=True,
                )
            if mark == "{":
                self._open_brace()
        elif mark in ")}":
            if self._opened:
                self._opened.pop()
            if mark == "}" and len(self._modes) > 1:
                self._fresh = self._modes.pop() == "pragma"
        elif mark == ";":
            self._fresh, self._in_expr = True, False
        elif mark == "=":
            self._in_expr = self._modes[-1] == "scope" and self._item in ("NT", "T")
        elif mark == ":":
            self._in_expr = self._modes[-1] == "fa"

    def _open_brace(self) -> None:
        mode = "count"
        if self._before == "FA":
            mode = "fa"
        elif not self._in_expr and self._before == "_EQUAL" and self._item == "_G":
            mode = "scope"
        elif not self._in_expr and self._before == "NAME" and self._item == "_PRAGMA":
            mode = "pragma"
        self._modes.append(mode)
        self._fresh = mode != "count"

    def _literal(self, kind: str, at: int) -> tuple[str, str, int]:
        text = self._text
        close = {"REGEX": "/", "CLASS": "]"}.get(kind, text[at])
        end = find_close(text, at + 1, close) + 1
        if not end:
            raise Fault(f"this {LITERALS[kind]} is not closed; expected {close}", at, is_syntax=True)
        if kind == "CLASS":
            suffix = UTF8.match(text, end)
            end = suffix.end() if suffix else end
        return "STRING" if kind == "QUOTE" else kind, text[at:end], end

    def innermost_open(self) -> int | None:
        """The offset of the bracket that is open where the scan stands."""
        return self._opened[-1] if self._opened else None


def _unexpected(text: str, at: int, before: str) -> Fault:
    c = text[at]
    if c == "#":
        message = 'unexpected "#"; comments begin with "//" or stand between "/*" and "*/"'
    elif c == "\ufeff":
        message = "unexpected byte order mark (U+FEFF); save the text without it"
    elif c == "%":
        message = 'unexpected "%"; this looks like a directive of Lark, see Grammar.from_lark'
    elif c == "]" and before == "REGEX":
        message = 'unexpected "]"; a "/" ends a regex also inside of brackets, write "\\/" there'
    elif c.isalpha():
        message = f'unexpected "{c}"; names consist of A-Z, a-z, 0-9 and "_"'
    else:
        message = f'unexpected "{shown(c)}" (U+{ord(c):04X}); no GLRM text has it outside of literals'
    return Fault(message, at, is_syntax=True)
