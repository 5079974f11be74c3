"""Saved bytes are untrusted: every corruption raises ``ArtifactError`` or leaves a constraint that works."""

from __future__ import annotations

import ast
import hashlib
import pickle
import random
import struct
from pathlib import Path
from typing import Any

import msgpack
import pytest

import glrmask
import glrmask_core
from glrmask import Constraint, UnlinkedConstraint, Vocab
from glrmask_core import artifact

HEAD = 24  # bytes before the checksum
START = 56  # where the header begins


@pytest.fixture(scope="module")
def saved(mini: Any) -> bytes:
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b"ab", 5: b""})
    grammar = glrmask.Grammar.from_source("a b* @T | ab x", format="mini", warn=True).bind("T", vocab.token(5))
    data: bytes = grammar.compile(vocab, end_tokens=[9], engine="oracle").save()
    return data


def parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    _, _, head, _ = struct.unpack_from("<8sIIQ", data)
    return msgpack.unpackb(data[START : START + head]), data[START + head :]


def rebuilt(header: dict[str, Any], body: bytes, version: int = artifact.FORMAT_VERSION) -> bytes:
    head = msgpack.packb(header)
    fixed = struct.pack("<8sIIQ", artifact.MAGIC, version, len(head), len(body))
    return fixed + hashlib.blake2b(fixed + head + body, digest_size=32).digest() + head + body


def resealed(data: bytes) -> bytes:
    """The data with the checksum made right again."""
    fixed, rest = data[:HEAD], data[START:]
    return fixed + hashlib.blake2b(fixed + rest, digest_size=32).digest() + rest


def test_rebuilding_is_faithful(saved: bytes) -> None:
    assert saved == rebuilt(*parts(saved)) == resealed(saved)


@pytest.mark.parametrize("data", [b"", b"GLR", b"x" * 100, artifact.MAGIC, b"PK\x03\x04" + bytes(200)])
def test_other_data(data: bytes) -> None:
    for load in (Constraint.load, UnlinkedConstraint.load):
        with pytest.raises(glrmask.ArtifactError):
            load(data)


def test_truncation_and_trailing_bytes(saved: bytes) -> None:
    for end in range(0, len(saved), 7):
        with pytest.raises(glrmask.ArtifactError):
            Constraint.load(saved[:end])
    with pytest.raises(glrmask.ArtifactError, match="followed by other bytes"):
        Constraint.load(saved + b"\0")


def test_every_flipped_byte_is_noticed(saved: bytes) -> None:
    for at in range(len(saved)):
        changed = bytearray(saved)
        changed[at] ^= 1 << at % 8
        with pytest.raises(glrmask.ArtifactError):
            Constraint.load(changed)


def test_the_checksum_comes_before_anything_is_read(saved: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*arguments: Any) -> None:
        raise AssertionError("read before the checksum was looked at")

    for name in ("unpack", "decode"):
        monkeypatch.setattr(artifact.ir_codec, name, read)
    for at in (*range(HEAD, START), *range(START, len(saved), 11)):
        changed = bytearray(saved)
        changed[at] ^= 255
        with pytest.raises(glrmask.ArtifactError, match="checksum"):
            Constraint.load(changed)
    with pytest.raises(AssertionError):
        Constraint.load(saved)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("loading has executed code",)


def test_nothing_is_executed(saved: bytes) -> None:
    header, body = parts(saved)
    bomb = pickle.dumps(Bomb())
    for data in (
        bomb,
        rebuilt({**header, "engine": bomb}, body),
        rebuilt({**header, "sections": [["module", len(bomb)]]}, bomb),
    ):
        for load in (Constraint.load, UnlinkedConstraint.load):
            with pytest.raises(glrmask.ArtifactError):
                load(data)
    for path in Path(glrmask_core.__file__).parent.glob("*.py"):
        names = {n.id for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Name)}
        modules = {
            name.split(".")[0]
            for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, (ast.Import, ast.ImportFrom))
            for name in ([a.name for a in n.names] if isinstance(n, ast.Import) else [n.module or ""])
        }
        assert not names & {"eval", "exec", "compile"} and not modules & {"pickle", "marshal", "shelve"}, path.name


def test_other_versions_are_named(saved: bytes) -> None:
    header, body = parts(saved)
    with pytest.raises(glrmask.ArtifactError, match="format version 99, this release reads 1"):
        Constraint.load(rebuilt(header, body, version=99))


def test_an_unlinked_body_passed_off_as_a_constraint(mini: Any) -> None:
    vocab = Vocab.from_dict({b"a": 0})
    grammar = glrmask.Grammar.from_source("a $P", format="mini")
    header, body = parts(grammar.compile_unlinked(vocab).save())
    closed = parts(glrmask.Grammar.from_source("a", format="mini").compile(vocab, engine="oracle").save())[0]
    with pytest.raises(glrmask.ArtifactError, match="open slots"):
        Constraint.load(rebuilt({**closed, "sections": header["sections"]}, body))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "other"),
        ("kind", None),
        ("engine", 3),
        ("optimization", "fast"),
        ("optimization", []),
        ("parser_backend", "glr"),
        ("end_tokens", None),
        ("end_tokens", [9, 9]),
        ("end_tokens", [-1]),
        ("end_tokens", [2**32]),
        ("end_tokens", [2**30]),
        ("end_tokens", ["9"]),
        ("end_tokens", [5]),  # an exact token of the grammar
        ("left_out", "text"),
        ("left_out", [3]),
        ("warnings", [["text"]]),
        ("warnings", [[1, "warning", None]]),
        ("warnings", [["text", "warning", [1, 2]]]),
        ("vocab", b"other"),
        ("sections", None),
        ("sections", [["module", 1]]),
        ("sections", [["module", -1], ["vocab", 1]]),
        ("sections", [["module", 2**60]]),
        ("sections", [["vocab", 0]]),
        ("sections", [["module", 0], ["module", 0]]),
    ],
)
def test_headers_that_lie(saved: bytes, name: str, value: Any) -> None:
    header, body = parts(saved)
    with pytest.raises(glrmask.ArtifactError):
        Constraint.load(rebuilt({**header, name: value}, body))


def test_a_backend_that_no_engine_has(saved: bytes, mini: Any) -> None:
    header, body = parts(saved)
    with pytest.raises(ValueError, match="LR_TABLE"):
        Constraint.load(rebuilt({**header, "parser_backend": "lr_table"}, body))
    open_one = glrmask.Grammar.from_source("a", format="mini").compile_unlinked(Vocab.from_dict({b"a": 0}))
    header, body = parts(open_one.save())
    loaded = UnlinkedConstraint.load(rebuilt({**header, "parser_backend": "lr_table"}, body))
    with pytest.raises(ValueError, match="LR_TABLE"):
        loaded.link()


def test_headers_that_are_no_maps(saved: bytes) -> None:
    _, body = parts(saved)
    for header in ([], None, 3, {1: 2}, b""):
        with pytest.raises(glrmask.ArtifactError):
            Constraint.load(rebuilt(header, body))  # type: ignore[arg-type]
    nested = b"\x91" * 100_000 + b"\x90"
    fixed = struct.pack("<8sIIQ", artifact.MAGIC, 1, len(nested), 0)
    with pytest.raises(glrmask.ArtifactError):
        Constraint.load(fixed + hashlib.blake2b(fixed + nested, digest_size=32).digest() + nested)


def test_missing_fields(saved: bytes) -> None:
    header, body = parts(saved)
    for name in header:
        if name == "ignore":  # only parser programs have one
            continue
        with pytest.raises(glrmask.ArtifactError):
            Constraint.load(rebuilt({k: v for k, v in header.items() if k != name}, body))


@pytest.mark.parametrize("name", ["null", "native"])
@pytest.mark.parametrize("seed", range(4))
def test_resealed_corruptions(mini: Any, name: str, seed: int) -> None:
    """With the checksum made right again, validation itself is tried. (The oracle would take years on some.)"""
    from glrmask_core.plugins import manager

    if name not in manager().engines():
        pytest.skip(f"engine {name} is not installed")
    vocab = Vocab.from_id_to_bytes({0: b"a", 1: b"b", 2: b"ab", 5: b""})
    grammar = glrmask.Grammar.from_source("a b* @T | ab x", format="mini", warn=True).bind("T", vocab.token(5))
    saved = grammar.compile(vocab, end_tokens=[9], engine=name).save()
    rng = random.Random(seed)
    refused = 0
    for _ in range(60):
        changed = bytearray(saved)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(HEAD, len(changed))
            changed[at] = rng.choice((0, 1, 127, 128, 255, changed[at] ^ 1 << rng.randrange(8)))
        try:
            constraint = Constraint.load(resealed(bytes(changed)))
        except glrmask.ArtifactError:
            refused += 1
            continue
        if name != "null":
            state = constraint.start()
            for token in state.mask().nonzero()[0][:4].tolist():
                state.clone().commit_token(token)
    assert refused > 20


def test_an_engine_that_is_not_installed_is_replaced(saved: bytes) -> None:
    from glrmask_core.plugins import manager

    header, body = parts(saved)
    other = rebuilt({**header, "engine": "gone"}, body)
    if "native" in manager().engines():
        assert "native" == Constraint.load(other).engine_name
    else:
        with pytest.raises(glrmask.PluginError, match="glrmask-engine-native"):
            Constraint.load(other)
    assert "oracle" == Constraint.load(other, engine="oracle").engine_name


def test_vocabulary_bytes() -> None:
    vocab = Vocab._build([3, 0, 9], [b"abc", b"", b"a"], (0,))
    data = artifact.pack_vocab(vocab)
    loaded = artifact.unpack_vocab(data)
    assert loaded == vocab and [0] == loaded.llama_cpp_end_token_ids
    for end in range(len(data)):
        with pytest.raises(glrmask.ArtifactError):
            artifact.unpack_vocab(data[:end])
    with pytest.raises(glrmask.ArtifactError, match="add up"):
        artifact.unpack_vocab(data + b"x")
    for count, ids in ((2, (5, 5)), (2, (7, 3))):
        raw = struct.pack("<II", count, 0) + struct.pack("<II", *ids) + struct.pack("<II", 0, 0)
        with pytest.raises(glrmask.ArtifactError, match="sorted"):
            artifact.unpack_vocab(raw)
    with pytest.raises(glrmask.ArtifactError):
        artifact.unpack_vocab(struct.pack("<II", 2**32 - 1, 2**32 - 1))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens", [["Q", [0]]]),
        ("tokens", [["P", [0]]]),
        ("tokens", [["T", [7]]]),
        ("tokens", [["T", []]]),
        ("tokens", [["T", [1, 0]]]),
        ("tokens", [["T", [0]], ["T", [0]]]),
        ("children", [["T", False, [], []]]),
        ("children", [["P", True, [], []]]),  # no such section
        ("children", [["P", False, "x", []]]),
        ("children", [["P", False, [], []], ["P", False, [], []]]),
        ("parser_backend", None),
    ],
)
def test_unlinked_headers_that_lie(mini: Any, name: str, value: Any) -> None:
    vocab = Vocab.from_dict({b"a": 0, b"b": 1})
    header, body = parts(glrmask.Grammar.from_source("a $P @T", format="mini").compile_unlinked(vocab).save())
    with pytest.raises(glrmask.ArtifactError):
        UnlinkedConstraint.load(rebuilt({**header, name: value}, body))


def test_children_that_cannot_be_embedded_survive_saving(mini: Any) -> None:
    vocab = Vocab.from_dict({b"a": 0})
    header, body = parts(glrmask.Grammar.from_source("a $P", format="mini").compile_unlinked(vocab).save())
    loaded = UnlinkedConstraint.load(rebuilt({**header, "children": [["P", False, [], []]]}, body))
    assert {} == loaded.unbound_slots() and loaded.save() == UnlinkedConstraint.load(loaded.save()).save()
    with pytest.raises(glrmask.BindError, match='slot "P": a parser program cannot be embedded'):
        loaded.link(engine="oracle")
