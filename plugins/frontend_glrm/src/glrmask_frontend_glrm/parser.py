"""GLRM text to syntax records, with lark's LALR parser over our own grammar and lexer."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_analysis import Shift

from glrmask_core.grammar_text import Fault, check_scalars, shown
from glrmask_core.source import span_at

from . import syntax
from .lexer import GlrmLexer, Scan, read_header
from .syntax import Expr

MAX_COUNT = 2**31 - 1
READABLE = {
    "NAME": "a name",
    "INT": "a number",
    "STRING": "a string",
    "REGEX": "a regex",
    "CLASS": "a character class",
    "DOT": '"."',
    "EPS": '"eps"',
    "FA": '"fa"',
    "_START": '"start"',
    "_ACCEPT": '"accept"',
    "_LEXER": '"lexer"',
    "_GROUP": '"group"',
    "T": '"t"',
    "EXTERN_KIND": '"grammar" or "token"',
    "_SEMICOLON": '";"',
    "_EQUAL": '"="',
    "LPAR": '"("',
    "RPAR": '")"',
    "_LBRACE": '"{"',
    "RBRACE": '"}"',
    "_BAR": '"|"',
    "_AND": '"&"',
    "_MINUS": '"-"',
    "_ARROW": '"->"',
    "_COLON": '":"',
    "_COMMA": '","',
    "_TILDE": '"~"',
    "STAR": '"*"',
    "PLUS": '"+"',
    "QUESTION": '"?"',
    "AT": '"@"',
}
ITEM_TOKENS = {"_START", "_IGNORE", "NT", "T", "_INTERNAL", "_G", "_EXTERN", "_PRAGMA"}
ATOM_TOKENS = {"NAME", "STRING", "REGEX", "CLASS", "DOT", "EPS", "LPAR"}
QUANTIFIERS = {"STAR", "PLUS", "QUESTION"}
GROUPS = (
    (ITEM_TOKENS, 'an item ("start", "ignore", "nt", "t", "internal t", "g", "extern" or "pragma")'),
    (ATOM_TOKENS, "an expression"),
    (QUANTIFIERS, "a quantifier"),
)


def parse(text: str) -> syntax.Scope:
    """Read a whole document.

    Raises:
        Fault: with ``is_syntax``.

    Cost: linear in the text; about 100,000 tokens a second.
    """
    check_scalars(text)
    try:
        scope = _lark().parse(text)
    except UnexpectedToken as e:
        raise _explain(text, e) from None
    assert isinstance(scope, syntax.Scope)
    scope.end = len(text)
    return scope


@lru_cache(maxsize=1)
def _lark() -> Lark:
    grammar = Path(__file__).with_name("glrm.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=GlrmLexer, transformer=_ToSyntax(), maybe_placeholders=False)


def _explain(text: str, error: UnexpectedToken) -> Fault:
    """The fault of a token that does not fit."""
    token = error.token
    at_end = token.type == "$END"
    start, end = (len(text), None) if at_end else (token.start_pos or 0, token.end_pos)
    found = "the end of the text" if at_end else shown(text[start:end])
    if not found.startswith(('"', "'")) and not at_end:
        found = f'"{found}"'
    accepted = _accepted(error)
    notes = [hint] if (hint := _hint(text, token, accepted)) else []
    if accepted & {"RPAR", "RBRACE"} and (opened := _innermost_open(text, start)) is not None:
        notes.append(f'"{text[opened]}" at {span_at(text, opened)} is open')
    return Fault(f"expected {_wanted(accepted)}, found {found}", start, end, is_syntax=True, notes=notes)


def _accepted(error: UnexpectedToken) -> set[str]:
    """The token types that could stand here.

    A LALR parser reduces before it notices, and then ``error.expected`` holds tokens that no other context
    allows; so try each on the stack of states. (lark can do this too, but older versions copy all values.)
    """
    state = error.interactive_parser.parser_state if error.interactive_parser is not None else None
    if state is None:
        return error.expected
    table, accepted = state.parse_conf.states, set()
    for name in error.expected:
        stack = list(state.state_stack)
        while (action := table[stack[-1]].get(name)) is not None:
            if action[0] is Shift:
                accepted.add(name)
                break
            rule = action[1]
            del stack[len(stack) - len(rule.expansion) :]
            stack.append(table[stack[-1]][rule.origin.name][1])
    return accepted


def _wanted(accepted: set[str]) -> str:
    """The token types in words."""
    words = []
    for group, word in GROUPS:
        if accepted >= group:
            words.append(word)
            accepted = accepted - group - ({"FA"} if group is ATOM_TOKENS else set())
    words += sorted(READABLE.get(name, name) for name in accepted - {"$END"})
    if "$END" in accepted:
        words.append("the end of the text")
    return ", ".join(words[:-1]) + (" or " if words[1:] else "") + words[-1] if words else "the end of the text"


def _innermost_open(text: str, end: int) -> int | None:
    """The offset of the innermost bracket that is open at an offset."""
    scan = Scan(text)
    opened = None
    for token in scan.tokens(read_header(text)):
        if token.start_pos is None or token.start_pos >= end:
            return opened
        opened = scan.innermost_open()
    return opened


def _hint(text: str, token: Token, accepted: set[str]) -> str:
    """Advice for mistakes that are easy to make."""
    kind = token.type
    if kind == "AT":
        return 'exact tokens have no number here; declare a slot with "extern token NAME;" and bind it'
    if kind == "_COLON" and token.start_pos is not None and text.startswith("::=", token.start_pos):
        return 'rules are written "nt NAME = ...;"; "::=" belongs to EBNF and to older GLRM'
    if accepted == {"INT"} and kind != "_COMMA":
        return "a brace behind an expression holds a count; an automaton is the whole body of its rule"
    if accepted <= ATOM_TOKENS | {"FA"}:
        if kind in QUANTIFIERS or kind == "_LBRACE":
            return "a quantifier follows what it repeats"
        return 'the empty text is written "eps"'
    if kind in QUANTIFIERS or (kind == "_LBRACE" and "_BAR" in accepted):
        return "quantifiers do not stack; put what is quantified in parentheses"
    if kind in ATOM_TOKENS and "_AND" in accepted:
        return 'a sequence behind "-" needs parentheses'
    return ""


class _ToSyntax(Transformer[Token, Any]):
    """Callbacks of the grammar; called by the parser as it reduces, so nothing here recurses. Stateless."""

    def start(self, items: list[Any]) -> syntax.Scope:
        return syntax.Scope(list(items))

    @v_args(inline=True)
    def name(self, token: Token) -> syntax.Name:
        return _name(token)

    @v_args(inline=True)
    def start_item(self, name: syntax.Name) -> syntax.Start:
        return syntax.Start(name)

    @v_args(inline=True)
    def ignore_item(self, name: syntax.Name) -> syntax.Ignore:
        return syntax.Ignore(name)

    @v_args(inline=True)
    def rule_item(self, kind: Token, name: syntax.Name, body: syntax.Body) -> syntax.Rule:
        return syntax.Rule("nt" if kind.type == "NT" else "t", name, body)

    @v_args(inline=True)
    def internal_item(self, _kind: Token, name: syntax.Name, body: syntax.Body) -> syntax.Rule:
        return syntax.Rule("internal t", name, body)

    def g_item(self, parts: list[Any]) -> syntax.Subgrammar:
        name, *items, close = parts
        return syntax.Subgrammar(name, syntax.Scope(items, name.start, close.end_pos))

    @v_args(inline=True)
    def extern_item(self, kind: Token, name: syntax.Name) -> syntax.Extern:
        return syntax.Extern(str(kind), name)

    def pragma_item(self, parts: list[Any]) -> syntax.Pragma:
        return syntax.Pragma(parts[0], parts[1:-1])

    def group(self, parts: list[Any]) -> list[syntax.Member]:
        return list(parts[1:])

    @v_args(inline=True)
    def member(self, token: Token) -> syntax.Member:
        kind = {"NAME": "name", "STRING": "string", "STAR": "rest"}[token.type]
        return syntax.Member(kind, str(token), *_ends(token))

    @v_args(inline=True)
    def at_member(self, at: Token, word: Token) -> syntax.Member:
        start, end = _ends(at)[0], _ends(word)[1]
        if word != "literals":
            raise Fault(f'expected "@literals", found "@{shown(word)}"', start, end, is_syntax=True)
        return syntax.Member("literals", "@literals", start, end)

    def automaton(self, parts: list[Any]) -> syntax.Automaton:
        return syntax.Automaton(parts[1:-1], _ends(parts[0])[0], _ends(parts[-1])[1])

    def fa_start(self, states: list[syntax.State]) -> syntax.Starts:
        return syntax.Starts(list(states))

    def fa_accept(self, states: list[syntax.State]) -> syntax.Accepts:
        return syntax.Accepts(list(states))

    @v_args(inline=True)
    def fa_edge(self, source: syntax.State, target: syntax.State, label: Expr) -> syntax.Edge:
        return syntax.Edge(source, target, label)

    @v_args(inline=True)
    def state(self, token: Token) -> syntax.State:
        return syntax.State(_count(token) if token.type == "INT" else str(token), *_ends(token))

    def alternatives(self, parts: list[Any]) -> Expr:
        return syntax.Alt(list(parts), parts[0].start, parts[-1].end)

    def minus(self, parts: list[Any]) -> Expr:
        return syntax.Minus(parts[0], list(parts[1:]), parts[0].start, parts[-1].end)

    def both(self, parts: list[Any]) -> Expr:
        return syntax.Both(list(parts), parts[0].start, parts[-1].end)

    subtrahend = both

    def sequence(self, parts: list[Any]) -> Expr:
        return syntax.Seq(list(parts), parts[0].start, parts[-1].end)

    @v_args(inline=True)
    def repeat(self, item: Expr, bounds: tuple[int, int | None, int]) -> Expr:
        low, high, end = bounds
        return syntax.Repeat(item, low, high, item.start, end)

    def sepitem(self, parts: list[Any]) -> syntax.SepItem:
        low, high, _ = parts[1] if len(parts) > 1 else (1, 1, 0)
        return syntax.SepItem(parts[0], low, high)

    def separated(self, parts: list[Any]) -> Expr:
        is_plus = parts[1].type == "PLUS"
        items = parts[3 if is_plus else 2 : -1]
        return syntax.Separated(parts[0], items, is_plus, parts[0].start, _ends(parts[-1])[1])

    @v_args(inline=True)
    def quantifier(self, mark: Token) -> tuple[int, int | None, int]:
        low, high = {"QUESTION": (0, 1), "STAR": (0, None), "PLUS": (1, None)}[mark.type]
        return low, high, _ends(mark)[1]

    @v_args(inline=True)
    def exactly(self, low: Token, close: Token) -> tuple[int, int | None, int]:
        return _count(low), _count(low), _ends(close)[1]

    @v_args(inline=True)
    def at_least(self, low: Token, close: Token) -> tuple[int, int | None, int]:
        return _count(low), None, _ends(close)[1]

    @v_args(inline=True)
    def between(self, low: Token, high: Token, close: Token) -> tuple[int, int | None, int]:
        if _count(high) < _count(low):
            raise Fault(f"the bounds {{{low},{high}}} are reversed", _ends(low)[0], _ends(high)[1], is_syntax=True)
        return _count(low), _count(high), _ends(close)[1]

    @v_args(inline=True)
    def reference(self, token: Token) -> Expr:
        return _name(token)

    @v_args(inline=True)
    def text(self, token: Token) -> Expr:
        return syntax.Text(str(token), *_ends(token))

    @v_args(inline=True)
    def regex(self, token: Token) -> Expr:
        return syntax.Regex(str(token)[1:-1], *_ends(token))

    @v_args(inline=True)
    def char_class(self, token: Token) -> Expr:
        is_unicode = not token.endswith("]")
        return syntax.Class(str(token)[1 : token.rindex("]")], is_unicode, *_ends(token))

    @v_args(inline=True)
    def any_byte(self, token: Token) -> Expr:
        return syntax.AnyByte(*_ends(token))

    @v_args(inline=True)
    def eps(self, token: Token) -> Expr:
        return syntax.Eps(*_ends(token))

    @v_args(inline=True)
    def group_of(self, _open: Token, inner: Expr, _close: Token) -> Expr:
        return inner


def _ends(token: Token) -> tuple[int, int]:
    assert token.start_pos is not None and token.end_pos is not None, "our lexer sets both"
    return token.start_pos, token.end_pos


def _name(token: Token) -> syntax.Name:
    return syntax.Name(str(token), *_ends(token))


def _count(token: Token) -> int:
    digits = token.lstrip("0") or "0"
    if len(digits) > 10 or int(digits) > MAX_COUNT:
        raise Fault(f"{shown(digits)} is above 2^31-1, the largest number", *_ends(token), is_syntax=True)
    return int(digits)
