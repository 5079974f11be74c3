"""EBNF text to syntax records, with lark's LALR parser over our own grammar and lexer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedToken

from glrmask_core.grammar_text import Fault, check_scalars, shown

from . import syntax
from .dialects import guess
from .lexer import EbnfLexer
from .syntax import Expr

MAX_TOKEN = 2**32 - 1
ATOMS = {"NAME", "STRING", "CLASS", "DOT", "TOKEN", "LPAR"}
QUANTIFIERS = {"STAR", "PLUS", "QUESTION"}


def parse(text: str) -> list[syntax.Rule]:
    """Read a whole grammar.

    Raises:
        Fault: with ``is_syntax``.

    Cost: linear in the text; about 100,000 tokens a second.
    """
    check_scalars(text)
    try:
        rules: Any = _lark().parse(text)
    except UnexpectedToken as e:
        raise _explain(text, e.token, e.expected) from None
    assert isinstance(rules, list), "what the callback of the start rule returns"
    return rules


@lru_cache(maxsize=1)
def _lark() -> Lark:
    grammar = Path(__file__).with_name("ebnf.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=EbnfLexer, transformer=_ToSyntax(), maybe_placeholders=False)


def _explain(text: str, token: Token, expected: set[str]) -> Fault:
    """The fault of a token that does not fit."""
    if token.type == "$END":
        return Fault('empty grammar: expected at least one rule, as in: start ::= "text"', 0, is_syntax=True)
    start, end = token.start_pos or 0, token.end_pos
    found = "the end of the line" if token.type == "_END" else f'"{shown(text[start:end]).strip(chr(34))}"'
    hints = [guess(text)]
    if "_SEPARATOR" in expected:
        wanted = '"::=" behind the name of the rule'
        if token.type == "NAME":
            hints.append("a rule begins on a line of its own; a name has no spaces")
    elif token.type in QUANTIFIERS:
        wanted = "something to repeat in front of it"
        hints.append("quantifiers do not stack; put what is quantified in parentheses")
    elif token.type == "_SEPARATOR":
        wanted = "the rest of the rule"
        hints.append("a rule begins on a line of its own, with its name in front of the separator")
    elif token.type == "RPAR":
        wanted = "the end of the rule"
        hints.append('no "(" is open here')
    else:
        wanted = "a rule, as in: name ::= ..."
    return Fault(f"expected {wanted}, found {found}", start, end, is_syntax=True, notes=[h for h in hints if h])


class _ToSyntax(Transformer[Token, Any]):
    """Callbacks of the grammar; called by the parser as it reduces, so nothing here recurses. Stateless."""

    def start(self, rules: list[syntax.Rule]) -> list[syntax.Rule]:
        return list(rules)

    @v_args(inline=True)
    def rule(self, name: Token, body: Expr) -> syntax.Rule:
        return syntax.Rule(syntax.Name(str(name), *_ends(name)), body)

    def alternatives(self, parts: list[Any]) -> Expr:
        return syntax.Alt(list(parts), parts[0].start, parts[-1].end)

    def sequence(self, parts: list[Any]) -> Expr:
        return syntax.Seq(list(parts), parts[0].start if parts else 0, parts[-1].end if parts else 0)

    @v_args(inline=True)
    def repeat(self, item: Expr, bounds: tuple[int, int | None, int]) -> Expr:
        low, high, end = bounds
        return syntax.Repeat(item, low, high, item.start, end)

    @v_args(inline=True)
    def quantifier(self, mark: Token) -> tuple[int, int | None, int]:
        low, high = {"QUESTION": (0, 1), "STAR": (0, None), "PLUS": (1, None)}[mark.type]
        return low, high, _ends(mark)[1]

    @v_args(inline=True)
    def reference(self, token: Token) -> Expr:
        return syntax.Name(str(token), *_ends(token))

    @v_args(inline=True)
    def text(self, token: Token) -> Expr:
        return syntax.Text(str(token), *_ends(token))

    @v_args(inline=True)
    def char_class(self, token: Token) -> Expr:
        return syntax.Class(str(token)[1:-1], *_ends(token))

    @v_args(inline=True)
    def any_byte(self, token: Token) -> Expr:
        return syntax.AnyByte(*_ends(token))

    @v_args(inline=True)
    def exact_token(self, token: Token) -> Expr:
        digits = token[len("@token(") : -1].lstrip("0") or "0"
        if len(digits) > 10 or int(digits) > MAX_TOKEN:
            raise Fault(f"{shown(digits)} is no token id; ids are below 2^32", *_ends(token), is_syntax=True)
        return syntax.ExactToken(int(digits), *_ends(token))

    @v_args(inline=True)
    def group_of(self, _open: Token, inner: Expr, _close: Token) -> Expr:
        return inner


def _ends(token: Token) -> tuple[int, int]:
    assert token.start_pos is not None and token.end_pos is not None, "our lexer sets both"
    return token.start_pos, token.end_pos
