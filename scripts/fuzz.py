"""Fuzz the engine for a while: every ``plugins/engine_native/fuzz/fuzz_*.c`` is one target with one property.

    python scripts/fuzz.py [--seconds 60] [--seed 1] [NAME ...]

With a clang that has ``-fsanitize=fuzzer`` in ``CC`` the fuzzer grows a copy of the corpus; any other compiler
runs the targets on made-up inputs. Either way under the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENGINE = Path(__file__).resolve().parent.parent / "plugins" / "engine_native"
ROUNDS = 500  # inputs per run of a replay program: about a second


def compile_target(name: str, scratch: Path, compiler: list[str], fuzzer: bool) -> Path:
    """The program of one target."""
    program = scratch / name
    sanitizers = "address,undefined,fuzzer" if fuzzer else "address,undefined"
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-g", "-pthread", f"-fsanitize={sanitizers}"]
    sources = [*(ENGINE / "csrc").glob("*.c"), ENGINE / "fuzz" / f"fuzz_{name}.c"]
    if not fuzzer:
        sources.append(ENGINE / "fuzz" / "replay_main.c")
    names = [str(source) for source in sources]
    subprocess.run(
        [*compiler, *flags, "-fno-sanitize-recover=all", f"-I{ENGINE / 'csrc'}", *names, "-o", str(program), "-lm"],
        check=True,
    )
    return program


def run_target(program: Path, corpus: Path, seconds: float, seed: int, fuzzer: bool) -> int:
    """0 when nothing was found in the time."""
    if fuzzer:
        command = [str(program), f"-max_total_time={int(seconds)}", f"-seed={seed}", str(corpus)]
        return subprocess.run(command).returncode
    code = subprocess.run([str(program), *map(str, sorted(corpus.iterdir()))]).returncode
    end = time.monotonic() + seconds
    while code == 0 and time.monotonic() < end:
        code = subprocess.run([str(program), "--random", str(ROUNDS), str(seed)]).returncode
        if code:
            print(f"{program.name}: found with --random {ROUNDS} {seed}", file=sys.stderr)
        seed += 1
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the engine for a while.")
    parser.add_argument("--seconds", type=float, default=60, help="per target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*", help="only these targets")
    arguments = parser.parse_args()
    compiler = shlex.split(os.environ.get("CC", "cc"))
    names = arguments.names or sorted(p.stem.removeprefix("fuzz_") for p in (ENGINE / "fuzz").glob("fuzz_*.c"))
    fuzzer = "clang" in Path(compiler[0]).name
    failed = []
    with tempfile.TemporaryDirectory(prefix="glrmask-fuzz-") as folder:
        for name in names:
            scratch = Path(folder)
            program = compile_target(name, scratch, compiler, fuzzer)
            corpus = shutil.copytree(ENGINE / "fuzz" / "corpus" / name, scratch / f"corpus-{name}")
            if run_target(program, corpus, arguments.seconds, arguments.seed, fuzzer):
                failed.append(name)
    print(f"{len(names) - len(failed)} targets found nothing" + (f", failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
