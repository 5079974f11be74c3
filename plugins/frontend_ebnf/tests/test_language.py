"""What EBNF grammars mean, row by row: syntax, terminals by case, lines, strings, classes, exact tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

M = 300  # the id of an exact-only token


class Row(NamedTuple):
    """A grammar and what it does with texts (or lists of texts and exact tokens)."""

    name: str
    grammar: str
    accept: tuple[Any, ...] = ()
    prefix: tuple[Any, ...] = ()
    reject: tuple[Any, ...] = ()


SYNTAX = [
    Row("the first rule is the start", 'b ::= "b" a\na ::= "a"\nstart ::= "s"', ("ba",), ("b",), ("a", "s")),
    Row("three separators", 'a ::= b\nb := c\nc: "x"', ("x",), ("",), ("y",)),
    Row("blank lines around", '\n\n  \na ::= b\n\n# c\n \t\nb ::= "x"\n\n', ("x",), ("",), ("y",)),
    Row("names", '_a1 ::= Foo\nFoo ::= F_9\nF_9 ::= "x"', ("x",), ("",), ("y",)),
    Row("quantifiers", 'a ::= "a"? "b"* "c"+', ("c", "abbcc"), ("a",), ("aa",)),
    Row("groups", 'a ::= ("a" | "b")+ (("c"))', ("abc",), ("a",), ("c",)),
    Row("dot is any byte", "a ::= . .", (b"\n\xff", "ab"), (b"\xc3",), ("abc",)),
    Row("nothing on the right", 'a ::= b "x"\nb ::=', ("x",), ("",), ("y",)),
    Row("empty alternatives", 'a ::= "a" ( | "b" | )\n', ("a", "ab"), ("",), ("b",)),
    Row("an empty group", 'a ::= "a" ()', ("a",), ("",), ("b",)),
    Row("only the empty string", 'a ::= ""', ("",), (), ("a",)),
    Row("only the empty string, by nothing", "a ::=", ("",), (), ("a",)),
    Row("a repeated empty group", 'a ::= ("" | "x"?)* "y"', ("y", "xxy"), ("x",), ("z",)),
    Row("defined twice", 'a ::= "a"\na ::= "b" T\nT ::= "t"\nT ::= "u"', ("a", "bt", "bu"), ("b",), ("t",)),
    Row("comments", '# start ::= "no"\na ::= "x" # | "y"\n# more\n', ("x",), ("",), ("y",)),
    Row("a comment sign in a string", 'a ::= "#" [#]', ("##",), ("#",), ("a",)),
    Row("carriage returns", 'a ::= b\r\nb ::= "x"\r\n', ("x",), ("",), ("y",)),
    Row("recursion", 'a ::= a "x" | "(" a ")" | ""', ("", "x", "(x)x"), ("(",), (")",)),
]

TERMINALS = [
    Row("capitals are one terminal", 's ::= ID "end"\nID ::= [a-z]+', (), ("", "abend", "endend"), ("!",)),
    Row("small letters are many", 's ::= id "end"\nid ::= [a-z]+', ("abend", "endend"), ("end",), ("!",)),
    Row("mixed case is a parser rule", 's ::= Id "end"\nId ::= [a-z]+', ("abend",), ("end",), ("!",)),
    Row("digits and underscores", 's ::= A_1 "1"\nA_1 ::= "a" "1"?', ("a11",), ("a1",), ("b",)),
    Row(
        "terminals in terminals",
        's ::= A "b"\nA ::= B | "x" B\nB ::= "b"+',
        (),
        ("b", "bb", "xb"),
        ("a",),
    ),
    Row("the start may be a terminal", "A ::= [a-c]+ B?\nB ::= 'x'", ("abc", "ax"), ("",), ("x",)),
    Row("nullable terminal", 's ::= A "b"\nA ::= "a"*', ("b", "aab"), ("", "a"), ("ba",)),
    Row("keywords do not compete", 's ::= "if" "x" | ID "!"\nID ::= [a-z]+', ("ifx", "if!", "iffy!"), ("if",), ("!",)),
    Row("no white space is skipped", 's ::= "a" "b"', ("ab",), ("a",), ("a b", " ab")),
]

LINES = [
    Row(
        "inside brackets",
        'a ::= ( "x"\n  "y"\n| "z" ) "w"?',
        ("xy", "z", "zw"),
        ("x",),
        ("y",),
    ),
    Row("after a bar", 'a ::= "x" |\n  "y" |\n\n# c\n "z"', ("x", "y", "z"), ("",), ("w",)),
    Row("after the separator", 'a ::=\n\n  "x" "y"\nb ::= "z"', ("xy",), ("x",), ("z",)),
    Row("before a bar", 'a ::= "x"\n  | "y"\n\n# c\n\n  | "z"\nb ::= "w"', ("x", "y", "z"), ("",), ("w",)),
    Row("a rule begins after a bar", 'a ::= "x" |\nb ::= "y"', ("", "x"), (), ("y",)),
    Row("a rule begins after the separator", 'a ::=\nb ::= "y"', ("",), (), ("y",)),
    Row("a bar begins the alternatives", 'a ::= | "x"', ("", "x"), (), ("y",)),
    Row("no newline at the end", 'a ::= "x"', ("x",), ("",), ("y",)),
    Row("a comment between", 'a ::= "x" # c\n # d\n | "y"', ("x", "y"), ("",), ("z",)),
]

LITERALS = [
    Row("both quotes", """a ::= "it's" '"'""", ("it's\"",), ("it's",), ("its",)),
    Row("escapes", r"""a ::= "\n\t\r\\\"\'" '\'\"'""", ("\n\t\r\\\"''\"",), ("\n",), ("n",)),
    Row("x is a character", r'a ::= "\xff\x41"', ("ÿA",), (b"\xc3",), (b"\xff",)),
    Row("characters by number", r'a ::= "\u00e9\U0001F600\ud83d\ude00"', ("é😀😀",), ("é",), ("e",)),
    Row("other escapes keep the backslash", r'a ::= "\q\d"', ("\\q\\d",), ("\\",), ("q",)),
    Row("a space before a rule called i", 'a ::= "x" i\ni ::= "y"', ("xy",), ("x",), ("X",)),
    Row("touching another name", 'a ::= "x"item\nitem ::= "y"', ("xy",), ("x",), ("X",)),
    Row("touching an escape", r"a ::= '\\'b" + "\nb ::= 'y'", ("\\y",), ("\\",), ("y",)),
    Row("class of characters", "a ::= [à-ÿ日x]+", ("éx日",), (b"\xc3",), ("ß", "y")),
    Row("negated class", "a ::= [^é]", ("\n", "e", "日"), (b"\xc3", b"\xe6"), ("é", b"\xff", b"\xed\xa0\x80")),
    Row(
        "class escapes", r"a ::= [\n\t\]\\\-\x41\u00e9\ud83d\ude00\U0001F601]+", ("\n\t]\\-Aé😀😁",), (b"\xc3",), ("n",)
    ),
    Row("a raw byte in a class", r"a ::= [\xff]", (b"\xff",), ("",), ("ÿ",)),
    Row("class shorthands", r"a ::= [\d\s]+ [\w]", ("1 _", " a"), ("1",), ("é",)),
    Row("dashes at the ends", "a ::= [-a] [a-]", ("-a", "a-"), ("-",), ("b",)),
    Row("the empty class", 'a ::= [] | "x"', ("x",), ("",), ("a",)),
    Row("the full class", "a ::= [^]", ("x", "日"), ("",), (b"\xff",)),
]

EXACT = [
    Row("an exact token", f'a ::= "x" @token({M}) "y"', (["x", M, "y"],), (["x", M],), ("xy", [M])),
    Row("as a terminal", f'a ::= "x" T+\nT ::= @token({M})', (["x", M, M],), ("x",), ([M],)),
    Row("as the start", f"T ::= @token({M})", ([M],), ("",), ("x", [M, M])),
    Row(
        "with other definitions",
        f'a ::= T "!"\nT ::= @token({M})\nT ::= "t"\nT ::= @token({M + 1})',
        ([M, "!"], "t!", [M + 1, "!"]),
    ),
    Row("leading zeros", f"a ::= @token(000{M})?", ([M], ""), (), ("x",)),
    Row(
        "a spellable token has both readings",
        'a ::= @token(98) "1" | "b" "2"',
        ([98, "1"], [98, "2"], "b2"),
        ("b",),
        ("b1",),
    ),
    Row(
        "it ends an obligation",
        f'a ::= T @token({M}) "b"\nT ::= "a" "b"?',
        (["a", M, "b"], ["ab", M, "b"]),
        ("a",),
        ("aa",),
    ),
]

ALL = [*SYNTAX, *TERMINALS, *LINES, *LITERALS, *EXACT]


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_row(row: Row, compiled, read) -> None:
    constraint = compiled(row.grammar)
    verdicts = [(text, read(constraint, text)) for text in (*row.accept, *row.prefix, *row.reject)]
    expected = [(text, "accept") for text in row.accept]
    expected += [(text, "prefix") for text in row.prefix] + [(text, "reject") for text in row.reject]
    assert verdicts == expected
    assert verdicts


def test_the_quickstart_of_the_seed(engine: str) -> None:
    import glrmask

    vocab = glrmask.Vocab.from_dict({b"hello": 0, b" ": 1, b"world": 2, b"<eos>": 3})
    grammar = glrmask.Grammar.from_ebnf('start ::= "hello" " " "world"')
    state = grammar.compile(vocab, end_tokens=[3], engine=engine).start()
    assert state.mask().tolist() == [True, False, False, False]
    state.commit_token(0)
    assert state.mask().tolist() == [False, True, False, False]
    state.commit_token(1)
    state.commit_token(2)
    assert state.is_accepting() and state.mask()[3]
    state.commit_token(3)
    assert not state.mask().any()


def test_an_unknown_token_widens_the_mask(engine: str) -> None:
    import glrmask

    vocab = glrmask.Vocab.from_dict({b"a": 0})
    constraint = glrmask.Grammar.from_ebnf('s ::= "a" @token(99)').compile(vocab, engine=engine)
    assert constraint.mask_len() == 4
    state = constraint.start()
    state.commit_token(0)
    assert state.mask().nonzero()[0].tolist() == [99]
    state.commit_token(99)
    assert state.is_accepting()


def test_a_far_unknown_token_is_refused(engine: str) -> None:
    import glrmask

    vocab = glrmask.Vocab.from_dict({b"a": 0})
    with pytest.raises(ValueError, match=str(2**24)):
        glrmask.Grammar.from_ebnf(f"s ::= @token({2**24})").compile(vocab, engine=engine)


def test_kept_backslashes_are_warned_of(parse) -> None:
    warnings = parse('a ::= "x"\nb ::= "\\q"').warnings
    assert [(w.severity, str(w.place)) for w in warnings] == [("warning", "2:8")]


def test_unused_terminals_are_warned_of(parse) -> None:
    warnings = parse("a ::= A E\nA ::= B\nB ::= 'b'\nC ::= D\nD ::= 'd'\nE ::= @token(1)").warnings
    assert [(str(w.place), w.message) for w in warnings] == [("4:1", 'terminal "C" is not used')]


def test_rules_and_terminals_have_names_and_places(parse) -> None:
    module = parse('start ::= "lit" T\nT ::= [a-z]+').module
    assert {"start", "T"} == set(module.names)
    assert {str(place) for place in module.rule_places.values()} == {"1:1"}
    assert {str(place) for place in module.places.values()} == {"1:11", "2:1"}


def test_a_source_must_be_a_string() -> None:
    import glrmask

    with pytest.raises(TypeError, match="bytes"):
        glrmask.Grammar.from_ebnf(b"a ::= b")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="strict"):
        glrmask.Grammar.from_ebnf("a ::= b", strict=True)
