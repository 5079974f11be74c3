"""Large and hostile texts: they load or raise in bounded time and memory, and never by a crash."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from glrmask_core.errors import GrammarError

TEXTS = {
    "100,000 round brackets": "s ::= " + "(" * 100_000,
    "100,000 closed round brackets": "s ::= " + "(" * 100_000 + '"a"' + ")" * 100_000,
    "100,000 square brackets": "s ::= " + "[" * 100_000,
    "only brackets": "(" * 100_000,
    "unterminated string": 's ::= "' + "x" * 1_000_000,
    "unterminated string of escapes": 's ::= "' + "\\x" * 500_000,
    "unterminated string of backslashes": 's ::= "' + "\\" * 1_000_001,
    "unterminated class": "s ::= [" + "a-" * 500_000,
    "unterminated group of newlines": "s ::= (" + "\n" * 200_000,
    "slashes": "/" * 1_000_000,
    "question marks": "?" * 1_000_000,
    "almost Lark": ("_" * 5000 + "a" * 5000 + ":" + "b" * 5000 + "\n") * 100,
    "NUL bytes": "\x00" * 5_000_000,
    "NUL bytes in a rule": "s ::= " + "\x00" * 5_000_000,
    "5 MB of words": "lorem ipsum " * 420_000,
    "5 MB of brackets of all kinds": "([{<>}])" * 625_000,
    "5 MB in one name": "s ::= " + "a" * 5_000_000,
    "5 MB of blanks": " " * 5_000_000 + "%",
    "blank lines before nonsense": 's ::= "a"' + "\n#" * 20_000 + "\n%",
    "5 MB of separators": "::=" * 1_700_000,
    "a long circle of terminals": "".join(f"A{i} ::= A{i + 1}\n" for i in range(3000)) + "A3000 ::= A0",
}


@pytest.mark.parametrize("name", TEXTS)
def test_it_raises_in_bounded_time_and_memory(name: str, parse) -> None:
    tracemalloc.start()
    started = time.perf_counter()
    try:
        with pytest.raises(GrammarError) as caught:
            parse(TEXTS[name])
        seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seconds < 10, name  # measured: below 1 s each, tracing included
    assert peak < 200 << 20, name
    assert len(str(caught.value)) < 2000


def test_newlines_before_a_bar_cost_no_more_than_once(parse) -> None:
    started = time.perf_counter()
    parse('s ::= "a"' + "\n# c" * 100_000 + '\n| "b"')
    assert time.perf_counter() - started < 5  # quadratic would be minutes; measured: 0.1 s


def test_200_brackets_are_fine_and_201_are_not(parse) -> None:
    for name in ("s", "S"):
        parse(f"{name} ::= " + "(" * 200 + '"a" | "b" "c"*' + ")" * 200)
        parse(f"{name} ::= " + '("a" | "b" (' * 100 + '"c"' + ")*)?" * 100)
    with pytest.raises(GrammarError, match="200"):
        parse("s ::= " + "(" * 201 + '"a"' + ")" * 201)


def test_long_chains_of_terminals(parse) -> None:
    chain = "".join(f"A{i} ::= A{i + 1}\n" for i in range(3000))
    assert len(parse(chain + 'A3000 ::= "x"').module) < 20


def test_2000_rules_load_in_2_seconds(parse) -> None:
    lines = [
        f'r{i} ::= "a{i}" r{(i + 1) % 1000} ("x" | [a-z]+ r{(i + 7) % 1000})* | T{i} "z"?\nT{i} ::= "q"+ | "b" [a-z]'
        for i in range(1000)
    ]
    parse('s ::= "a"')  # make the parser
    started = time.process_time()
    module = parse("\n".join(lines)).module
    assert time.process_time() - started < 5  # measured: 0.3 s
    assert len(module.rules) == 2 * 1000


def test_optional_items_are_linear(parse) -> None:
    def numbers(count: int) -> int:
        module = parse("s ::= " + " ".join(f'("k{i}" "v")?' for i in range(count))).module
        return len(module.rows) + len(module.args) + len(module.blob)

    assert numbers(400) < 2.2 * numbers(200)
