"""Compile and run the C tests of the engine: every ``plugins/engine_native/tests/c/test_*.c`` is one program.

    python scripts/c_unit.py [--sanitize address,undefined] [NAME ...]

A test program returns 0 when it passes. The engine's sources are compiled once, with warnings as errors.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ENGINE = Path(__file__).resolve().parent.parent / "plugins" / "engine_native"
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla", "-Werror"]


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the engine's C tests.")
    parser.add_argument("--sanitize", help="value of -fsanitize")
    parser.add_argument("names", nargs="*", help="only these tests (test_x or x)")
    arguments = parser.parse_args()
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-g", "-pthread", f"-I{ENGINE / 'csrc'}", *WARNINGS]
    if arguments.sanitize:
        flags += [f"-fsanitize={arguments.sanitize}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    wanted = {name.removeprefix("test_") for name in arguments.names}
    tests = sorted((ENGINE / "tests" / "c").glob("test_*.c"))
    tests = [test for test in tests if not wanted or test.stem.removeprefix("test_") in wanted]
    if not tests:
        print(f"no C test found in {ENGINE / 'tests' / 'c'}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="glrmask-c-") as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:

        def compile_one(source: Path) -> str:
            target = str(Path(scratch, source.stem + ".o"))
            subprocess.run([*compiler, *flags, "-c", str(source), "-o", target], check=True)
            return target

        def link(test: Path) -> str:
            target = str(Path(scratch, test.stem))
            command = [*compiler, *flags, str(test), *objects, "-o", target, "-lm"]
            subprocess.run(command, check=True)
            return target

        try:
            objects = list(pool.map(compile_one, sorted((ENGINE / "csrc").glob("*.c"))))
            programs = list(pool.map(link, tests))
        except subprocess.CalledProcessError:
            return 1
        failed = 0
        for program in programs:
            started = time.perf_counter()
            code = subprocess.run([program], cwd=ENGINE / "tests" / "c").returncode
            failed += code != 0
            verdict = "passed" if code == 0 else f"FAILED with {code}"
            print(f"{Path(program).name}: {verdict} ({time.perf_counter() - started:.2f} s)", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
