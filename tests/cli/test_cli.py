"""The command line: results on stdout, the rest on stderr, exit codes, no tracebacks."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

import glrmask
from glrmask.cli import main

SCHEMAS = Path(__file__).resolve().parents[2] / "examples" / "schemas"
PERSON = str(SCHEMAS / "person.schema.json")


def needs(*distributions: str) -> None:
    for name in distributions:
        try:
            importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"{name} is not installed here")


@pytest.fixture
def jsonschema() -> None:
    needs("glrmask-frontend-jsonschema")


@pytest.fixture
def ebnf() -> None:
    needs("glrmask-frontend-ebnf")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"glrmask {glrmask.__version__}\n"


def test_module_runs(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "glrmask", "plugins"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "oracle" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["generate"],
        ["nonsense"],
        *(
            ["generate", "--schema", "x", *wrong.split()]
            for wrong in (
                "--count 0",
                "--count x",
                "--max-tokens -1",
                "--seed=-5",
                "--seed 1.5",
                "--temperature=-1",
                "--temperature nan",
                "--temperature inf",
                "--temperature x",
                "-o x",
                "--optimization x",
                "--grammar y",
            )
        ),
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: glrmask" in capsys.readouterr().err


def test_plugins_lists_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins"]) == 0
    out = capsys.readouterr().out
    for name in ("glrm", "ebnf", "lark", "jsonschema"):
        try:
            importlib.metadata.distribution(f"glrmask-frontend-{name}")
        except importlib.metadata.PackageNotFoundError:
            continue
        assert f"glrmask-frontend-{name}" in out
    assert "glrmask-core" in out


@pytest.mark.usefixtures("jsonschema")
@pytest.mark.parametrize("name", ["person", "order", "tool_call"])
def test_generate_is_valid(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from jsonschema import validate

    path = SCHEMAS / f"{name}.schema.json"
    assert main(["generate", "--schema", str(path), "--count", "2"]) == 0
    captured = capsys.readouterr()
    decoder, rest, count = json.JSONDecoder(), captured.out, 0
    while rest.strip():
        document, end = decoder.raw_decode(rest.lstrip())
        validate(document, json.loads(path.read_text(encoding="utf-8")))
        rest, count = rest.lstrip()[end:], count + 1
    assert count == 2
    assert "jsonschema agrees: 2 of 2" in captured.err
    assert "mask" in captured.err and "p99" in captured.err


@pytest.mark.usefixtures("jsonschema")
def test_same_seed_same_output(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = []
    for seed in ("5", "5", "6"):
        assert main(["generate", "--schema", PERSON, "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.usefixtures("jsonschema")
def test_budget_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.json"
    path.write_text('{"type": "array", "items": {"type": "string"}, "minItems": 3}')
    assert main(["generate", "--schema", str(path), "--max-tokens", "12"]) == 0
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)) >= 3
    assert "to finish within the budget" in captured.err
    assert main(["generate", "--schema", str(path), "--max-tokens", "2"]) == 1
    assert "allow more tokens" in capsys.readouterr().err


@pytest.mark.usefixtures("ebnf")
def test_generate_from_a_grammar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.ebnf"
    path.write_text('start ::= "yes" | "no"')
    assert main(["generate", "--grammar", str(path), "--count", "3"]) == 0
    assert set(capsys.readouterr().out.split()) <= {"yes", "no"}


@pytest.mark.usefixtures("ebnf")
def test_check_shows_the_grammar_and_errors_with_a_caret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.ebnf"
    path.write_text('start ::= "yes" | other\n')
    assert main(["check", str(path)]) == 1
    err = capsys.readouterr().err
    assert "other" in err and "g.ebnf" in err and "Traceback" not in err
    path.write_text('start ::= "yes" | other\nother ::= "no"\n')
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert "yes" in out and "start" in out
    assert main(["check", "--quiet", str(path)]) == 0
    assert capsys.readouterr().out == ""


def test_unknown_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "g.xyz"
    path.write_text("x")
    assert main(["check", str(path)]) == 3
    assert "--format" in capsys.readouterr().err
    assert main(["check", str(path), "--format", "xyz"]) == 3
    assert "xyz" in capsys.readouterr().err


def test_unreadable_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.ebnf")]) == 2
    (tmp_path / "bad.ebnf").write_bytes(b"\xff\xfe\x00")
    assert main(["check", str(tmp_path / "bad.ebnf")]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.usefixtures("jsonschema")
def test_bad_schema_and_bad_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"type": "nothing"}')
    assert main(["generate", "--schema", str(path)]) == 1
    assert "nothing" in capsys.readouterr().err
    assert main(["generate", "--schema", PERSON, "-o", "no_such=1"]) == 1
    assert "no_such" in capsys.readouterr().err
    assert main(["generate", "--schema", PERSON, "--engine", "no-such-engine"]) == 3
    assert "no-such-engine" in capsys.readouterr().err


@pytest.mark.usefixtures("ebnf")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("v.json", '{"tokens": ["eWVz", null, "bm8="], "eos": 1}'),
        ("v2.json", '{"0": "eWVz", "5": "bm8="}'),
        ("v.tiktoken", "eWVz 0\nbm8= 1\n"),
    ],
)
def test_vocabulary_files(name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_text(content)
    (tmp_path / "g.ebnf").write_text('start ::= "yes" "no"')
    assert main(["generate", "--grammar", str(tmp_path / "g.ebnf"), "--vocab", str(tmp_path / name)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "yesno\n"
    assert f"vocabulary {name}" in captured.err and "3 tokens in" in captured.err


@pytest.mark.usefixtures("ebnf")
@pytest.mark.parametrize(
    "content", ["", "[]", '{"tokens": 3}', '{"a": "eWVz"}', '{"0": "***"}', '{"tokens": [], "eos": -1}']
)
def test_bad_vocabulary_files(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.json").write_text(content)
    (tmp_path / "g.ebnf").write_text('start ::= "yes"')
    assert main(["generate", "--grammar", str(tmp_path / "g.ebnf"), "--vocab", str(tmp_path / "v.json")]) == 1
    assert "v.json: not a vocabulary file" in capsys.readouterr().err


@pytest.mark.usefixtures("ebnf")
def test_files_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.ebnf"
    bad.write_bytes(b's ::= "a\xff"')
    none = tmp_path / "none.ebnf"
    for path, part in ((bad, "not UTF-8 text: byte 0xff at 8"), (none, "No such file"), (tmp_path, "")):
        assert main(["check", "--format", "ebnf", str(path)]) == 2
        message = capsys.readouterr().err
        assert message.startswith(f"glrmask: {path}: ") and part in message and message.count("\n") == 1


@pytest.mark.usefixtures("jsonschema")
def test_what_a_grammar_brings_along_does_not_steer_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"properties": {"\x1b[31m\r": {"type": "nosuch"}}}), encoding="utf-8")
    assert main(["check", str(path)]) == 1
    message = capsys.readouterr().err
    assert "nosuch" in message and "\x1b" not in message and "\r" not in message
