"""The printer: text that reads back as the same language, and prints as the same text."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest
from glrmask_frontend_glrm.plugin import GlrmFrontend
from glrmask_frontend_glrm.printer import to_glrm
from hypothesis import HealthCheck, assume, given, settings

from glrmask_core.errors import GrammarError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions
from glrmask_core.plugins import manager


def _load(name: str) -> Any:
    """A module beside this file; tests are imported by path, so a plain import does not find it."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


random_ir = _load("random_ir")
WORDS = [bytes(word) for size in range(5) for word in itertools.product(b"ab", repeat=size)]
WORDS += [b"\xc3\xa9", b"a\xc3\xa9b", b"\xff", b'"\\\n', b" ", b"\xf0\x9f\x98\x80", b"a\xff"]


def read(text: str) -> Module:
    return GlrmFrontend().parse(text, {}).module


def language(module: Module, vocab: Any, engine: str) -> list[str] | None:
    """What happens to each of ``WORDS``; None when the language is empty."""
    from glrmask_core.errors import StateRejectedError

    try:
        compiled = manager().engines()[engine].compile(module, vocab, CompileOptions())
    except GrammarError:
        return None
    verdicts = []
    for word in WORDS:
        state = compiled.start(0)
        try:
            if word:
                state.commit_bytes(word)
            verdicts.append("accept" if state.is_accepting() else "prefix")
        except StateRejectedError:
            verdicts.append("reject")
    return verdicts


def printed(module: Module) -> str:
    try:
        return to_glrm(module)
    except GrammarError as error:
        assume("contains itself" not in str(error))
        raise


@settings(max_examples=200, deadline=None, derandomize=True)
@given(random_ir.modules())
def test_print_parse_print_is_stable(module: Module) -> None:
    text = printed(module)
    assert to_glrm(read(text)) == text


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(module=random_ir.modules(16))
def test_the_language_is_unchanged(engine: str, vocab: Any, module: Module) -> None:
    text = printed(module)
    assert language(read(text), vocab, engine) == language(module, vocab, engine), text


DOCUMENT = """glrm 1;

start s;
ignore IGNORED;
nt s = "a" | b c{2,3} | ("," ~ (X+))? | "<" inner ">" | part;
t IGNORED = " "+;
nt b = [a-z]*;
nt c = s "\\xff" | M;
t X = "x" | "y";
g inner = {
  start d;
  nt d = T_2 Z;
  t T_2 = fa { start 0; 0 -> 1 : [^\\x00]/utf8; 1 -> 1 : "q"; accept 1; };
  extern token Z;
};
nt part = T;
extern token M;
t T = "é" - ([a-f] & (. - "k"));
"""


def test_a_document_is_printed_as_it_was() -> None:
    assert to_glrm(read(DOCUMENT)) == DOCUMENT


def test_slots_survive() -> None:
    module = read(
        "glrm 1; start s; extern token unused; nt s = X a; extern grammar X; g a = { start b; extern grammar W;"
        "g b = { start y; nt y = Y Y; extern token Y; extern token V; }; };"
    )
    assert dict(read(to_glrm(module)).slots) == dict(module.slots)


def test_shared_and_deep_parts_become_rules() -> None:
    b = Builder()
    node = b.terminal(b.literal(b"a"))
    for _ in range(300):
        node = b.choice((b.seq((node, node)), b.terminal(b.literal(b"b"))))
    text = to_glrm(b.build(node))
    assert len(text) < 20_000
    assert to_glrm(read(text)) == text
    lexical = b.literal(b"a")
    for _ in range(300):
        lexical = b.without(b.repeat(b.seq((lexical, b.literal(b"b"))), 0, 3), b.literal(b"c"))
    text = to_glrm(b.build(b.terminal(lexical, "T")))
    assert to_glrm(read(text)) == text


def test_a_nullable_ignore_loses_the_empty_text(vocab: Any, engine: str) -> None:
    b = Builder()
    module = b.build(b.scope(b.terminal(b.literal(b"ab")), b.repeat(b.literal(b"a"))))
    text = to_glrm(module)
    assert 't IGNORED = "a"* - eps;' in text
    assert language(read(text), vocab, engine) == language(module, vocab, engine)


def refusals() -> list[tuple[str, Any]]:
    """What GLRM cannot express, with a part of the message."""

    def made(build: Any) -> Module:
        b = Builder()
        return b.build(build(b, b.terminal(b.literal(b"a"))))

    def circle(b: Builder, a: int) -> int:
        rule = b.rule("r")
        b.define(rule, b.choice((a, b.seq((b.scope(rule), a)))))
        return rule

    return [
        ("exact tokens by number", made(lambda b, a: b.token_ids([3]))),
        ("any-order lists", made(lambda b, a: b.any_order([(a, True)]))),
        ("exempt", made(lambda b, a: b.terminal(b.literal(b"x"), "T", exempt=True))),
        ("contains itself", made(circle)),
        ('slot "X" is used in a subgrammar', made(lambda b, a: b.seq((a, b.scope(b.extern_token("X")))))),
        ('slot "a.X"', made(lambda b, a: b.extern_token("a.X"))),
        ("same path", made(lambda b, a: b.seq((b.scope(b.extern_token("g::X")), b.scope(b.extern_token("g::Y")))))),
        ('slot "g::Y" is not used', made(lambda b, a: b.seq((a, b.repeat(b.extern_token("g::Y"), 0, 0))))),
    ]


@pytest.mark.parametrize(("says", "module"), refusals(), ids=lambda value: value if isinstance(value, str) else "")
def test_refusals(says: str, module: Module) -> None:
    with pytest.raises(GrammarError, match=says.replace(".", r"\.")):
        to_glrm(module)
