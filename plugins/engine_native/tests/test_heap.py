"""api.md section 10: chunks of dropped constraints are kept, used again, and given back by ``collect_allocator``."""

from __future__ import annotations

import gc

import pytest
from glrmask_engine_native.heap import heap
from glrmask_engine_native.worker import worker

from glrmask import _internal
from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.ir import Builder
from glrmask_core.options import CompileOptions, Optimization
from glrmask_core.vocab import Vocab

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
