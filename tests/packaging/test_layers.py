"""Who may import whom: core never a plug-in, front-ends no engine, engines no format; inside core, downwards."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STDLIB = set(sys.stdlib_module_names)
FRONTENDS = ("glrm", "ebnf", "lark", "jsonschema")

# What the modules of a part may import when they are imported, beside the standard library and themselves.
ALLOWED = {
    "glrmask_core": {"numpy", "pluggy", "msgpack"},
    "glrmask": {"glrmask_core", "numpy"},
    "plugins/frontend_glrm/src/glrmask_frontend_glrm": {"glrmask_core", "lark"},
    "plugins/frontend_ebnf/src/glrmask_frontend_ebnf": {"glrmask_core", "lark"},
    "plugins/frontend_lark/src/glrmask_frontend_lark": {"glrmask_core", "lark"},
    "plugins/frontend_jsonschema/src/glrmask_frontend_jsonschema": {"glrmask_core", "jsonschema", "referencing"},
    "plugins/engine_native/src/glrmask_engine_native": {"glrmask_core", "numpy", "cffi"},
}
TESTING = {"pytest", "hypothesis"}  # also allowed in glrmask_core/testing

# Inside core: a module imports only from lines above its own, or from its own line.
CORE_LAYERS = (
    {"errors"},
    {"source"},
    {"options"},
    {"ir"},
)


@dataclass(frozen=True)
class Import:
    """One imported module: full dotted name, and whether importing the file runs it."""

    name: str
    at_import: bool


def imports(path: Path, package: str) -> Iterator[Import]:
    """Everything that a file imports, except for type checkers; relative names are resolved."""
    stack: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text(encoding="utf-8")), True)]
    while stack:
        node, at_import = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack += [(child, at_import) for child in node.orelse]
            continue
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, at_import) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                parents = parents[: len(parents) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            if node.module:
                yield Import(base, at_import)
            else:
                yield from (Import(f"{base}.{alias.name}", at_import) for alias in node.names)
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        stack += [(child, at_import and not inside) for child in ast.iter_child_nodes(node)]


def modules(folder: Path) -> Iterator[tuple[Path, str]]:
    """Python files of a package with the dotted name of the package that each is in."""
    for path in sorted(folder.rglob("*.py")):
        yield path, ".".join([folder.name, *path.relative_to(folder).parts[:-1]])


@pytest.mark.parametrize("part", ALLOWED)
def test_part_imports_only_what_it_may(part: str) -> None:
    folder = ROOT / part
    bad = []
    for path, package in modules(folder):
        allowed = ALLOWED[part] | STDLIB | {folder.name}
        if "testing" in path.relative_to(folder).parts:
            allowed |= TESTING
        for found in imports(path, package):
            top = found.name.partition(".")[0]
            if found.at_import and top not in allowed:
                bad.append(f"{path.relative_to(ROOT)} imports {found.name}")
    assert bad == []


@pytest.mark.parametrize("part", ALLOWED)
def test_plugins_meet_only_through_core(part: str) -> None:
    folder = ROOT / part
    others = {Path(other).name for other in ALLOWED} - {folder.name, "glrmask_core"}
    if part == "glrmask":
        others -= {"glrmask"}
    bad = [
        f"{path.relative_to(ROOT)} imports {found.name}"
        for path, package in modules(folder)
        for found in imports(path, package)
        if found.name.partition(".")[0] in others
    ]
    assert bad == []


def test_core_imports_downwards() -> None:
    rank = {name: i for i, layer in enumerate(CORE_LAYERS) for name in layer}
    bad = []
    for path in sorted((ROOT / "glrmask_core").glob("*.py")):
        if path.stem == "__init__":
            continue
        assert path.stem in rank, f"glrmask_core/{path.name} has no place in CORE_LAYERS"
        for found in imports(path, "glrmask_core"):
            parts = found.name.split(".")
            if parts[0] != "glrmask_core" or not found.at_import or len(parts) < 2:
                continue
            assert parts[1] != "testing", f"{path.name} imports the test tools"
            if rank[parts[1]] > rank[path.stem]:
                bad.append(f"{path.name} imports {parts[1]}")
    assert bad == []


def test_c_modules_include_without_cycles_and_only_libc() -> None:
    folder = ROOT / "plugins" / "engine_native" / "csrc"
    files = sorted([*folder.glob("*.c"), *folder.glob("*.h")])
    if not files:
        pytest.skip("the engine has no C sources in this checkout")
    system = {"pthread.h", "unistd.h", "windows.h", "sched.h"} | {"sys/mman.h", "process.h"}
    libc = {
        "assert.h",
        "ctype.h",
        "errno.h",
        "inttypes.h",
        "limits.h",
        "math.h",
        "stdalign.h",
        "stdarg.h",
        "stdatomic.h",
    }
    libc |= {"stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h", "threads.h"}
    needs: dict[str, set[str]] = {}
    for path in files:
        text = path.read_text(encoding="utf-8")
        angle = set(re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.M))
        assert angle <= libc | system, f"{path.name} includes {sorted(angle - libc - system)}"
        own = {name for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M)}
        assert all((folder / name).exists() for name in own), f"{path.name} includes {sorted(own)}"
        if path.suffix == ".h":
            needs[path.name] = own
    done: set[str] = set()
    while len(done) < len(needs):
        ready = {name for name, wants in needs.items() if name not in done and wants <= done}
        assert ready, f"headers include each other: {sorted(set(needs) - done)}"
        done |= ready
