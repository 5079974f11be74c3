"""Closed tables stay as they are, and the worker of AUTO gets as far as a closing build."""

from __future__ import annotations

import time

import numpy as np
import pytest
from glrmask_engine_native.worker import worker

from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.errors import LimitExceededError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions, Limits, Optimization
from glrmask_core.vocab import Vocab

TABLES = ("states", "views", "steps", "summaries", "walked")
TEXTS = (
    b'{"a": [1, 22, {"bc": "x\\"y"}], "d": true}',
    b"[[[[1]], 0.5]]",
    b'"' + b"words and more " * 4 + b'"',
    b"-12e+3 ",
)


def vocabulary() -> Vocab:
    texts = [bytes((b,)) for b in range(256)]
    texts += [b'{"', b'":', b'",', b'"}', b'": "', b"]}", b"]]", b"[[", b", ", b"tru", b"true}", b"12", b"1."]
    texts += [b'\\"', b"word"]
    return Vocab.from_id_to_bytes(dict(enumerate(texts)))


VOCAB = vocabulary()


def json_like() -> Module:
    b = Builder()
    digits = b.repeat(b.bytes_class(b"0123456789"), 1)
    number = b.seq([b.optional(b.literal(b"-")), digits, b.optional(b.seq([b.literal(b"."), digits]))])
    number = b.seq([number, b.optional(b.seq([b.literal(b"e"), b.optional(b.bytes_class(b"+-")), digits]))])
    plain = b.bytes_class(bytes(set(range(32, 127)) - set(b'"\\')))
    string = b.seq([b.literal(b'"'), b.repeat(b.choice([plain, b.literal(b'\\"')])), b.literal(b'"')])

    def t(text: bytes) -> int:
        return b.terminal(b.literal(text))

    value = b.rule("value")
    pair = b.seq([b.terminal(string), t(b":"), value])
    members = b.repeat(pair, 0, None, t(b","))
    items = b.repeat(value, 0, None, t(b","))
    b.define(
        value,
        b.choice(
            [
                b.seq([t(b"{"), members, t(b"}")]),
                b.seq([t(b"["), items, t(b"]")]),
                b.terminal(string),
                b.terminal(number),
                t(b"true"),
            ]
        ),
    )
    return b.build(b.scope(value, b.repeat(b.literal(b" "), 1)))


def compiled(optimization: Optimization, background: bool = True, limits: Limits | None = None) -> Constraint:
    options = CompileOptions(optimization=optimization, background=background, limits=limits or Limits())
    return compile_module(json_like(), VOCAB, options, select_engine(options, "native"), (), (), 0.0)


def tables(constraint: Constraint) -> dict[str, int]:
    figures = constraint.report.figures
    return {name: figures[name] for name in TABLES}


def write(constraint: Constraint, text: bytes) -> None:
    state, words = constraint.start(), np.zeros(constraint.mask_len(), np.uint32)
    for byte in text:
        state.fill_mask(words)
        state.commit_bytes(bytes((byte,)))
    state.fill_mask(words)


@pytest.mark.parametrize("text", TEXTS)
def test_closed_tables_are_complete(text: bytes) -> None:
    constraint = compiled(Optimization.FAST_RUNTIME)
    before = tables(constraint)
    write(constraint, text)
    after = tables(constraint)
    assert before == after
    assert before["summaries"] > 0


def test_fast_build_fills_on_first_need() -> None:
    constraint = compiled(Optimization.FAST_BUILD)
    assert 0 == tables(constraint)["summaries"]
    write(constraint, TEXTS[0])
    closed = tables(compiled(Optimization.FAST_RUNTIME))
    assert 0 < tables(constraint)["summaries"] <= closed["summaries"]


def test_balanced_closes_what_is_small() -> None:
    assert tables(compiled(Optimization.FAST_RUNTIME)) == tables(compiled(Optimization.BALANCED))


def test_the_worker_closes_ahead_of_need() -> None:
    wanted = tables(compiled(Optimization.FAST_RUNTIME))
    constraint = compiled(Optimization.AUTO)
    deadline = time.monotonic() + 20
    while tables(constraint)["summaries"] < wanted["summaries"] and time.monotonic() < deadline:
        time.sleep(0.005)
    assert wanted["summaries"] <= tables(constraint)["summaries"]


def test_without_background_nothing_happens_ahead() -> None:
    constraint = compiled(Optimization.AUTO, background=False)
    before = tables(constraint)
    time.sleep(0.02)
    assert before == tables(constraint)
    assert 0 == before["summaries"]


def test_the_worker_keeps_within_mask_cache_bytes() -> None:
    full = compiled(Optimization.AUTO)
    assert worker.wait(20)
    wanted = full.report.figures["warm_bytes"]
    assert wanted > 20_000
    limit = wanted // 2 // 2 * 2
    constraint = compiled(Optimization.AUTO, limits=Limits(mask_cache_bytes=limit))
    assert worker.wait(20)
    assert 0 < constraint.report.figures["warm_bytes"] <= limit // 2
    for _ in range(3):
        for text in TEXTS:
            write(constraint, text)
            write(full, text)
            figures = constraint.report.figures
            assert figures["warm_bytes"] + figures["mask_bytes"] <= limit
    assert constraint.report.figures["mask_bytes"] > 0
    off = compiled(Optimization.AUTO, limits=Limits(mask_cache_bytes=0))
    assert worker.wait(20)
    write(off, TEXTS[0])
    write(off, TEXTS[0])
    assert 0 == off.report.figures["warm_bytes"] == off.report.figures["mask_bytes"]


@pytest.mark.parametrize("name", ["static_pairs", "static_bytes"])
def test_a_limit_is_named(name: str) -> None:
    with pytest.raises(LimitExceededError) as caught:
        compiled(Optimization.FAST_RUNTIME, limits=Limits(**{name: 8}))
    assert name in str(caught.value)
