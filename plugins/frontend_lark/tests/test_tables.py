"""Every row of the tables of the Lark subset, and its differences from Lark parsers, as texts."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

import pytest
from lark import Lark


class Row(NamedTuple):
    """A grammar and what it does with texts."""

    name: str
    grammar: str
    accept: tuple[str | bytes, ...] = ()
    prefix: tuple[str | bytes, ...] = ()
    reject: tuple[str | bytes, ...] = ()


SYNTAX = [
    Row("rule and terminal", 'start: item\nitem: NAME\nNAME: "a" "b"\n', ("ab",), ("", "a"), ("b", "abc")),
    Row("names with digits and underscores", 'start: _a1_b C_2\n_a1_b: "a"\nC_2: _C\n_C: "c"\n', ("ac",), ("a",)),
    Row("mixed case is a rule", 'start: Foo "!" fooBar\nFoo: "a" Foo | "b"\nfooBar: "c"\n', ("ab!c",), ("aa",), ("!",)),
    Row("mixed case recurses where a terminal cannot", 'start: Foo\nFoo: "(" Foo ")" | "x"\n', ("((x))",), ("((x)",)),
    Row("prefixes", '?start: a | b | _c\n!a: "a"\n?!b: "b"\n!?_c: "c"\n', ("a", "b", "c"), ("",), ("d",)),
    Row("priorities", 'start.5: a A\na.2: "x"\nA.-1: "y"\n', ("xy",), ("x",), ("y",)),
    Row("priority does not choose", 'start: A "!" | B "?"\nA.5: "x"\nB: "x"\n', ("x!", "x?"), ("x",)),
    Row("start is the rule start", 'a: "a"\nstart: a "b"\n', ("ab",), ("a",), ("b",)),
    Row("start is the first rule", 'a: "a" b\nb: "b"\n', ("ab",), ("a",), ("b",)),
    Row("start is the first terminal", 'A: "a" B\nB: "b"+\n', ("ab", "abbb"), ("a",), ("b",)),
    Row("alternatives and groups", 'start: "a" ("b" | "c" "d") | "e"\n', ("ab", "acd", "e"), ("ac",), ("ad",)),
    Row("square brackets are optional", 'start: ["a"] ["b" | "c"] "d"\n', ("d", "ad", "cd", "abd"), ("ab",), ("bc",)),
    Row("operators", 'start: "a"? "b"* "c"+\n', ("c", "abbc", "bcc"), ("a", "b"), ("aa", "ca")),
    Row("operators in a terminal", 'start: A\nA: "a"? "b"* ("c" | "d")+\n', ("c", "abbcdc"), ("ab",), ("aa", "ca")),
    Row("exact repetition", 'start: "a"~3\n', ("aaa",), ("", "aa"), ("aaaa",)),
    Row("repetition between bounds", 'start: "a"~1..3 "b"\n', ("ab", "aaab"), ("aaa",), ("b", "aaaa")),
    Row("repetition from zero", 'start: "a"~0..2\n', ("", "a", "aa"), (), ("aaa",)),
    Row("repetition of none", 'start: "a"~0 "b"\n', ("b",), ("",), ("a",)),
    Row("repetition in a terminal", 'start: A\nA: ("a" | "bc")~2..3\n', ("abc", "aaa"), ("a", "bcb"), ("aaaa",)),
    Row("repetition of a group", 'start: ("a" "b")~2\n', ("abab",), ("aba",), ("aab",)),
    Row("alias", 'start: "a" -> first\n     | "b" -> second\n', ("a", "b"), ("",), ("c",)),
    Row("strings", 'start: "a\\"b" "\\\\" "\\n" "é"\n', ('a"b\\\né',), (b'a"b\\\n\xc3',), ("a\\",)),
    Row("string escapes", r'start: "\x41\u00e9\U0001F600\t\q"' + "\n", ("Aé\U0001f600\t\\q",), ("Aé",), ("Aq",)),
    Row("a comment sign in a string", 'start: "//" "#"\n', ("//#",), ("//",), ("#",)),
    Row("suffix i", 'start: "aß1"i "É"i "b"\n', ("aß1éb", "Aß1Éb"), ("A",), ("aß1éB",)),
    Row("single quotes", "start: 'a\"b' '\\'' \"it's\"\n", ("a\"b'it's",), ('a"b',), ("ab",)),
    Row("single quotes with i", "start: 'ab'i\n", ("aB", "AB"), ("A",), ("ac",)),
    Row("ranges", 'start: "a".."c"\n', ("a", "b", "c"), ("",), ("d", "ab")),
    Row("ranges of any character", 'start: A\nA: "α".."ω"+ "\\u65e5".."\\u672c"\n', ("βγ日",), ("α",), ("日", "a")),
    Row("regular expressions", "start: /[a-c]+x?/\n", ("abc", "abx"), ("",), ("x", "abxx")),
    Row("flag i", "start: /a[b-c]/i\n", ("aB", "AC"), ("A",), ("ad",)),
    Row("flag m has no effect", "start: /a.b/m\n", ("axb",), ("a",), ("a\nb",)),
    Row("flag s", "start: /a.b/s\n", ("axb", "a\nb"), ("a", "ab"), ("b", "axc")),
    Row("flag u has no effect", "start: /\\w+/u\n", ("ab_1",), ("",), ("é",)),
    Row("flag x", "start: /a  b # comment\n  c/x\n", ("abc",), ("ab",), ("a b",)),
    Row("flags together", "start: /a . b/isx\n", ("a\nB", "AxB"), ("A",), ("a b c",)),
    Row("ignore a terminal", 'start: "a" "b"\nWS: " "+\n%ignore WS\n', ("ab", " a  b "), ("a ", ""), ("a\tb",)),
    Row(
        "ignore a string and an expression",
        'start: "a" "b"\n%ignore " "\n%ignore /#.*#/\n',
        ("a #x# b",),
        ("a#",),
        ("a\tb",),
    ),
    Row(
        "ignore alternatives",
        'start: "a" "b"\nT: "\\t"\n%ignore " " | T | "--" "-"?\n',
        ("a \t-- --- b",),
        ("a-",),
        ("a_b",),
    ),
    Row("ignore alternatives on more lines", 'start: "a" "b"\n%ignore " "\n  | "_"\n', ("a _b",), ("a_",), ("a-b",)),
    Row("import one", "start: INT\n%import common.INT\n", ("0", "42"), ("",), ("-1", "a")),
    Row(
        "import some", "start: INT WS WORD\n%import common (INT, WS, WORD)\n", ("1 a", "12\n\tab"), ("1", "1 "), ("1a",)
    ),
    Row("import as", "start: N\n%import common.INT -> N\n", ("42",), ("",), ("a",)),
    Row(
        "import a rule with what it needs",
        'start: cs_list{A}\nA: "a"\n%import python.cs_list\n',
        ("a", "a,a", "a,a,"),
        ("",),
        (",",),
    ),
    Row("import from unicode", 'start: "a" WS "b"\n%import unicode.WS\n', ("a b", "a\u00a0\nb"), ("a",), ("ab",)),
    Row("import from lark", "start: RULE\n%import lark.RULE\n", ("ab_1", "?a", "!_b"), ("!",), ("A",)),
    Row("import from python", "start: HEX_NUMBER\n%import python.HEX_NUMBER\n", ("0x1f", "0XA_B"), ("0x",), ("1",)),
    Row("override", 'start: INT\n%import common.INT\n%override INT: "x"\n', ("x",), ("",), ("1",)),
    Row("override a rule", 'start: a\na: "a"\n%override a: "b"\n', ("b",), ("",), ("a",)),
    Row(
        "extend",
        'start: INT a\n%import common.INT\n%extend INT: "x"\na: "a"\n%extend a: "b" | "c"\n',
        ("xa", "12c"),
        ("1",),
        ("a",),
    ),
    Row("templates", 'start: list{"a", ","}\nlist{item, by}: item (by item)*\n', ("a", "a,a"), ("a,",), (",",)),
    Row(
        "templates of templates",
        'start: p{q{"a"}, B}\np{x, y}: x y\nq{x}: "(" x ")"\nB: "b"\n',
        ("(a)b",),
        ("(a)",),
        ("ab",),
    ),
    Row("recursive templates", 'start: nest{"a"}\nnest{x}: x | "(" nest{x} ")"\n', ("a", "((a))"), ("((a)",), (")",)),
    Row(
        "templates as arguments",
        'start: twice{bracket, "a"}\ntwice{f, x}: f{x} f{x}\nbracket{x}: "<" x ">"\n',
        ("<a><a>",),
        ("<a>",),
    ),
    Row(
        "template arguments of all kinds",
        'start: t{"a".."c", /x+/} | t{A, b}\nt{x, y}: x y\nA: "A"\nb: "b"\n',
        ("bxx", "Ab"),
        ("a",),
        ("Ax",),
    ),
    Row("comments", '// one\nstart: "a" // two\n  // three\n  | "b" # four\n# five\n', ("a", "b"), ("",), ("c",)),
    Row("terminals of terminals", 'start: A\nA: B "-" C\nB: C C\nC: "x" | D\nD: "y"\n', ("xy-x",), ("xy",), ("x-x",)),
    Row("empty alternatives", 'start: "a" ("b" | ) c\nc:\n  | "d"\n', ("a", "ab", "abd", "ad"), ("",), ("b",)),
    Row("empty rule", "start: a\na:\n", ("",), (), ("a",)),
    Row("empty string", 'start: "" "a" | ""\n', ("", "a"), (), ("b",)),
    Row("empty string in a terminal", 'start: A "b"\nA: "" | "a"\n', ("b", "ab"), ("a", ""), ("aab",)),
    Row("nullable terminals", 'start: A "b"\nA: /a*/\n', ("b", "ab", "aab"), ("a",), ("ba",)),
    Row("rules go on with |", 'start: "a"\n    | "b"\n\n\n  // between\n\n    | "c"\n', ("a", "b", "c"), ("",), ("d",)),
    Row("newlines inside brackets", 'start: ("a"\n  "b"\n // c\n  | [\n"c"\n])\n', ("ab", "c", ""), ("a",), ("b",)),
    Row("a backslash goes on", 'start: "a" \\\n  "b"\n', ("ab",), ("a",), ("b",)),
    Row("dot is one byte", 'start: "a" . "b"\n', ("axb", b"a\xffb", "a\nb"), ("ax", "ab"), ("aéb",)),
    Row("dot in a terminal", 'start: A\nA: "a" .~2 "b"\n', ("axyb", "aéb"), ("ax",), ("axbx",)),
    Row("carriage returns", 'start: "a"\r\n  | "b"\r\nA: "x"\r\n', ("a", "b"), ("",), ("x",)),
    Row("no line end at the end", 'start: "a"', ("a",), ("",), ("b",)),
]

EXPRESSIONS = [
    Row(
        "anchors at the ends", r"start: A B" + "\n" + r"A: /^a$/" + "\n" + r"B: /\Ab\Z/" + "\n", ("ab",), ("a",), ("b",)
    ),
    Row("anchors at the ends of joined parts", 'start: A\nA: /^a/ "b" /c$/\n', ("abc",), ("ab",), ("bc",)),
    Row("dot excludes newline", "start: /a.c/\n", ("abc", "aéc"), ("a", b"a\xc3"), ("a\nc", b"a\xffc")),
    Row("classes are ASCII", r"start: /\d\w\s/" + "\n", ("1a ", "1_\t"), ("1",), ("١a ", "1é ", "1a\u00a0")),
    Row("complements are Unicode", r"start: /\D\W\S/" + "\n", ("aéx", "é-é"), ("é",), ("1-a", "aaa")),
    Row("inline flags", "start: /(?i)ab/ /(?i:c)d/\n", ("abcd", "ABCd"), ("AB",), ("abcD",)),
    Row("scoped negative flags", "start: /(?i:a(?-i:b)c)/\n", ("abc", "AbC"), ("A",), ("aBc",)),
    Row("scoped s and x", "start: /(?s:.) (?x: a b )/\n", ("\n ab",), ("\n",), ("\n a b",)),
    Row("simple case folding", "start: /k/i /[à-ö]/i\n", ("kà", "KÀ", "\u212aÖ"), ("k",), ("jà",)),
    Row("lazy quantifiers have no effect", "start: /a.*?b/\n", ("ab", "axbxb"), ("abx",), ("ab\n",)),
    Row("escapes of Python", r"start: /\x41é\n\.\/\-/" + "\n", ("Aé\n./-",), ("Aé",), ("Aéx",)),
    Row("characters, not bytes, above 7f", r"start: /[\x80-\xff]\xe9/" + "\n", ("éé", "ÿé"), (b"\xc3",), (b"\xff",)),
    Row("bounds", "start: /a{2}b{1,2}c{1,}/\n", ("aabc", "aabbccc"), ("aab",), ("abc",)),
    Row("named groups", "start: /(?P<x>a|b)c/\n", ("ac", "bc"), ("a",), ("c",)),
    Row(
        "ESCAPED_STRING",
        "start: ESCAPED_STRING\n%import common.ESCAPED_STRING\n",
        ('""', '"a\\"b"', '"\\\\"', '"é\\n"'),
        ('"', '"a\\"'),
        ('"a"b', '"\n"', '"a\\\n"', "a"),
    ),
    Row(
        "ESCAPED_STRING within a terminal",
        'start: KEY\nKEY: ESCAPED_STRING ":"\n%import common.ESCAPED_STRING\n',
        ('"a\\"":',),
        ('"a"',),
        ('"a":"b":',),
    ),
    Row(
        "the inside of a string before its delimiter",
        """start: A | B
A: "'" _STRING_ESC_INNER "'" "i"?
B: "<" _STRING_INNER ">"
%import common (_STRING_ESC_INNER, _STRING_INNER)
""",
        ("''", "'a\\'b'i", "'\\\\'", "<>", "<a\\>", "<\"'>"),
        ("'", "'a\\'"),
        ("'a'b", "'\n'", "<a>>", "<\n>"),
    ),
    Row(
        "C_COMMENT is the shortest",
        'start: C_COMMENT "x"\n%import common.C_COMMENT\n',
        ("/**/x", "/* a\n*b **/x"),
        ("/*", "/**/"),
        ("/**/*/x", "/x"),
    ),
    Row(
        "python strings",
        "start: STRING | LONG_STRING\n%import python (STRING, LONG_STRING)\n",
        ('"a"', "rb'\\''", '"""a"b\n"""', "''", '""""""'),
        ('"a', '"""a"', 'r"""'),
        ('"a"b', "q''"),
    ),
    Row("python DEC_NUMBER", "start: DEC_NUMBER\n%import python.DEC_NUMBER\n", ("0", "0_0", "12_3"), ("1_",), ("01",)),
    Row(
        "lark OP and REGEXP",
        "start: OP REGEXP\n%import lark (OP, REGEXP)\n",
        ("?/a/", "+/\\/[b]/im"),
        ("*/",),
        ("?//",),
    ),
]

DIFFERENCES = [
    Row("a keyword may be a name", 'start: "if" NAME | NAME "!"\nNAME: /[a-z]+/\n', ("ifx", "if!"), ("if",), ("IF",)),
    Row(
        "no priority of keywords",
        'start: "if" NAME | NAME\nNAME: /[a-z]+/\n%ignore " "\n',
        ("if x", "ifx", "if"),
        ("",),
        ("if x y",),
    ),
    Row(
        "names need a space between",
        'start: NAME NAME\nNAME: /[a-z]+/\n%ignore " "\n',
        ("a b", "ab c"),
        ("ab",),
        ("a b c",),
    ),
    Row("terminals match their longest", 'start: A "b"\nA: /a+/\n', ("ab", "aab"), ("a",), ("ba",)),
    Row("ignore is exempt", 'start: "a" " b"\n%ignore / +/\n', ("a b", "a  b", "  a   b"), ("a ",), ("ab",)),
    Row("ignore not inside terminals", 'start: AB\nAB: "a" "b"\n%ignore " "\n', ("ab", " ab "), ("a",), ("a b",)),
    Row("ignore also in text of rules", 'start: "a" "b"\n%ignore " "\n', ("a b",), ("a",), ("a-b",)),
    Row(
        "explicit use of an ignored terminal",
        'start: "a" WS "b"\nWS: " "\n%ignore WS\n',
        ("a b", "a  b"),
        ("a", "a "),
        ("ab",),
    ),
    Row("nullable ignore", 'start: "a" "b"\n%ignore / */\n', ("ab", "a  b"), ("a ",), ("a-b",)),
    Row("only ignored text", 'start: "a"?\n%ignore " "\n', ("", "  ", " a "), (), ("b",)),
    Row("anonymous tokens do not merge", 'start: /a|ab/ "c" | "b" "cd"\n', ("ac", "abc", "bcd"), ("a",), ("acd",)),
    Row("adjacent expressions are separate", 'start: /[a-z]/+ "end"\n', ("endend", "xend"), ("end",), ("END",)),
]


@pytest.mark.parametrize("row", [*SYNTAX, *EXPRESSIONS, *DIFFERENCES], ids=lambda row: row.name)
def test_row(row: Row, compiled, read) -> None:
    constraint = compiled(row.grammar)
    for expected, texts in (("accept", row.accept), ("prefix", row.prefix), ("reject", row.reject)):
        for text in texts:
            assert (text, read(constraint, text)) == (text, expected)


def test_declared_terminals_are_token_slots(engine, bytes_vocab) -> None:
    import glrmask

    grammar = glrmask.Grammar.from_lark('start: "a" X "b"\n%declare X\n')
    assert dict(grammar.slots()) == {"X": "token"}
    with pytest.raises(ValueError, match="X"):
        grammar.compile(bytes_vocab, engine=engine)
    state = grammar.bind("X", bytes_vocab.token(7)).compile(bytes_vocab, engine=engine).start()
    state.commit_token(ord("a"))
    assert state.mask().nonzero()[0].tolist() == [7]
    state.commit_token(7)
    state.commit_token(ord("b"))
    assert state.is_accepting()


def test_a_declared_terminal_that_is_not_used_needs_nothing(read) -> None:
    assert read('start: "a"\n%declare X Y\n', "a") == "accept"


def test_a_declared_terminal_can_be_overridden(read) -> None:
    assert read('start: X\n%declare X\n%override X: "a"\n', "a") == "accept"


@pytest.mark.parametrize(
    "grammar",
    [
        'start: "a" @token(300) "b"\n',
        'start: "a" T "b"\nT: @token(300)\n',
        'start: "a" t{@token(300)}\nt{x}: x "b"\n',
    ],
)
def test_exact_tokens(grammar: str, compiled) -> None:
    constraint = compiled(grammar)
    assert constraint.mask_len() == (300 + 32) // 32
    state = constraint.start()
    state.commit_token(ord("a"))
    assert state.mask().nonzero()[0].tolist() == [300]
    state.commit_token(300)
    state.commit_token(ord("b"))
    assert state.is_accepting()


def test_open_alternatives_join_as_in_lark(parse, engine, compiled, read) -> None:
    """Lark reads ``/a|b/ "c"`` as ``a|bc``; so do we, and warn."""
    bodies = ['/a|b/ "c"', '"x" /a|b/', '/a|b/ /c|d/ "e"', '(/a|b/) "c"', '(/a|b/)+ "c"', '/a|b/i "c"', 'B "c"']
    bodies += ['/[|]|\\|/ "c"', '/(a|b)|[]|]/ "c"', '("x" | /a|b/) "c"', "B B", '[/a|b/] "c"', '/a|b/~2 "c"']
    for body in bodies:
        grammar = f"start: A\nA: {body}\nB: /a|b/\n"
        lark = Lark(grammar, parser="lalr", lexer="basic")
        pattern = re.compile(next(t.pattern.to_regexp() for t in lark.terminals if t.name == "A"))
        constraint = compiled(grammar)
        for length in range(3 if engine == "oracle" else 4):
            for chars in itertools.product("abcex|]A", repeat=length):
                text = "".join(chars)
                expected = text != "" and pattern.fullmatch(text) is not None
                assert (body, text, read(constraint, text) == "accept") == (body, text, expected)
    assert "a|bc" in parse('start: A\nA: /a|b/ "c"\n').warnings[0].message
    assert parse('start: A\nA: /(a|b)/ "c"\n').warnings == ()
