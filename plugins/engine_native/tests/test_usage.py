"""Bytes by owner add up to what the report says, whatever a constraint is made of."""

from __future__ import annotations

import numpy as np
import pytest

import glrmask
from glrmask import Grammar, Limits, Optimization, Vocab

HOST = 'glrm 1;\nstart start;\nextern grammar CALL;\nnt start = "<call>" CALL "</call>" | "none";\n'
CHILD = 'glrm 1;\nstart s;\nt WORD = "[" "word"+ "]";\nnt s = WORD | "(" s ")" | s "," s;\n'


def vocabulary() -> Vocab:
    texts = [bytes((b,)) for b in range(256)]
    texts += [b"<call>", b"</call>", b"word", b"wordword", b"((", b"))", b"),", b"[w"]
    return Vocab.from_id_to_bytes(dict(enumerate(texts)))


VOCAB = vocabulary()


def write(constraint: glrmask.Constraint, text: bytes) -> None:
    state, words = constraint.start(), np.zeros(constraint.mask_len(), np.uint32)
    for byte in text:
        state.fill_mask(words)
        state.commit_bytes(bytes((byte,)))
    state.fill_mask(words)


def check(constraint: glrmask.Constraint) -> dict[str, int]:
    usage: dict[str, int] = constraint._compiled.usage()  # type: ignore[attr-defined]
    assert constraint.report.figures["memory_bytes"] == sum(usage.values())
    return usage


@pytest.mark.parametrize("level", list(Optimization))
def test_a_grammar(level: Optimization) -> None:
    pytest.importorskip("glrmask_frontend_glrm")
    constraint = Grammar.from_glrm(CHILD).compile(VOCAB, optimization=level, background=False)
    before = check(constraint)
    for _ in range(3):
        write(constraint, b"(([wordword],([word])),[word])")
        check(constraint)
    after = check(constraint)
    assert after["steps"] >= before["steps"] and after["steps"] > 0
    assert 0 == before["masks"] < after["masks"]


def test_a_linked_grammar() -> None:
    pytest.importorskip("glrmask_frontend_glrm")
    child = Grammar.from_glrm(CHILD).compile(VOCAB, background=False)
    write(child, b"(([wordword],([word])),[word])")
    linked = Grammar.from_glrm(HOST).compile_unlinked(VOCAB).bind("CALL", child).link(background=False)
    check(linked)
    for _ in range(2):
        write(linked, b"<call>(([wordword],([word])),[word])</call>")
        check(linked)
        check(child)


def test_without_a_cache_of_masks() -> None:
    pytest.importorskip("glrmask_frontend_glrm")
    constraint = Grammar.from_glrm(CHILD).compile(VOCAB, limits=Limits(mask_cache_bytes=0), background=False)
    for _ in range(3):
        write(constraint, b"([word])")
    assert 0 == check(constraint)["masks"]
