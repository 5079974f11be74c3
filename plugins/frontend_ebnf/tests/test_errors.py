"""Every error of EBNF: its class, its place and what it says."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from glrmask_core.errors import GrammarError, GrammarSyntaxError


class Fault(NamedTuple):
    """A grammar, where it is wrong, and a part of the message."""

    grammar: str
    place: str
    says: str


SYNTAX = [
    Fault("", "1:1", "empty grammar"),
    Fault("\n  # only a comment\n", "1:1", "empty grammar"),
    # rules
    Fault('a = "x"', "1:3", 'the separator of a rule is "::="'),
    Fault('a ::= "x" b ::= "y"', "1:13", "on a line of its own"),
    Fault('a b ::= "y"', "1:3", 'expected "::="'),
    Fault('"x"', "1:1", "expected a rule"),
    Fault("a", "1:2", 'expected "::="'),
    Fault('a ::= "x"\n"y"', "2:1", "expected a rule"),
    Fault('::= "x"', "1:1", "with its name in front"),
    Fault('a-b ::= "x"', "1:2", "without dashes"),
    Fault('<a> ::= "x"', "1:1", "no angle brackets"),
    Fault('a ::= "x";', "1:10", "a rule ends with its line"),
    Fault('a ::= "x", "y"', "1:10", "without commas"),
    # brackets
    Fault('root ::= "a" ("b"\nnext ::= "c"', "1:14", "not closed"),
    Fault('a ::= ("x" | ("y"\n)\n', "1:7", "not closed"),
    Fault('a ::= "x")', "1:10", 'no "(" is open'),
    Fault('a ::= "x"]', "1:10", 'no "["'),
    # what this dialect does not have
    Fault('a ::= (* no *) "x"', "1:8", "something to repeat"),
    Fault('a ::= "x" // no', "1:11", 'comments begin with "#"'),
    Fault("a ::= /x/", "1:7", "no regexes"),
    Fault('a ::= "x"{2}', "1:10", "counts"),
    Fault("a ::= [a-z] - [x]", "1:13", "exclusion"),
    Fault("a ::= [a-z] & [x]", "1:13", "intersection"),
    Fault("a ::= ~b", "1:7", "exclusion"),
    Fault('a ::= "x"i', "1:10", "case-insensitive"),
    Fault('a ::= "x"i "y"', "1:10", "case-insensitive"),
    Fault('a ::= "x"+?', "1:11", "do not stack"),
    Fault('a ::= *"x"', "1:7", "something to repeat"),
    Fault('%ignore " "\na ::= "x"', "1:1", "Lark"),
    Fault("a ::= b é", "1:9", "U+00E9"),
    Fault('a ::= "x" \x00', "1:11", "U+0000"),
    Fault('\ufeffa ::= "x"', "1:1", "byte order mark"),
    # other dialects
    Fault("glrm 1; start s; nt s = 'a';", "1:6", "looks like GLRM"),
    Fault('{"type": "object"}', "1:1", "looks like a JSON Schema"),
    Fault("%import common.INT\nstart: INT", "1:1", "looks like a Lark grammar"),
    Fault("start: /x/", "1:8", "looks like a Lark grammar"),
    # strings and classes
    Fault('a ::= "x', "1:7", "not closed"),
    Fault('a ::= "x\ny"', "1:7", "on the same line"),
    Fault("a ::= [a", "1:7", "not closed"),
    Fault("a ::= [z-a]", "1:8", "reversed"),
    Fault(r"a ::= [\q]", "1:8", "no meaning"),
    Fault(r"a ::= [a^\xff-\xfe]", "1:10", "reversed"),
    Fault(r"a ::= [^\xff]", "1:8", "negated"),
    Fault(r'a ::= "\x4"', "1:8", "2 hexadecimal digits"),
    Fault(r'a ::= "x\u12"', "1:9", "4 hexadecimal digits"),
    Fault(r'a ::= "\U00110000"', "1:8", "above U+10FFFF"),
    Fault(r'a ::= "\ud83d"', "1:8", "surrogate"),
    Fault(r'a ::= "\ud83d\u0041"', "1:8", "surrogate"),
    Fault('a ::= "\ud800"', "1:8", "surrogate"),
    # exact tokens
    Fault("a ::= @token( 3)", "1:7", "without spaces"),
    Fault("a ::= @token(0x3)", "1:7", "in decimal"),
    Fault("a ::= @token", "1:7", "@token(123)"),
    Fault("a ::= @token(4294967296)", "1:7", "below 2^32"),
]

MEANING = [
    Fault("a ::= bb", "1:7", "not defined"),
    Fault('a ::= "x"\nb ::= valu\nvalue ::= "v"', "2:7", 'did you mean "value"?'),
    Fault('a ::= "x"\nB ::= VALU\nVALUE ::= "v"', "2:7", 'did you mean "VALUE"?'),
    Fault('A ::= b\nb ::= "x"', "1:7", "a parser rule"),
    Fault('A ::= "x" A', "1:11", "A -> A"),
    Fault('A ::= B\nB ::= "x" | C\nC ::= A', "3:7", "A -> B -> C -> A"),
    Fault('A ::= "x" @token(3)', "1:11", "the whole body"),
    Fault("A ::= @token(3)?", "1:7", "the whole body"),
    Fault("A ::= @token(3) | @token(4)", "1:7", "the whole body"),
    Fault('A ::= B "x"\nB ::= @token(3)', "1:7", "an exact token"),
]


@pytest.mark.parametrize(
    "fault", [*SYNTAX, *MEANING], ids=lambda fault: fault.grammar.encode("ascii", "replace").decode() or "empty"
)
def test_fault(fault: Fault, parse) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(fault.grammar)
    assert isinstance(caught.value, GrammarSyntaxError) == (fault in SYNTAX), caught.value
    message = str(caught.value)
    assert fault.says in message
    assert str(caught.value.diagnostics[0].place) == fault.place, message
    assert "^" in message.splitlines()[2]


def test_caret() -> None:
    import glrmask

    with pytest.raises(ValueError) as caught:
        glrmask.Grammar.from_ebnf('root ::= "a" ("b"\nnext ::= "c"').slots()
    assert str(caught.value) == (
        '<ebnf>:1:14: this "(" is not closed; expected ")" before the rule ends\n'
        '    1 | root ::= "a" ("b"\n'
        "      |              ^"
    )
