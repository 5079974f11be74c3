"""api.md sections 5 and 8: Constraint, saving and loading, threads."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Constraint, Limits, Optimization, Vocab

EOS = 20


def trace(constraint: Constraint, data: bytes) -> list[tuple[list[int], str]]:
    state, found = constraint.start(), []
    for at in range(len(data) + 1):
        found.append((np.flatnonzero(state.mask()).tolist(), repr(state)))
        if at < len(data) and not state.is_rejected():
            try:
                state.commit_bytes(data[at : at + 1])
            except glrmask.StateRejectedError:
                continue
    return found


@pytest.fixture
def sample(grammar: Any, letters: Vocab, engine: str) -> Constraint:
    bound = grammar("a b* @T c | xy z", warn=True).bind("T", letters.tokens([3, 5]))
    made: Constraint = bound.compile(letters, end_tokens=[EOS, 40], engine=engine, optimization=Optimization.FAST_BUILD)
    return made


def test_no_direct_instances_no_pickling_copies_are_the_same(sample: Constraint) -> None:
    with pytest.raises(TypeError, match="cannot be instantiated directly"):
        Constraint()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(sample)
    assert copy.copy(sample) is sample and copy.deepcopy(sample) is sample


@pytest.mark.parametrize(
    ("ids", "source", "ends", "width"),
    [
        ({}, "a", [], 0),
        ({0: b"a"}, "a", [], 1),
        ({31: b"a"}, "a", [], 32),
        ({32: b"a"}, "a", [], 33),
        ({0: b"a", 64: b""}, "a", [], 65),  # exact-only
        ({0: b"a"}, "a", [95], 96),
        ({0: b"a"}, "a #96", [], 97),
        ({0: b"a"}, "a | b c #128", [3], 129),  # reachable or not in this vocabulary
    ],
)
def test_width_and_mask_len(
    grammar: Any, engine: str, ids: dict[int, bytes], source: str, ends: list[int], width: int
) -> None:
    constraint = grammar(source).compile(Vocab.from_id_to_bytes(ids), end_tokens=ends, engine=engine)
    assert (width, (width + 31) // 32) == (constraint.width, constraint.mask_len())
    assert width == len(constraint.start().mask())


def test_read_only_properties(sample: Constraint, letters: Vocab, engine: str) -> None:
    assert sample.vocab is letters and sample.engine_name == engine
    assert (Optimization.FAST_BUILD, [EOS, 40]) == (sample.optimization, sample.end_tokens)
    for name in ("vocab", "module", "options", "parser_backend", "width", "report", "compiled", "program"):
        with pytest.raises(AttributeError):
            setattr(sample, name, None)
    assert engine in repr(sample)


# -- saving and loading ---------------------------------------------------------------------------------------


def test_save_is_deterministic_and_survives_loading(
    sample: Constraint, grammar: Any, letters: Vocab, engine: str
) -> None:
    again = grammar("a b* @T c | xy z", warn=True).bind("T", letters.tokens([5, 3]))
    twin = again.compile(letters, end_tokens=[40, EOS], engine=engine, optimization=Optimization.FAST_BUILD)
    assert sample.save() == twin.save() == Constraint.load(sample.save()).save()
    before = sample.save()
    trace(sample, b"abbc")
    assert before == sample.save()


PROBE = """
import hashlib, glrmask
vocab = glrmask.Vocab.from_id_to_bytes({i: bytes([i]) for i in range(256)} | {256: b""})
text = 'glrm 1; start s; extern token T; extern grammar A; extern grammar B; extern grammar C; nt s = T (A | B | C);'
schema = {"type": "object", "properties": {"a": {"enum": [1, "x"]}, "b": {"pattern": "^a+$"}}, "anyOf": [{}, True]}
parent, child = glrmask.Grammar.from_glrm(text), glrmask.Grammar.from_json_schema(schema)
token, ends = vocab.tokens([256, 3]), {255, 254, 253, 1}
for mode in glrmask.Optimization:
    part = child.compile(vocab, end_tokens=ends, optimization=mode)
    host = parent.compile_unlinked(vocab).bind("B", part).bind("C", part).bind("T", token).bind("A", part)
    source = parent.bind("A", child).bind("B", child).bind("T", token).bind("C", child)
    made = source.compile(vocab, end_tokens=ends, optimization=mode)
    for data in (part.save(), host.save(), made.save(), host.link(end_tokens=ends, optimization=mode).save()):
        print(hashlib.sha256(data).hexdigest())
"""


def test_saved_bytes_are_those_of_any_process() -> None:
    from glrmask_core.plugins import manager

    if not {"glrm", "jsonschema"} <= set(manager().frontends()) or "native" not in manager().engines():
        pytest.skip("front-ends glrm and jsonschema and the engine native are not all installed")
    found = set()
    for seed in ("0", "1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout)
        assert 16 == done.stdout.count("\n")
    assert 1 == len(found)


def test_loaded_constraints_are_the_same(sample: Constraint, letters: Vocab) -> None:
    loaded = Constraint.load(sample.save())
    assert loaded.vocab == letters and loaded.vocab is not letters
    for name in ("end_tokens", "optimization", "parser_backend", "engine_name", "width"):
        assert getattr(sample, name) == getattr(loaded, name)
    for data in (b"abbc", b"xyz", b"ac", b""):
        assert trace(sample, data) == trace(loaded, data)
    assert sample.module.digest == loaded.module.digest
    assert dict(sample.module.places) == dict(loaded.module.places)


@pytest.mark.parametrize("as_type", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_load_takes_any_contiguous_buffer(sample: Constraint, as_type: Any) -> None:
    assert sample.save() == Constraint.load(as_type(sample.save())).save()


@pytest.mark.parametrize("data", [None, "text", 3, [1, 2]])
def test_load_type_errors(data: Any) -> None:
    with pytest.raises(TypeError):
        Constraint.load(data)


def test_load_shares_a_given_vocabulary(sample: Constraint, letters: Vocab) -> None:
    twin = Vocab.from_id_to_bytes({i: letters.bytes_of(i) for i in letters.domain})
    assert Constraint.load(sample.save(), vocab=twin).vocab is twin
    assert Constraint.load(sample.save(), twin).vocab is twin
    with pytest.raises(ValueError, match="another vocabulary"):
        Constraint.load(sample.save(), Vocab.from_dict({b"a": 0}))
    with pytest.raises(TypeError, match="Vocab"):
        Constraint.load(sample.save(), {b"a": 0})  # type: ignore[arg-type]


def test_external_vocabulary(sample: Constraint, letters: Vocab) -> None:
    data = sample.save_with_external_vocab()
    assert data == sample.save(external_vocab=True) and data != sample.save()
    assert len(data) < len(sample.save())
    loaded = Constraint.load(data, vocab=letters)
    assert loaded.vocab is letters and trace(sample, b"abbc") == trace(loaded, b"abbc")
    assert data == loaded.save_with_external_vocab()
    with pytest.raises(ValueError, match=r"vocab=..."):
        Constraint.load(data)
    permuted = {i: letters.bytes_of(i) for i in letters.domain}
    permuted[0], permuted[1] = permuted[1], permuted[0]
    with pytest.raises(ValueError, match="another vocabulary"):
        Constraint.load(data, vocab=Vocab.from_id_to_bytes(permuted))
    with pytest.raises(TypeError):
        sample.save(True)  # type: ignore[misc]


def test_loaded_constraints_can_be_children(sample: Constraint, grammar: Any, letters: Vocab, engine: str) -> None:
    host = grammar("z $P z").compile_unlinked(letters)
    one, other = (host.bind("P", c).link(engine=engine) for c in (sample, Constraint.load(sample.save())))
    assert trace(one, b"zxyzz") == trace(other, b"zxyzz") and one.accepts(b"zxyzz")


def test_load_with_options(sample: Constraint) -> None:
    limits = Limits(states=9999)
    loaded = Constraint.load(sample.save(), limits=limits, background=False, engine=sample.engine_name)
    assert loaded.options.limits is limits and loaded.options.background is False
    with pytest.raises(ValueError, match='no engine "nope"'):
        Constraint.load(sample.save(), engine="nope")


def test_every_mode_survives(grammar: Any, letters: Vocab, engine: str) -> None:
    for optimization in Optimization:
        made = grammar("a b* c").compile(letters, end_tokens=[EOS], engine=engine, optimization=optimization)
        loaded = Constraint.load(made.save())
        assert optimization is loaded.optimization and made.save() == loaded.save()
        assert trace(made, b"abbc") == trace(loaded, b"abbc")


def test_llama_end_tokens_survive(grammar: Any, engine: str) -> None:
    vocab = Vocab._build([0, 1], [b"a", b""], (1,))
    made = grammar("a").compile(vocab, engine=engine)
    assert [1] == Constraint.load(made.save()).vocab.llama_cpp_end_token_ids


# -- section 8: threads ---------------------------------------------------------------------------------------


def test_one_constraint_from_many_threads(sample: Constraint) -> None:
    expected, failures = trace(sample, b"abbc"), []

    def run() -> None:
        for _ in range(20):
            if trace(sample, b"abbc") != expected:
                failures.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures


def test_a_state_may_move_between_threads(sample: Constraint) -> None:
    state = sample.start()
    found: list[bool] = []

    def run() -> None:
        state.commit_bytes(b"xyz")
        found.append(state.is_accepting())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [True] == found and state.is_accepting()


def test_simultaneous_use_of_a_state_is_an_error(sample: Constraint) -> None:
    from glrmask_core.state import Commit, raise_commit

    with pytest.raises(RuntimeError, match="another thread") as raised:
        raise_commit(sample.start(), Commit.BUSY, 0)
    assert isinstance(raised.value, glrmask.ConcurrentUseError)
    with pytest.raises(ValueError, match="nothing changed") as limit:
        raise_commit(sample.start(), Commit.LIMIT, 0)
    assert isinstance(limit.value, glrmask.LimitExceededError)


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("build_seconds", 0, ValueError),
        ("states", -5, ValueError),
        ("states", "x", TypeError),
        ("token_bytes", True, TypeError),
    ],
)
def test_limits_are_checked_by_name(field: str, value: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"Limits.{field}"):
        glrmask.Limits(**{field: value})
