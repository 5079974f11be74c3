"""Saved constraints: round trips over real schemas and random grammars, with load time and size beside compile time.

    python benchmarks/persist.py [FILE.jsonl.gz] [--closed] [--grammars 500] [--steps 16] [--vocab NAME] [--engine NAME]

Every schema of the file that compiles (in the default mode, and with ``--closed`` in FAST_RUNTIME, which saves its
tables), and so many random grammars in all modes, go through: compile, compile once more from the source, save, load,
save. All bytes must be equal, and all masks along a random walk. Schemas are saved without their vocabulary
(``save_with_external_vocab``), random grammars with it. Processor time in milliseconds; "load" includes checksum and
validation. The exit code is 1 when anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from json_schema_judge import rows
from vocabularies import load

import glrmask
from glrmask_core.testing.checks import check_save_and_load, mask_words, random_walk
from glrmask_core.testing.compare import compile_world
from glrmask_core.testing.worlds import RandomDice, roll_world


class Column:
    """Figures of one kind."""

    def __init__(self, name: str) -> None:
        self.name, self.values = name, list[float]()

    def line(self) -> str:
        p50, p90, p99 = np.percentile(self.values, [50, 90, 99])
        return f"{self.name:22} {p50:10.3f} {p90:10.3f} {p99:10.3f} {max(self.values):10.3f} {sum(self.values):11.1f}"


def round_trip(
    grammar: glrmask.Grammar, vocab: glrmask.Vocab, options: dict[str, Any], steps: int, columns: Sequence[Column]
) -> str:
    """Compile, save, load and compare; a word when something differs."""
    times = [time.thread_time()]
    constraint = grammar.compile(vocab, **options)
    times.append(time.thread_time())
    data = constraint.save_with_external_vocab()
    times.append(time.thread_time())
    loaded = glrmask.Constraint.load(data, vocab, background=False)
    times.append(time.thread_time())
    for column, spent in zip(columns, [*np.diff(times) * 1e3, len(data) / 1024], strict=True):
        column.values.append(float(spent))
    if loaded.save_with_external_vocab() != data:
        return "bytes after loading"
    fresh = glrmask.Grammar.from_json_schema(grammar.text, **grammar.options).compile(vocab, **options)
    if fresh.save_with_external_vocab() != data:
        return "bytes of a second compile"
    ids = random_walk(constraint, random.Random(len(data)), steps)
    one, other = constraint.start(0), loaded.start(0)
    for token in [*ids, None]:
        if not np.array_equal(mask_words(one), mask_words(other)):
            return "a mask"
        if token is not None:
            one.commit_token(token)
            other.commit_token(token)
    return "" if constraint.save_with_external_vocab() == data else "bytes after running"


def schemas(file: str | None, vocabulary: str, engine: str | None, mode: glrmask.Optimization, steps: int) -> int:
    """Round trips of schemas; how many differ."""
    real = load(vocabulary)
    if real is None:
        raise SystemExit(f"no vocabulary {vocabulary} beside the checkout")
    vocab = glrmask.Vocab.from_id_to_bytes(real.tokens)
    glrmask.Grammar.from_json_schema({"type": "string"}).compile(vocab, engine=engine).start().mask()
    options = {"end_tokens": [real.end], "engine": engine, "background": False, "optimization": mode}
    columns = [Column(name) for name in ("compile, ms", "save, ms", "load, ms", "size, KiB")]
    refused = limited = wrong = 0
    for row in rows(file, "maskbench_dev.jsonl.gz"):
        grammar = glrmask.Grammar.from_json_schema(json.dumps(row["schema"]))
        try:
            problem = round_trip(grammar, vocab, options, steps, columns)
        except glrmask.LimitExceededError:
            limited += 1
            continue
        except glrmask.GrammarError:
            refused += 1
            continue
        if problem:
            wrong += 1
            print(f"differs: {problem}: {row['name']}")
    print(
        f"{mode.name}: {len(columns[0].values)} schemas, {refused} refused, {limited} past a limit, {wrong} differ; "
        f"{len(vocab)} tokens"
    )
    print(f"{'':22} {'p50':>10} {'p90':>10} {'p99':>10} {'max':>10} {'sum':>11}")
    print(*(column.line() for column in columns), sep="\n")
    ratio = sum(columns[0].values) / sum(columns[2].values)
    print(f"loading takes 1/{ratio:.1f} of the time of compiling")
    return wrong


def grammars(count: int, engine: str | None, steps: int, seed: int = 0) -> int:
    """Round trips of random grammars in every schedule; how many differ."""
    done = wrong = empty = limited = 0
    modes = list(glrmask.Optimization)
    number = seed
    while done < count:
        number += 1
        world = roll_world(RandomDice(number))
        try:
            constraint = compile_world(world, engine or "native", modes[number % len(modes)])
        except glrmask.LimitExceededError:
            limited += 1
            continue
        if constraint is None:
            empty += 1
            continue
        done += 1
        try:
            check_save_and_load(constraint, random_walk(constraint, random.Random(number), steps))
        except AssertionError as error:
            wrong += 1
            print(f"differs: grammar {number}: {error}")
    print(f"{done} random grammars ({empty} others match nothing, {limited} are past a limit), {wrong} differ")
    return wrong


def main() -> int:
    """Print the figures; the exit code is 1 when anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--grammars", type=int, default=500)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--vocab", default="llama3")
    parser.add_argument("--engine")
    parser.add_argument("--closed", action="store_true", help="schemas in FAST_RUNTIME, too")
    options = parser.parse_args()
    wrong = grammars(options.grammars, options.engine, options.steps)
    wrong += schemas(options.file, options.vocab, options.engine, glrmask.Optimization.AUTO, options.steps)
    if options.closed:
        mode = glrmask.Optimization.FAST_RUNTIME
        wrong += schemas(options.file, options.vocab, options.engine, mode, options.steps)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
