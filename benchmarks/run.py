"""Compile, time to first mask, mask and commit times of one schema with a real vocabulary.

    python benchmarks/run.py [--schema FILE] [--vocab llama3] [--documents 50] [--engine NAME] [--optimization NAME]

Documents are written by the embedded model under the schema, encoded with the vocabulary's own byte-pair encoding and
replayed: before each token ``fill_mask`` and ``mask()``, then ``commit_token``, each timed alone. "first" is the first
document, when nothing has been computed yet; "later" are the others. Times in microseconds.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np
from vocabularies import RealVocabulary, load

import glrmask
from glrmask.decoding import Decoder
from glrmask.model import default_model

SCHEMA = Path(__file__).resolve().parent.parent / "examples" / "schemas" / "person.schema.json"


def write_documents(grammar: glrmask.Grammar, count: int, engine: str | None) -> list[bytes]:
    """Valid documents, the same ones every time."""
    model = default_model()
    constraint = grammar.compile(model.vocab, end_tokens=[model.end_token], engine=engine)
    tokens = {i: data for i, data in enumerate(model.tokens) if data}
    decoder = Decoder(constraint, tokens, model.end_token, model.probabilities)
    rng = np.random.default_rng(0)
    return [decoder.decode(rng, 400, lambda _: None).text for _ in range(count)]


class Times:
    """Named lists of seconds."""

    def __init__(self) -> None:
        self.lists: dict[str, list[float]] = {}

    def add(self, name: str, seconds: float) -> None:
        self.lists.setdefault(name, []).append(seconds)

    def table(self) -> str:
        """One line per name: count, median, 99th percentile, maximum."""
        lines = [f"{'':22} {'calls':>7} {'p50':>9} {'p99':>9} {'max':>9}"]
        for name, seconds in self.lists.items():
            micro = 1e6 * np.array(seconds)
            p50, p99 = np.percentile(micro, [50, 99])
            lines.append(f"{name:22} {len(micro):7} {p50:9.1f} {p99:9.1f} {micro.max():9.1f}")
        return "\n".join(lines)


def replay(constraint: glrmask.Constraint, ids: list[int], label: str, times: Times) -> None:
    """Time one document, end token included."""
    words = np.zeros(constraint.mask_len(), np.uint32)
    state = constraint.start()
    for token in ids:
        started = time.perf_counter()
        state.fill_mask(words)
        filled = time.perf_counter()
        state.mask()
        masked = time.perf_counter()
        state.commit_token(token)
        done = time.perf_counter()
        times.add(f"fill_mask, {label}", filled - started)
        times.add(f"mask(), {label}", masked - filled)
        times.add(f"commit_token, {label}", done - masked)
        if not words[token >> 5] >> (token & 31) & 1:
            raise SystemExit(f"token {token} was committed but is not in the mask: a bug")
    if not state.is_terminated():
        raise SystemExit("the document did not end: a bug")


def measure(arguments: argparse.Namespace, real: RealVocabulary) -> None:
    grammar = glrmask.Grammar.from_json_schema(arguments.schema.read_text(encoding="utf-8"))
    encoder = real.encoder()
    texts = write_documents(grammar, arguments.documents, arguments.engine)
    documents = [[*encoder.encode(text), real.end] for text in texts]

    started = time.perf_counter()
    vocab = glrmask.Vocab.from_id_to_bytes(real.tokens)
    print(f"vocabulary {real.name}: {len(vocab)} tokens, built in {1e3 * (time.perf_counter() - started):.1f} ms")
    options = {
        "end_tokens": [real.end],
        "engine": arguments.engine,
        "optimization": glrmask.Optimization(arguments.optimization),
    }
    glrmask.Grammar.from_json_schema({"const": 0}).compile(vocab, **options).start().mask()  # structures per vocabulary
    fresh = glrmask.Grammar.from_json_schema(arguments.schema.read_text(encoding="utf-8"))
    started = time.perf_counter()
    constraint = fresh.compile(vocab, **options)
    compiled = time.perf_counter()
    state = constraint.start()
    state.fill_mask(np.zeros(constraint.mask_len(), np.uint32))
    first = time.perf_counter()
    print(f"engine {constraint.report.engine}, optimization {arguments.optimization}, {arguments.schema.name}")
    print(f"compile {1e3 * (compiled - started):.2f} ms, time to first mask {1e3 * (first - started):.2f} ms")

    times = Times()
    replay(constraint, documents[0], "first", times)
    for ids in documents[1:]:
        replay(constraint, ids, "later", times)
    print(times.table())


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure one schema with a real vocabulary.")
    parser.add_argument("--schema", type=Path, default=SCHEMA)
    parser.add_argument("--vocab", default="llama3", help="llama3 or o200k")
    parser.add_argument("--documents", type=int, default=50)
    parser.add_argument("--engine")
    parser.add_argument("--optimization", default="auto", choices=[mode.value for mode in glrmask.Optimization])
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} CPUs")
    real = load(arguments.vocab)
    if real is None:
        print(f"SKIPPED: no vocab_{arguments.vocab}.json.gz in a folder shared/data beside the checkout")
        return 0
    measure(arguments, real)
    return 0


if __name__ == "__main__":
    sys.exit(main())
