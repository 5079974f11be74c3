"""The documentation is complete: every hook, option, limit, error, exit code and command-line option is in it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import glrmask
from glrmask import cli
from glrmask_core import errors, hookspecs, options, protocols

ROOT = Path(__file__).resolve().parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def rows(text: str) -> dict[str, str]:
    """The lines of all tables by their first cell, without back quotes."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| "):
            found[line.split("|")[1].strip().strip("`")] = line
    return found


HOOKS = sorted(name for name in vars(hookspecs) if name.startswith("glrmask_"))
ERRORS = [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, errors.GlrmaskError)]


def test_there_is_something_to_document() -> None:
    assert len(HOOKS) >= 2 and len(ERRORS) >= 15


@pytest.mark.parametrize("hook", HOOKS)
def test_hook_has_its_signature_in_the_docs(hook: str) -> None:
    signature = inspect.signature(getattr(hookspecs, hook))
    assert f"{hook}{signature}".replace("'", "") in page("plugins.md")


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: e.__name__)
def test_error_is_documented_with_its_builtins(error: type[Exception]) -> None:
    row = rows(page("errors.md"))[error.__name__]
    builtins = (ValueError, TypeError, RuntimeError, OverflowError)
    listed = re.findall(r"\w+Error", row.split("|")[2])
    assert sorted(listed) == sorted(base.__name__ for base in builtins if issubclass(error, base))
    assert error.__doc__


@pytest.mark.parametrize("member", [*options.Optimization, *options.ParserBackend], ids=str)
def test_option_member_is_documented(member: options.Optimization | options.ParserBackend) -> None:
    assert member.name in rows(page("options.md"))


@pytest.mark.parametrize("field", dataclasses.fields(options.Limits), ids=lambda f: f.name)
def test_limit_is_documented_with_its_default(field: dataclasses.Field[object]) -> None:
    default = rows(page("options.md"))[field.name].split("|")[2].strip()
    number, _, unit = default.replace(",", "").partition(" ")
    assert float(number) * {"": 1, "MiB": 2**20, "GiB": 2**30}[unit] == field.default


@pytest.mark.parametrize(
    "parameter", ["end_tokens", "optimization", "parser_backend", "engine", "limits", "background"]
)
def test_compile_has_the_documented_options(parameter: str) -> None:
    assert parameter in inspect.signature(glrmask.Grammar.compile).parameters
    assert parameter == "end_tokens" or parameter in page("options.md")


def test_command_line_is_documented() -> None:
    tree = ast.parse(inspect.getsource(cli))
    flags = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "add_argument"
        and isinstance(node.args[0], ast.Constant)
    }
    commands = {"generate", "check", "plugins"}
    text = page("cli.md")
    assert len(flags) > 10
    assert [flag for flag in flags if flag.startswith("-") and flag not in text] == []
    assert [command for command in commands if f"glrmask {command}" not in text] == []


def test_exit_codes_are_documented() -> None:
    codes = {cli.OK, cli.REFUSED, cli.USAGE, cli.PLUGIN, cli.DISAGREES, cli.INTERRUPTED}
    assert codes == {int(key) for key in rows(page("cli.md").partition("## Exit codes")[2]) if key.isdigit()}


def test_api_range_is_documented() -> None:
    assert f"{protocols.API_OLDEST} to {protocols.API_VERSION}" in page("plugins.md")


def test_public_names_are_documented() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
    public = [name for name in glrmask.__all__ if not name.startswith("_")]
    assert [name for name in public if not re.search(rf"\b{name}\b", text)] == []


CLASSES = ("Vocab", "Grammar", "UnlinkedConstraint", "Constraint", "ConstraintState", "ParserProgram")


@pytest.mark.parametrize("name", CLASSES)
def test_public_methods_are_documented(name: str) -> None:
    cls = getattr(glrmask, name)
    public = {attribute for attribute in dir(cls) if not attribute.startswith("_")}
    public -= {"engine_cache", "engine_lock"}
    assert [attribute for attribute in sorted(public) if f"`{attribute}`" not in page("reference.md")] == []
    assert [attribute for attribute in sorted(public) if not inspect.getdoc(getattr(cls, attribute))] == []


def test_status_codes_of_the_engine_are_documented() -> None:
    header = ROOT / "plugins" / "engine_native" / "csrc" / "gm.h"
    if not header.exists():
        pytest.skip("the engine has no C header in this checkout")
    folder = header.parent
    text = "\n".join(p.read_text(encoding="utf-8") for p in (header, folder / "gm_status.h") if p.exists())
    enum = re.search(r"typedef enum (?:GmStatus )?\{([^}]*)\}\s*GmStatus;", text)
    assert enum is not None
    codes = re.findall(r"\b(GM_[A-Z]+)\s*=\s*(\d+)", enum.group(1))
    assert codes
    table = rows(page("errors.md"))
    assert {name: table[name].split("|")[2].strip() for name, _ in codes} == dict(codes)
