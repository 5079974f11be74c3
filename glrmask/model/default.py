"""Loading the embedded model, its tokenizer and its probabilities."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .bpe import PIECES, encode_piece, token_table

if TYPE_CHECKING:
    from glrmask_core.vocab import Vocab

MAX_ORDER = 3


class DefaultModel:
    """Vocabulary, tokenizer and next-token probabilities. Immutable; share it between threads.

    Attributes:
        size: number of tokens, the end token included.
        end_token: id of the end token; it has no bytes.
        tokens: bytes per id.
    """

    def __init__(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Take over the arrays that the training script wrote: merges, and n-gram counts by order."""
        self.tokens: tuple[bytes, ...] = (*token_table(arrays["merges"]), b"")
        self.size = len(self.tokens)
        self.end_token = self.size - 1
        self._ranks = {(int(a), int(b)): i for i, (a, b) in enumerate(arrays["merges"].tolist())}
        self._tables = []
        for order in range(1, MAX_ORDER + 1):
            contexts = np.cumsum(arrays[f"contexts{order}"], dtype=np.int64)
            rows = np.concatenate(([0], np.cumsum(arrays[f"sizes{order}"], dtype=np.int64)))
            self._tables.append((contexts, rows, arrays[f"tokens{order}"], arrays[f"counts{order}"]))

    @functools.cached_property
    def vocab(self) -> Vocab:
        """The vocabulary as glrmask wants it; the end token is exact-only."""
        from glrmask_core.vocab import Vocab

        return Vocab.from_id_to_bytes(dict(enumerate(self.tokens)))

    def encode(self, text: str | bytes) -> list[int]:
        """The token ids of a text. Bytes that are not UTF-8 become single-byte tokens."""
        if isinstance(text, bytes):
            text = text.decode("utf-8", "surrogateescape")
        ids: list[int] = []
        for piece in PIECES.findall(text):
            ids += encode_piece(piece.encode("utf-8", "surrogateescape"), self._ranks)
        return ids

    def decode(self, ids: Iterable[int]) -> bytes:
        """The bytes of token ids; the end token adds none."""
        return b"".join(self.tokens[i] for i in ids)

    def probabilities(self, context: Sequence[int]) -> npt.NDArray[np.float64]:
        """float64[size]: how likely each token comes next; positive everywhere, sums to 1.

        Args:
            context: the ids so far; only the last two matter. Empty means the beginning of a text.

        Each order is mixed into the one below by how varied its context is (Witten and Bell 1991, method C).
        """
        padded = [self.end_token, *context]
        result = np.full(self.size, 1.0 / self.size)
        for order, (contexts, rows, tokens, counts) in enumerate(self._tables, 1):
            key = 0
            for token in padded[len(padded) - order + 1 :]:
                key = key * self.size + token
            at = int(np.searchsorted(contexts, key))
            if len(padded) < order - 1 or at == len(contexts) or contexts[at] != key:
                break
            row = slice(int(rows[at]), int(rows[at + 1]))
            total, distinct = int(counts[row].sum(dtype=np.int64)), int(rows[at + 1] - rows[at])
            result *= distinct / (total + distinct)
            result[tokens[row]] += counts[row] / (total + distinct)
        return result


@functools.lru_cache(maxsize=1)
def default_model() -> DefaultModel:
    """The embedded model, loaded once."""
    with files(__package__).joinpath("default.npz").open("rb") as file, np.load(file) as arrays:
        return DefaultModel({name: arrays[name] for name in arrays.files})
