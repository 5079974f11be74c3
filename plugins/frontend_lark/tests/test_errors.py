"""What is refused, with its place and what the message says."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from glrmask_core.errors import ArgumentTypeError, GrammarError, GrammarSyntaxError

# grammar, line, column, part of the message
REFUSED = [
    ("", None, None, "empty grammar"),
    ("// nothing\n\n", None, None, "empty grammar"),
    ("start\n", 1, 6, 'expected ":" after the name "start"'),
    ("start: a\n", 1, 8, 'undefined rule "a" in rule "start"'),
    ('start: "a"\nunused: NAM\nNAME: "x"\n', 2, 9, 'undefined terminal "NAM" in rule "unused"; did you mean "NAME"?'),
    ("start: valu\nvalue: A\nA: B\n", 1, 8, 'did you mean "value"?'),
    ("start: A\nA: B\n", 2, 4, 'undefined terminal "B" in terminal "A"'),
    ('start: "a"\n%ignore WS\n', 2, 9, 'undefined terminal "WS" in %ignore'),
    ("start: Valu\nValue: /a/\n", 1, 8, 'did you mean "Value"?'),
    ('start: "a"\nstart: "b"\n', 2, 1, '"start" is defined twice, first at 1:1'),
    ('start: A\nA: "a"\nA: "b"\n', 3, 1, '"A" is defined twice'),
    ('%import common.INT\nINT: "a"\nstart: INT\n', 2, 1, '"INT" is defined twice, first at 1:16'),
    ('%declare X\nX: "a"\nstart: X\n', 2, 1, '"X" is defined twice'),
    ('start: "a"\n%override b: "x"\n', 2, 11, 'cannot override "b", which is not defined'),
    ('start: "a"\n%extend star: "x"\n', 2, 9, 'cannot extend "star", which is not defined; did you mean "start"?'),
    ("start: A\nA: start\n", 2, 4, 'rule "start" cannot stand inside a terminal'),
    ("start: A\nA: B\nB: C\nC: A | B\n", 4, 4, "refers to itself (A -> B -> C -> A)"),
    ("start: A\nA: A\n", 2, 4, "refers to itself (A -> A)"),
    ('start: "a"~2..\n', 1, 13, "number"),
    ('start: A\nA: ("a"1 "b")\n', 2, 8, "expected one of"),
    ('start: "a"~3..2\n', 1, 12, "bad repetition ~3..2"),
    ('start: "a"~-1\n', 1, 12, "bad repetition ~-1..-1"),
    ('start: A\nA: "a"~3..2\n', 2, 8, "bad repetition ~3..2"),
    ('start: "a"~3000000000\n', 1, 12, "bad repetition"),
    ('start: "a"~30000000000\n', 1, 12, "at most ten digits"),
    ('start: "a"?+\n', 1, 12, 'found "+"'),
    ('start: "a"**\n', 1, 12, 'found "*"'),
    ("start: *\n", 1, 8, 'found "*"'),
    ('start: ("a" | "b"\n', 1, 8, 'expected ")" before the end of the text'),
    ('start: ("a" | ["b")\n', 1, 19, 'expected "]" for the "[" opened at 1:15, found ")"'),
    ('start: "a")\n', 1, 11, "nothing is open here"),
    ('start: "abc\n', 1, 8, 'expected a closing " before the end of the line'),
    ("start: 'abc\n", 1, 8, "expected a closing ' before the end of the line"),
    ('start: "a" /abc\n', 1, 12, "expected a closing / of this regular expression"),
    ('start: "a" "b\n  | "c"\n', 1, 12, 'expected a closing "'),
    ('start: "a" -> B\n', 1, 15, "an alias needs a lower-case name"),
    ('start: ("a" -> b) "c"\n', 1, 13, "cannot stand inside brackets"),
    ('start: A\nA: "a" -> b\n', 2, 8, "an alias (->) cannot stand inside a terminal"),
    ('start: "a"\n"b"\n', 2, 1, "a rule goes on in the next line only if that line starts with |"),
    ('start: "a" %ignore "b"\n', 1, 12, "a directive starts a line of its own"),
    ('start: "a" : "b"\n', 1, 12, "a rule starts a line of its own"),
    ('start: "a" ! "b"\n', 1, 12, "a rule starts a line of its own"),
    ("| a\n", 1, 1, 'found "|"'),
    ('? start: "a"\n', 1, 1, 'expected the name of a rule right after "?"'),
    ('__x: "a"\n', 1, 1, '"__x" is not a name'),
    ('start: "a"\n%ignored "b"\n', 2, 1, 'unknown directive "%ignored"'),
    ('start: "a"\n%ignored "b"\n', 2, 1, 'did you mean "%ignore"?'),
    ("%import common\nstart: common\n", 1, 9, "found no name to import"),
    ("%import common.INTS\nstart: INTS\n", 1, 16, '"common" has no "INTS"; did you mean "INT"?'),
    ("%import comon.INT\nstart: INT\n", 1, 9, 'cannot import from "comon": a grammar never reads files'),
    ("%import .common.INT\nstart: INT\n", 1, 9, "relative imports are refused"),
    ("%import common.deep.INT\nstart: INT\n", 1, 9, 'cannot import from "common.deep"'),
    ("%import (INT)\nstart: INT\n", 1, 9, "expected the name of a grammar"),
    ("%import common (INT\nstart: INT\n", 2, 1, '"," or ")"'),
    ("%import common.INT -> number\nstart: number\n", 1, 23, 'cannot import "INT" as "number"'),
    ("%import common.INT\n%import common.INT -> N\nstart: N\n", 2, 16, 'is imported as "INT" and as "N"'),
    ("%import common.INT -> X\n%import common.WS -> X\nstart: X\n", 2, 16, '"X" is imported twice'),
    ('start: A..B\nA: "a"\nB: "b"\n', 1, 9, "expected one of"),
    ("%import common.INT junk\nstart: INT\n", 1, 20, "expected the end of the line after %import"),
    ('%declare x\nstart: "a"\n', 1, 10, "%declare makes a token slot"),
    ("start: A\nA: X\n%declare X\n", 2, 4, 'declared token "X" cannot be part of a terminal'),
    ('start: "a"\n%declare X\n%ignore X\n', 3, 9, 'declared token "X"'),
    ("start: A\nA: @token(5) /x/\n", 2, 4, "@token(n) must be the whole body of a terminal"),
    ('start: A\nA: "x" | @token(5)\n', 2, 10, "@token(n) must be the whole body of a terminal"),
    ('start: A\nA: B "x"\nB: @token(5)\n', 2, 4, '"B" is an exact token and cannot be part of a terminal'),
    ('start: "a"\n%ignore @token(5)\n', 2, 9, "@token(n) cannot be ignored"),
    ("start: @token(4294967296)\n", 1, 8, "below 2^32"),
    ("start: @token( 5)\n", 1, 8, "expected @token(n)"),
    ("start: @tok\n", 1, 8, "expected @token(n)"),
    ('start: "b".."a"\n', 1, 8, 'reversed range: "b" comes after "a"'),
    ('start: "ab".."c"\n', 1, 8, "must be one character"),
    ('start: "a".."c"i\n', 1, 13, "must be one character without suffix"),
    ('start: A\nA: "b".."a"\n', 2, 4, 'terminal "A": reversed range'),
    ("start: /a/../b/\n", 1, 11, ""),
    ('start: "a\\xg0"\n', 1, 10, "2 hexadecimal digits"),
    ('start: "a\\ud800"\n', 1, 10, "U+D800 is not a character"),
    ('start: "a\\U00110000"\n', 1, 10, "is not a character"),
    ('start: "a\ud800"\n', 1, 10, "a lone surrogate U+D800"),
    ("start: /a\nb/\n", 1, 10, "a line end in a regular expression needs the flag x"),
    ("start: /a/l\n", 1, 8, "flag l"),
    ("start: A\nA: /a(?=b)/\n", 2, 6, 'terminal "A": '),
    ("start: A\nA: /a(?!b)/\n", 2, 6, 'terminal "A": '),
    ("start: A\nA: /(?<=a)b/\n", 2, 5, 'terminal "A": '),
    ("start: A\nA: /(?<!a)b/\n", 2, 5, 'terminal "A": '),
    ("start: A\nA: /(a)\\1/\n", 2, 8, 'terminal "A": '),
    ("start: A\nA: /(a)?(?(1)b|c)/\n", 2, 9, 'terminal "A": '),
    ("start: A\nA: /(?>a)/\n", 2, 5, 'terminal "A": '),
    ("start: A\nA: /a++/\n", 2, 7, 'terminal "A": '),
    ("start: A\nA: /a\\bb/\n", 2, 6, 'terminal "A": '),
    ("start: A\nA: /a\\Bb/\n", 2, 6, 'terminal "A": '),
    ("start: A\nA: /a^b/\n", 2, 6, 'terminal "A": '),
    ("start: A\nA: /a$b/\n", 2, 6, 'terminal "A": '),
    ("start: A\nA: /[b-a]/\n", 2, None, 'terminal "A": '),
    ("start: A\nA: /(a/\n", 2, None, 'terminal "A": '),
    ("start: A\nA: /a{2,1}/\n", 2, None, 'terminal "A": '),
    ('start: A\nA: "b" /^a/\n', 2, 1, "an anchor"),
    ('start: A\nA: /a$/ "b"\n', 2, 1, "an anchor"),
    ("start: A\nA: /^a/+\n", 2, 1, "an anchor"),
    ('start: A\nA: /a|^b/ "c"\n', 2, None, "anchor"),
    ('start: A\nA: "b" /(?i)a/\n', 2, 1, "flags such as (?i)"),
    ("start: A\nA: /(?i)a/+\n", 2, 1, "flags such as (?i)"),
    ('start: "a"\nA: /(?=b)/\n', 2, 5, 'terminal "A": '),
    ("%import common._STRING_INNER\nstart: _STRING_INNER\n", 1, 16, "no meaning of their own"),
    ('%import common._STRING_ESC_INNER\nstart: A\nA: "x" _STRING_ESC_INNER "ab"\n', 3, 1, "no meaning of their own"),
    ('%import common._STRING_ESC_INNER\nstart: A\nA: /"/ _STRING_ESC_INNER /"+/\n', 3, 1, "no meaning of their own"),
    ('%import common._STRING_INNER\nstart: A\nA: "<" _STRING_INNER ">" "x"\n', 3, 1, "no meaning of their own"),
    ('%import common._STRING_INNER\nstart: A\nA: "<" _STRING_INNER? ">"\n', 3, 1, "no meaning of their own"),
    ('start{x}: x "a"\n', 1, 1, "cannot be a template"),
    ('t{x}: x "a"\n', None, None, "no start rule"),
    ('start: "a" t\nt{x}: x\n', 1, 1, 'template "t" needs arguments: t{x}'),
    ('start: t{"a"}\nt{x, y}: x y\n', None, None, "expected 2, got 1"),
    ('start: t{"a"}\nt: "x"\n', None, None, "expected 0, got 1"),
    ('start: u{"a"}\n', 1, 8, 'undefined rule "u"'),
    ("start: t{b}\nt{f}: f{b}\nb: /x/\n", 2, 1, "used as a template but is none"),
    ("start: t{p}\nt{f}: f\np{x}: x\n", 2, 1, 'template "p" needs arguments'),
    ("start: t{p}\nt{f}: f{f, f}\np{x}: x\n", 3, 1, "expected 1 arguments, found 2"),
    ('start: f{"a"}\nf{x}: x f{f{x}}\n', 2, 1, "more than 10,000 different arguments"),
    ("start: t{X}\nt{X}: X\n", 2, 3, "a template parameter needs a lower-case name"),
    ("start[capture]: /a/\n", 1, 6, "attributes of rules do not exist here"),
    ('%llguidance {}\nstart: "a"\n', 1, 1, "llguidance"),
    ('start: "a"\nobj: %json {"type": "object"}\n', 2, 6, "a directive starts a line of its own"),
    ('%regex {}\nstart: "a"\n', 1, 1, 'unknown directive "%regex"'),
    ("start: <[5]>\n", 1, 8, "special tokens are written @token(n)"),
    ("start: <|end|>\n", 1, 8, "special tokens are written @token(n)"),
    ("start: a & b\n", 1, 10, 'unexpected character "&"'),
    ("start: \x00\n", 1, 8, "unexpected character U+0000"),
    ("start: é\n", 1, 8, 'unexpected character "é"'),
    ("\tstart: a\r\n\n   b: A\r\n", 1, 9, 'undefined rule "a"'),
]


@pytest.mark.parametrize(("grammar", "line", "column", "part"), REFUSED, ids=[repr(row[0])[:60] for row in REFUSED])
def test_refused(grammar: str, line: int | None, column: int | None, part: str, parse) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(grammar)
    assert part in str(caught.value)
    place = caught.value.diagnostics[0].place
    if line is None:
        return
    assert place is not None
    assert (line, column or place.column) == (place.line, place.column)
    assert f"<grammar>:{line}:{place.column}: " in str(caught.value)
    source = re.sub("[\x00-\x1f\ud800-\udfff]", "\ufffd", grammar.split("\n")[line - 1].rstrip("\r").replace("\t", " "))
    assert f"{line:5d} | {source}\n" in str(caught.value)
    assert "^" in str(caught.value).split("\n")[2]


def test_all_undefined_names_are_told_in_source_order(parse) -> None:
    with pytest.raises(GrammarError) as caught:
        parse("start: aa B\nother: cc\nB: D\n%ignore E\n")
    assert [d.message.split('"')[1] for d in caught.value.diagnostics] == ["aa", "cc", "D", "E"]


def test_syntax_errors_are_their_own_class(parse) -> None:
    with pytest.raises(GrammarSyntaxError):
        parse("start: (\n")
    with pytest.raises(GrammarError) as caught:
        parse("start: a\n")
    assert not isinstance(caught.value, GrammarSyntaxError)


NOTES = [
    ('root ::= "a" | b\nb ::= [a-z]\n', "GBNF"),
    ('s ::= "a"\n', "EBNF"),
    ('s := "a"\n', "EBNF"),
    ('glrm 1;\nstart s;\nnt s = "a";\n', "from_glrm"),
    ('start s;\nnt s = "a";\n', "GLRM without its 'glrm 1;'"),
    ('{"type": "object"}', "JSON Schema"),
    ("  [\n]", "JSON"),
    ('grammar Foo;\nr : "a" ;\n', "ANTLR"),
    ('digit = "0" | "1" ;\n', "ISO EBNF"),
    ('%llguidance {}\nstart: "a"\n', "llguidance's dialect"),
    ('start: a\na[capture="x"]: /x/\n', "llguidance's dialect"),
]


@pytest.mark.parametrize(("text", "part"), NOTES, ids=[row[1] + repr(row[0])[:20] for row in NOTES])
def test_a_note_tells_what_else_a_text_looks_like(text: str, part: str, parse) -> None:
    with pytest.raises(GrammarError, match="note: this looks like") as caught:
        parse(text)
    assert part in str(caught.value).split("note: ")[1]


def test_mutated_grammars_are_read_or_refused(parse) -> None:
    """No other exception than GrammarError, whatever the text."""
    pick = random.Random(7)
    texts = [row[0] for row in REFUSED]
    texts += [path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "grammars").glob("*.lark")]
    read = 0
    for _ in range(1500):
        text, other = pick.choice(texts), pick.choice(texts)
        for _ in range(pick.randint(1, 3)):
            at, there = pick.randint(0, len(text)), pick.randint(0, len(other))
            end = at + pick.randint(0, 4)
            text = (
                text[:at]
                + pick.choice(("", other[there : there + 9], pick.choice("\"'/\\()[]{}|?~.:%@\n")))
                + text[end:]
            )
        try:
            parse(text)
            read += 1
        except GrammarError as error:
            assert error.diagnostics and str(error)
    assert 20 < read < 1500


def test_no_note_for_what_is_lark(parse) -> None:
    with pytest.raises(GrammarError) as caught:
        parse('start: a\nb: "x = y"\n')
    assert "note:" not in str(caught.value)


def test_types_are_checked_by_prepare() -> None:
    from glrmask_frontend_lark.plugin import LarkFrontend

    frontend = LarkFrontend()
    assert frontend.prepare("x", {}) == "x"
    for source in (b"x", None, 1, ["x"]):
        with pytest.raises(ArgumentTypeError, match="expected the grammar as str"):
            frontend.prepare(source, {})
    with pytest.raises(ArgumentTypeError, match="strict"):
        frontend.prepare("x", {"strict": True})


def test_files_beside_are_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parse) -> None:
    """Neither a module of that name nor one that shadows a bundled grammar is opened."""
    (tmp_path / "mine.lark").write_text('X: "x"\n')
    (tmp_path / "common.lark").write_text('INT: "shadow"\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "common.lark").write_text('INT: "shadow"\n')
    monkeypatch.chdir(tmp_path)
    opened: list[str] = []
    parse("start: INT\n%import common.INT\n")  # imports of Python itself are done now
    hook_on = True

    def hook(event: str, args: tuple[object, ...]) -> None:
        if hook_on and event == "open" and isinstance(args[0], (str, bytes, os.PathLike)):
            opened.append(os.fspath(args[0]) if not isinstance(args[0], bytes) else args[0].decode())

    sys.addaudithook(hook)
    try:
        for path in ("mine.X", ".mine.X", "sub.common.INT", ".common.INT", "common.MINE"):
            with pytest.raises(GrammarError):
                parse(f"start: X\n%import {path} -> X\n")
        parse("start: INT\n%import common.INT\n")
    finally:
        hook_on = False
    assert [path for path in opened if str(tmp_path) in os.path.abspath(path) or not os.path.isabs(path)] == []
    assert all("lark" in path for path in opened)


def test_the_plugin_module_does_not_import_lark() -> None:
    code = "import sys, glrmask_frontend_lark.plugin; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
