"""Vocabularies of other libraries' tokenizers, from objects that are already in memory.

What a token id adds to the output must be one fixed byte string; a tokenizer whose tokens decode
differently in different places (WordPiece, end-of-word suffixes) is refused. A space that a decoder drops at
the very start of a text is kept as part of its token. Control, special and unknown tokens become exact-only:
they can be bound to slots and used as end tokens, and are never text.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from .checks import MAX_ID
from .errors import VocabError
from .vocab import Vocab

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")
_SPACE = "\u2581"
_MOST_BYTES = 1 << 20  # of one token; the longest known have some hundred
_ATTR_UNUSED = 1 << 1
_ATTR_CONTROL = 1 << 3


def byte_alphabet() -> dict[str, int]:
    """The characters that stand for bytes in byte-level BPE vocabularies.

    Printable bytes of Latin-1 stand for themselves, the others for U+0100 upwards in ascending order.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [b for b in range(256) if b not in printable]
    return {**{chr(b): b for b in printable}, **{chr(0x100 + at): b for at, b in enumerate(others)}}


_ALPHABET = byte_alphabet()


def from_llama_cpp(llm: Any) -> Vocab:
    """The vocabulary of a ``llama_cpp.Llama``.

    End-of-generation ids go to ``llama_cpp_end_token_ids``; they, control and unused tokens and tokens
    without text are exact-only.

    Raises:
        ModuleNotFoundError: the package ``llama-cpp-python`` is not installed.
        VocabError: another kind of object, or the library gives sizes that contradict each other.
    """
    import llama_cpp

    if not hasattr(llm, "model") or not callable(getattr(llm, "n_vocab", None)):
        raise VocabError(f"a {type(llm).__name__} is no llama_cpp.Llama: it has no model or no n_vocab()")
    vocab = llama_cpp.llama_model_get_vocab(llm.model)
    count = llm.n_vocab()
    if not 0 <= count <= MAX_ID:
        raise VocabError(f"llama.cpp announced {count} tokens; expected 0 to {MAX_ID}")
    texts: dict[int, bytes] = {}
    ends = []
    for id in range(count):
        if llama_cpp.llama_vocab_is_eog(vocab, id):
            ends.append(id)
            texts[id] = b""
        elif llama_cpp.llama_vocab_get_attr(vocab, id) & (_ATTR_UNUSED | _ATTR_CONTROL):
            texts[id] = b""
        else:
            texts[id] = _llama_piece(llama_cpp.llama_token_to_piece, vocab, id)
    return Vocab._build(list(texts.keys()), list(texts.values()), tuple(ends))


def _llama_piece(to_piece: Callable[..., int], vocab: Any, id: int) -> bytes:
    needed = -to_piece(vocab, id, None, 0, 0, False)
    if not 0 <= needed <= _MOST_BYTES:
        raise VocabError(f"llama.cpp announced {needed} bytes for token {id}; expected 0 to {_MOST_BYTES}")
    if not needed:
        return b""
    buffer = ctypes.create_string_buffer(needed)
    written = to_piece(vocab, id, buffer, needed, 0, False)
    if written != needed:
        raise VocabError(f"llama.cpp announced {needed} bytes for token {id} and wrote {written}")
    return buffer.raw


def from_tokenizers(tokenizer: Any, special_ids: Iterable[int] = ()) -> Vocab:
    """The vocabulary of a ``tokenizers.Tokenizer``, read from its own JSON form.

    Byte-level and SentencePiece-like decoders (replace, metaspace, byte fallback, fuse, strip) are known.
    Special added tokens are exact-only, other added tokens are their text.

    Args:
        tokenizer: anything with ``to_str()``.
        special_ids: further exact-only ids.

    Raises:
        VocabError: a decoder that does not give each token fixed bytes.
    """
    try:
        config = json.loads(tokenizer.to_str())
    except AttributeError:
        raise VocabError(f"a {type(tokenizer).__name__} is no tokenizers.Tokenizer: it has no to_str()") from None
    model = config.get("model") or {}
    listed = model.get("vocab") or {}
    if isinstance(listed, dict):
        pieces = {int(id): piece for piece, id in listed.items()}
    else:  # Unigram: [piece, score] in order of ids
        pieces = {id: entry[0] for id, entry in enumerate(listed)}
    decode = _decoder(config)
    texts = {id: decode(piece) for id, piece in pieces.items()}
    unknown = model.get("unk_token")
    for id, piece in pieces.items():
        if (isinstance(unknown, str) and piece == unknown) or id == model.get("unk_id"):
            texts[id] = b""
    for added in config.get("added_tokens") or []:
        texts[int(added["id"])] = b"" if added.get("special") else added["content"].encode()
    for id in special_ids:
        if id in texts:
            texts[id] = b""
    return Vocab.from_id_to_bytes(texts)


def _decoder(config: dict[str, Any]) -> Callable[[str], bytes]:
    """How one piece becomes bytes."""
    steps = list(_flat(config.get("decoder"), "decoders"))
    if not steps and any(s.get("type") == "ByteLevel" for s in _flat(config.get("pre_tokenizer"), "pretokenizers")):
        steps = [{"type": "ByteLevel"}]
    if not steps:
        raise VocabError("the tokenizer has no decoder, so tokens are joined by spaces; set a ByteLevel or similar one")
    run: list[Callable[[str | bytes], str | bytes]] = []
    fused = False
    for step in steps:
        kind = step.get("type")
        if kind == "Fuse":
            fused = True
        elif kind == "Strip" and fused:
            pass  # of the whole text, not of tokens
        else:
            run.append(_step(step))

    def decode(piece: str) -> bytes:
        value: str | bytes = piece
        for one in run:
            value = one(value)
        return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")

    return decode


def _flat(part: Any, inner: str) -> Iterable[dict[str, Any]]:
    """The members of nested ``Sequence`` entries of a tokenizer's configuration."""
    todo = [part]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            if one.get("type") == "Sequence":
                todo += reversed(one.get(inner) or [])
            else:
                yield one


def _step(step: dict[str, Any]) -> Callable[[str | bytes], str | bytes]:
    kind = step.get("type")
    if kind == "ByteLevel":
        return _byte_level
    if kind == "ByteFallback":
        return _byte_fallback
    if kind == "Metaspace":
        mark = step.get("replacement", _SPACE)
        return lambda piece: piece.replace(mark, " ") if isinstance(piece, str) else piece
    if kind == "Replace":
        pattern = step.get("pattern")
        if isinstance(pattern, dict) and isinstance(pattern.get("String"), str) and pattern["String"]:
            old, new = pattern["String"], str(step.get("content", ""))
            return lambda piece: piece.replace(old, new) if isinstance(piece, str) else piece
    if kind == "Strip":
        char, start, stop = step.get("content", " "), step.get("start", 0), step.get("stop", 0)
        return lambda piece: _strip(piece, char, start, stop) if isinstance(piece, str) else piece
    raise VocabError(f"decoder {json.dumps(step, sort_keys=True)}: its tokens have no fixed bytes, or it is unknown")


def _byte_level(piece: str | bytes) -> str | bytes:
    if isinstance(piece, bytes):
        return piece
    try:
        return bytes([_ALPHABET[c] for c in piece])
    except KeyError:  # a token added by hand: its own text
        return piece


def _byte_fallback(piece: str | bytes) -> str | bytes:
    found = _BYTE_PIECE.match(piece) if isinstance(piece, str) else None
    return bytes((int(found[1], 16),)) if found else piece


def _strip(piece: str, char: str, start: int, stop: int) -> str:
    """Drop up to ``start`` leading and ``stop`` trailing copies of a character."""
    while start and piece.startswith(char):
        piece, start = piece[len(char) :], start - 1
    while stop and piece.endswith(char):
        piece, stop = piece[: -len(char)], stop - 1
    return piece


def from_transformers(tokenizer: Any) -> Vocab:
    """The vocabulary of a ``transformers`` tokenizer, fast or (with SentencePiece or byte-level BPE) slow.

    Raises:
        VocabError: another kind of tokenizer.
    """
    special = set(getattr(tokenizer, "all_special_ids", None) or ())
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return from_tokenizers(backend, special)
    processor = getattr(tokenizer, "sp_model", None)
    if processor is not None:
        texts = _sentencepiece_texts(processor)
    elif isinstance(getattr(tokenizer, "byte_decoder", None), dict):
        texts = {id: _as_bytes(_byte_level(piece)) for piece, id in tokenizer.get_vocab().items()}
    else:
        raise VocabError(
            f"{type(tokenizer).__name__} has neither backend_tokenizer, sp_model nor byte_decoder; "
            "build the mapping yourself and use Vocab.from_id_to_bytes"
        )
    for id, added in (getattr(tokenizer, "added_tokens_decoder", None) or {}).items():
        texts[int(id)] = b"" if getattr(added, "special", False) else str(getattr(added, "content", added)).encode()
    for id in special:
        if id in texts:
            texts[id] = b""
    return Vocab.from_id_to_bytes(texts)


def _as_bytes(piece: str | bytes) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode()


def from_tiktoken(encoding: Any) -> Vocab:
    """The vocabulary of a ``tiktoken.Encoding``; its special tokens are exact-only.

    Raises:
        VocabError: another kind of object.
    """
    for name in ("special_tokens_set", "max_token_value", "decode_single_token_bytes", "encode_single_token"):
        if not hasattr(encoding, name):
            raise VocabError(f"a {type(encoding).__name__} is no tiktoken.Encoding: it has no {name}")
    special = {encoding.encode_single_token(text) for text in encoding.special_tokens_set}
    texts: dict[int, bytes] = {}
    for id in range(encoding.max_token_value + 1):
        if id in special:
            texts[id] = b""
            continue
        try:
            texts[id] = encoding.decode_single_token_bytes(id)
        except KeyError:
            continue  # a gap between the ranks and the special tokens
    return Vocab.from_id_to_bytes(texts)


def from_sentencepiece(processor: Any) -> Vocab:
    """The vocabulary of a ``sentencepiece.SentencePieceProcessor``.

    U+2581 is a space, byte pieces are their byte; control, unknown and unused pieces are exact-only.
    """
    return Vocab.from_id_to_bytes(_sentencepiece_texts(processor))


def _sentencepiece_texts(processor: Any) -> dict[int, bytes]:
    def ask(new: str, old: str) -> Callable[..., Any]:
        found = getattr(processor, new, None) or getattr(processor, old, None)
        if found is None:
            raise VocabError(f"a {type(processor).__name__} is no SentencePieceProcessor: it has no {new}()")
        return found  # type: ignore[no-any-return]

    size, piece_of = ask("get_piece_size", "GetPieceSize"), ask("id_to_piece", "IdToPiece")
    is_byte = ask("is_byte", "IsByte")
    silent = [ask("is_control", "IsControl"), ask("is_unknown", "IsUnknown"), ask("is_unused", "IsUnused")]
    texts: dict[int, bytes] = {}
    for id in range(size()):
        piece = piece_of(id)
        if any(test(id) for test in silent):
            texts[id] = b""
        elif is_byte(id):
            found = _byte_fallback(piece)
            if not isinstance(found, bytes):
                raise VocabError(f"piece {id} is a byte but spelled {piece!r}, not <0xNN>")
            texts[id] = found
        else:
            texts[id] = piece.replace(_SPACE, " ").encode()
    return texts


def from_mistral(tokenizer: Any) -> Vocab:
    """The vocabulary of a ``mistral_common`` tokenizer (``MistralTokenizer`` or what it wraps).

    Special tokens are exact-only.

    Raises:
        VocabError: neither a Tekken nor a SentencePiece tokenizer is found inside.
    """
    inner = getattr(tokenizer, "instruct_tokenizer", tokenizer)
    inner = getattr(inner, "tokenizer", inner)
    to_bytes, special = getattr(inner, "id_to_byte_piece", None), getattr(inner, "num_special_tokens", None)
    if to_bytes is not None and isinstance(special, int):
        texts = {id: b"" if id < special else to_bytes(id) for id in range(inner.n_words)}
        return Vocab.from_id_to_bytes(texts)
    processor = getattr(inner, "_model", None)
    if processor is not None:
        return from_sentencepiece(processor)
    raise VocabError(f"{type(inner).__name__} is neither a Tekken nor a SentencePiece tokenizer of mistral_common")
