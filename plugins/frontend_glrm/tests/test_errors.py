"""Every error of GLRM: its class, its place and what it says."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from glrmask_core.errors import GrammarError, GrammarSyntaxError


class Fault(NamedTuple):
    """A document, where it is wrong, and a part of the message."""

    document: str
    place: str
    says: str


SYNTAX = [
    # header
    Fault("", "1:1", 'expected the header "glrm 1;"'),
    Fault("start s; nt s = 'a';", "1:1", "without its header"),
    Fault("glrm 2; start s; nt s = 'a';", "1:6", "version 2"),
    Fault("glrm 1 start s;", "1:1", "header"),
    Fault("glrm1; start s;", "1:1", "header"),
    Fault("glrm 1; start s; glrm 1; nt s = 'a';", "1:18", "expected an item"),
    Fault("glrm 1; start s; g s = { glrm 1; start x; nt x = 'a'; };", "1:26", "expected an item"),
    # other dialects
    Fault('root ::= "a"\n', "1:1", "EBNF"),
    Fault('root-x ::= "a"\n', "1:1", "GBNF"),
    Fault('start: "a"\n%import common.INT\n', "1:1", "Lark"),
    Fault('{"type": "object"}', "1:1", "JSON Schema"),
    Fault('start s;\nnt s ::= "a";\n', "1:1", 'older dialect with "::="'),
    Fault('glrm 1; start s; nt s ::= "a";', "1:23", '"::=" belongs to'),
    # tokens
    Fault("glrm 1; start s; nt s = a-b; # c", "1:30", 'comments begin with "//"'),
    Fault("glrm 1; start s; nt é = 'a';", "1:21", "names consist of"),
    Fault("glrm 1; start s; nt s = 'a' \x00;", "1:29", "U+0000"),
    Fault("\ufeffglrm 1; start s;", "1:1", "header"),
    Fault("glrm 1;\n /* start s;", "2:2", 'expected "*/"'),
    Fault("glrm 1; start s; nt s = 'a;", "1:25", "not closed"),
    Fault("glrm 1; start s; t s = /a;", "1:24", "not closed"),
    Fault("glrm 1; start s; t s = /[/]/;", "1:27", "also inside of brackets"),
    Fault("glrm 1; start s; nt s = [a;", "1:25", "not closed"),
    Fault("glrm 1; start s; nt s = 'a\ud800';", "1:27", "surrogate"),
    Fault("glrm 1; start s; nt s = 'a'{2147483648};", "1:29", "2^31-1"),
    Fault("glrm 1; start s; nt s = @token(3);", "1:25", "extern token"),
    # strings and classes
    Fault(r"glrm 1; start s; nt s = 'ab\u0041';", "1:28", "write the character itself"),
    Fault(r"glrm 1; start s; nt s = 'ab\U00000041';", "1:28", "write the character itself"),
    Fault(r"glrm 1; start s; nt s = '\x4';", "1:26", "two hexadecimal digits"),
    Fault("glrm 1; start s; nt s = [aé];", "1:27", "[...]/utf8"),
    Fault("glrm 1; start s; nt s = [b-a];", "1:26", "reversed"),
    Fault(r"glrm 1; start s; nt s = [\u0041];", "1:26", "[...]/utf8"),
    Fault(r"glrm 1; start s; nt s = [\q];", "1:26", "no meaning"),
    Fault(r"glrm 1; start s; nt s = [\d-z];", "1:26", "range"),
    Fault("glrm 1; start s; nt s = [a-c-e];", "1:29", "two ways"),
    Fault(r"glrm 1; start s; nt s = [^\xff]/utf8;", "1:26", "negated"),
    Fault(r"glrm 1; start s; nt s = [\ud800]/utf8;", "1:26", "surrogate"),
    # regexes
    *(
        Fault(f"glrm 1; start s; t s = /ab{bad}/;", f"1:{26 + at + 1}", "in this regex")
        for bad, at in [
            ("^", 0),
            ("(?=a)", 0),
            (r"\1", 0),
            ("(?i)a", 0),
            (r"\bx", 0),
            (r"[[:alpha:]]", 1),
            ("[a&&b]", 2),
            ("a++", 2),
            ("{2,1}", 0),
            (r"\q", 0),
        ]
    ),
    # items
    Fault("glrm 1; foo s;", "1:9", "expected an item"),
    Fault("glrm 1; start s nt s = 'a';", "1:17", 'expected ";", found "nt"'),
    Fault("glrm 1; start s; nt s 'a';", "1:23", 'expected "="'),
    Fault("glrm 1; start s; internal nt s = 'a';", "1:27", 'expected "t"'),
    Fault("glrm 1; start s; extern rule x;", "1:25", '"grammar" or "token"'),
    Fault("glrm 1; start s; nt s = 'a'", "1:28", "the end of the text"),
    Fault("glrm 1; start s; g c = { start x; nt x = 'a';", "1:46", '"{" at 1:24 is open'),
    Fault("glrm 1; start s; pragma glrmask { lexer s; }", "1:41", '"group"'),
    Fault("glrm 1; start s; pragma glrmask { lexer group a = @lits; }", "1:51", "@literals"),
    # expressions
    Fault("glrm 1; start s; nt s = ;", "1:25", '"eps"'),
    Fault("glrm 1; start s; nt s = 'a' | ;", "1:31", '"eps"'),
    Fault("glrm 1; start s; nt s = | 'a';", "1:25", '"eps"'),
    Fault("glrm 1; start s; nt s = ();", "1:26", '"eps"'),
    Fault("glrm 1; start s; nt s = ('a';", "1:29", '"(" at 1:25 is open'),
    Fault("glrm 1; start s; nt s = 'a');", "1:28", "expected "),
    Fault("glrm 1; start s; nt s = 'a'+?;", "1:29", "do not stack"),
    Fault("glrm 1; start s; nt s = 'a'{2}{3};", "1:31", "do not stack"),
    Fault("glrm 1; start s; nt s = *'a';", "1:25", "follows what it repeats"),
    Fault("glrm 1; start s; nt s = 'a'{,2};", "1:29", "expected a number"),
    Fault("glrm 1; start s; nt s = 'a'{3,2};", "1:29", "reversed"),
    Fault("glrm 1; start s; nt s = 'a' - 'b' 'c';", "1:35", "needs parentheses"),
    Fault("glrm 1; start s; nt s = ',' ~ ();", "1:32", "expected an expression"),
    Fault("glrm 1; start s; nt s = ',' ~ 'a';", "1:31", '"("'),
    Fault("glrm 1; start s; nt s = ',' ~ ('a')*;", "1:36", "expected "),
    Fault("glrm 1; start s; nt s = ',' ~ ('a'?*);", "1:36", "expected "),
    Fault("glrm 1; start s; nt s = 'a' fa { start 0; accept 0; };", "1:34", "whole body"),
    Fault("glrm 1; start s; nt s = (fa { start 0; accept 0; });", "1:31", "expected a number"),
]

MEANING = [
    # start and ignore
    Fault("glrm 1; nt s = 'a';", "1:1", 'no start; add "start NAME;"'),
    Fault("glrm 1; start s; nt s = 'a'; g c = { nt x = 'a'; };", "1:32", "no start"),
    Fault("glrm 1; start s; start s; nt s = 'a';", "1:24", "the second"),
    Fault("glrm 1; start stat; nt start_ = 'a'; nt state = 'a';", "1:15", 'did you mean "state"?'),
    Fault("glrm 1; start s; internal t s = 'a';", "1:15", "an internal terminal"),
    Fault("glrm 1; start s; extern grammar s;", "1:15", "an extern grammar"),
    Fault("glrm 1; start s; extern token s;", "1:15", "an extern token"),
    Fault("glrm 1; start s; nt s = 'a'; ignore W; ignore W; t W = ' ';", "1:47", "the second"),
    Fault("glrm 1; start s; nt s = 'a'; ignore W;", "1:37", "not defined"),
    Fault("glrm 1; start s; nt s = 'a'; ignore W; nt W = ' ';", "1:37", "a nonterminal"),
    Fault("glrm 1; start s; nt s = 'a'; ignore W; internal t W = ' ';", "1:37", "an internal terminal"),
    Fault("glrm 1; start s; nt s = 'a'; ignore W; t W = / */;", "1:37", "matches the empty text"),
    Fault("glrm 1; start s; nt s = 'a' W; ignore W; t W = ' ';", "1:29", "is ignored"),
    Fault("glrm 1; start s; nt s = 'a' - W; ignore W; t W = ' ';", "1:31", "is ignored"),
    # names
    Fault("glrm 1; start s; nt s = 'a'; nt x = undefined_;", "1:37", "not defined"),
    Fault("glrm 1; start s; nt s = 'a'; t x = identifer; t identifier = 'a';", "1:36", 'did you mean "identifier"?'),
    Fault("glrm 1; start s; nt s = 'a'; t s = 'b';", "1:32", "first as a nonterminal, now as a terminal"),
    Fault("glrm 1; start s; nt s = 'a'; t x = 'b'; internal t x = 'b';", "1:52", "defined twice"),
    Fault("glrm 1; start s; nt s = 'a'; extern token x; extern token x;", "1:59", "defined twice"),
    Fault("glrm 1; start g; g g = { start x; nt x='a'; }; g g = { start x; nt x='a'; };", "1:50", "defined twice"),
    # terminals
    Fault("glrm 1; start s; t s = x; nt x = 'a';", "1:24", "only use terminals"),
    Fault("glrm 1; start s; t s = x; g x = { start y; nt y = 'a'; };", "1:24", "a subgrammar"),
    Fault("glrm 1; start s; t s = x; extern token x;", "1:24", "an extern token"),
    Fault("glrm 1; start s; t s = ',' ~ ('a');", "1:24", "separated sequence"),
    Fault("glrm 1; start s; t s = 'a' s;", "1:28", "s -> s"),
    Fault("glrm 1; start a; t a = b; t b = c; t c = 'x' | a;", "1:48", "a -> b -> c -> a"),
    Fault("glrm 1; start s; nt s = x; internal t x = 'a';", "1:25", "internal terminal"),
    Fault("glrm 1; start s; nt s = /a/;", "1:25", "t NAME = /.../;"),
    Fault("glrm 1; start s; nt s = ('a' & /a/);", "1:32", "t NAME = /.../;"),
    # operators
    Fault("glrm 1; start s; nt s = 'a' & x; nt x = 'a';", "1:31", "a nonterminal"),
    Fault("glrm 1; start s; nt s = 'a' - x; nt x = 'a';", "1:31", "a nonterminal"),
    Fault("glrm 1; start s; nt s = 'a' & (',' ~ ('b'));", "1:32", "separated sequence"),
    Fault("glrm 1; start s; nt s = c - 'a'; g c = { start x; nt x = 'a'; };", "1:25", "a subgrammar"),
    Fault("glrm 1; start s; nt s = x - ('b' 'c'); nt x = 'b' | 'c';", "1:30", "no alternative"),
    Fault("glrm 1; start s; nt s = (x 'a') - ('b'); nt x = 'b' | 'c';", "1:26", "a nonterminal"),
    # automata
    Fault("glrm 1; start s; nt s = fa { accept 0; };", "1:25", 'no "start'),
    Fault("glrm 1; start s; nt s = fa { start 0; };", "1:25", 'no "accept'),
    Fault("glrm 1; start s; nt s = fa { start 0; start 1; accept 1; };", "1:45", "the second"),
    Fault("glrm 1; start s; t s = fa { start 0; accept 1; 0 -> 1 : x; }; nt x = 'a';", "1:57", "only use terminals"),
    # scopes
    Fault("glrm 1; start s; nt s = c; t T = 'a'; g c = { start x; nt x = T; };", "1:63", "not defined in this scope"),
    Fault("glrm 1; start s; nt s = x; g c = { start x; nt x = 'a'; };", "1:25", "not defined in this scope"),
    Fault("glrm 1; start c; g c = { start x; nt x = c; };", "1:42", "not defined in this scope"),
    # pragmas
    Fault("glrm 1; start s; nt s = 'a'; pragma other { }", "1:37", 'the only one is "glrmask"'),
    Fault("glrm 1; start s; nt s = 'a'; pragma glrmask { lexer group x = s; }", "1:63", "a nonterminal"),
    Fault("glrm 1; start s; nt s = 'a'; pragma glrmask { lexer group x = T; }", "1:63", "not defined"),
    Fault("glrm 1; start s; t s = i; internal t i = 'a'; pragma glrmask { lexer group x = i; }", "1:80", "internal"),
    Fault("glrm 1; start s; t s = 'a'; pragma glrmask { lexer group x = s, s; }", "1:65", "already"),
    Fault("glrm 1; start s; t s = 'a'; pragma glrmask { lexer group x = *; lexer group y = *; }", "1:81", "already"),
    Fault("glrm 1; start s; nt s = 'a'; pragma glrmask { lexer group x = @literals, @literals; }", "1:74", "already"),
    Fault("glrm 1; start s; nt s = 'a'; pragma glrmask { lexer group x = 'b'; }", "1:63", "no nt rule"),
]


@pytest.mark.parametrize(
    "fault", [*SYNTAX, *MEANING], ids=lambda fault: fault.document[:60].encode("ascii", "replace").decode() or "empty"
)
def test_fault(fault: Fault, parse) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(fault.document)
    assert isinstance(caught.value, GrammarSyntaxError) == (fault in SYNTAX), caught.value
    message = str(caught.value)
    assert fault.says in message
    assert str(caught.value.diagnostics[0].place) == fault.place, message
    line = fault.document.split("\n")[int(fault.place.split(":")[0]) - 1]
    assert message.splitlines()[1].endswith("".join(c if c.isprintable() else "\ufffd" for c in line)) or not line
    assert "^" in message.splitlines()[2]


def test_caret_and_note() -> None:
    import glrmask

    with pytest.raises(ValueError) as caught:
        glrmask.Grammar.from_glrm('glrm 1;\nstart s;\nnt s = ("a" | b;\n').slots()
    assert str(caught.value) == (
        '<glrm>:3:16: expected ")", found ";"\n'
        '    3 | nt s = ("a" | b;\n'
        "      |                ^\n"
        'note: "(" at 3:8 is open'
    )


def test_an_empty_language_is_an_error(compiled) -> None:
    with pytest.raises(ValueError):
        compiled('glrm 1; start s; nt s = "c" s;')
    with pytest.raises(ValueError):
        compiled("glrm 1; start s; nt s = [];")


def test_a_nullable_start_is_no_empty_language(compiled, read) -> None:
    assert read(compiled('glrm 1; start s; nt s = "c" x | eps; nt x = x;'), "") == "accept"
