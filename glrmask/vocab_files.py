"""Vocabularies of the command line: the embedded one, or a file."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glrmask_core.errors import GlrmaskError

if TYPE_CHECKING:
    from glrmask_core.vocab import Vocab

    from .model import DefaultModel

FORMATS = """\
a vocabulary file is one of
  *.tiktoken            lines of "base64 rank"
  *.json, *.json.gz     an object with "tokens": [base64 or null, ...] (index = id) and optionally "eos": id,
                        or an object {"id": "base64", ...}
  tokenizer.json        of Hugging Face tokenizers (needs the package "tokenizers")"""


class VocabFileError(GlrmaskError, ValueError):
    """A vocabulary file that cannot be read."""


@dataclass(frozen=True)
class Loaded:
    """A vocabulary for decoding.

    Attributes:
        name: for messages.
        vocab: the vocabulary.
        tokens: bytes per id; ids without bytes are absent.
        end_token: the end token; when the file names none, an id past all others.
        model: probabilities over these ids; None draws evenly.
    """

    name: str
    vocab: Vocab
    tokens: dict[int, bytes]
    end_token: int
    model: DefaultModel | None = None


def load_vocab(path: str | None) -> Loaded:
    """The embedded vocabulary (``path`` None) or the one in a file.

    Raises:
        VocabFileError: not a vocabulary file that is understood.
        OSError: the file cannot be read.
    """
    from glrmask_core.vocab import Vocab

    if path is None:
        from .model import default_model

        model = default_model()
        tokens = {i: data for i, data in enumerate(model.tokens) if data}
        return Loaded("embedded", model.vocab, tokens, model.end_token, model)
    file = Path(path)
    raw = file.read_bytes()
    try:
        if raw.startswith(b"\x1f\x8b"):
            raw = gzip.decompress(raw)
        if file.name.endswith(".tiktoken"):
            tokens, end = _from_tiktoken(raw), None
        else:
            document = json.loads(raw)
            if isinstance(document, dict) and isinstance(document.get("model"), dict):
                return _from_tokenizers(file)
            tokens, end = _from_json(document)
    except (ValueError, KeyError, TypeError, EOFError, OSError, binascii.Error) as error:
        if isinstance(error, GlrmaskError):
            raise
        raise VocabFileError(f"{file}: not a vocabulary file ({error}); {FORMATS}") from None
    return Loaded(
        file.name, Vocab.from_id_to_bytes(tokens), tokens, max(tokens, default=-1) + 1 if end is None else end
    )


def _from_tiktoken(raw: bytes) -> dict[int, bytes]:
    pairs = (line.split() for line in raw.splitlines() if line)
    return {int(rank): base64.b64decode(data, validate=True) for data, rank in pairs}


def _from_json(document: Any) -> tuple[dict[int, bytes], int | None]:
    if not isinstance(document, dict):
        raise ValueError("expected an object")
    listed = document.get("tokens")
    if listed is None:
        return {int(i): base64.b64decode(data, validate=True) for i, data in document.items()}, None
    tokens = {i: base64.b64decode(data, validate=True) for i, data in enumerate(listed) if data}
    end = document.get("eos")
    if end is not None and (not isinstance(end, int) or isinstance(end, bool) or end < 0):
        raise ValueError(f'"eos" is {end!r}, not a token id')
    return tokens, end


def _from_tokenizers(file: Path) -> Loaded:
    from glrmask_core.vocab import Vocab

    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise VocabFileError(f'{file}: reading a tokenizer.json needs the package "tokenizers"; install it') from None
    vocab = Vocab.from_tokenizers(Tokenizer.from_file(str(file)))
    ids, offsets, blob = vocab.entries()
    bounds = offsets.tolist()
    tokens = {i: blob[bounds[n] : bounds[n + 1]] for n, i in enumerate(ids.tolist()) if bounds[n + 1] > bounds[n]}
    return Loaded(file.name, vocab, tokens, vocab.max_id + 1)
