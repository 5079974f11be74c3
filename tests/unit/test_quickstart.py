"""api.md section 11 with front-ends and engine where they are installed, and what the core itself costs."""

from __future__ import annotations

import time
from typing import Any

import pytest

import glrmask
from glrmask import Constraint, Grammar, Vocab
from glrmask_core.plugins import manager


@pytest.fixture
def vocab() -> Vocab:
    return Vocab.from_dict({b"hello": 0, b" ": 1, b"world": 2, b"<eos>": 3})


def need(*formats: str) -> None:
    missing = set(formats) - set(manager().frontends())
    if missing:
        pytest.skip(f"front-end {', '.join(sorted(missing))} is not installed")


def test_hello_world(vocab: Vocab, engine: str) -> None:
    need("ebnf")
    constraint = Grammar.from_ebnf('start ::= "hello" " " "world"').compile(vocab, end_tokens=[3], engine=engine)
    state = constraint.start()
    assert [True, False, False, False] == state.mask().tolist()
    state.commit_token(0)
    assert [False, True, False, False] == state.mask().tolist()
    state.commit_token(1)
    state.commit_token(2)
    assert state.is_accepting() and state.mask()[3]
    state.commit_token(3)
    assert not state.mask().any()


def test_exact_token_slot(vocab: Vocab, engine: str) -> None:
    need("glrm")
    grammar = Grammar.from_glrm('glrm 1;\nstart message;\nextern token TOOL;\nnt message = TOOL "hello";')
    constraint = grammar.bind("TOOL", vocab.token(2)).compile(vocab, engine=engine)
    state = constraint.start()
    assert [2] == state.mask().nonzero()[0].tolist()
    state.commit_token(2)
    assert [0] == state.mask().nonzero()[0].tolist()
    other = Vocab.from_dict({b"hello": 0, b"x": 2})
    with pytest.raises(ValueError, match="TOOL"):
        grammar.bind("TOOL", other.token(2)).compile(vocab, engine=engine)


def test_source_and_compiled_binds_agree(engine: str) -> None:
    need("glrm", "ebnf")
    vocab = Vocab.from_dict({b"{": 0, b"}": 1, b"a": 2, b"a}": 3, b"{a": 4})
    parent = Grammar.from_glrm('glrm 1; start document; extern grammar payload; nt document = "{" payload "}";')
    child = Grammar.from_ebnf('start ::= "a" start | "a"')
    source = parent.bind("payload", child).compile(vocab, engine=engine).start()
    child_compiled = child.compile(vocab, engine=engine)
    linked = parent.compile_unlinked(vocab).bind("payload", child_compiled).link(engine=engine).start()
    for token in (4, 2, 3):
        assert source.mask().tolist() == linked.mask().tolist()
        source.commit_token(token)
        linked.commit_token(token)
    assert source.is_accepting() and linked.is_accepting()


def test_external_vocabulary(vocab: Vocab, engine: str) -> None:
    need("ebnf")
    data = Grammar.from_ebnf('start ::= "hello"').compile(vocab, engine=engine).save_with_external_vocab()
    with pytest.raises(ValueError):
        Constraint.load(data)
    with pytest.raises(ValueError):
        Constraint.load(data, vocab=Vocab.from_dict({b"hello": 1, b" ": 0, b"world": 2, b"<eos>": 3}))
    assert Constraint.load(data, vocab=vocab).start().mask()[0]


def test_the_core_adds_little_to_a_compile(grammar: Any, letters: Vocab) -> None:
    made = grammar("a b c")
    made.compile(letters, engine="null")
    best = 1.0
    for _ in range(50):
        started = time.perf_counter()
        made.compile(letters, end_tokens=[20], engine="null")
        best = min(best, time.perf_counter() - started)
    assert best < 0.0005  # 0.00001 s when the machine is idle
    assert glrmask.Vocab is type(letters)
