"""api.md section 1: Vocab, exact tokens, identity."""

from __future__ import annotations

import copy
import pickle
import time
from array import array
from collections import ChainMap, deque
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Vocab


def test_from_dict_and_from_id_to_bytes_agree() -> None:
    assert Vocab.from_dict({b"yes": 0, b"no": 1}) == Vocab.from_id_to_bytes({0: b"yes", 1: b"no"})


@pytest.mark.parametrize("wrong", [[(b"a", 0)], (b"a",), "a", None, 3, {b"a"}])
def test_argument_must_be_a_mapping(wrong: object) -> None:
    for make in (Vocab.from_dict, Vocab.from_id_to_bytes):
        with pytest.raises(TypeError, match="mapping"):
            make(wrong)  # type: ignore[arg-type]


def test_any_mapping_is_taken() -> None:
    expected = Vocab.from_dict({b"a": 0})
    assert expected == Vocab.from_dict(MappingProxyType({b"a": 0}))
    assert expected == Vocab.from_id_to_bytes(ChainMap({0: b"a"}))


@pytest.mark.parametrize("text", ["a", bytearray(b"a"), [97], memoryview(b"a"), None])
def test_bytes_must_be_bytes(text: object) -> None:
    with pytest.raises(ValueError, match="token 7 must be bytes") as raised:
        Vocab.from_id_to_bytes({0: b"x", 7: text})  # type: ignore[dict-item]
    assert isinstance(raised.value, TypeError)
    assert isinstance(raised.value, glrmask.ArgumentTypeError)


def test_keys_of_from_dict_must_be_bytes() -> None:
    with pytest.raises(ValueError, match="must be bytes, not str"):
        Vocab.from_dict({"a": 0})  # type: ignore[dict-item]


class Index:
    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_ids_are_index_integers_bool_too() -> None:
    ids: list[Any] = [False, True, np.int64(5), np.uint8(7), Index(2**32 - 1)]
    for vocab in (
        Vocab.from_dict({b"%d" % at: id for at, id in enumerate(ids)}),
        Vocab.from_id_to_bytes({id: b"%d" % at for at, id in enumerate(ids)}),
    ):
        assert [0, 1, 5, 7, 2**32 - 1] == list(vocab.domain)
        assert {int} == {type(id) for id in vocab.domain} == {type(vocab.token(id).id) for id in vocab.domain}


class Liar(bytes):
    """Tells another length and other bytes than it has."""

    def __len__(self) -> int:
        return 100

    def __bytes__(self) -> bytes:
        return b"other"


def test_subclasses_of_bytes_are_the_bytes_they_hold() -> None:
    vocab = Vocab.from_id_to_bytes({0: Liar(b"ab"), 1: b"c"})
    assert vocab == Vocab.from_dict({Liar(b"ab"): 0, b"c": 1}) == Vocab.from_dict({b"ab": 0, b"c": 1})
    assert [0, 2, 3] == vocab.entries()[1].tolist() and bytes is type(vocab.bytes_of(0))


@pytest.mark.parametrize("id", [1.0, "1", None])
def test_other_ids_are_refused(id: object) -> None:
    with pytest.raises(TypeError, match="integer"):
        Vocab.from_dict({b"a": id})  # type: ignore[dict-item]


@pytest.mark.parametrize("id", [-1, 2**32, 2**70, -(2**70)])
def test_ids_outside_32_bits_overflow(id: int) -> None:
    for make in (lambda: Vocab.from_dict({b"a": id, b"b": 0}), lambda: Vocab.from_id_to_bytes({0: b"b", id: b"a"})):
        with pytest.raises(OverflowError, match=str(id)):
            make()


def test_one_id_for_two_texts_is_refused() -> None:
    with pytest.raises(ValueError, match="token id 3 stands for both"):
        Vocab.from_dict({b"a": 3, b"b": 3})


def test_empty_vocabulary() -> None:
    vocab = Vocab.from_dict({})
    assert (0, -1, []) == (len(vocab), vocab.max_id, list(vocab.domain))
    assert not vocab.has(0)
    assert 0 == len(vocab.first_bytes)


def test_ids_may_share_bytes_and_leave_gaps() -> None:
    vocab = Vocab.from_id_to_bytes({10: b"a", 3: b"a"})
    assert (2, 10) == (len(vocab), vocab.max_id)
    assert vocab.has(3) and not vocab.has(4) and 10 in vocab.domain and 11 not in vocab.domain
    assert [3, 10] == vocab.spelling.ids_of(b"a")


def test_empty_bytes_make_an_exact_only_id() -> None:
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b""})
    assert 2 == len(vocab)
    assert b"" == vocab.bytes_of(1)
    assert [97, -1] == vocab.first_bytes.tolist()
    assert 1 == vocab.token(1).id and 1 in vocab.domain and vocab.has(1)


def test_bytes_of_an_unknown_id() -> None:
    with pytest.raises(ValueError, match="9"):
        Vocab.from_dict({b"a": 0}).bytes_of(9)


def test_entries_layout() -> None:
    ids, offsets, blob = Vocab.from_id_to_bytes({7: b"xy", 2: b"", 4: b"a"}).entries()
    assert [2, 4, 7] == ids.tolist() and np.uint32 == ids.dtype
    assert [0, 0, 1, 3] == offsets.tolist() and np.int64 == offsets.dtype
    assert b"axy" == blob
    assert not ids.flags.writeable and not offsets.flags.writeable


def test_identity_is_the_full_mapping() -> None:
    base = {0: b"a", 1: b"bc", 2: b""}
    vocab = Vocab.from_id_to_bytes(base)
    assert vocab.identity == Vocab.from_id_to_bytes(dict(reversed(base.items()))).identity
    others = [
        {**base, 3: b"d"},
        {**base, 1: b"bd"},
        {**base, 2: b"x"},
        {0: b"a", 1: b"bc"},
        {0: b"ab", 1: b"c", 2: b""},
        {0: b"a", 1: b"", 2: b"bc"},
        {0: b"a", 1: b"bc", 3: b""},
    ]
    identities = {Vocab.from_id_to_bytes(other).identity for other in others}
    assert len(others) == len(identities)
    assert vocab.identity not in identities
    assert 32 == len(vocab.identity)


def test_equality_and_hash_by_value() -> None:
    one, same = Vocab.from_dict({b"a": 0}), Vocab.from_dict({b"a": 0})
    other = Vocab.from_dict({b"b": 0})
    assert one == same and hash(one) == hash(same)
    assert one != other and one != {b"a": 0}
    assert copy.copy(one) is one and copy.deepcopy(one) is one


def test_pickling_keeps_the_mapping() -> None:
    for vocab in (Vocab.from_id_to_bytes({0: b"a", 9: b""}), Vocab.from_dict({}), Vocab._build([0], [b""], (0,))):
        again = pickle.loads(pickle.dumps(vocab))
        assert vocab == again and vocab.llama_cpp_end_token_ids == again.llama_cpp_end_token_ids


def test_end_of_generation_ids_are_no_part_of_the_mapping() -> None:
    assert Vocab._build([0, 1], [b"a", b""], (1,)) == Vocab.from_id_to_bytes({0: b"a", 1: b""})


def test_exact_tokens() -> None:
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 5: b""})
    token, tokens = vocab.token(5), vocab.tokens([5, 0])
    assert 5 == token.id and [0, 5] == tokens.ids
    assert vocab.identity == token.identity == tokens.identity
    assert (glrmask.ExactToken, glrmask.ExactTokens) == (type(token), type(tokens))
    for ids in ((1,), range(1, 2), np.array([1]), deque([1]), array("I", [1]), [True]):
        assert [1] == vocab.tokens(ids).ids  # type: ignore[arg-type]


@pytest.mark.parametrize("id", [2, 99])
def test_unknown_exact_tokens(id: int) -> None:
    vocab = Vocab.from_dict({b"a": 0})
    for make in (lambda: vocab.token(id), lambda: vocab.tokens([0, id])):
        with pytest.raises(ValueError, match=str(id)):
            make()


@pytest.mark.parametrize("ids", [{0}, (i for i in (0,)), 0, "0", b"0", None])
def test_tokens_takes_sequences_only(ids: object) -> None:
    with pytest.raises(TypeError, match="sequence"):
        Vocab.from_dict({b"a": 0}).tokens(ids)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ids", "message"), [([], "at least one"), ([0, 0], "id 0 is given twice"), ([0, False], "twice")]
)
def test_tokens_empty_or_twice(ids: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Vocab.from_dict({b"a": 0}).tokens(ids)


def test_exact_tokens_compare_by_identity_and_ids() -> None:
    one, same = Vocab.from_dict({b"a": 0, b"b": 1}), Vocab.from_dict({b"b": 1, b"a": 0})
    other = Vocab.from_dict({b"a": 0, b"c": 1})
    assert one.token(0) == same.token(0) and hash(one.token(0)) == hash(same.token(0))
    assert one.token(0) != one.token(1) and one.token(0) != other.token(0)
    assert one.tokens([1, 0]) == same.tokens([0, 1]) and one.tokens([0]) != one.token(0)


def test_other_constructors_have_no_llama_end_tokens() -> None:
    assert [] == Vocab.from_dict({b"a": 0}).llama_cpp_end_token_ids


@pytest.mark.parametrize("cls", [Vocab, glrmask.ExactToken, glrmask.ExactTokens])
def test_no_direct_instances(cls: type) -> None:
    with pytest.raises(TypeError, match="cannot be instantiated directly"):
        cls()


def test_spelling_extends() -> None:
    spelling = Vocab.from_dict({b"ab": 0, b"abz": 1, b"c": 2, b"c\0": 3}).spelling
    assert [True, True, False, True, False] == [spelling.extends(t) for t in (b"a", b"ab", b"abz", b"c", b"b")]
    assert 3 == spelling.longest


def test_a_large_vocabulary_builds_fast() -> None:
    mapping = {b"%d" % i: i for i in range(128_000)}
    started = time.perf_counter()
    vocab = Vocab.from_dict(mapping)
    assert 128_000 == len(vocab)
    assert time.perf_counter() - started < 1.0  # 0.03 s when the machine is idle
