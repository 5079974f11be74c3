"""Where the time to first mask goes: front-end, engine, start, first mask, over the 600 real schemas.

    python benchmarks/phases.py [--levels AUTO FAST_RUNTIME] [--schemas 600] [--repeats 3]

Processor time of the thread, the fastest of several runs of each phase, the garbage collector off, AUTO without its
worker. "front-end" is schema text to grammar module, "engine" module to constraint.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import sys
import time
from typing import Any

import numpy as np
from measuring import save
from vocabularies import DATA, load

import glrmask
from glrmask import Grammar, Optimization, Vocab

PHASES = ("front-end", "engine", "start", "first mask")
QUANTILES = (50, 90, 99, 100)


def phases(text: str, vocab: Vocab, options: dict[str, Any], words: Any) -> tuple[float, ...]:
    """Milliseconds of each phase."""
    clock = time.thread_time_ns
    begin = clock()
    grammar = Grammar.from_json_schema(text)
    grammar.slots()  # reads the text
    read = clock()
    constraint = grammar.compile(vocab, **options)
    compiled = clock()
    state = constraint.start()
    started = clock()
    state.fill_mask(words)
    return tuple(t / 1e6 for t in (read - begin, compiled - read, started - compiled, clock() - started))


def main() -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", nargs="+", default=["AUTO", "FAST_RUNTIME"])
    parser.add_argument("--schemas", type=int, default=600)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    real = load("llama3")
    if real is None:
        print("SKIPPED: no vocabulary in a folder shared/data beside the checkout", file=sys.stderr)
        return 0
    with gzip.open(DATA / "maskbench_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][: arguments.schemas]
    found: dict[str, Any] = {}
    for level in arguments.levels:
        options = {"optimization": Optimization[level], "background": False}
        best: dict[str, np.ndarray[Any, Any]] = {}
        for _ in range(arguments.repeats):
            vocab = Vocab.from_id_to_bytes(real.tokens)
            words = np.zeros((vocab.max_id + 32) // 32, np.uint32)
            Grammar.from_json_schema({"type": "boolean"}).compile(vocab, **options).start().fill_mask(words)
            gc.collect()
            gc.disable()
            for row in rows:
                try:
                    spent = np.array(phases(json.dumps(row["schema"]), vocab, options, words))
                except (glrmask.GlrmaskError, ValueError):
                    continue
                best[row["name"]] = np.minimum(best.get(row["name"], spent), spent)
            gc.enable()
        table = np.array(list(best.values()))
        whole = table.sum(axis=1)
        slowest = sorted(best, key=lambda name: -best[name].sum())[:10]
        found[level] = {
            "schemas": len(table),
            "share": [round(float(v), 3) for v in table.sum(axis=0) / whole.sum()],
            "quantiles": {
                name: [round(float(v), 3) for v in np.percentile(column, QUANTILES)]
                for name, column in zip((*PHASES, "whole"), (*table.T, whole), strict=True)
            },
            "slowest": {name: [round(float(v), 2) for v in best[name]] for name in slowest},
        }
        print(level, json.dumps(found[level]["quantiles"]), found[level]["share"], file=sys.stderr)
    save("phases", {"levels": found, "phases": PHASES})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
