"""api.md section 10: chunks of dropped constraints are kept, used again, and given back by ``collect_allocator``."""

from __future__ import annotations

import gc
import itertools

import pytest
from glrmask_engine_native.heap import heap
from glrmask_engine_native.worker import worker

from glrmask import _internal
from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.ir import Builder
from glrmask_core.options import CompileOptions, Optimization
from glrmask_core.vocab import Vocab

LETTERS = range(97, 105)
VOCAB = Vocab.from_id_to_bytes({i: bytes((i,)) for i in range(256)})


def words() -> Constraint:
    """A megabyte or so of automaton."""
    b = Builder()
    root = b.choice([b.terminal(b.literal(b"%07d" % (n * 7919 % 10**7))) for n in range(20_000)])
    options = CompileOptions(optimization=Optimization.FAST_BUILD)
    return compile_module(b.build(root), VOCAB, options, select_engine(options, "native"), (), (), 0.0)


@pytest.mark.parametrize("force", [True, False])
def test_collecting_gives_back_what_dropped_constraints_left(force: bool) -> None:
    assert worker.wait(20)
    constraint = words()
    assert constraint.start().mask().any()
    _internal.collect_allocator(force)
    assert 0 == heap.kept()
    del constraint
    gc.collect()
    assert heap.kept() > 1 << 20  # the delay is a second
    again = words()
    _internal.collect_allocator(force)
    assert 0 == heap.kept()
    assert again.start().mask().any()


def texts(vocab: Vocab) -> Constraint:
    """A terminal whose step reads all of the vocabulary, so that it is kept for other constraints."""
    b = Builder()
    letter = b.bytes_class(LETTERS)
    root = b.terminal(b.repeat(b.seq([letter, letter, letter])))
    options = CompileOptions(optimization=Optimization.FAST_BUILD)
    return compile_module(b.build(root), vocab, options, select_engine(options, "native"), (), (), 0.0)


def walked(constraint: Constraint) -> int:
    """Nodes of the vocabulary that the first mask visits."""
    assert constraint.start().mask().any()
    return int(constraint.compiled.report()["walked"])


def test_collecting_by_force_lets_go_of_what_constraints_share() -> None:
    vocab = Vocab.from_id_to_bytes(dict(enumerate(map(bytes, itertools.product(LETTERS, repeat=3)))))
    first = texts(vocab)
    alone = walked(first)
    _internal.collect_allocator(False)
    assert walked(texts(vocab)) == 0
    _internal.collect_allocator(True)
    later = texts(vocab)
    assert walked(later) == alone > 500
    assert walked(texts(vocab)) == 0
    del later
    gc.collect()
    state = first.start()
    state.commit_bytes(b"abc")
    assert state.mask().all()
