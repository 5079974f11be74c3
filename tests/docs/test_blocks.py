"""Code blocks of the README and the documentation run; their links lead somewhere."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
from pathlib import Path

import pytest

from glrmask.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")])
PARTS = ("frontend-glrm", "frontend-ebnf", "frontend-lark", "frontend-jsonschema")


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """(line number, code) of the fenced blocks in one language."""
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(rf"^```{language}\n(.*?)^```$", re.M | re.S)
    return [(text.count("\n", 0, m.start(1)) + 1, m.group(1)) for m in pattern.finditer(text)]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True)
def everything_installed() -> None:
    for part in PARTS:
        try:
            importlib.metadata.distribution(f"glrmask-{part}")
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"glrmask-{part} is not installed here")


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=name_of)
def test_python_blocks_run(page: Path) -> None:
    namespace: dict[str, object] = {"__name__": "block"}
    for line, code in blocks(page, "python"):
        exec(compile("\n" * (line - 1) + code, name_of(page), "exec"), namespace)


COMMANDS = [
    (page, line)
    for page in PAGES
    for _, code in blocks(page, "sh")
    for line in code.splitlines()
    if line.startswith("glrmask ")
]


@pytest.mark.parametrize(("page", "command"), COMMANDS, ids=lambda value: None if isinstance(value, Path) else value)
def test_commands_run(page: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(shlex.split(command)[1:]) == 0


def test_readme_commands_are_one_line_each() -> None:
    install, test = (code for _, code in blocks(ROOT / "README.md", "sh"))
    assert install.count("\n") == test.count("\n") == 1
    folders = re.findall(r"\./plugins/\w+", install)
    assert sorted(folders) == sorted(f"./{p.relative_to(ROOT).as_posix()}" for p in (ROOT / "plugins").iterdir())
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace("\\\n", " ")
    for part in (*folders, install.split()[-1], test.strip()):
        assert part in script, f".ci/run does not do what the README says: {part}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target
