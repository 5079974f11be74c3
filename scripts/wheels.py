"""Build the six wheels once, and install chosen ones: what every tox environment starts with.

    python scripts/wheels.py build                  # prints the folder that holds them
    python scripts/wheels.py install core glrm      # builds if needed, then one pip call into this Python
    python scripts/wheels.py install all --with pytest

Wheels are kept in ``dist-wheels/<fingerprint of the sources>``, so they are built again exactly when a source
changed. They are built from a copy: what an earlier build left in the checkout cannot slip into a wheel.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STORE = ROOT / "dist-wheels"
PARTS = {
    "core": ".",
    "glrm": "plugins/frontend_glrm",
    "ebnf": "plugins/frontend_ebnf",
    "lark": "plugins/frontend_lark",
    "jsonschema": "plugins/frontend_jsonschema",
    "native": "plugins/engine_native",
}
CORE_SOURCES = ("pyproject.toml", "README.md", "LICENSE", "glrmask", "glrmask_core")
LEFT_BEHIND = (
    "build",
    "dist",
    "*.egg-info",
    "__pycache__",
    "*.pyc",
    "*.so",
    "*.o",
    "*.pyd",
    "_native.c",
    ".*",
    "tests",
)


def distribution(part: str) -> str:
    """The distribution name in its wheel-file spelling."""
    if part == "core":
        return "glrmask_core"
    return "glrmask_engine_native" if part == "native" else f"glrmask_frontend_{part}"


def copy_sources(target: Path) -> None:
    """The files that wheels are made of, and nothing else."""
    ignore = shutil.ignore_patterns(*LEFT_BEHIND)
    for name in CORE_SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=ignore)
        elif source.exists():
            shutil.copy(source, target / name)
    for part, folder in PARTS.items():
        if part != "core":
            shutil.copytree(ROOT / folder, target / folder, ignore=ignore)


def fingerprint(folder: Path) -> str:
    """A digest of names and contents of all files under a folder."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def build() -> Path:
    """The folder with wheels of the present sources; builds them unless they are there."""
    with tempfile.TemporaryDirectory(prefix="glrmask-wheels-") as scratch:
        sources = Path(scratch, "sources")
        sources.mkdir()
        copy_sources(sources)
        finished = STORE / fingerprint(sources)
        if finished.is_dir():
            return finished
        STORE.mkdir(exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="building-", dir=STORE))
        try:
            _pip(
                "wheel", "--quiet", "--no-deps", "--wheel-dir", str(fresh), *(str(sources / f) for f in PARTS.values())
            )
            for old in STORE.iterdir():
                if old != fresh and not old.name.startswith("building-"):
                    shutil.rmtree(old, ignore_errors=True)
            try:
                os.rename(fresh, finished)
            except OSError:  # another process was faster
                if not finished.is_dir():
                    raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return finished


def install(parts: list[str], others: list[str]) -> None:
    """Install parts (``all``: every one) and other requirements in one pip call, so that core is found."""
    folder = build()
    wanted = list(PARTS) if "all" in parts else parts
    wheels = []
    for part in wanted:
        found = list(folder.glob(f"{distribution(part)}-*.whl"))
        if len(found) != 1:
            raise SystemExit(f"{folder}: expected one wheel of {part}, found {[p.name for p in found]}")
        wheels.append(str(found[0]))
    ours = ("--force-reinstall", "--no-deps", *wheels)  # same version, other content
    _pip("install", "--quiet", *wheels, *others)
    _pip("install", "--quiet", *ours)


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=True, cwd=ROOT)


def main() -> int:
    parser = argparse.ArgumentParser(description="Build and install the wheels of this repository.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build")
    command = commands.add_parser("install")
    command.add_argument("parts", nargs="+", choices=[*PARTS, "all"], metavar="PART")
    command.add_argument("--with", dest="others", nargs="*", default=[], metavar="REQUIREMENT")
    arguments = parser.parse_args()
    try:
        if arguments.command == "build":
            print(build())
        else:
            install(arguments.parts, arguments.others)
    except subprocess.CalledProcessError as error:  # pip has said why
        return int(error.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
