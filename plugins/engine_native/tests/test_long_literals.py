"""Long literals cost what they are long, wherever they come from."""

from __future__ import annotations

import time

import pytest

from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.ir import Builder
from glrmask_core.options import CompileOptions
from glrmask_core.vocab import Vocab

BYTES = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)} | {256: b"xy" * 100})


def compiled(builder: Builder, root: int) -> Constraint:
    options = CompileOptions()
    return compile_module(builder.build(root), BYTES, options, select_engine(options, "native"), (), (), 0.0)


@pytest.mark.parametrize("size", [1023, 1024, 1025, 2048, 5000])
def test_pieces_are_one_text(size: int) -> None:
    b = Builder()
    text = (b"xy" * size)[:size]
    constraint = compiled(b, b.terminal(b.choice([b.literal(text), b.literals([text[:-1] + b"1", text[:-1] + b"23"])])))
    for end in (b"", b"1", b"23"):
        whole = text if not end else text[:-1] + end
        assert constraint.accepts(whole) and not constraint.accepts(whole[:-1]) and not constraint.accepts(whole + b"x")
    state = constraint.start()
    for at in range(0, size - 300, 200):
        assert state.mask()[256] == (at + 200 <= size) and state.mask()[text[at]]
        state.commit_token(256)


def test_reading_is_linear() -> None:
    seconds = []
    for size in (20_000, 320_000):
        b = Builder()
        constraint = compiled(b, b.terminal(b.literal(b"ab" * (size // 2))))
        started = time.thread_time()
        assert constraint.accepts(b"ab" * (size // 2))
        seconds.append(time.thread_time() - started)
    assert seconds[1] < 80 * seconds[0] + 0.2, seconds  # 16 times the text; quadratic would be 256 times


def test_what_doubles_is_not_written_out() -> None:
    b = Builder()
    node = b.literal(b"ab")
    for _ in range(40):
        node = b.seq([node, node])
    assert len(b.build(b.terminal(node)).blob) < 20_000
    state = compiled(b, b.terminal(node)).start()
    state.commit_bytes(b"ab" * 50_000)
    assert state.mask().nonzero()[0].tolist() == [ord("a")]


def test_runs_of_short_literals_are_joined_once() -> None:
    b = Builder()
    node = b.seq([b.literal(b"%c" % (97 + i % 26)) for i in range(10_000)])
    module = b.build(b.terminal(node))
    assert len(module.blob) < 30_000
    assert compiled(b, b.terminal(node)).accepts(bytes(97 + i % 26 for i in range(10_000)))
