"""api.md section 1: vocabularies of other libraries, with the libraries where installed and with look-alikes."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest

import glrmask
from glrmask import Vocab
from glrmask_core.vocab_sources import byte_alphabet


def mapping(vocab: Vocab) -> dict[int, bytes]:
    return {i: vocab.bytes_of(i) for i in vocab.domain}


# -- llama.cpp ------------------------------------------------------------------------------------------------


class FakeLlama:
    """``llama_cpp`` with text, two ends of generation, a control and an unused token, and one without text."""

    pieces = (b"hi", b"</s>", b"<ctl>", b"<unused>", b"", "é".encode(), b"<end of turn>")
    attributes = (4, 8, 8, 2, 4, 4, 4)
    model = object()

    def __init__(self) -> None:
        self.null_calls: list[int] = []
        self.announced: dict[int, int] = {}

    def n_vocab(self) -> int:
        return len(self.pieces)

    def module(self) -> ModuleType:
        module = ModuleType("llama_cpp")
        module.llama_model_get_vocab = lambda model: ("vocab", model)  # type: ignore[attr-defined]
        module.llama_vocab_is_eog = lambda vocab, id: id in (1, 6)  # type: ignore[attr-defined]
        module.llama_vocab_get_attr = lambda vocab, id: self.attributes[id]  # type: ignore[attr-defined]
        module.llama_token_to_piece = self.to_piece  # type: ignore[attr-defined]
        return module

    def to_piece(self, vocab: Any, id: int, buffer: Any, size: int, lstrip: int, special: bool) -> int:
        assert ("vocab", self.model) == vocab and lstrip == 0 and special is False
        piece = self.pieces[id]
        if buffer is None:
            assert size == 0
            self.null_calls.append(id)
            return self.announced.get(id, -len(piece))
        assert self.null_calls[-1] == id
        buffer.raw = piece[:size].ljust(size, b"?")
        return len(piece) if size >= len(piece) else -len(piece)


def test_llama_cpp(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = FakeLlama()
    monkeypatch.setitem(sys.modules, "llama_cpp", llm.module())
    vocab = Vocab.from_llama_cpp(llm)
    assert {0: b"hi", 1: b"", 2: b"", 3: b"", 4: b"", 5: "é".encode(), 6: b""} == mapping(vocab)
    assert [1, 6] == vocab.llama_cpp_end_token_ids
    assert [0, 4, 5] == llm.null_calls
    assert [1, 6] == vocab.tokens(vocab.llama_cpp_end_token_ids).ids
    assert [2, 3, 4] == [vocab.token(id).id for id in (2, 3, 4)]


@pytest.mark.parametrize("announced", [5, -9, -1, -(2**31), -(2**20) - 1])
def test_llama_cpp_bad_sizes(monkeypatch: pytest.MonkeyPatch, announced: int) -> None:
    llm = FakeLlama()
    llm.announced[0] = announced
    monkeypatch.setitem(sys.modules, "llama_cpp", llm.module())
    with pytest.raises(ValueError, match="token 0" + ("; expected 0 to" if announced < -(2**20) else "")):
        Vocab.from_llama_cpp(llm)


@pytest.mark.parametrize("count", [-1, 2**32])
def test_llama_cpp_bad_counts(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    llm = FakeLlama()
    llm.n_vocab = lambda: count  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "llama_cpp", llm.module())
    with pytest.raises(ValueError, match=f"announced {count} tokens"):
        Vocab.from_llama_cpp(llm)


def test_llama_cpp_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ModuleNotFoundError):
        Vocab.from_llama_cpp(FakeLlama())


# -- tokenizers -----------------------------------------------------------------------------------------------


class FakeTokenizer:
    def __init__(self, **config: Any) -> None:
        self.config = config

    def to_str(self) -> str:
        return json.dumps(self.config)


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False}
LLAMA = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


def test_byte_alphabet_covers_all_bytes() -> None:
    alphabet = byte_alphabet()
    assert list(range(256)) == sorted(alphabet.values())
    assert (0x20, 0x0A, 0x41) == (alphabet["\u0120"], alphabet["\u010a"], alphabet["A"])


def test_byte_level_pieces_and_added_tokens() -> None:
    tokenizer = FakeTokenizer(
        model={"type": "BPE", "vocab": {"\u0120hi": 0, "\u00c3": 1, "\u00a9": 2, "<s>": 3}},
        decoder=BYTE_LEVEL,
        added_tokens=[
            {"id": 3, "content": "<s>", "special": True},
            {"id": 100, "content": "<tool> é", "special": False},
        ],
    )
    expected = {0: b" hi", 1: b"\xc3", 2: b"\xa9", 3: b"", 100: "<tool> é".encode()}
    assert expected == mapping(Vocab.from_tokenizers(tokenizer))


def test_byte_level_by_pre_tokenizer_alone() -> None:
    tokenizer = FakeTokenizer(
        model={"vocab": {"\u0120a": 0}}, pre_tokenizer={"type": "Sequence", "pretokenizers": [BYTE_LEVEL]}
    )
    assert {0: b" a"} == mapping(Vocab.from_tokenizers(tokenizer))


def test_sentencepiece_like_pieces_keep_their_space() -> None:
    tokenizer = FakeTokenizer(
        model={
            "type": "BPE",
            "vocab": {"<unk>": 0, "\u2581yes": 1, "yes": 2, "<0x0A>": 3, "\u2581": 4},
            "unk_token": "<unk>",
        },
        decoder=LLAMA,
    )
    assert {0: b"", 1: b" yes", 2: b"yes", 3: b"\n", 4: b" "} == mapping(Vocab.from_tokenizers(tokenizer))


def test_byte_pieces_are_text_without_byte_fallback() -> None:
    tokenizer = FakeTokenizer(model={"vocab": {"<0x41>": 0}}, decoder={"type": "Metaspace", "replacement": "\u2581"})
    assert {0: b"<0x41>"} == mapping(Vocab.from_tokenizers(tokenizer))


def test_unigram_vocabulary_is_a_list() -> None:
    tokenizer = FakeTokenizer(
        model={"type": "Unigram", "vocab": [["<unk>", 0.0], ["\u2581a", -1.0]], "unk_id": 0},
        decoder={"type": "Metaspace", "replacement": "\u2581"},
    )
    assert {0: b"", 1: b" a"} == mapping(Vocab.from_tokenizers(tokenizer))


@pytest.mark.parametrize(
    "decoder",
    [
        {"type": "WordPiece", "prefix": "##"},
        {"type": "BPEDecoder", "suffix": "</w>"},
        {"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""},
        {"type": "New"},
        None,
    ],
)
def test_decoders_without_fixed_bytes_are_refused(decoder: Any) -> None:
    with pytest.raises(ValueError, match="decoder"):
        Vocab.from_tokenizers(FakeTokenizer(model={"vocab": {"a": 0}}, decoder=decoder))


def test_not_a_tokenizer() -> None:
    with pytest.raises(ValueError, match="to_str"):
        Vocab.from_tokenizers(object())


def test_tokenizers_package() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"a": 0, "b": 1, "\u0120": 2, "ab": 3, "\u00c3": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[("a", "b")]))
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(["<eos>"])
    tokenizer.add_tokens(["<tool>"])
    vocab = Vocab.from_tokenizers(tokenizer)
    assert {0: b"a", 1: b"b", 2: b" ", 3: b"ab", 4: b"\xc3", 5: b"", 6: b"<tool>"} == mapping(vocab)
    for i in (0, 1, 3):
        assert tokenizer.decode([i]).encode() == vocab.bytes_of(i)


def test_tokenizers_package_byte_fallback() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"<unk>": 0, "\u2581a": 1, "<0xC3>": 2, "<0xA9>": 3}
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", byte_fallback=True)
    )
    decoders = tokenizers.decoders
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    vocab = Vocab.from_tokenizers(tokenizer)
    assert {0: b"", 1: b" a", 2: b"\xc3", 3: b"\xa9"} == mapping(vocab)
    assert tokenizer.decode([2, 3]).encode() == vocab.bytes_of(2) + vocab.bytes_of(3)


# -- transformers, tiktoken, sentencepiece, mistral -----------------------------------------------------------


def test_transformers_fast() -> None:
    backend = FakeTokenizer(model={"vocab": {"a": 0, "b": 1}}, decoder=BYTE_LEVEL)
    tokenizer = SimpleNamespace(backend_tokenizer=backend, all_special_ids=[1])
    assert {0: b"a", 1: b""} == mapping(Vocab.from_transformers(tokenizer))


def test_transformers_slow_byte_level() -> None:
    tokenizer = SimpleNamespace(
        byte_decoder={"a": 97},
        get_vocab=lambda: {"\u0120a": 0, "<s>": 1},
        all_special_ids=[1],
        added_tokens_decoder={
            1: SimpleNamespace(content="<s>", special=True),
            2: SimpleNamespace(content="<t>", special=False),
        },
    )
    assert {0: b" a", 1: b"", 2: b"<t>"} == mapping(Vocab.from_transformers(tokenizer))


def test_transformers_slow_sentencepiece() -> None:
    tokenizer = SimpleNamespace(sp_model=FakePieces(), all_special_ids=[1], added_tokens_decoder={})
    assert FakePieces.expected == mapping(Vocab.from_transformers(tokenizer))


def test_transformers_other() -> None:
    with pytest.raises(ValueError, match="from_id_to_bytes"):
        Vocab.from_transformers(SimpleNamespace())


class FakeEncoding:
    special_tokens_set = frozenset({"<end>"})
    max_token_value = 5

    def encode_single_token(self, text: str) -> int:
        return {"<end>": 5}[text]

    def decode_single_token_bytes(self, id: int) -> bytes:
        return {0: b"a", 1: b"\xff", 2: b"ab", 5: b"<end>"}[id]


def test_tiktoken() -> None:
    assert {0: b"a", 1: b"\xff", 2: b"ab", 5: b""} == mapping(Vocab.from_tiktoken(FakeEncoding()))


def test_tiktoken_package() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256}
    encoding = tiktoken.Encoding("test", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<end>": 300})
    vocab = Vocab.from_tiktoken(encoding)
    assert 258 == len(vocab)
    assert (b"ab", b"\xff", b"") == (vocab.bytes_of(256), vocab.bytes_of(255), vocab.bytes_of(300))


class FakePieces:
    pieces = ("<unk>", "<s>", "\u2581a", "<0x0A>", "<0x41>", "<unused>")
    expected: ClassVar[dict[int, bytes]] = {0: b"", 1: b"", 2: b" a", 3: b"\n", 4: b"<0x41>", 5: b""}

    def get_piece_size(self) -> int:
        return len(self.pieces)

    def id_to_piece(self, id: int) -> str:
        return self.pieces[id]

    def is_byte(self, id: int) -> bool:
        return id == 3  # 4 looks like a byte piece but is text

    def is_control(self, id: int) -> bool:
        return id == 1

    def is_unknown(self, id: int) -> bool:
        return id == 0

    def is_unused(self, id: int) -> bool:
        return id == 5


def test_sentencepiece() -> None:
    assert FakePieces.expected == mapping(Vocab.from_sentencepiece(FakePieces()))


def test_sentencepiece_contradiction() -> None:
    class Odd(FakePieces):
        def is_byte(self, id: int) -> bool:
            return id == 2

    with pytest.raises(ValueError, match="piece 2"):
        Vocab.from_sentencepiece(Odd())


def test_not_a_sentencepiece_processor() -> None:
    with pytest.raises(glrmask.VocabError, match="get_piece_size"):
        Vocab.from_sentencepiece(object())


def test_mistral_tekken() -> None:
    texts = {2: b"a", 3: b"\xc3"}
    inner = SimpleNamespace(n_words=4, num_special_tokens=2, id_to_byte_piece=texts.__getitem__)
    tokenizer = SimpleNamespace(instruct_tokenizer=SimpleNamespace(tokenizer=inner))
    assert {0: b"", 1: b"", **texts} == mapping(Vocab.from_mistral(tokenizer))
    assert Vocab.from_mistral(tokenizer) == Vocab.from_mistral(inner)


def test_mistral_sentencepiece() -> None:
    assert FakePieces.expected == mapping(Vocab.from_mistral(SimpleNamespace(_model=FakePieces())))


def test_mistral_other() -> None:
    with pytest.raises(ValueError, match="Tekken"):
        Vocab.from_mistral(SimpleNamespace())
