"""``import glrmask`` is light, and each installed part works without the others."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import glrmask

FORMATS: dict[str, tuple[str, Any, bytes]] = {
    "glrm": ("from_glrm", 'glrm 1; start a; nt a = "ab";', b"ab"),
    "ebnf": ("from_ebnf", 'start ::= "ab"', b"ab"),
    "lark": ("from_lark", 'start: "ab"', b"ab"),
    "jsonschema": ("from_json_schema", {"const": "ab"}, b'"ab"'),
}

PROBE = """
import json, sys, time
started = time.process_time()
import glrmask
seconds = time.process_time() - started
print(json.dumps([seconds, sorted({name.partition(".")[0] for name in sys.modules})]))
"""


def probe(folder: Path) -> tuple[float, set[str]]:
    done = subprocess.run([sys.executable, "-c", PROBE], cwd=folder, capture_output=True, text=True, check=True)
    seconds, names = json.loads(done.stdout)
    return seconds, set(names)


def is_installed(format_: str) -> bool:
    try:
        importlib.metadata.distribution(f"glrmask-frontend-{format_}")
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def test_import_is_light(tmp_path: Path) -> None:
    measured = [probe(tmp_path) for _ in range(3)]
    heavy = {"lark", "jsonschema", "referencing", "cffi", "hypothesis", "pytest", "glrmask_engine_native"}
    heavy |= {f"glrmask_frontend_{name}" for name in FORMATS}
    assert measured[0][1] & heavy == set()
    best = min(seconds for seconds, _ in measured)
    print(f"import glrmask: {1e3 * best:.0f} ms")
    assert best < 0.15  # of processor time: other programs of the machine do not count


@pytest.mark.parametrize("format_", FORMATS)
def test_installed_frontend_works_alone(format_: str) -> None:
    if not is_installed(format_):
        pytest.skip(f"glrmask-frontend-{format_} is not installed here")
    constructor, source, text = FORMATS[format_]
    vocab = glrmask.Vocab.from_id_to_bytes({i: bytes([b]) for i, b in enumerate(b'ab"c')})
    state = getattr(glrmask.Grammar, constructor)(source).compile(vocab).start()
    for byte in text:
        allowed = [bool(b) for b in state.mask()]
        assert allowed == [b == byte for b in b'ab"c']
        state.commit_token(b'ab"c'.index(byte))
    assert state.is_accepting()


@pytest.mark.parametrize("format_", FORMATS)
def test_missing_frontend_is_named(format_: str) -> None:
    if is_installed(format_):
        pytest.skip(f"glrmask-frontend-{format_} is installed here")
    constructor, source, _ = FORMATS[format_]
    with pytest.raises(ValueError, match=f"glrmask-frontend-{format_}"):
        getattr(glrmask.Grammar, constructor)(source)


def test_missing_engine_is_named() -> None:
    vocab = glrmask.Vocab.from_dict({b"a": 0})
    formats = [name for name in FORMATS if is_installed(name)]
    if not formats:
        pytest.skip("needs a front-end")
    constructor, source, _ = FORMATS[formats[0]]
    with pytest.raises(ValueError, match="no-such-engine"):
        getattr(glrmask.Grammar, constructor)(source).compile(vocab, engine="no-such-engine")
