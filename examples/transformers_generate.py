"""A Hugging Face model under the mask: ``ConstraintProcessor`` is a logits processor for ``model.generate``.

    pip install transformers torch
    python examples/transformers_generate.py [--model NAME] [--schema FILE] [--prompt TEXT]

The processor needs neither of the two packages to be imported; it works on whatever ``generate`` hands it, with
sampling, greedy and beam search, one sequence or a batch.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import glrmask

SCHEMA = Path(__file__).resolve().parent / "schemas" / "tool_call.schema.json"
MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
PROMPT = "Answer with one JSON tool call. What will the weather be in Paris on 2025-03-01?"


class ConstraintProcessor:
    """Sets the scores of tokens that may not come next to minus infinity.

    One object serves one call of ``generate``: it takes the first ``input_ids`` it sees for prompts. Rows may be
    reordered between steps, as beam search does; each is told by the tokens written so far.

    Args:
        constraint: compiled with the model's end token (or tokens) as ``end_tokens``.
    """

    def __init__(self, constraint: glrmask.Constraint) -> None:
        self._constraint = constraint
        self._prompt: int | None = None
        self._states: dict[tuple[int, ...], glrmask.ConstraintState] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Scores[rows, vocabulary] with what is not allowed taken out; the argument stays as it is."""
        import torch

        blocked = torch.from_numpy(~self.allowed(input_ids.tolist(), int(scores.shape[-1])))
        return scores.masked_fill(blocked.to(scores.device), float("-inf"))

    def allowed(self, rows: list[list[int]], width: int) -> npt.NDArray[np.bool_]:
        """Which tokens may come next, bool[rows, width].

        Args:
            rows: token ids of prompt and text so far, all of one length.
            width: of the scores; a model's may be wider than its vocabulary.

        Raises:
            glrmask.StateError: a row that the mask did not allow, or one that no token can continue.
        """
        if self._prompt is None:
            self._prompt = len(rows[0])
        states: dict[tuple[int, ...], glrmask.ConstraintState] = {}
        for row in rows:
            written = tuple(row[self._prompt :])
            if written not in states:
                states[written] = self._state(written)
        self._states = states
        words = np.zeros((len(rows), self._constraint.mask_len()), np.uint32)
        order = [states[tuple(row[self._prompt :])] for row in rows]
        glrmask.fill_masks(order, words)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
        found = np.zeros((len(rows), width), np.bool_)
        found[:, : min(width, bits.shape[1])] = bits[:, :width]
        for at, state in enumerate(order):
            if state.is_terminated():  # generate pads a finished row, whatever the scores
                found[at] = True
            elif not found[at].any():
                raise glrmask.StateError(f"row {at}: no token of the model continues the text; is end_tokens right?")
        return found

    def _state(self, written: tuple[int, ...]) -> glrmask.ConstraintState:
        """The state after the tokens written, from the one before if that is known."""
        before = self._states.get(written[:-1]) if written else None
        if before is None:
            state = self._constraint.start(max_rollback=0)
            rest: tuple[int, ...] = written
        else:
            state, rest = before.clone(), written[-1:]
        for token in rest:
            if not state.is_terminated():  # what follows is padding
                state.commit_token(token)
        return state


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate with a Hugging Face model under a JSON Schema.")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--schema", type=Path, default=SCHEMA)
    parser.add_argument("--prompt", default=PROMPT)
    parser.add_argument("--max-tokens", type=int, default=300)
    arguments = parser.parse_args()
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise SystemExit("this example needs two packages: pip install transformers torch") from None

    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModelForCausalLM.from_pretrained(arguments.model)
    vocab = glrmask.Vocab.from_transformers(tokenizer)
    grammar = glrmask.Grammar.from_json_schema(arguments.schema.read_text(encoding="utf-8"), whitespace="dumps")
    constraint = grammar.compile(vocab, end_tokens=[tokenizer.eos_token_id])

    chat = [{"role": "user", "content": arguments.prompt}]
    inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    written = model.generate(
        **inputs,
        max_new_tokens=arguments.max_tokens,
        do_sample=True,
        logits_processor=[ConstraintProcessor(constraint)],
    )
    text = tokenizer.decode(written[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    print(json.dumps(json.loads(text), ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
