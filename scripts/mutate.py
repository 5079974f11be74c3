"""Break one rule of the C engine at a time: the sweep against the oracle has to notice each time.

    python scripts/mutate.py [--grammars N] [NAME ...]

The engine is compiled once in a scratch directory; per mutation the changed files are compiled again, and
``glrmask_core.testing.sweep`` runs on the result. Its exit code is 1 when a mutation survives (or does not apply).
A C compiler and the headers of this Python are needed; the installed engine stays as it is.
"""

from __future__ import annotations

import argparse
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutations import MUTATIONS, Mutation

ENGINE = Path(__file__).resolve().parent.parent / "plugins" / "engine_native"
PACKAGE = "glrmask_engine_native"
TIMEOUT = 120  # seconds of a sweep, which takes about 20; a mutation may make the engine run for ever: noticed too


@dataclass(frozen=True)
class Workshop:
    """Where broken engines are made.

    Attributes:
        root: holds ``csrc`` with objects, ``pristine``, and ``src`` with the package to import.
        compiler: command and flags.
    """

    root: Path
    compiler: tuple[str, ...]

    @classmethod
    def open(cls, root: Path) -> Workshop:
        """Copy the sources, write the cffi module, compile everything once."""
        shutil.copytree(ENGINE / "csrc", root / "csrc")
        shutil.copytree(root / "csrc", root / "pristine")
        shutil.copy(ENGINE / "build_native.py", root)
        package = root / "src" / PACKAGE
        compiled = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        shutil.copytree(ENGINE / "src" / PACKAGE, package, ignore=compiled)
        builder = runpy.run_path(str(root / "build_native.py"))["ffibuilder"]
        builder.emit_c_code(str(root / "csrc" / "_native.c"))
        command = shlex.split(os.environ.get("CC", "cc"))
        include = sysconfig.get_path("include")
        flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-w", "-fPIC", "-pthread"]
        flags += [f"-I{include}", f"-I{root / 'csrc'}"]
        shop = cls(root, (*command, *flags))
        shop.compile([path.name for path in (root / "csrc").glob("*.c")])
        shop.link()
        return shop

    def compile(self, names: list[str]) -> None:
        """Compile these files of csrc to objects beside them."""

        def one(name: str) -> None:
            source = self.root / "csrc" / name
            subprocess.run([*self.compiler, "-c", str(source), "-o", str(source.with_suffix(".o"))], check=True)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(one, names))

    def link(self) -> None:
        """Make the extension module of the objects."""
        objects = [str(path) for path in sorted((self.root / "csrc").glob("*.o"))]
        target = self.root / "src" / PACKAGE / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
        target.unlink(missing_ok=True)
        subprocess.run([*self.compiler, "-shared", *objects, "-o", str(target)], check=True)

    def apply(self, mutation: Mutation) -> None:
        """Change the sources."""
        for name, old, new in mutation.edits:
            path = self.root / "csrc" / name
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise LookupError(f'expected once in {name}, found {text.count(old)} times: "{old.strip()[:60]}"')
            path.write_text(text.replace(old, new), encoding="utf-8")

    def judge(self, mutation: Mutation, grammars: int, seed: int) -> str:
        """What the sweep says to the mutation; the sources are as before afterwards.

        Raises:
            LookupError: the mutation does not fit the sources.
            subprocess.CalledProcessError: the result does not compile.
        """
        names = sorted({name for name, _old, _new in mutation.edits})
        try:
            self.apply(mutation)
            self.compile(names)
            self.link()
            noticed = self.sweep(grammars, seed)
        finally:
            self.restore(names)
        return f"noticed: {noticed[:90]}" if noticed else f"SURVIVED; {mutation.rule}"

    def restore(self, names: list[str]) -> None:
        """Undo the changes."""
        for name in names:
            shutil.copy(self.root / "pristine" / name, self.root / "csrc" / name)
        self.compile(names)

    def sweep(self, grammars: int, seed: int) -> str:
        """Run the sweep on the module as it is: the first line of what it noticed, or nothing."""
        environment = {**os.environ, "PYTHONPATH": str(self.root / "src")}
        command = [sys.executable, "-m", "glrmask_core.testing.sweep", "--engine", "native"]
        command += ["--grammars", str(grammars), "--seed", str(seed)]
        try:
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no end after {TIMEOUT} s"
        if done.returncode < 0:
            return f"stopped by signal {-done.returncode}"
        lines = done.stderr.splitlines() or [f"exit code {done.returncode}"]
        return "" if done.returncode == 0 else lines[-1 if lines[0].startswith("Traceback") else 0]


def main() -> int:
    """Try the mutations; 1 when one survives."""
    parser = argparse.ArgumentParser(description="Mutation test of the C engine.")
    parser.add_argument("--grammars", type=int, default=300, help="random grammars of a sweep (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the first random grammar (default: 0)")
    parser.add_argument("names", nargs="*", help="only these mutations")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {m.name for m in MUTATIONS}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))} (known: {', '.join(m.name for m in MUTATIONS)})")
    survived = 0
    with tempfile.TemporaryDirectory(prefix="glrmask-mutate-") as scratch:
        shop = Workshop.open(Path(scratch))
        noticed = shop.sweep(arguments.grammars // 8, arguments.seed)
        if noticed:
            print(f"without any mutation the sweep fails: {noticed}", file=sys.stderr)
            return 1
        for mutation in MUTATIONS:
            if arguments.names and mutation.name not in arguments.names:
                continue
            started = time.perf_counter()
            try:
                verdict = shop.judge(mutation, arguments.grammars, arguments.seed)
            except (LookupError, subprocess.CalledProcessError) as error:
                verdict = f"DOES NOT APPLY: {error}"
            survived += not verdict.startswith("noticed")
            print(f"{mutation.name:30} {time.perf_counter() - started:5.1f} s  {verdict}", flush=True)
    print(f"{survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
