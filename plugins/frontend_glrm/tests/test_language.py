"""What GLRM grammars mean, row by row: the lexical rule, ignore, expressions, scopes and slots, as texts.

Each row lists texts that are whole sentences, texts that are only the beginning of one, and texts that no
sentence begins with. ``M`` in a grammar is an exact token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

M = 300


class Row(NamedTuple):
    """A grammar without its header and what it does with texts (or lists of texts and exact tokens)."""

    name: str
    grammar: str
    accept: tuple[Any, ...] = ()
    prefix: tuple[Any, ...] = ()
    reject: tuple[Any, ...] = ()
    slots: Mapping[str, int | str] = {}


LEXICAL = [
    Row(
        "keywords do not compete with identifiers",
        't ID=/[a-z]+/; start s; nt s = "if" "x" | ID "!";',
        ("ifx", "if!", "iffy!"),
        ("", "i", "if", "iffy"),
        ("!", "IF"),
    ),
    Row("an occurrence swallows all it can", "t ID=/[a-z]+/; start s; nt s = ID ID;", (), ("", "ab", "abc"), ("a b",)),
    Row("so a suffix cannot follow", 't ID=/[a-z]+/; start s; nt s = ID "end";', (), ("abend", "endend"), ("a!",)),
    Row(
        "judged by the text that is there", 't A=/a|abc/; start s; nt s = A "bd";', ("abd", "abcbd"), ("ab",), ("abb",)
    ),
    Row(
        "cancelled when the longer match appears",
        't A=/a|abc/; start s; nt s = A "bc";',
        ("abcbc",),
        ("ab", "abc"),
        ("abd",),
    ),
    Row("two terminals do not cancel each other", 'start s; nt s = ("a"|"abc") "bc";', ("abc", "abcbc"), ("ab",)),
    Row("one character is always its longest match", 'start s; nt s = [a-z]+ "end";', ("endend", "aend"), ("end",)),
    Row(
        "only the self-maximal split counts",
        "t A=/a+/; t B=/a*b/; start s; nt s = A B;",
        ("aab", "ab"),
        ("aa",),
        ("b",),
    ),
    Row("by the difference language", 't ID=/[a-z]+/ - "abc"; start s; nt s = ID "c";', ("abc",), ("ab", "abcc")),
    Row("at the end a terminal may end", "t A=/a+/; start s; nt s = A;", ("a", "aaa"), ("",), ("b",)),
    Row("nullable terminal", 't A=/a*/; start s; nt s = A "b";', ("b", "ab", "aab"), ("", "aa"), ("ba",)),
    Row("nullable start", "t A=/a*/; start s; nt s = A;", ("", "a", "aa"), (), ("b",)),
    Row("no boundary inside a terminal", 't A = B "b"; t B = /a+/ | "ab"; start s; nt s = A;', ("ab", "abb"), ("a",)),
    Row(
        "an exact token ends an obligation",
        't A=/ab?/; extern token M; start s; nt s = A M "b";',
        (["a", M, "b"], ["ab", M, "b"]),
        (["a"], ["a", M]),
        ("aa", [M], ["a", M, M]),
        {"M": M},
    ),
    Row("obligation without exact token", 't A=/ab?/; start s; nt s = A "b";', ("abb",), ("a", "ab"), ("b",)),
    Row(
        "several obligations",
        't A=/a(xyq)?/; t B=/x(yzw)?/; start s; nt s = A B "y" ("z"|"q") "!";',
        ("axyz!", "axyqxyz!", "axyzwyq!"),
        ("axyz", "axyzw", "axyq"),
        ("axyq!", "axyzw!"),
    ),
    Row("unproductive alternatives go", 'start s; nt s = "c" x | "d"; nt x = "c" x;', ("d",), ("",), ("c",)),
]

IGNORE = [
    Row(
        "before, between and after",
        'ignore W; t W=/ +/; start s; nt s = "ab" "c";',
        ("abc", "ab c", "  abc", "abc  ", " ab   c "),
        ("", " ", "a", "ab "),
        ("a bc", "ab\tc"),
    ),
    Row("exempt from the longest match", 'ignore W; t W=/ +/; start s; nt s = "a" " b";', ("a b", "a  b", "a   b")),
    Row("only ignored, start nullable", 'ignore W; t W=/ /; start s; nt s = "a"?;', ("", " ", "  a "), (), ("b",)),
    Row("only ignored, start not nullable", 'ignore W; t W=/ /; start s; nt s = "a";', ("a",), ("", "  ")),
    Row(
        "an equal terminal stays its own",
        'ignore W; t W=" "; t SP=" "; start s; nt s="a" SP "b";',
        ("a b", "a  b", "a   b"),
        ("a",),
        ("ab",),
    ),
    Row(
        "inside other terminals",
        'ignore W; t W=" "; t A="x" W "y"; start s; nt s=A A;',
        ("x yx y", "x y x y"),
        (),
        ("xy",),
    ),
    Row(
        "around exact tokens",
        'ignore W; t W=" "; extern token M; start s; nt s="a" M "b";',
        (["a ", M, " b"], ["a", M, "b"]),
        (["a ", M, " "],),
        (["a b"],),
        {"M": M},
    ),
    Row(
        "ends one terminal and starts none",
        'ignore W; t W=/ab/; start s; nt s="x" "y";',
        ("xaby", "abxy"),
        ("xa",),
        ("xb",),
    ),
    Row("a start that is the ignored terminal", 'ignore W; t W=" "; start W;', (" ", "  "), ("",), ("a",)),
]

EXPRESSIONS = [
    Row("eps", "start s; nt s = eps;", ("",), (), ("a",)),
    Row("eps as an alternative", 'start s; nt s = "a" (eps | "b");', ("a", "ab"), ("",), ("b",)),
    Row("the empty string is eps", 'start s; nt s = "" "a" ""; t T = "";', ("a",), ("",), ("b",)),
    Row("any byte in a rule", "start s; nt s = . .;", (b"\n\xff", b"\x00a"), (b"\xff",), (b"abc",)),
    Row("any byte in a terminal", 'start s; t s = . "x";', (b"\nx", b"\xffx"), (b"\xc3",), (b"ab",)),
    Row("byte class", "start s; nt s = [a-c_]+;", ("a_c", "b"), ("",), ("d", "ad")),
    Row("negated byte class", "start s; nt s = [^a-c];", ("d", b"\xff", "\n"), ("",), ("a", b"\xffb")),
    Row("raw bytes in a class", "start s; nt s = [\\x00\\xc3-\\xff]+;", (b"\xc3\x00\xff",), (), (b"\xc2",)),
    Row(
        "class of characters", "start s; nt s = [é-ë日]/utf8;", ("é", "ê", "日"), (b"\xc3", ""), ("a", "ì", b"\xc3\xa8")
    ),
    Row("white space before utf8", "start s; nt s = [é] \n /utf8;", ("é",), (b"\xc3",), ("e",)),
    Row(
        "negated class of characters",
        "start s; nt s = [^é]/utf8;",
        ("e", "日", "\n"),
        (b"\xc3", b"\xe6\x97"),
        ("é", b"\xff", b"\xed\xa0\x80"),
    ),
    Row("class escapes", r"start s; nt s = [\n\r\t\\\]\-\^\x41]+;", ("\n\r\t\\]-^A",), (), ("n", "x", "B")),
    Row("class shorthands", r"start s; nt s = [\d\s]+ [\w];", ("1 \t9_", "1a"), ("1",), ("é",)),
    Row("dashes at the ends", "start s; nt s = [-a] [a-] [^-] ;", ("-ab", "a-b"), ("-a", "aa"), ("b", "ab", "---")),
    Row("a caret that is not first", "start s; nt s = [a^];", ("^", "a"), ("",), ("b",)),
    Row("the empty class", 'start s; nt s = [] | "a" [] | "b";', ("b",), ("",), ("a",)),
    Row("the full class", "start s; nt s = [^];", (b"\xff", "a"), ("",)),
    Row("escaped characters", r"start s; nt s = [\u00e9\u65e5]/utf8;", ("é", "日"), (b"\xc3",), ("a",)),
    Row(
        "an astral character", r"start s; nt s = [\ud83d\ude00-\U0001F64F]/utf8;", ("😀", "🙏"), (b"\xf0\x9f",), ("a",)
    ),
    Row("a raw byte among characters", r"start s; nt s = [a\xff]/utf8;", ("a", b"\xff"), ("",), ("ÿ",)),
    Row("quantifiers", 'start s; nt s = "a"? "b"* "c"+;', ("c", "abbcc"), ("a", "ab"), ("ba", "aa")),
    Row("counts", 'start s; nt s = "a"{2} "b"{1,2} "c"{2,} "d"{0};', ("aabcc", "aabbccc"), ("aabc",), ("ab", "aabbb")),
    Row(
        "counts in terminals",
        'start s; t s = "a"{2} /b/{1,2} "c"{2,} "d"{0};',
        ("aabcc", "aabbccc"),
        ("aabc",),
        ("ab",),
    ),
    Row("stacked quantifiers in brackets", 'start s; nt s = (("ab")+)?;', ("", "abab"), ("a",), ("b",)),
    Row("large counts", 'start s; nt s = "a"{20} [a-z]{0,5000};', ("a" * 20, "a" * 21), ("a" * 19,), ("b",)),
    Row("intersection", "start s; nt s = [a-c] & [b-d];", ("b", "c"), ("",), ("a", "d")),
    Row("intersection of literals", 'start s; nt s = ("a"|"b") & ("b"|"c");', ("b",), ("",), ("a", "c")),
    Row("intersection in terminals", "start s; t s = /[a-z]+/ & /.{3}/;", ("abc",), ("ab",), ("abcd", "A")),
    Row("intersection of several", "start s; t s = /[a-z]+/ & /.*x.*/ & /.{2}/;", ("ax", "xb"), ("a",), ("ab",)),
    Row("difference in terminals", 'start s; t s = /[a-c]/ - "b";', ("a", "c"), ("",), ("b",)),
    Row("two differences", 'start s; t s = /[a-d]/ - "b" - "c";', ("a", "d"), ("",), ("b", "c")),
    Row("difference in brackets", 'start s; t s = /[a-d]/ - ("b" | "c");', ("a", "d"), ("",), ("b", "c")),
    Row("a subtrahend with &", "start s; t s = /[a-d]/ - /[a-c]/ & /[b-d]/;", ("a", "d"), ("",), ("b", "c")),
    Row(
        "difference of terminals in a rule",
        't A=/[a-d]/; t B="b"; start s; nt s = (A - B) "!";',
        ("a!", "d!"),
        ("a",),
        ("b",),
    ),
    Row("- takes the whole sequence", 'start s; t s = "x" /[a-z]+/ - "xif";', ("xa", "xiff"), ("x", "xif"), ("a",)),
    Row("| is weaker than -", 'start s; t s = "a" | /[a-c]/ - "a";', ("a", "b", "c"), ("",), ("d",)),
    Row("& is stronger than -", 'start s; t s = /[a-d]/ & /[a-c]/ - "a";', ("b", "c"), ("",), ("a", "d")),
    Row(
        "minus one alternative",
        'start s; nt s = a - ("c" "d"); nt a = "x" a | "c" "d" | "e";',
        ("e", "xe", "xcd"),
        ("x",),
        ("c",),
    ),
    Row(
        "minus several",
        'start s; nt s = a - "b" - ("c" | "d"); nt a = "b" | "c" | "d" | "e";',
        ("e",),
        ("",),
        ("b", "c", "d"),
    ),
    Row(
        "minus spelled another way", r'start s; nt s = a - ("\x62" ("c")); nt a = "b" "c" | "e";', ("e",), ("",), ("b",)
    ),
    Row("minus inside its own rule", 'start s; nt s = "a" (s - ("b")) | "b";', ("b",), ("",), ("ab",)),
    Row(
        "minus an alternative of two definitions",
        'start s; nt s = a - "c"; nt a = "b"; nt a = "c";',
        ("b",),
        ("",),
        ("c",),
    ),
    Row("a literal of many words", 'start s; t s = "one" | "two" | "ten";', ("one", "two", "ten"), ("t",), ("on2",)),
]

SEPARATED = [
    Row(
        "items that may be absent",
        'start s; nt s = "," ~ ("a"? "b" "c"?);',
        ("b", "a,b", "b,c", "a,b,c"),
        ("", "a", "a,", "b,"),
        (",b", "a,c", "ab", "b,,c"),
    ),
    Row("all absent", 'start s; nt s = "," ~ ("a"? "b"?);', ("", "a", "b", "a,b"), ("a,",), (",", "b,a")),
    Row("at least one", 'start s; nt s = "," ~+ ("a"? "b"?);', ("a", "b", "a,b"), ("", "a,"), (",", "b,a")),
    Row("repeated items", 'start s; nt s = "," ~ ("a"* "b"+);', ("b", "a,b", "a,a,b,b", "b,b"), ("", "a,a"), ("b,a",)),
    Row("counted items", 'start s; nt s = "," ~ ("a"{2} "b"{0,2});', ("a,a", "a,a,b,b"), ("a",), ("a,b", "a,a,a")),
    Row("one item", 'start s; nt s = ", " ~ ("a"*) "!";', ("!", "a!", "a, a, a!"), ("a, ",), (",",)),
    Row("one item, at least one", 'start s; nt s = "," ~+ ("a"*);', ("a", "a,a"), ("", "a,"), (",",)),
    Row("items in brackets", 'start s; nt s = "," ~ (("a" "b")? ("c" | "d")+);', ("ab,c,d", "c"), ("ab",), ("a,",)),
    Row("a repeat in brackets is one item", 'start s; nt s = "," ~ (("a"+) "b");', ("aa,b", "a,b"), ("aa",), ("a,a",)),
    Row("an item of no times", 'start s; nt s = "," ~ ("a"{0} "b" "c"?);', ("b", "b,c"), ("",), ("a",)),
    Row("no item can be there", 'start s; nt s = "x" | "," ~+ ("a"{0});', ("x",), ("",), ("a", ",")),
    Row(
        "a required item of empty text",
        'start s; nt s = "," ~ ("a" e "b"); nt e = "e"?;',
        ("a,,b", "a,e,b"),
        ("a,",),
        ("a,b",),
    ),
    Row("a separator of several words", 'start s; nt s = (";" | ",") ~ ("a"*);', ("a;a,a", ""), ("a;",), (";",)),
    Row("a class as separator", 'start s; nt s = [,;] ~ ("a"+);', ("a;a,a",), ("a;",), (";",)),
    Row("rules as items", 'start s; nt s = "," ~ (x? y); nt x = "x" s; nt y = "y";', ("y", "xy,y"), ("x",), ("xx,",)),
    Row("with ignore", 'ignore W; t W=" "; start s; nt s = "," ~ ("a"? "b");', ("a , b", " b "), ("a ",), (" ,",)),
]

AUTOMATA = [
    Row(
        "automaton",
        'start s; nt s = fa { start 0; accept 1; 0 -> 1 : "a"; 1 -> 0 : "b"; };',
        ("a", "aba"),
        ("", "ab"),
        ("b",),
    ),
    Row(
        "names and numbers differ",
        'start s; nt s = fa { start 1; accept a, 2; 1 -> a : "x"; a -> 2 : "y"; };',
        ("x", "xy"),
    ),
    Row(
        "several starts and accepts", 'start s; nt s = fa { start 0, 1; accept 2; accept 0; 1 -> 2 : "a"; };', ("", "a")
    ),
    Row(
        "edges call rules",
        'start s; nt s = fa { start 0; accept 1; 0 -> 1 : "(" s ")"; 0 -> 1 : "x"; };',
        ("x", "((x))"),
        ("(",),
    ),
    Row(
        "epsilon edges",
        'start s; nt s = fa { start 0; accept 2; 0 -> 1 : eps; 1 -> 2 : "a"; 2 -> 0 : eps; };',
        ("a", "aa"),
        ("",),
    ),
    Row(
        "epsilon circle",
        'start s; nt s = fa { start 0; accept 1; 0 -> 0 : eps; 0 -> 1 : "a"; };',
        ("a",),
        ("",),
        ("b",),
    ),
    Row(
        "terminal automaton",
        'start s; t s = fa { start 0; accept 1; 0 -> 0 : /[ab]/; 0 -> 1 : "c"; };',
        ("c", "abc"),
        ("ab",),
        ("cc",),
    ),
    Row(
        "terminal automaton, two starts",
        'start s; t s = fa { start 0, 1; accept 2; 0 -> 2 : "a"; 1 -> 2 : "b"; };',
        ("a", "b"),
    ),
    Row(
        "it is one terminal",
        'start s; nt s = A "a"; t A = fa { start 0; accept 0; 0 -> 0 : "a"; };',
        ("a",),
        ("", "aa"),
    ),
    Row(
        "epsilon in a terminal",
        'start s; t s = fa { start 0; accept 2; 0 -> 1 : eps; 1 -> 2 : "a"; 2 -> 0 : "" ; };',
        ("a", "aa"),
    ),
    Row(
        "edge with a terminal",
        "t A=/a+/; start s; nt s = fa { start 0; accept 1; 0 -> 1 : A; };",
        ("aa",),
        ("",),
        ("b",),
    ),
    Row(
        "states called start and accept",
        'start s; nt s = fa { start start; accept accept; start -> accept : "a"; };',
        ("a",),
    ),
    Row(
        "an automaton among definitions",
        'start s; nt s = "b"; nt s = fa { start 0; accept 1; 0 -> 1 : "a"; };',
        ("a", "b"),
    ),
    Row("a rule called fa", 'start s; nt s = fa {2}; nt fa = "a";', ("aa",), ("a",), ("b",)),
    Row(
        "a rule called fa, with comments",
        'start s; nt s = fa /* { */ { // 3\n 2 , };  nt fa = "a";',
        ("aa", "aaa"),
        ("a",),
    ),
    Row(
        "nothing accepts",
        'start s; nt s = "b" | x; nt x = fa { start 0; accept 1; 0 -> 0 : "a"; };',
        ("b",),
        ("",),
        ("a",),
    ),
]

SCOPES = [
    Row(
        "a subgrammar",
        'start s; nt s = "<" c ">"; g c = { start x; nt x = "a" x | "b"; };',
        ("<b>", "<aab>"),
        ("<a",),
        ("b",),
    ),
    Row("start may be a subgrammar", "start c; subgrammar c = { start x; t x = /a+/; };", ("a", "aa"), ("",), ("b",)),
    Row(
        "names are private",
        'start s; nt s = x c; nt x = "o"; g c = { start x; nt x = "i"; };',
        ("oi",),
        ("o",),
        ("oo",),
    ),
    Row(
        "each use is an instance",
        'start s; nt s = c "-" c; g c = { start x; nt x = "a" | "b"; };',
        ("a-b", "b-a"),
        ("a-",),
        ("-",),
    ),
    Row(
        "nested",
        'start s; nt s = c; g c = { start x; nt x = "(" d ")"; g d = { start y; nt y = "y"; }; };',
        ("(y)",),
        ("(",),
    ),
    Row(
        "outer ignore outside, inner inside",
        'ignore W; t W=/ +/; start s; nt s = "<" c ">"; g c = { start x; ignore N; t N="\\n"; nt x = "a" "b"; };',
        ("< \na\nb\n >", "<ab>", "<  \n\nab\n >"),
        ("<\n", "< \na\n"),
        ("<\n ab>", "<a b>", "<ab \n>"),
    ),
    Row(
        "no ignore inside",
        'ignore W; t W=/ +/; start s; nt s = "<" c ">"; g c = { start x; nt x = "a" "b"; };',
        ("< ab >", " <ab> "),
        ("< a",),
        ("<a b>",),
    ),
    Row(
        "an empty child still ignores",
        'ignore W; t W=/ /; start s; nt s = "<" c ">"; g c = { start x; ignore N; t N="\\n"; nt x = "a"?; };',
        ("<>", "< \n >", "<\n>", "< \n\n >"),
        ("< \n ",),
        ("<\n \n>",),
    ),
    Row(
        "exempt beside subgrammars",
        'ignore W; t W=/ +/; start s; nt s = "a" " b" c; g c = { start x; nt x = "c"; };',
        ("a  bc", "a   b c"),
        ("a ",),
        ("ab",),
    ),
    Row(
        "longest across a boundary",
        'start s; nt s = c "end"; g c = { start x; t x = /[a-z]+/; };',
        (),
        ("abend", "a"),
        ("a!",),
    ),
    Row(
        "recursion through its own rules",
        'start s; nt s = c; g c = { start x; nt x = "(" x ")" | "a"; };',
        ("((a))",),
        ("((a)",),
    ),
    Row(
        "parent recursion around a child",
        'start s; nt s = "[" s "]" | c; g c = { start x; nt x = "a"; };',
        ("[[a]]",),
        ("[a",),
    ),
]

CHILD = 'glrm 1; start x; ignore N; t N = /\\n/; nt x = "a" "b";'
SLOTS = [
    Row(
        "a token slot",
        'extern token M; start s; nt s = "a" M;',
        (["a", M],),
        ("", "a"),
        ([M], "ab", ["a", M, M]),
        {"M": M},
    ),
    Row(
        "a spellable exact token has both readings",
        'extern token X; start s; nt s = X "1" | "b" "2";',
        ([98, "1"], [98, "2"], "b2"),
        ("b", [98]),
        ("b1", "a"),
        {"X": 98},
    ),
    Row(
        "a token slot in an automaton",
        "extern token M; start s; nt s = fa { start 0; accept 1; 0 -> 1 : M; };",
        ([M],),
        ("",),
        (),
        {"M": M},
    ),
    Row(
        "a grammar slot",
        'extern grammar c; ignore W; t W=/ +/; start s; nt s = "<" c ">";',
        ("<ab>", "< \na\nb\n >"),
        ("<\n",),
        ("<\n ab>", "<a b>"),
        {"c": CHILD},
    ),
    Row(
        "a grammar slot twice",
        "extern grammar c; start s; nt s = c c;",
        ("abab", "a\nbab"),
        ("ab",),
        ("b",),
        {"c": CHILD},
    ),
    Row(
        "a slot of a subgrammar",
        'start s; nt s = "<" i ">"; g i = { start x; nt x = X; extern token X; };',
        (["<", M, ">"],),
        (["<", M],),
        ("<>",),
        {"i::X": M},
    ),
    Row(
        "longest across a bound child",
        'extern grammar c; start s; nt s = c "end";',
        (),
        ("abend",),
        ("1",),
        {"c": "glrm 1; start x; t x = /[a-z]+/;"},
    ),
]

CONTEXT_FREE = [
    Row("left recursion", 'start s; nt s = s "a" | "b";', ("b", "baaa"), ("",), ("a", "bb")),
    Row("right recursion", 'start s; nt s = "a" s | "b";', ("b", "aaab"), ("aa",), ("ba",)),
    Row(
        "hidden left recursion",
        'start s; nt s = e s "a" | "b"; nt e = "x" | eps;',
        ("b", "baa", "xba"),
        ("xx",),
        ("a",),
    ),
    Row("a circle of units", 'start s; nt s = x | "a"; nt x = s | "b";', ("a", "b"), ("",), ("ab",)),
    Row("ambiguous recursion", 'start s; nt s = s s | "a" | eps;', ("", "a", "aaaa"), (), ("b",)),
    Row("nullable everywhere", 'start s; nt s = e s e | "a" e; nt e = e e | eps;', ("a",), ("",), ("aa",)),
    Row("unbounded nesting", 'start s; nt s = "(" s ")" | eps;', ("", "(" * 40 + ")" * 40), ("(" * 40,), (")",)),
    Row("mutual recursion", 'start s; nt s = "a" x | "c"; nt x = "b" s;', ("c", "abc", "ababc"), ("ab",), ("b",)),
]

ALL = [*LEXICAL, *IGNORE, *EXPRESSIONS, *SEPARATED, *AUTOMATA, *SCOPES, *SLOTS, *CONTEXT_FREE]


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.name)
def test_row(row: Row, compiled, read) -> None:
    constraint = compiled("glrm 1; " + row.grammar, row.slots)
    verdicts = [(text, read(constraint, text)) for text in (*row.accept, *row.prefix, *row.reject)]
    expected = [(text, "accept") for text in row.accept]
    expected += [(text, "prefix") for text in row.prefix] + [(text, "reject") for text in row.reject]
    assert verdicts == expected
    assert verdicts


def test_masks_equal_byte_by_byte_feeding(engine: str) -> None:
    import glrmask

    text = (
        'glrm 1; ignore W; t W=/ +/; t ID=/[a-z]+/; start s; nt s = "if" ID "é" | ID "(" s ")" | c;'
        "g c = { start x; nt x = [^é]/utf8; };"
    )
    words = [
        b"if",
        b"i",
        b"f ",
        b" if a",
        b"a(",
        b"(if",
        b"\xc3",
        b"\xa9",
        b"\xc3\xa9",
        b")",
        b"))",
        b"a",
        b" ",
        b"\xff",
    ]
    vocab = glrmask.Vocab.from_dict({word: i for i, word in enumerate(words)})
    constraint = glrmask.Grammar.from_glrm(text).compile(vocab, engine=engine)
    checked = 0
    for fed in (b"", b"i", b"if", b"if a", b"a(", b"a(if b", b"a(if b\xc3", b" a(b(", b"a(if b\xc3\xa9)"):
        state = constraint.start()
        if fed:
            state.commit_bytes(fed)
        mask = state.mask()
        for word, i in zip(words, range(len(words)), strict=True):
            probe = state.clone()
            try:
                probe.commit_bytes(word)
            except glrmask.StateRejectedError:
                assert (fed, word, bool(mask[i])) == (fed, word, False)
            else:
                assert (fed, word, bool(mask[i])) == (fed, word, True)
                checked += 1
    assert checked > 20


def test_half_a_character_allows_only_its_continuations(compiled) -> None:
    state = compiled("glrm 1; start s; nt s = [à-ÿ]/utf8;").start()
    state.commit_bytes(b"\xc3")
    assert [i for i in range(256) if state.mask()[i]] == list(range(0xA0, 0xC0))


def test_large_texts(large, compiled, read) -> None:
    counted = compiled('glrm 1; start s; nt s = "a"{1000} [a-z]{0,5000};')
    assert read(counted, "a" * 999) == "prefix"
    assert read(counted, "a" * 1000) == read(counted, "a" * 6000) == "accept"
    assert read(counted, "a" * 6001) == "reject"
    nested = compiled('glrm 1; start s; nt s = "(" s ")" | eps;')
    assert read(nested, "(" * 3000 + ")" * 3000) == "accept"


def test_large_counts_stay_small(parse) -> None:
    small = len(parse('glrm 1; start s; nt s = "a"{2} [a-z]{0,3};').module)
    assert len(parse('glrm 1; start s; nt s = "a"{2000000000} [a-z]{0,2147483647};').module) == small
