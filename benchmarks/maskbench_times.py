"""Time to first mask and time per token over real schemas, at each optimisation level.

    python benchmarks/maskbench_times.py [--levels AUTO FAST_BUILD] [--no-background] [--schemas 600] [--vocab llama3]

TTFM: schema text to first mask (front-end, compile, start, fill). TBM: fill_mask + commit_token of one token, whole
calls from Python, over the instances of each schema as far as they are allowed; one pass, so most positions are
visited for the first time. The garbage collector is off, one trivial schema is compiled before (as the comparison
harness does). With ``--cpu`` the clock is the thread's processor time: on a busy machine it leaves out what other
processes took (and, with AUTO, what its worker did), but adds about 0.5 us per step.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import time
from collections.abc import Callable

import numpy as np
from vocabularies import DATA, load

import glrmask

QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)


def measure(
    rows: list[dict[str, object]],
    vocab: glrmask.Vocab,
    encode: Callable[[bytes], list[int]],
    options: dict[str, object],
    clock: Callable[[], int],
) -> tuple[list[float], list[float], int]:
    """(TTFM in ms, TBM in us, schemas refused)."""
    words = np.zeros((vocab.max_id + 32) // 32, np.int32)
    glrmask.Grammar.from_json_schema({"type": "string"}).compile(vocab, **options).start().fill_mask(words)
    first, steps, refused = [], [], 0
    for row in rows:
        text = json.dumps(row["schema"])
        begin = clock()
        try:
            constraint = glrmask.Grammar.from_json_schema(text).compile(vocab, **options)
        except ValueError:
            refused += 1
            continue
        constraint.start().fill_mask(words)
        first.append((clock() - begin) / 1e6)
        for test in row["tests"]:  # type: ignore[attr-defined]
            state = constraint.start()
            for token in encode(json.dumps(test["data"], ensure_ascii=False).encode()):
                begin = clock()
                state.fill_mask(words)
                masked = clock()
                if not int(words[token >> 5]) >> (token & 31) & 1:
                    break
                between = clock()
                state.commit_token(token)
                steps.append((masked - begin + clock() - between) / 1e3)
    return first, steps, refused


def line(values: list[float]) -> str:
    """Quantiles, separated for a table."""
    return " | ".join(f"{v:,.2f}" for v in np.quantile(values, QUANTILES))


def main() -> None:
    """Run and print a table; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", nargs="+", default=["AUTO", "FAST_BUILD", "BALANCED", "FAST_RUNTIME"])
    parser.add_argument("--schemas", type=int, default=600)
    parser.add_argument("--vocab", default="llama3")
    parser.add_argument("--no-background", action="store_true", help="AUTO without its worker")
    parser.add_argument("--cpu", action="store_true", help="processor time of the thread instead of wall-clock time")
    args = parser.parse_args()
    real = load(args.vocab)
    if real is None:
        raise SystemExit("the vocabularies and schemas of ../shared/data are not there: nothing measured")
    with gzip.open(DATA / "maskbench_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(text) for text in lines][: args.schemas]
    encode = real.encoder().encode
    clock = time.thread_time_ns if args.cpu else time.perf_counter_ns
    quantiles = "p50 | p90 | p99 | p99.9 | max"
    print(f"| level | steps | TBM {quantiles} (us) | TTFM {quantiles} (ms) | refused |")
    print("|---" * 13 + "|")
    for name in args.levels:
        vocab = glrmask.Vocab.from_id_to_bytes(real.tokens)
        options = {"optimization": glrmask.Optimization[name], "background": not args.no_background}
        gc.collect()
        gc.disable()
        first, steps, refused = measure(rows, vocab, encode, options, clock)
        gc.enable()
        print(f"| {name} | {len(steps):,} | {line(steps)} | {line(first)} | {refused} |", flush=True)


if __name__ == "__main__":
    main()
