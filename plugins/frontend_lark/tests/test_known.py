"""The table of regular forms: each is the language of the expression it stands for, in the installed lark."""

from __future__ import annotations

import itertools
import re

import lark
import pytest
from glrmask_frontend_lark.known import KNOWN, render
from glrmask_frontend_lark.names import bundled_names
from lark.load_grammar import load_grammar

# terminal: characters that matter to it
ALPHABETS = {
    "common.ESCAPED_STRING": '"\\a\n',
    "common.C_COMMENT": "/*a\n",
    "python.STRING": "\"'\\\n",
    "python.LONG_STRING": '"\\a',
    "python.DEC_NUMBER": "0_1",
    "lark.OP": "+?*a",
    "lark.REGEXP": "/\\ai",
}
LENGTHS = {"python.LONG_STRING": 9, "python.STRING": 6}


def _lark_pattern(path: str) -> re.Pattern[str]:
    grammar = lark.Lark(f"start: X\n%import {path} -> X\n", parser="lalr", lexer="basic")
    return re.compile(grammar.terminals[0].pattern.to_regexp())


def _replacement(path: str) -> re.Pattern[str] | None:
    """The terminal with its alternatives replaced from the table, as a Python expression."""
    grammar, _ = load_grammar(f"%import {path} -> X\nstart: X\n", "<string>", [], False)
    tree = dict(grammar.term_defs)["X"][0]
    parts = []
    for alternative in tree.children:
        known = KNOWN.get(render(alternative))
        if known is None:
            parts.append("[1-9](?:_?[0-9])*")  # the other alternative of DEC_NUMBER
        else:
            assert not known.inner
            parts.append(f"(?{known.flags}:{known.pattern})" if known.flags else f"(?:{known.pattern})")
    return re.compile("|".join(parts))


@pytest.mark.parametrize("path", ALPHABETS)
def test_a_form_matches_what_lark_takes_as_one_token(path: str) -> None:
    original, form = _lark_pattern(path), _replacement(path)
    for length in range(LENGTHS.get(path, 7) + 1):
        for chars in itertools.product(ALPHABETS[path], repeat=length):
            text = "".join(chars)
            if path == "python.LONG_STRING":
                text = '"""' + text
            found = original.fullmatch(text)
            first = original.match(text)
            # a lazy expression stands for its shortest match; REGEXP and DEC_NUMBER have no shorter one to prefer
            expected = found is not None and (
                path.startswith("lark.") or (first is not None and first.end() == len(text))
            )
            assert (form.fullmatch(text) is not None) == expected, text


@pytest.mark.parametrize("name", ["_STRING_ESC_INNER", "_STRING_INNER"])
def test_the_inside_of_a_string_is_the_shortest(name: str, compiled, read) -> None:
    text = f'start: X\nX: "\'" {name} "\'"\n%import common.{name}\n'
    grammar = lark.Lark(text, parser="lalr", lexer="basic")
    original = re.compile(grammar.terminals[-1].pattern.to_regexp())
    constraint = compiled(text)
    for length in range(5):
        for chars in itertools.product("'\\a\n", repeat=length):
            text = "'" + "".join(chars)
            found = original.match(text)
            expected = found is not None and found.end() == len(text)
            assert (text, read(constraint, text) == "accept") == (text, expected)


def test_prefixes_and_both_quotes_of_python_strings() -> None:
    for path in ("python.STRING", "python.LONG_STRING"):
        original, form = _lark_pattern(path), _replacement(path)
        quotes = ("'", '"') if path == "python.STRING" else ("'''", '"""')
        for prefix in ("", "r", "b", "Rb", "bR", "u", "f", "fr", "ub", "rr", "x"):
            for quote in quotes:
                for inner in ("", "a", "\\" + quote[0], "\\\\", "a\nb", quote[0], quote[0] * 2 + "a"):
                    text = prefix + quote + inner + quote
                    first = original.match(text)
                    expected = first is not None and first.end() == len(text)
                    assert (form.fullmatch(text) is not None) == expected, text


@pytest.mark.parametrize("grammar", ["common", "unicode", "python", "lark"])
def test_every_bundled_name_is_known_and_every_terminal_lowers(grammar: str, parse) -> None:
    names = bundled_names(grammar)
    loaded, _ = load_grammar("".join(f"%import {grammar}.{name}\n" for name in names), "<string>", [], False)
    defined = {str(name) for name, *_ in (*loaded.term_defs, *loaded.rule_defs)}
    assert names <= defined
    for name in sorted(names):
        if not name.isupper():
            continue
        text = f"start: {name}\n%import {grammar}.{name}\n"
        if name in ("_STRING_INNER", "_STRING_ESC_INNER"):
            with pytest.raises(ValueError, match="no meaning of their own"):
                parse(text)
        else:
            assert len(parse(text).module) > 1
