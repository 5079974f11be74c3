"""Regular expressions: dialects, classes, anchors, errors with offsets; Python's ``re`` where both mean the same."""

from __future__ import annotations

import itertools
import random
import re
import time

import pytest

from glrmask_core.automata import Automata
from glrmask_core.ir import Builder
from glrmask_core.languages import matches
from glrmask_core.regex import Dialect, RegexError, compile_regex
from glrmask_core.regex_parse import MAX_LENGTH

GLRM, PYTHON, ECMA = Dialect.GLRM, Dialect.PYTHON, Dialect.ECMA


def full(pattern: str, text: str | bytes, dialect: Dialect = GLRM, flags: str = "", search: bool = False) -> bool:
    builder = Builder()
    node = compile_regex(pattern, builder, dialect=dialect, flags=flags, search=search)
    return matches(builder, node, text.encode() if isinstance(text, str) else text)


def fault(pattern: str, dialect: Dialect = GLRM, flags: str = "") -> RegexError:
    with pytest.raises(RegexError) as caught:
        compile_regex(pattern, Builder(), dialect=dialect, flags=flags)
    return caught.value


@pytest.mark.parametrize(
    "pattern, yes, no",
    [
        ("a|bc", ["a", "bc"], ["", "b", "abc"]),
        ("", [""], ["a"]),
        ("a||b", ["", "a", "b"], ["ab"]),
        ("(|x)y", ["y", "xy"], ["x"]),
        ("(?:ab)+?c", ["abc", "ababc"], ["c"]),
        ("(?P<n>a)(?<m>b)", ["ab"], ["a"]),
        ("a{2}b{1,}c{0,1}", ["aab", "aabbc"], ["ab", "aac", "aabcc"]),
        ("a{0}", [""], ["a"]),
        (".", ["x", "\n", "é", "😀"], ["", "ab"]),
        (r"\d\w\s", ["1_ ", "9a\v", "0Z\f"], ["a1 ", "11\u00a0"]),
        (r"\D\W\S", ["é-x", "x😀é"], ["1-x", "xax"]),
        (r"[^a-c\n]", ["d", "é"], ["a", "\n", "dd"]),
        (r"[a\-z]", ["a", "-", "z"], ["b"]),
        (r"[-a]", ["-", "a"], ["b"]),
        (r"[a-]", ["-", "a"], ["b"]),
        (r"[^-a]", ["b"], ["-", "a"]),
        (r"[]a]" if False else r"[\]a]", ["]", "a"], ["b"]),
        (r"\n\r\t\f\v\0\\\/\.", ["\n\r\t\f\v\0\\/."], [""]),
        (r"\x41\u00e9\U0001F600", ["Aé😀"], ["A"]),
        (r"\ud83d\ude00", ["😀"], [""]),
        (r"[\ud83d\ude00-\ud83d\ude02]", ["😀", "😁"], ["😃"]),
    ],
)
def test_glrm(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [] == [t for t in yes if not full(pattern, t)]
    assert [] == [t for t in no if full(pattern, t)]


def test_raw_bytes_of_glrm() -> None:
    assert full(r"\xff", b"\xff")
    assert not full(r"\xff", "ÿ")
    assert full(r"[é\xff]", b"\xff")
    assert full(r"[é\xff]", "é")
    assert full(r"[\x80-\xbf]", b"\x90")
    assert full(r"\xff", "ÿ", ECMA)
    assert not full("[^a]", b"\xff")


@pytest.mark.parametrize(
    "pattern, word, offset",
    [
        ("a(b", "opened here", 1),
        ("a)", "unmatched", 1),
        ("[ab", "opened here", 0),
        ("a{", "bound", 1),
        ("a{,3}", "bound", 1),
        ("a{3,1}", "reversed", 1),
        ("a{9999999999}", "2147483647", 1),
        ("a{" + "9" * 6000 + "}", "2147483647", 1),
        ("a{٣}", "bound", 1),
        ("*a", "nothing to repeat", 0),
        ("a**", "quantifier after", 2),
        ("a++", "possessive", 2),
        ("a{2}{3}", "quantifier after", 4),
        ("(?=a)", "lookahead", 0),
        ("(?<!a)", "negative lookbehind", 0),
        (r"(a)\1", "backreference", 3),
        ("(?i)a", "inline flags", 0),
        ("(?#x)", "comment", 0),
        (r"\b", "word boundary", 0),
        (r"x\Z", "full-match", 1),
        ("^a", "full-match", 0),
        ("a$", "full-match", 1),
        (r"\p{L}", "not supported", 0),
        (r"\q", "unknown escape", 0),
        ("a\\", "backslash", 1),
        ("[[:alpha:]]", "POSIX", 1),
        ("[a&&b]", "set operation", 2),
        ("[a--b]", "set operation", 2),
        ("[a[b]", "unescaped", 2),
        ("[b-a]", "reversed", 1),
        (r"[\d-z]", "range", 3),
        (r"[^\xff]", "raw byte", 0),
        (r"\ud800", "surrogate", 0),
        (r"\U00110000", "beyond Unicode", 0),
        (r"\x4", "hexadecimal", 0),
    ],
)
def test_glrm_refuses(pattern: str, word: str, offset: int) -> None:
    error = fault(pattern)
    assert word in str(error)
    assert offset == error.offset


@pytest.mark.parametrize(
    "pattern, flags, yes, no",
    [
        (".", "", ["a"], ["\n"]),
        (".", "s", ["\n"], []),
        ("^a|b$", "", ["a", "b"], ["ab"]),
        (r"\Aab\Z", "", ["ab"], []),
        ("straße", "i", ["STRASSE"[:4] + "ßE", "Straẞe"], ["strasse"]),
        ("[a-c]", "i", ["B", "c"], ["d"]),
        ("[^a]", "i", ["b"], ["A", "a"]),
        (r"\w", "i", ["k"], ["\u212a"]),
        (r"[\Wa]", "i", ["A", "-"], ["s", "k"]),
        ("k", "i", ["\u212a", "K"], []),
        ("a b # c\n c", "x", ["abc"], ["a b"]),
        ("(?i:a)b", "", ["Ab"], ["AB"]),
        ("(?-i:a)b", "i", ["aB"], ["AB"]),
        ("(?i)ab", "", ["AB"], []),
        ("a{,2}b", "", ["b", "aab"], ["aaab"]),
        ("a{,}", "", ["", "aaaa"], []),
        ("{}a{x}", "", ["{}a{x}"], []),
        (r"[]\b]", "", ["]", "\b"], ["b"]),
        (r"\101\a" if False else r"\07", "", ["\x07"], []),
    ],
)
def test_python(pattern: str, flags: str, yes: list[str], no: list[str]) -> None:
    assert [] == [t for t in yes if not full(pattern, t, PYTHON, flags)]
    assert [] == [t for t in no if full(pattern, t, PYTHON, flags)]


@pytest.mark.parametrize("pattern", ["a^b", "a$b", "(^)a", "a(?i)b", "(?>a)", "(?(1)a)", "(?L)a", r"a\Z|b"])
def test_python_refuses(pattern: str) -> None:
    assert fault(pattern, PYTHON).offset >= 0


@pytest.mark.parametrize(
    "pattern, yes, no",
    [
        ("a", ["a", "xax"], ["", "x"]),
        ("^a|b$", ["ax", "xb", "a"], ["xa", "bx"]),
        ("^(a|b$)$|^$", ["a", "b", ""], ["ab"]),
        ("a^b", [], ["ab", "a", "b", "a\nb"]),
        ("x*^ab$y*", ["ab"], ["xab", "aby"]),
        ("^[]$", [], ["", "a"]),
        ("^[^]$", ["a", "\n", "é"], [""]),
        ("^.$", ["a"], ["\n", "\r", "\u2028", "\u2029"]),
        (r"^\s$", ["\u00a0", "\ufeff", "\u3000", " "], ["\u0085", "a"]),
        (r"^\cJ\0\x41\u0042\u{43}$", ["\n\0ABC"], []),
        (r"^\p{L}+$", ["aé漢"], ["1", ""]),
        (r"^\P{Lu}$", ["a"], ["A"]),
        (r"^\p{General_Category=Decimal_Number}$", ["1", "٣"], ["a"]),
        (r"^[\p{Lu}\d]$", ["A", "1"], ["a"]),
        ("(?i)^ab$", ["AB"], []),
        (r"(?i)^\w$", ["\u017f"], ["-"]),
        ("(?P<n>a)", ["a"], []),
    ],
)
def test_ecma_searches(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [] == [t for t in yes if not full(pattern, t, ECMA, search=True)]
    assert [] == [t for t in no if full(pattern, t, ECMA, search=True)]


@pytest.mark.parametrize(
    "pattern", [r"\p{Greek}", "(?m)^a", r"\c1", r"\u{110000}", "a{2", r"\07", "[[:alpha:]]", r"(?<n>a)\k<n>"]
)
def test_ecma_refuses(pattern: str) -> None:
    assert fault(pattern, ECMA).offset >= 0


def random_pattern(rng: random.Random, depth: int) -> str:
    kind = rng.choice("aab^$." if depth == 0 else "aab^$()()()|||***")
    if kind in "ab.^$":
        return kind
    inner = random_pattern(rng, depth - 1)
    if kind == "(":
        return f"(?:{inner})"
    if kind == ")":
        return inner + random_pattern(rng, depth - 1)
    if kind == "|":
        return f"(?:{inner}|{random_pattern(rng, depth - 1)})"
    return f"(?:{inner})" + rng.choice(["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{3}", "{2,}"])


def test_anchors_anywhere_as_in_re() -> None:
    texts = ["".join(t) for k in range(4) for t in itertools.product("ab", repeat=k)]
    for seed in range(250):
        pattern = random_pattern(random.Random(seed), 4)
        builder = Builder()
        node = compile_regex(pattern, builder, dialect=ECMA, search=True)
        automata = Automata(builder)
        wanted = re.compile(pattern.replace("$", r"\Z"))
        for text in texts:
            state = automata.start(node)
            for byte in text.encode():
                state = automata.step(state, byte)
            assert (wanted.search(text) is not None) == automata.accepts(state), (pattern, text)


def test_chars_of_a_front_end() -> None:
    builder = Builder()
    seen: list[object] = []

    def chars(ranges: object) -> int:
        seen.append(ranges)
        return builder.literal(b"<c>")

    node = compile_regex("ab|[x-z]", builder, dialect=ECMA, chars=chars)
    assert matches(builder, node, b"<c><c>")
    assert [((97, 97),), ((98, 98),), ((120, 122),)] == seen


def test_raw_bytes_of_a_front_end() -> None:
    builder = Builder()
    node = compile_regex(r"\xfe", builder, dialect=GLRM, raw_byte=lambda byte: builder.literal(b"%x" % byte))
    assert matches(builder, node, b"fe")


def test_deep_groups_end_in_an_error() -> None:
    assert full("(" * 200 + "a" + ")" * 200, "a")
    assert 200 == fault("(" * 201).offset
    assert "more than" in str(fault("a" * (MAX_LENGTH + 1)))


@pytest.mark.parametrize("unit", ["(", "[", "a|", "a{", "(?P<", r"\p{", r"\u{", "[^a]", "a*", "{", "^", "\ud800"])
def test_garbage_takes_bounded_time(unit: str) -> None:
    started = time.perf_counter()
    for dialect in Dialect:
        try:
            compile_regex(unit * 3000, Builder(), dialect=dialect)
        except RegexError as error:
            assert 0 <= error.offset <= len(unit) * 3000
    assert time.perf_counter() - started < 5


def test_large_counts_are_not_written_out() -> None:
    builder = Builder()
    compile_regex("(?:[a-z]{0,100000}x){2147483647}", builder, dialect=GLRM)
    assert len(builder.build(builder.empty())) < 20
