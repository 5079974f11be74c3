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

# Inside core, from low to high: a module needs only what is lower, directly or not. Others fit in without cycles.
CORE_LAYERS = (
    {"errors"},
    {"source"},
    {"ir", "vocab", "options"},
    {"protocols"},
    {"hookspecs"},
    {"plugins"},
    {"grammar", "constraint", "unlinked", "program"},
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


def core_imports() -> dict[str, set[str]]:
    """What each module of core imports of core when it is imported."""
    needs: dict[str, set[str]] = {}
    names = {path.stem for path in (ROOT / "glrmask_core").glob("*.py")} - {"__init__"}
    for name in names:
        found = (
            f.name.split(".") for f in imports(ROOT / "glrmask_core" / f"{name}.py", "glrmask_core") if f.at_import
        )
        needs[name] = {parts[1] for parts in found if parts[0] == "glrmask_core" and len(parts) > 1}
        assert "testing" not in needs[name], f"{name}.py imports the test tools"
        needs[name] &= names
    return needs


def test_core_imports_downwards() -> None:
    needs = core_imports()
    rank = {name: i for i, layer in enumerate(CORE_LAYERS) for name in layer}
    reached: dict[str, set[str]] = {}
    while len(reached) < len(needs):
        ready = {name for name, wants in needs.items() if name not in reached and wants <= set(reached)}
        assert ready, f"modules import each other: {sorted(set(needs) - set(reached))}"
        for name in ready:
            reached[name] = needs[name].union(*(reached[want] for want in needs[name]))
    bad = [
        f"{name} needs {other}"
        for name in sorted(rank)
        for other in sorted(reached.get(name, set()) & set(rank))
        if rank[other] > rank[name]
    ]
    assert bad == []


def test_c_modules_include_without_cycles_and_only_libc() -> None:
    folder = ROOT / "plugins" / "engine_native" / "csrc"
    files = sorted([*folder.glob("*.c"), *folder.glob("*.h")])
    if not files:
        pytest.skip("the engine has no C sources in this checkout")
    system = {"pthread.h", "unistd.h", "windows.h", "sched.h"} | {"sys/mman.h", "malloc.h", "process.h"}
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
