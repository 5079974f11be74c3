"""Resident memory over many compilations, and what the purge settings do.

    python scripts/memory_cycles.py [--cycles 10000] [--engine NAME] [--cycles-only | --purge-only]

Cycles: a vocabulary is made for every hundred of them; each compiles one of some grammars in one of the modes, writes
a few tokens with a mask before each, saves and loads now and then, and drops everything. Prints resident memory at
steps; the exit code is 1 when it has grown by more than ``--allowed`` MB over the last three quarters.

Purge: processes with different settings make constraints of about 100 MB, drop them, and print resident memory before,
at once after the drop, after the delay, and after ``collect_allocator``. Where memory is only reset, the system takes
it when it needs it, so resident memory stays ("lazily freed" says how much of it may be taken).
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import glrmask
from glrmask import _internal

STEPS = 10
GRAMMARS = (
    'start ::= "[" (start ("," start)*)? "]" | [0-9]+ | "\\"" [^"\\\\]* "\\""',
    'start ::= (item " "?)+\nitem ::= "a" | "b" item | [c-f] [c-f]+',
    "start ::= " + " | ".join(f'"word{i}"' for i in range(300)),
    'start ::= start "+" term | term\nterm ::= "(" start ")" | [a-z]+ | [0-9]+',
)


def resident() -> dict[str, int]:
    """``total`` and ``lazily`` freed bytes of this process; zeros where that is unknown."""
    found = {"Rss": 0, "LazyFree": 0}
    try:
        for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in found:
                found[name] = int(rest.split()[0]) << 10
    except OSError:
        pass
    return found


def vocabulary(n: int) -> glrmask.Vocab:
    """Bytes, and n texts."""
    rng = random.Random(n)
    texts = [bytes([b]) for b in range(256)]
    texts += ["".join(rng.choices("abcdef0123456789 [],+", k=rng.randint(2, 9))).encode() for _ in range(n)]
    return glrmask.Vocab.from_id_to_bytes(dict(enumerate(dict.fromkeys(texts))))


def cycle(vocab: glrmask.Vocab, number: int, engine: str | None) -> None:
    """Compile, use and drop one constraint."""
    modes = list(glrmask.Optimization)
    grammar = glrmask.Grammar.from_ebnf(GRAMMARS[number % len(GRAMMARS)])
    constraint = grammar.compile(vocab, optimization=modes[number // len(GRAMMARS) % len(modes)], engine=engine)
    if number % 10 == 0:
        constraint = glrmask.Constraint.load(constraint.save_with_external_vocab(), vocab)
    state = constraint.start()
    for _ in range(4):
        allowed = state.mask().nonzero()[0]
        if not len(allowed):
            break
        state.commit_token(int(allowed[number % len(allowed)]))


def cycles(count: int, allowed: int, engine: str | None) -> int:
    """Print resident memory at steps; 1 when it grows."""
    vocab = vocabulary(1000)
    seen = []
    for number in range(count):
        if number % 100 == 0:
            vocab = vocabulary(1000)
        cycle(vocab, number, engine)
        if (number + 1) % max(1, count // STEPS) == 0:
            gc.collect()
            seen.append(resident()["Rss"])
            print(f"{number + 1:7} cycles: {seen[-1] / 2**20:7.1f} MB resident", flush=True)
    grown = max(seen[-1], seen[-2]) - seen[len(seen) // 4] if len(seen) > 3 else 0
    print(f"grown by {grown / 2**20:.1f} MB over the last three quarters (allowed: {allowed})")
    return int(grown > allowed << 20)


def purge(engine: str | None) -> None:
    """In a process with certain settings: print resident memory around a drop."""
    vocab = vocabulary(20000)
    glrmask.Grammar.from_ebnf('start ::= "a"').compile(vocab, engine=engine)
    before = resident()
    held = []
    for number in range(30):
        words = " | ".join(f'"{number}x{i * 7919 % 100003:05}{i}"' for i in range(4000))
        held.append(glrmask.Grammar.from_ebnf(f"start ::= ({words})*").compile(vocab, background=False, engine=engine))
        held[-1].start().mask()
    full = resident()
    held.clear()
    gc.collect()
    dropped = resident()
    time.sleep(min(2000, max(0, _internal.mimalloc_purge_delay())) / 1000 + 0.05)
    glrmask.Grammar.from_ebnf(GRAMMARS[2]).compile(vocab, background=False, engine=engine).start().mask()
    later = resident()
    _internal.collect_allocator(force=True)
    collected = resident()
    for found in (full, dropped, later, collected):
        print(f"{(found['Rss'] - before['Rss']) / 2**20:12.1f} ({found['LazyFree'] / 2**20:5.1f})", end="")
    print()


def settings(engine: str | None) -> None:
    """Run :func:`purge` with each setting."""
    print("MB above the start (lazily freed of it)")
    print(f"{'delay, decommits':18}{'in use':>18}{'dropped':>18}{'after the delay':>20}{'collected':>18}")
    for delay, decommits in (("1000", "0"), ("1000", "1"), ("0", "0"), ("0", "1"), ("-1", "0"), ("60000", "1")):
        environment = os.environ | {"MIMALLOC_PURGE_DELAY": delay, "MIMALLOC_PURGE_DECOMMITS": decommits}
        command = [sys.executable, __file__, "--purge", *(("--engine", engine) if engine else ())]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        print(f"{delay:>8} ms, {decommits}    {done.stdout.rstrip()}", flush=True)


def main() -> int:
    """Print figures; the exit code is 1 when memory grows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=10_000)
    parser.add_argument("--allowed", type=int, default=4, metavar="MB")
    parser.add_argument("--engine")
    parser.add_argument("--cycles-only", action="store_true")
    parser.add_argument("--purge-only", action="store_true")
    parser.add_argument("--purge", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.purge:
        purge(options.engine)
        return 0
    code = 0 if options.purge_only else cycles(options.cycles, options.allowed, options.engine)
    if not options.cycles_only:
        settings(options.engine)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
