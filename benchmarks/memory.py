"""Bytes of vocabularies, constraints, states and caches, and the resident size of a process that sees 1,000 schemas.

    python benchmarks/memory.py [--schemas 1000] [--limit-mib 0.125]

The bytes are the engine's own count; the resident size is what the system says. The 1,000 schemas are the real ones
and copies of them with another property, each compiled, asked for the masks of a text, and dropped, in a process of its
own per setting: as it is by default, with a smaller ``Limits(mask_cache_bytes=...)``, with freed memory given back at
once (``MIMALLOC_PURGE_DECOMMITS=1``), and with every constraint kept, with and without AUTO's worker. Of kept
constraints the bytes by owner are counted (``NativeGrammar.usage``) before and after the worker has come to an end,
and by tracemalloc, in a process of its own, those of Python objects.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from engine_costs import build_vocabulary, language_cases, schema_cases
from glrmask_engine_native._native import ffi, lib
from glrmask_engine_native.handles import CACHE_KEY
from glrmask_engine_native.heap import heap
from glrmask_engine_native.worker import worker
from measuring import SHARED, rss, save
from vocabularies import DATA, load

import glrmask
from glrmask import Grammar, Limits, Optimization

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "mask_cache_bytes small": {"mask_cache": True},
    "decommit": {"environment": {"MIMALLOC_PURGE_DECOMMITS": "1", "MIMALLOC_PURGE_DELAY": "0"}},
    "every constraint kept": {"keep": True},
    "every constraint kept, mask_cache_bytes small": {"keep": True, "mask_cache": True},
    "every constraint kept, without the worker": {"keep": True, "background": False},
    "every constraint kept, Python objects": {"keep": True, "background": False, "trace": True},
}


def vocabularies() -> list[dict[str, Any]]:
    """Bytes of the engine's vocabulary, and what the whole object adds to the resident size."""
    found = []
    for name in ("llama3", "o200k"):
        real = load(name)
        if real is None:
            continue
        before = rss()
        vocab = build_vocabulary(real)
        grown = rss() - before
        size = int(lib.gm_vocab_bytes(vocab.engine_cache[CACHE_KEY]))
        found.append({"name": name, "tokens": len(real.tokens), "engine": size, "rss": grown})
    return found


def state_bytes(state: glrmask.ConstraintState) -> int:
    """Bytes of one state, by the engine's count."""
    report = ffi.new("GmStateReport *")
    error = ffi.new("GmError *")
    lib.gm_state_report(state._handle, report, error)  # type: ignore[attr-defined]
    return int(report.memory_bytes)


def constraints() -> list[dict[str, Any]]:
    """Per grammar and level: bytes after compiling, after a text, of that final masks, and of a state at its end."""
    real = load("llama3")
    assert real is not None, "checked by main"
    vocab = build_vocabulary(real)
    found = []
    chosen = [*language_cases(real), *schema_cases(real, vocab, 20)]
    for level in ("AUTO", "BALANCED", "FAST_RUNTIME"):
        groups: dict[str, list[tuple[int, ...]]] = {}
        for case in chosen:
            try:
                constraint = case.compile(vocab, level)
                without = case.compile(vocab, level, Limits(mask_cache_bytes=0))
            except glrmask.LimitExceededError:
                continue
            sizes = [constraint.report.figures["memory_bytes"]]
            for some in (constraint, without):
                words = np.zeros(some.mask_len(), np.uint32)
                state = some.start()
                for token in case.ids:
                    state.fill_mask(words)
                    state.commit_token(token)
                sizes.append(some.report.figures["memory_bytes"])
            groups.setdefault(case.name, []).append((*sizes, state_bytes(some.start()), state_bytes(state)))
        for name, rows in groups.items():
            compiled, after, tables, start, end = (int(v) for v in np.median(np.array(rows), axis=0))
            found.append(
                {
                    "grammar": name + (f" (median of {len(rows)})" if len(rows) > 1 else ""),
                    "level": level,
                    "compiled": compiled,
                    "after_text": after,
                    "final_masks": after - tables,
                    "state_start": start,
                    "state_end": end,
                }
            )
    return found


def owners(kept: list[glrmask.Constraint]) -> dict[str, int]:
    """Bytes by owner of all these constraints, and how much of them the worker has made."""
    found: dict[str, int] = {}
    for constraint in kept:
        for name, value in constraint._compiled.usage().items():  # type: ignore[attr-defined]
            found[name] = found.get(name, 0) + value
    return {
        **found,
        "memory_bytes": sum(found.values()),
        "warm_bytes": sum(constraint.report.figures["warm_bytes"] for constraint in kept),
    }


def many(setting: str, count: int, limit: int) -> dict[str, Any]:
    """Compile so many different schemas in this process.

    Returns:
        ``points``, on the way: (schemas so far, resident bytes, bytes that the heap keeps). Where all are kept also
        ``owners`` and, when the worker is done, ``idle_owners`` and ``idle_rss``; or ``traced``, the bytes of Python
        objects.
    """
    real = load("llama3")
    assert real is not None, "checked by main"
    options = SETTINGS[setting]
    limits = Limits(mask_cache_bytes=limit) if options.get("mask_cache") else None
    vocab = build_vocabulary(real)
    encoder = real.encoder()
    with gzip.open(DATA / "maskbench_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    tasks = []
    for turn in range(1 + count // len(rows)):
        for row in rows:
            schema = row["schema"]
            if turn:
                schema = {
                    **schema,
                    "properties": {**schema.get("properties", {}), f"added {turn}": {"type": "integer"}},
                }
            data = row["tests"][0]["data"] if row["tests"] else {}
            tasks.append((json.dumps(schema), encoder.encode(json.dumps(data, ensure_ascii=False).encode())[:300]))
    del rows, real, encoder
    if options.get("trace"):
        tracemalloc.start()
    kept: list[glrmask.Constraint] = []
    found, done = [[0, rss(), heap.kept()]], 0
    words = np.zeros((vocab.max_id + 32) // 32, np.uint32)
    for text, ids in tasks:
        try:
            constraint = Grammar.from_json_schema(text).compile(
                vocab, limits=limits, optimization=Optimization.AUTO, background=options.get("background", True)
            )
        except ValueError:
            continue
        state = constraint.start()
        state.fill_mask(words)
        for token in ids:
            if not int(words[token >> 5]) >> (token & 31) & 1:
                break
            state.commit_token(token)
            state.fill_mask(words)
        if options.get("keep"):
            kept.append(constraint)
        done += 1
        if done % (count // 10) == 0:
            found.append([done, rss(), heap.kept()])
        if done == count:
            break
    result: dict[str, Any] = {"points": found}
    if options.get("trace"):
        result["traced"] = tracemalloc.get_traced_memory()[0]
    elif kept:
        result["owners"] = owners(kept)
        worker.wait(600)
        glrmask._internal.collect_allocator()
        result["idle_owners"], result["idle_rss"] = owners(kept), rss()
    return result


def show(setting: str, result: dict[str, Any]) -> None:
    """One setting, for who waits: MiB resident at the end, KiB of a kept constraint by owner."""
    done, size, _kept = result["points"][-1]
    print(f"{setting}: {size / 2**20:.0f} MiB after {done} schemas", file=sys.stderr, flush=True)
    if "traced" in result:
        print(f"  Python objects: {result['traced'] / done / 1024:.1f} KiB each", file=sys.stderr)
    for name in ("owners", "idle_owners"):
        if name in result:
            parts = ", ".join(f"{owner} {value / done / 1024:.1f}" for owner, value in result[name].items())
            print(f"  {name}, KiB each: {parts}", file=sys.stderr)


def main() -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=1000)
    parser.add_argument("--limit-mib", type=float, default=0.125, help="the small mask_cache_bytes")
    parser.add_argument("--one", choices=SETTINGS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if load("llama3") is None or not (SHARED / "bench").exists():
        print("SKIPPED: no vocabulary, grammars or schemas in a folder shared beside the checkout", file=sys.stderr)
        return 0
    limit = int(arguments.limit_mib * 2**20)
    if arguments.one:
        print(json.dumps(many(arguments.one, arguments.schemas, limit)))
        return 0
    figures: dict[str, Any] = {"vocabularies": vocabularies(), "constraints": constraints(), "limit": limit}
    figures["many"] = {}
    for setting, options in SETTINGS.items():
        command = [sys.executable, str(Path(__file__).resolve()), "--one", setting]
        command += ["--schemas", str(arguments.schemas), "--limit-mib", str(arguments.limit_mib)]
        environment = {**os.environ, **options.get("environment", {})}
        result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        figures["many"][setting] = json.loads(result.stdout)
        show(setting, figures["many"][setting])
    save("memory", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
