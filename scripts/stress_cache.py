"""Several processes and threads on one cache directory: nothing lost, nothing torn.

    python scripts/stress_cache.py [--seconds 60] [--processes 2] [--threads 8] [--engine NAME]

Every thread compiles grammars through a ``glrmask.Cache`` of its own on one directory, and checks each constraint
against what compiling without a cache gives: the saved bytes and the first mask. Meanwhile some files are damaged,
removed, or crowded out (the directory holds only half of them), and now and then the cache is cleared. Prints counts;
the exit code is 1 when a thread got a wrong constraint or an exception, when a damaged file was served, or when other
files than whole artifacts are left behind.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import glrmask
from glrmask_core.cache import SUFFIX

GRAMMARS = 24


def vocabulary() -> glrmask.Vocab:
    """Every byte, and many tokens, so that files are large enough to be torn."""
    tokens = {i: bytes([i]) for i in range(256)}
    tokens |= {256 + i: f"token{i}".encode() for i in range(2000)}
    return glrmask.Vocab.from_id_to_bytes(tokens | {9000: b""})


def grammar(number: int) -> glrmask.Grammar:
    """About 60 KB of artifact."""
    words = " | ".join(f'"word{number}x{i}{"y" * (i % 7)}"' for i in range(1200))
    return glrmask.Grammar.from_ebnf(f'start ::= ({words}) ("," start)?')


class Thread:
    """The work of one thread."""

    def __init__(self, directory: Path, seed: int, expected: list[tuple[bytes, bytes]], engine: str | None) -> None:
        self.directory, self.expected, self.engine = directory, expected, engine
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.vocab = vocabulary()

    def run(self, until: float) -> None:
        """Until the time is up or something is wrong."""
        size = len(self.expected[0][0]) * GRAMMARS // 2
        cache = glrmask.Cache(self.directory, max_mebibytes=max(1, size >> 20))
        try:
            while time.monotonic() < until:
                self.step(cache)
        except BaseException as error:
            self.counts[f"WRONG: {type(error).__name__}: {error}"] += 1
        self.counts["hits"] += cache.hits
        self.counts["misses"] += cache.misses

    def step(self, cache: glrmask.Cache) -> None:
        """One compile, or one piece of mischief."""
        dice = self.rng.random()
        if dice < 0.05:
            self.damage()
        elif dice < 0.052:
            cache.clear()
            self.counts["cleared"] += 1
        number = self.rng.randrange(GRAMMARS)
        found = cache.compile(grammar(number), self.vocab, end_tokens=[9000], engine=self.engine, background=False)
        saved, mask = self.expected[number]
        if found.save_with_external_vocab() != saved:
            self.counts["WRONG: bytes"] += 1
        if found.start(0).mask().tobytes() != mask:
            self.counts["WRONG: mask"] += 1
        self.counts["constraints"] += 1

    def damage(self) -> None:
        """Change a byte of some file, cut it short, or remove it: as a bad disk would."""
        files = sorted(self.directory.glob(f"*{SUFFIX}"))
        if not files:
            return
        with contextlib.suppress(OSError):
            path = self.rng.choice(files)
            what = self.rng.randrange(3)
            if what == 0:
                path.unlink()
            else:
                with path.open("r+b") as file:
                    size = os.fstat(file.fileno()).st_size
                    if what == 1:
                        file.truncate(self.rng.randrange(size + 1))
                    else:
                        file.seek(self.rng.randrange(size))
                        file.write(b"\xaa")
            self.counts["damaged or removed"] += 1


def process(directory: str, threads: int, seed: int, seconds: float, engine: str | None, told: Any) -> None:
    """Some threads of one process; their counts go to the queue."""
    vocab = vocabulary()
    expected = []
    for number in range(GRAMMARS):
        made = grammar(number).compile(vocab, end_tokens=[9000], engine=engine, background=False)
        expected.append((made.save_with_external_vocab(), made.start(0).mask().tobytes()))
    until = time.monotonic() + seconds
    work = [Thread(Path(directory), 100 * seed + i, expected, engine) for i in range(threads)]
    running = [threading.Thread(target=w.run, args=(until,)) for w in work]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    told.put(sum((w.counts for w in work), Counter()))


def leftovers(directory: Path, vocab: glrmask.Vocab) -> Counter[str]:
    """What is in the directory at the end: whole artifacts only, apart from those damaged last."""
    counts: Counter[str] = Counter()
    for path in directory.iterdir():
        if path.suffix != SUFFIX:
            counts[f"WRONG: left behind: {path.suffix}"] += 1
            continue
        try:
            glrmask.Constraint.load(path.read_bytes(), vocab, background=False)
            counts["whole files at the end"] += 1
        except glrmask.ArtifactError:
            counts["damaged files at the end"] += 1
    return counts


def main() -> int:
    """Print counts; the exit code is 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--engine")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="glrmask-cache-") as directory:
        told = context.Queue()
        work = [
            context.Process(target=process, args=(directory, options.threads, i, options.seconds, options.engine, told))
            for i in range(options.processes)
        ]
        for one in work:
            one.start()
        for _ in work:
            total += told.get(timeout=options.seconds + 120)
        for one in work:
            one.join()
            if one.exitcode:
                total[f"WRONG: a process ended with {one.exitcode}"] += 1
        total += leftovers(Path(directory), vocabulary())
    print(f"{options.processes} processes, {options.threads} threads each, {options.seconds:g} s")
    for name, count in sorted(total.items()):
        print(f"  {name:28} {count}")
    return int(any(name.startswith("WRONG") for name in total) or not total["constraints"])


if __name__ == "__main__":
    sys.exit(main())
