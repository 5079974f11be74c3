"""Byte-level byte-pair encoding: text to token ids and back.

Ids 0 to 255 are the single bytes; id ``256 + i`` is the pair ``merges[i]``. A text is cut into pieces
first (words, numbers, punctuation, space); tokens made by :func:`encode_piece` never cross a piece.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

PIECES = re.compile(r" ?[^\W\d_]+| ?\d{1,3}| ?[^\w\s]+[\r\n]*|_+|\s*[\r\n]+|\s+(?!\S)|\s+")


def encode_piece(piece: bytes, ranks: Mapping[tuple[int, int], int]) -> list[int]:
    """The tokens of one piece: the earliest merge first, as in training. O(bytes²), pieces are short."""
    word = list(piece)
    while len(word) > 1:
        rank, at = min((ranks.get((word[i], word[i + 1]), 1 << 30), i) for i in range(len(word) - 1))
        if rank == 1 << 30:
            break
        word[at : at + 2] = [256 + rank]
    return word


def token_table(merges: npt.NDArray[Any]) -> list[bytes]:
    """Bytes per id for ``merges`` of shape [n, 2]; single bytes first.

    Raises:
        ValueError: a merge that refers to itself or to a later one.
    """
    table = [bytes([b]) for b in range(256)]
    for left, right in np.asarray(merges).tolist():
        if max(left, right) >= len(table):
            raise ValueError(f"merge {len(table) - 256} refers to token {max(left, right)}, which does not exist yet")
        table.append(table[left] + table[right])
    return table
