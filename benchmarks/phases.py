"""Where the time to first mask goes: front-end, engine, start, first mask, over the 600 real schemas.

    python benchmarks/phases.py [--levels AUTO FAST_RUNTIME] [--schemas 600] [--repeats 3]

Processor time of the thread, the fastest of several runs of each phase, the garbage collector off, AUTO without its
worker. "front-end" is schema text to grammar module, "engine" module to constraint.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import gzip
import json
import sys
import time
from pathlib import Path
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


def python_profile(rows: list[dict[str, Any]], vocab: Vocab) -> dict[str, Any]:
    """Per cent of the time by module and function, over all schemas compiled once in AUTO without its worker."""
    profiler = cProfile.Profile(time.thread_time)
    texts = [json.dumps(row["schema"]) for row in rows]
    profiler.enable()
    for text in texts:
        try:
            Grammar.from_json_schema(text).compile(vocab, background=False)
        except (glrmask.GlrmaskError, ValueError):
            continue
    profiler.disable()
    profiler.create_stats()
    modules: dict[str, float] = {}
    functions: dict[str, float] = {}
    for (file, _, function), (_, _, own, _, _) in profiler.stats.items():  # type: ignore[attr-defined]
        module = Path(file).stem if file != "~" else "built in"
        modules[module] = modules.get(module, 0) + own
        functions[f"{module}.{function}"] = functions.get(f"{module}.{function}", 0) + own
    whole = sum(modules.values())

    def most(found: dict[str, float], count: int) -> list[tuple[str, float]]:
        return sorted(((n, round(100 * v / whole, 1)) for n, v in found.items()), key=lambda pair: -pair[1])[:count]

    return {"modules": most(modules, 12), "functions": most(functions, 20)}


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
    vocab = Vocab.from_id_to_bytes(real.tokens)
    Grammar.from_json_schema({"type": "boolean"}).compile(vocab, background=False)
    save("phases", {"levels": found, "phases": PHASES, "python": python_profile(rows, vocab)})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
