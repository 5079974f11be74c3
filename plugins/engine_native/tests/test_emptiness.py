"""Intersections and differences of counted terminals: as the oracle where it can count, fast where none can."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import msgpack
import pytest

from glrmask_core import ir_codec
from glrmask_core.artifact import _FIXED, _START, _checksum
from glrmask_core.constraint import Constraint, compile_module, select_engine
from glrmask_core.errors import ArtifactError, GrammarError, LimitExceededError
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions, Optimization
from glrmask_core.vocab import Vocab

VOCAB = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b"ab", 3: b"aaaa", 4: b"[", 5: b"]"})


def compiled(module: Module, engine: str = "native", mode: Optimization = Optimization.FAST_BUILD) -> Constraint | None:
    options = CompileOptions(optimization=mode)
    try:
        return compile_module(module, VOCAB, options, select_engine(options, engine), (), (), 0.0)
    except LimitExceededError:
        raise
    except GrammarError:
        return None


def module_of(build: Callable[[Builder], int]) -> Module:
    """One terminal in brackets."""
    b = Builder()
    return b.build(b.terminal(b.seq([b.literal(b"["), build(b), b.literal(b"]")])))


def counted(b: Builder, rng: random.Random) -> int:
    """Texts of some letters whose lengths are easy to say."""
    body = rng.choice([b"a", b"b", b"ab", b"aab"])
    low = rng.randrange(5)
    high = rng.choice([None, low, low + 1, low + 3])
    part = b.repeat(b.literal(body) if rng.random() < 0.5 else b.bytes_class(bytes(set(body))), low, high)
    if rng.random() < 0.4:
        part = b.seq([part, b.repeat(b.bytes_class(b"ab"), rng.randrange(3), rng.choice([None, 2, 3]))])
    return part


@pytest.mark.parametrize("seed", range(60))
def test_lengths_decide_as_the_oracle_does(seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice(["both", "without"])

    def build(b: Builder) -> int:
        made: int = getattr(b, kind)(counted(b, rng), counted(b, rng))
        return made

    module = module_of(build)
    native, oracle = compiled(module), compiled(module, "oracle")
    assert (native is None) == (oracle is None)
    if native is None or oracle is None:
        return
    for _ in range(12):
        one, other = native.start(), oracle.start()
        for _ in range(14):
            allowed = one.mask().nonzero()[0].tolist()
            assert other.mask().nonzero()[0].tolist() == allowed
            assert other.is_accepting() == one.is_accepting()
            if not allowed:
                break
            token = rng.choice(allowed)
            one.commit_token(token)
            other.commit_token(token)


def test_no_length_in_common() -> None:
    """What a search would take hours to find out."""

    def apart(b: Builder) -> int:
        return b.both(b.repeat(b.literal(b"a"), 83886081, None), b.repeat(b.bytes_class(b"ab"), 2, 33554437))

    assert compiled(module_of(apart)) is None
    spared = module_of(
        lambda b: b.without(b.repeat(b.bytes_class(b"ab"), 2, 33554437), b.repeat(b.literal(b"a"), 83886081, None))
    )
    constraint = compiled(spared)
    assert constraint is not None
    state = constraint.start()
    state.commit_bytes(b"[a")
    assert state.mask().tolist() == [True, True, True, True, False, False]
    state.commit_bytes(b"b")
    assert state.mask().tolist() == [True, True, True, True, False, True]


def counts_for_long(b: Builder) -> int:
    """Not empty, and nothing but counting to 80 million shows it."""
    return b.both(b.repeat(b.literal(b"a"), 83886081, None), b.repeat(b.literal(b"aa"), 0, None))


def test_a_search_that_counts_ends_by_name() -> None:
    started = time.thread_time()
    with pytest.raises(LimitExceededError) as info:
        compiled(module_of(counts_for_long))
    assert info.value.limit == "lexer_states"
    assert time.thread_time() - started < 5


def test_a_saved_constraint_made_to_count_is_refused() -> None:
    """As above in an artifact whose checksum is right, many times over."""
    whole = compiled(module_of(lambda b: b.repeat(b.literal(b"a"), 1)))
    assert whole is not None
    data = whole.save()
    b = Builder()
    parts = [b.terminal(b.seq([b.bytes_class(bytes((65 + i, 91))), counts_for_long(b)])) for i in range(20)]
    bad = ir_codec.encode(b.build(b.choice(parts)))
    _, version, head_len, _ = _FIXED.unpack_from(data)
    header = msgpack.unpackb(data[_START : _START + head_len])
    body, at = [], _START + head_len
    for section in header["sections"]:
        body.append(bad if section[0] == "module" else data[at : at + section[1]])
        at += section[1]
        section[1] = len(body[-1])
    head = msgpack.packb(header)
    fixed = _FIXED.pack(data[:8], version, len(head), sum(map(len, body)))
    started = time.thread_time()
    with pytest.raises(ArtifactError, match="lexer_states"):
        Constraint.load(fixed + _checksum(fixed, head, *body) + head + b"".join(body), background=False)
    assert time.thread_time() - started < 5
