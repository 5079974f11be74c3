"""How GLRM is written: tokens, header, declarations, strings, regexes; each with texts that show what was read."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest


class Row(NamedTuple):
    """A whole document and what it does with texts."""

    name: str
    document: str
    accept: tuple[Any, ...] = ()
    reject: tuple[Any, ...] = ()


TOKENS = [
    Row("white space", '\tglrm\r\n 1\n;\tstart\ns;nt s=\r"a"\n;', ("a",), ("b",)),
    Row(
        "comments",
        '// one\nglrm /* two */ 1; /* ; " */ start s; // start t;\nnt s = /* * / **/ "a"; //',
        ("a",),
        ("b",),
    ),
    Row("comments do not nest", 'glrm 1; start s; /* /* */ nt s = "a";', ("a",), ("b",)),
    Row("a comment inside a string is text", 'glrm 1; start s; nt s = "/*" "//";', ("/*//",), ("a",)),
    Row("leading zeros", 'glrm 001; start s; nt s = "a"{002};', ("aa",), ("b",)),
    Row("identifiers", 'glrm 1; start _a1_B; nt _a1_B = X_9; t X_9 = "x";', ("x",), ("y",)),
    Row(
        "keywords are names elsewhere",
        "glrm 1; start start; nt start = nt t g; nt nt = ignore; t ignore = internal; internal t internal = 'i';"
        "t t = 't'; g g = { start g; nt g = pragma; nt pragma = extern token grammar accept lexer group fa subgrammar;"
        "nt extern = 'e'; nt token = 'k'; nt grammar = 'r'; nt accept = 'a'; nt lexer = 'l'; nt group = 'g';"
        "nt fa = 'f'; nt subgrammar = 's'; };",
        ("itekralgfs",),
        ("x",),
    ),
    Row("eps may be the name of a rule", 'glrm 1; start s; nt s = "a" eps; nt eps = "b";', ("a",), ("ab",)),
    Row("subgrammar is g", 'glrm 1; start c; subgrammar c = { start x; nt x = "a"; };', ("a",), ("b",)),
    Row("upper and lower case for both kinds", 'glrm 1; start S; nt S = T t; t t = "a"; nt T = "b";', ("ba",), ("a",)),
]

STRINGS = [
    Row("both quotes", """glrm 1; start s; nt s = "it's" '"';""", ("it's\"",), ("its",)),
    Row("escapes", r"""glrm 1; start s; nt s = "\n\t\r\\\"" '\'';""", ("\n\t\r\\\"'",), ("n",)),
    Row("one raw byte", r'glrm 1; start s; nt s = "\xff\x41\xC3";', (b"\xffA\xc3",), ("ÿ", b"\xc3\xbf")),
    Row("other escapes keep the backslash", r"""glrm 1; start s; nt s = "\q\'\/";""", ("\\q\\'\\/",), ("q",)),
    Row("raw newlines", 'glrm 1; start s; nt s = "a\n\tb";', ("a\n\tb",), ("ab",)),
    Row("characters are their UTF-8 bytes", 'glrm 1; start s; nt s = "é日😀";', ("é日😀",), ("e", b"\xe9")),
    Row("a NUL character is a byte", 'glrm 1; start s; nt s = "\x00";', (b"\x00",), ("0",)),
]

# The dialect has tests of its own in the core; these show that the pattern arrives as it is written.
REGEXES = [
    Row("a slash", r"glrm 1; start s; t s = /a\/b[\/]/;", ("a/b/",), ("a\\/",)),
    Row("dot is a character, newline too", "glrm 1; start s; t s = /a.b/;", ("a\nb", "aéb"), (b"a\xffb",)),
    Row("classes of characters", r"glrm 1; start s; t s = /[é-ë]\d\w\s/;", ("ê1_ ",), ("ì",)),
    Row("raw bytes", r"glrm 1; start s; t s = /\xff[\xfea]/;", (b"\xff\xfe", b"\xffa"), ("ÿ",)),
    Row("characters by number", r"glrm 1; start s; t s = /\u00e9\U0001F600\ud83d\ude00/;", ("é😀😀",), ("e",)),
    Row("lazy quantifiers have no effect", "glrm 1; start s; t s = /a+?b*?c??/;", ("aab", "a", "ac"), ("b",)),
    Row("groups and names", "glrm 1; start s; t s = /(?:a|(b)|(?P<x>c)|(?<y>))d/;", ("ad", "bd", "cd", "d"), ("e",)),
    Row("bounds", "glrm 1; start s; t s = /a{2}b{1,}c{0,1}/;", ("aab", "aabbc"), ("ab",)),
    Row("form feed, vertical tab, NUL", r"glrm 1; start s; t s = /\f\v\0/;", (b"\x0c\x0b\x00",), ("f",)),
    Row("several, and what surrounds them", 'glrm 1; start s; t s = "<" /a/ ">" | /b/+;', ("<a>", "bb"), ("a",)),
]

DECLARATIONS = [
    Row("start is a terminal", 'glrm 1; start s; t s = "a";', ("a",), ("b",)),
    Row("definitions are alternatives", 'glrm 1; start s; nt s = "a"; nt s = "b" | "c";', ("a", "b", "c"), ("d",)),
    Row("of terminals too", 'glrm 1; start s; t s = /a+/; t s = "b";', ("aa", "b"), ("ab",)),
    Row(
        "of internal terminals too",
        'glrm 1; start s; t s = x; internal t x = "a"; internal t x = "b";',
        ("a", "b"),
        ("c",),
    ),
    Row("order is free", 'glrm 1; nt s = T; start s; t T = U; internal t U = "a";', ("a",), ("b",)),
    Row("ignore before its terminal", 'glrm 1; ignore W; start s; nt s = "a" "b"; t W = " ";', ("a b",), ("a-b",)),
    Row(
        "unused definitions",
        'glrm 1; start s; nt s = "a"; nt x = y; nt y = x; t z = "z"; internal t w = "w";',
        ("a",),
        ("z",),
    ),
    Row(
        "a pragma",
        'glrm 1; start s; nt s = A "b" "c"; t A = "a"; pragma glrmask { lexer group one = A, "b"; '
        "lexer group two = @ literals, *; } pragma glrmask {} nt unused = eps;",
        ("abc",),
        ("b",),
    ),
]

ALL = [*TOKENS, *STRINGS, *REGEXES, *DECLARATIONS]


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_row(row: Row, compiled, read) -> None:
    constraint = compiled(row.document)
    assert [(text, read(constraint, text)) for text in row.accept] == [(text, "accept") for text in row.accept]
    assert [(text, read(constraint, text)) for text in row.reject] == [(text, "reject") for text in row.reject]


def test_kept_backslashes_are_warned_of(parse) -> None:
    text = 'glrm 1; start s;\nnt s = "\\q" T; t T = "a\\d";'
    warnings = parse(text).warnings
    assert [(w.severity, str(w.place)) for w in warnings] == [("warning", "2:9"), ("warning", "2:24")]
    assert "backslash" in warnings[0].message


def test_unused_terminals_are_warned_of(parse) -> None:
    text = "glrm 1; start s; ignore W; t W = ' '; nt s = A; t A = B; internal t B = 'b';\nt C = D; t D = 'd';"
    assert [(str(w.place), w.message) for w in parse(text).warnings] == [("2:3", 'terminal "C" is not used')]


def test_rules_and_slots_are_named_by_their_path(parse) -> None:
    module = parse(
        "glrm 1; start s; nt s = a Z; extern token Z; extern grammar unused;"
        "g a = { start x; nt x = T b; t T = 't'; g b = { start y; extern grammar Y; nt y = Y; extern token W; }; };"
    ).module
    assert dict(module.slots) == {"Z": "token", "unused": "grammar", "a::b::Y": "grammar", "a::b::W": "token"}
    assert {"s", "a", "a::x", "a::T", "a::b", "a::b::y"} <= set(module.names)


def test_rules_and_terminals_know_their_places(parse) -> None:
    module = parse('glrm 1;\nstart s;\nnt s = "lit" T;\nt T = /t/;').module
    assert {str(place) for place in module.rule_places.values()} == {"3:4"}
    assert {str(place) for place in module.places.values()} == {"3:8", "4:3"}


def test_an_unbound_slot_is_named(compiled) -> None:
    with pytest.raises(ValueError, match="inner::X"):
        compiled("glrm 1; start s; nt s = 'a'; g inner = { start x; nt x = 'x'; extern token X; };")


def test_a_source_must_be_a_string() -> None:
    import glrmask

    with pytest.raises(TypeError, match="bytes"):
        glrmask.Grammar.from_glrm(b"glrm 1;")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="strict"):
        glrmask.Grammar.from_glrm("glrm 1;", strict=True)


def test_the_text_is_read_late() -> None:
    import glrmask

    grammar = glrmask.Grammar.from_glrm("nothing of the kind")
    with pytest.raises(ValueError, match='"glrm 1;"'):
        grammar.slots()


def test_nothing_is_imported_before_a_text_is_read() -> None:
    import subprocess
    import sys

    code = (
        "import sys, glrmask_frontend_glrm.plugin as p; p.glrmask_register_frontends()[0].prepare('x', {});"
        "print('lark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"
