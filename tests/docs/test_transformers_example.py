"""``examples/transformers_generate.py`` without the library: tensors that do what numpy does."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import glrmask

PATH = Path(__file__).resolve().parents[2] / "examples" / "transformers_generate.py"
EOS, WIDTH = 256, 260


class Tensor:
    """As much of a ``torch.Tensor`` as a logits processor meets."""

    def __init__(self, data: Any) -> None:
        self.data = np.array(data)
        self.device = "cpu"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def tolist(self) -> Any:
        return self.data.tolist()

    def to(self, device: str) -> Tensor:
        assert device == "cpu"
        return self

    def masked_fill(self, mask: Tensor, value: float) -> Tensor:
        assert mask.data.dtype == bool and mask.shape == self.shape
        return Tensor(np.where(mask.data, value, self.data))


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    torch = ModuleType("torch")
    torch.from_numpy = Tensor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    spec = importlib.util.spec_from_file_location("transformers_generate", PATH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def constraint() -> glrmask.Constraint:
    try:
        importlib.metadata.distribution("glrmask-frontend-jsonschema")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("glrmask-frontend-jsonschema is not installed here")
    schema = {"type": "array", "items": {"enum": ["a", "bb", 1]}, "maxItems": 3}
    vocab = glrmask.Vocab.from_id_to_bytes({**{i: bytes((i,)) for i in range(256)}, EOS: b""})
    return glrmask.Grammar.from_json_schema(schema, whitespace="compact").compile(vocab, end_tokens=[EOS])


def generate(processor: Any, prompts: list[list[int]], rng: np.random.Generator, beams: bool) -> list[list[int]]:
    """What ``model.generate`` does with the scores of a model that knows nothing."""
    rows = [list(p) for p in prompts]
    for _ in range(80):
        scores = processor(Tensor(rows), Tensor(rng.random((len(rows), WIDTH)))).data
        if beams:  # the best row is doubled, the worst one dropped
            rows = [rows[0], rows[0], *rows[1:-1]]
            scores = scores[[0, 0, *range(1, len(rows) - 1)]]
        done = [EOS in row[len(prompts[0]) :] for row in rows]
        rows = [[*row, EOS if end else int(score.argmax())] for row, score, end in zip(rows, scores, done, strict=True)]
        if all(done):
            return rows
    raise AssertionError("it never ends")


@pytest.mark.parametrize("beams", [False, True])
def test_every_row_is_valid(example: Any, constraint: glrmask.Constraint, beams: bool) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        prompts = rng.integers(0, 256, (4, 5)).tolist()
        rows = generate(example.ConstraintProcessor(constraint), prompts, rng, beams)
        for row in rows:
            text = bytes(i for i in row[5:] if i != EOS)
            assert all(item in ("a", "bb", 1) for item in json.loads(text))


def test_scores_of_allowed_tokens_stay(example: Any, constraint: glrmask.Constraint) -> None:
    scores = Tensor(np.arange(2.0 * WIDTH).reshape(2, WIDTH))
    found = example.ConstraintProcessor(constraint)(Tensor([[1, 2], [3, 4]]), scores).data
    assert np.isneginf(found).sum() == 2 * WIDTH - 2  # only "["
    assert found[0, ord("[")] == ord("[") and found[1, ord("[")] == WIDTH + ord("[")
    assert np.isfinite(scores.data).all()


def test_rows_that_cannot_go_on(example: Any, constraint: glrmask.Constraint) -> None:
    processor = example.ConstraintProcessor(constraint)
    processor(Tensor([[0]]), Tensor(np.zeros((1, WIDTH))))
    with pytest.raises(glrmask.StateRejectedError):
        processor(Tensor([[0, ord("]")]]), Tensor(np.zeros((1, WIDTH))))
    narrow = glrmask.Vocab.from_id_to_bytes({0: b"["})
    stuck = glrmask.Grammar.from_json_schema({"type": "array"}).compile(narrow, end_tokens=[1])
    processor = example.ConstraintProcessor(stuck)
    processor(Tensor([[5]]), Tensor(np.zeros((1, 4))))
    with pytest.raises(glrmask.StateError, match="row 0: no token"):
        processor(Tensor([[5, 0, 0]]), Tensor(np.zeros((1, 0))))


def test_without_the_library(example: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    monkeypatch.setattr(sys, "argv", ["transformers_generate.py"])
    with pytest.raises(SystemExit, match="pip install transformers torch"):
        example.main()
