"""Real vocabularies for measuring: files in ``shared/data`` beside the checkout, never part of the repository."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from pathlib import Path

from glrmask.model.bpe import PIECES

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@dataclass(frozen=True)
class RealVocabulary:
    """Ordinary tokens of a model, with its byte-pair encoding.

    Attributes:
        name: for tables.
        tokens: bytes per id; lower ids merge first.
        end: the end token, which has no bytes.
    """

    name: str
    tokens: dict[int, bytes]
    end: int

    def encoder(self) -> Encoder:
        """An encoder for texts."""
        return Encoder(self.tokens)


class Encoder:
    """Byte-pair encoding by rank = id; pieces are cut as the embedded model's are, close to the model's own way."""

    def __init__(self, tokens: dict[int, bytes]) -> None:
        self._ranks = {data: i for i, data in tokens.items()}

    def encode(self, text: bytes) -> list[int]:
        """Token ids of a UTF-8 text."""
        ids: list[int] = []
        for piece in PIECES.findall(text.decode()):
            data = piece.encode()
            whole = self._ranks.get(data)
            ids += [whole] if whole is not None else self._merge(data)
        return ids

    def _merge(self, data: bytes) -> list[int]:
        parts = [bytes([b]) for b in data]
        none = 1 << 60
        while len(parts) > 1:
            rank, at = min((self._ranks.get(parts[i] + parts[i + 1], none), i) for i in range(len(parts) - 1))
            if rank == none:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        return [self._ranks[part] for part in parts]


def load(name: str) -> RealVocabulary | None:
    """``llama3`` (128,000 tokens) or ``o200k``; None when the file is absent."""
    path = DATA / f"vocab_{name}.json.gz"
    if not path.exists():
        return None
    with gzip.open(path) as file:
        document = json.load(file)
    tokens = {i: base64.b64decode(data) for i, data in enumerate(document["tokens"]) if data is not None}
    return RealVocabulary(name, tokens, document["eos"])
