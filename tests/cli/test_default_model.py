"""The embedded model: tokenizer round trips, probabilities, size."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from glrmask.model import default_model
from glrmask.model.bpe import encode_piece, token_table

MODEL = default_model()


def test_shape() -> None:
    assert (MODEL.size, MODEL.end_token) == (4096, 4095)
    assert [MODEL.tokens[i] for i in range(256)] == [bytes([i]) for i in range(256)]
    assert MODEL.tokens[MODEL.end_token] == b""
    assert len(MODEL.vocab) == MODEL.size


@pytest.mark.parametrize(
    "text", ["", '{"name": "Zoë", "n": [1, -2.5e3]}\n\t x', "  \n\n 日本 ___ 🙂", "a\u0301b\u2028\u00b2 ½ ١٢٣٤"]
)
def test_round_trip(text: str) -> None:
    assert MODEL.decode(MODEL.encode(text)) == text.encode()


def test_every_character_survives() -> None:
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x3000 + 0xE000), 0x1F600, sys.maxunicode]))
    assert MODEL.decode(MODEL.encode(text)) == text.encode()


def test_invalid_utf8_survives() -> None:
    data = bytes(range(256)) + b"abc\xff\xc3"
    assert MODEL.decode(MODEL.encode(data)) == data


def test_common_text_is_short() -> None:
    text = '{"name": "Anna", "email": "anna@example.com"}'
    assert len(MODEL.encode(text)) < len(text) / 2


@pytest.mark.parametrize("text", ["", "{", '{"name": "', '{"price": 1', "\x00\x01", "zqzq"])
def test_probabilities_are_a_distribution(text: str) -> None:
    probabilities = MODEL.probabilities(MODEL.encode(text))
    assert probabilities.shape == (MODEL.size,)
    assert probabilities.min() > 0
    assert probabilities.sum() == pytest.approx(1)


def test_context_matters() -> None:
    start = MODEL.probabilities([])
    assert MODEL.tokens[int(np.argmax(start))].startswith(b"{")
    after = MODEL.probabilities(MODEL.encode('{"name": "'))
    assert not np.allclose(start, after)


def test_earliest_merge_wins() -> None:
    ranks = {(98, 99): 0, (97, 98): 1}  # bc before ab
    assert encode_piece(b"abc", ranks) == [97, 256]
    assert encode_piece(b"", ranks) == []


def test_merge_of_a_later_token_is_refused() -> None:
    with pytest.raises(ValueError, match="merge 1 refers to token 300"):
        token_table(np.array([[97, 98], [300, 97]]))
