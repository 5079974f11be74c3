"""Saved constraints: an envelope around IR, vocabulary and what the engine wants back.

Layout (little-endian)::

    magic "GLRMASK\\0"   8 bytes
    format version       4 bytes
    header length        4 bytes
    body length          8 bytes
    checksum            32 bytes   blake2b of the first 24 bytes, header and body
    header              msgpack map: kind, options, names and lengths of the sections
    body                the sections one after the other

The checksum is verified before anything is parsed; then every length, type and number is checked, since a
checksum is no proof of origin. Nothing is executed, and memory is bounded by the size of the data.
"""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack  # type: ignore[import-untyped]
import numpy as np

from . import ir_codec
from .checks import MAX_ID
from .constraint import ID_CAP, Constraint, check_exact, check_vocab, compile_options
from .errors import ArtifactError, CompileError, GlrmaskError, PluginError
from .options import Limits, Optimization, ParserBackend
from .plugins import manager
from .source import Diagnostic, Span
from .unlinked import Child, UnlinkedConstraint, one_module
from .vocab import Vocab

if TYPE_CHECKING:
    from .ir import Module
    from .options import CompileOptions
    from .protocols import CompiledGrammar, Engine

FORMAT_VERSION = 1
MAGIC = b"GLRMASK\0"
_FIXED = struct.Struct("<8sIIQ")
_SUM = 32
_START = _FIXED.size + _SUM
_CONSTRAINT, _UNLINKED = "constraint", "unlinked"


class _Parts(NamedTuple):
    header: dict[str, Any]
    sections: dict[str, bytes]


# -- saving ---------------------------------------------------------------------------------------------------


def save_constraint(constraint: Constraint, external_vocab: bool) -> bytes:
    """See :meth:`Constraint.save`."""
    options = constraint.options
    header: dict[str, Any] = {
        "kind": _CONSTRAINT,
        "vocab": constraint.vocab.identity,
        "engine": constraint.engine_name,
        "optimization": options.optimization.value,
        "parser_backend": options.parser_backend.value,
        "end_tokens": list(options.end_tokens),
        "left_out": list(constraint._left_out),
        "warnings": _pack_warnings(constraint._warnings),
        "ignore": None,
    }
    sections = [("module", ir_codec.encode(constraint.module))]
    if constraint._program is not None:
        program, header["ignore"] = constraint._program
        sections.append(("program", program.to_json().encode()))
    sections.append(("engine", constraint.compiled.save()))
    if not external_vocab:
        sections.append(("vocab", pack_vocab(constraint.vocab)))
    return _envelope(header, sections)


def save_unlinked(unlinked: UnlinkedConstraint) -> bytes:
    """See :meth:`UnlinkedConstraint.save`."""
    children = sorted(unlinked._children.items())
    header = {
        "kind": _UNLINKED,
        "vocab": unlinked.vocab.identity,
        "parser_backend": unlinked.parser_backend.value,
        "left_out": list(unlinked._left_out),
        "warnings": _pack_warnings(unlinked._warnings),
        "tokens": [[slot, list(ids)] for slot, ids in sorted(unlinked._tokens.items())],
        "children": [
            [slot, child.module is not None, list(child.left_out), _pack_warnings(child.warnings)]
            for slot, child in children
        ],
    }
    sections = [("module", ir_codec.encode(unlinked.module))]
    for at, (_, child) in enumerate(children):
        if child.module is not None:
            sections.append((f"child {at}", ir_codec.encode(child.module)))
    sections.append(("vocab", pack_vocab(unlinked.vocab)))
    return _envelope(header, sections)


def _envelope(header: Mapping[str, Any], sections: list[tuple[str, bytes]]) -> bytes:
    full = {**header, "sections": [[name, len(data)] for name, data in sections]}
    head: bytes = msgpack.packb(full)
    body = b"".join(data for _, data in sections)
    fixed = _FIXED.pack(MAGIC, FORMAT_VERSION, len(head), len(body))
    return b"".join((fixed, _checksum(fixed, head, body), head, body))


def _checksum(*parts: bytes | memoryview) -> bytes:
    h = hashlib.blake2b(digest_size=_SUM)
    for part in parts:
        h.update(part)
    return h.digest()


def pack_vocab(vocab: Vocab) -> bytes:
    """A vocabulary as bytes: count, ids, lengths, end-of-generation ids, token bytes."""
    ids, offsets, blob = vocab.entries()
    ends = np.array(vocab.llama_cpp_end_token_ids, "<u4")
    lengths = np.diff(offsets).astype("<u4")
    return b"".join(
        (struct.pack("<II", len(ids), len(ends)), ids.astype("<u4").tobytes(), lengths.tobytes(), ends.tobytes(), blob)
    )


def unpack_vocab(data: bytes) -> Vocab:
    """The vocabulary of :func:`pack_vocab`'s bytes.

    Raises:
        ArtifactError: they are not that.
    """
    if len(data) < 8:
        raise ArtifactError("vocabulary: truncated")
    count, n_ends = struct.unpack_from("<II", data)
    start = 8 + 8 * count + 4 * n_ends
    if start > len(data):
        raise ArtifactError("vocabulary: truncated")
    numbers = np.frombuffer(data, "<u4", 2 * count + n_ends, 8).astype(np.uint32)
    ids, lengths, ends = numbers[:count], numbers[count : 2 * count].astype(np.int64), numbers[2 * count :]
    if len(ids) and not (np.diff(ids.astype(np.int64)) > 0).all():
        raise ArtifactError("vocabulary: ids are not sorted and distinct")
    if len(ends) and not (np.diff(ends.astype(np.int64)) > 0).all():
        raise ArtifactError("vocabulary: end-of-generation ids are not sorted and distinct")
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if int(offsets[-1]) != len(data) - start:
        raise ArtifactError("vocabulary: token lengths do not add up")
    return Vocab._assemble(ids, offsets, data[start:], tuple(ends.tolist()))


def _pack_warnings(warnings: tuple[Diagnostic, ...]) -> list[Any]:
    return [
        [w.message, w.severity, [p.line, p.column, p.start, p.end] if isinstance(p := w.place, Span) else p]
        for w in warnings
    ]


# -- loading --------------------------------------------------------------------------------------------------


def load_constraint(
    data: bytes, vocab: Vocab | None, engine: str | None, background: bool, limits: Limits | None
) -> Constraint:
    """See :meth:`Constraint.load`."""
    header, sections = _open(data, _CONSTRAINT)
    vocab = _vocab(header, sections, vocab)
    module = ir_codec.decode(_section(sections, "module"))
    if module.slots:
        raise ArtifactError(f"saved constraint: open slots ({', '.join(module.slots)}); it is an unlinked one")
    options = _options(header, vocab, background, limits)
    try:
        check_exact(module, vocab, options)
    except CompileError as error:
        raise ArtifactError(f"saved constraint: {error}") from None
    program, ignore = _program(header, sections, module)
    chosen, same = _engine(_text(header, "engine"), options, engine, program is not None)
    compiled: CompiledGrammar
    try:
        if program is not None:
            compiled = chosen.compile_program(program, module, ignore, vocab, options)
        elif same:
            compiled = chosen.load(module, vocab, options, sections.get("engine", b""))
        else:
            compiled = chosen.compile(module, vocab, options)
    except PluginError:
        raise
    except GlrmaskError as error:
        if isinstance(error, ArtifactError) or not isinstance(error, ValueError):
            raise
        raise ArtifactError(f"saved constraint: {error}") from error
    return Constraint._make(
        module,
        vocab,
        options,
        chosen.name,
        compiled,
        _texts(header, "left_out"),
        _warnings(header.get("warnings")),
        {},
        None if program is None else (program, ignore),
    )


def load_unlinked(data: bytes, vocab: Vocab | None) -> UnlinkedConstraint:
    """See :meth:`UnlinkedConstraint.load`."""
    header, sections = _open(data, _UNLINKED)
    vocab = _vocab(header, sections, vocab)
    module = ir_codec.decode(_section(sections, "module"))
    tokens: dict[str, tuple[int, ...]] = {}
    for slot, ids in _pairs(header, "tokens", 2):
        _check_slot(module, slot, "token", tokens)
        tokens[slot] = _ids(ids, "exact tokens")
        unknown = [i for i in tokens[slot] if not vocab.has(i)]
        if unknown or not ids:
            raise ArtifactError(f'slot "{slot}": bound to tokens {unknown} that the vocabulary does not have')
    children: dict[str, Child] = {}
    for at, (slot, embeddable, left_out, warnings) in enumerate(_pairs(header, "children", 4)):
        _check_slot(module, slot, "grammar", children)
        child = ir_codec.decode(_section(sections, f"child {at}")) if embeddable is True else None
        if child is not None:
            if child.slots:
                raise ArtifactError(f'slot "{slot}": the bound grammar has open slots')
            child = one_module(child, (c.module for c in children.values()))
        children[slot] = Child(child, _texts({"left_out": left_out}, "left_out"), _warnings(warnings))
    return UnlinkedConstraint._make(
        module,
        vocab,
        _member(ParserBackend, header, "parser_backend"),
        _texts(header, "left_out"),
        _warnings(header.get("warnings")),
        0.0,
        children,
        tokens,
    )


def _open(data: bytes, kind: str) -> _Parts:
    """Checksum, version, kind and sections of an envelope."""
    if not data.startswith(MAGIC):
        raise ArtifactError("not a saved constraint: the data do not start as one" if data else "no data to load")
    if len(data) < _START:
        raise ArtifactError("saved constraint: truncated")
    _, version, head_len, body_len = _FIXED.unpack_from(data)
    if version != FORMAT_VERSION:
        raise ArtifactError(
            f"saved constraint: format version {version}, this release reads {FORMAT_VERSION}; compile it anew"
        )
    size = _START + head_len + body_len
    if len(data) != size:
        found = "truncated" if len(data) < size else "followed by other bytes"
        raise ArtifactError(f"saved constraint: {found} ({len(data)} bytes, {size} expected)")
    view = memoryview(data)
    if _checksum(view[: _FIXED.size], view[_START:]) != data[_FIXED.size : _START]:
        raise ArtifactError("saved constraint: the checksum does not match, the data are corrupt")
    header = ir_codec.unpack(data[_START : _START + head_len], "header")
    if not isinstance(header, dict):
        raise ArtifactError("saved constraint: the header is not a map")
    if header.get("kind") != kind:
        raise ArtifactError(f"saved data are of kind {header.get('kind')!r}, not {kind!r}")
    sections: dict[str, bytes] = {}
    at = _START + head_len
    for name, length in _pairs(header, "sections", 2):
        if type(name) is not str or type(length) is not int or name in sections or not 0 <= length <= size - at:
            raise ArtifactError("saved constraint: the sections do not fit the data")
        sections[name] = data[at : at + length]
        at += length
    if at != size:
        raise ArtifactError("saved constraint: bytes that belong to no section")
    return _Parts(header, sections)


def _vocab(header: Mapping[str, Any], sections: Mapping[str, bytes], given: Vocab | None) -> Vocab:
    identity = header.get("vocab")
    if given is not None:
        if check_vocab(given).identity != identity:
            raise ArtifactError("the saved constraint belongs to another vocabulary than the one given")
        return given
    if "vocab" not in sections:
        raise ArtifactError("saved without its vocabulary; pass the same one as load(data, vocab=...)")
    vocab = unpack_vocab(sections["vocab"])
    if vocab.identity != identity:
        raise ArtifactError("saved constraint: the vocabulary is not the one its header names")
    return vocab


def _options(header: Mapping[str, Any], vocab: Vocab, background: bool, limits: Limits | None) -> CompileOptions:
    ids = _ids(header.get("end_tokens"), "end tokens")
    for id in ids:
        if id >= ID_CAP and not vocab.has(id):
            raise ArtifactError(f"saved constraint: end token {id} is unknown and would widen every mask")
    optimization = _member(Optimization, header, "optimization")
    backend = _member(ParserBackend, header, "parser_backend")
    try:
        return compile_options(vocab, ids, optimization, backend, background, limits)
    except CompileError as error:
        raise ArtifactError(f"saved constraint: {error}") from None


def _program(header: Mapping[str, Any], sections: Mapping[str, bytes], module: Module) -> tuple[Any, int | None]:
    ignore = header.get("ignore")
    if "program" not in sections:
        return None, None
    from .program import ParserProgram, check_compiled

    try:
        program = ParserProgram(sections["program"].decode("utf-8", "strict"))
        check_compiled(program, module, ignore)
    except (GlrmaskError, UnicodeDecodeError) as error:
        raise ArtifactError(f"saved parser program: {error}") from None
    return program, ignore


def _engine(saved: str, options: CompileOptions, wanted: str | None, programs: bool) -> tuple[Engine, bool]:
    """The engine to load with, and whether it is the one that saved."""
    plugins = manager()
    if wanted is None and saved in plugins.engines():
        wanted = saved
    engine = plugins.engine(options.optimization, options.parser_backend, wanted, programs)
    return engine, engine.name == saved


def _section(sections: Mapping[str, bytes], name: str) -> bytes:
    if name not in sections:
        raise ArtifactError(f'saved constraint: the section "{name}" is missing')
    return sections[name]


def _pairs(header: Mapping[str, Any], name: str, size: int) -> list[list[Any]]:
    entries = header.get(name)
    if not isinstance(entries, list) or not all(isinstance(e, list) and len(e) == size for e in entries):
        raise ArtifactError(f'saved constraint: "{name}" is not a list of entries of {size}')
    return entries


def _check_slot(module: Module, slot: Any, kind: str, bound: Mapping[str, object]) -> None:
    if type(slot) is not str or module.slots.get(slot) != kind or slot in bound:
        raise ArtifactError(f"saved constraint: {slot!r} is not an open slot for a {kind}")


def _ids(ids: Any, what: str) -> tuple[int, ...]:
    if not isinstance(ids, list) or not all(type(i) is int and 0 <= i <= MAX_ID for i in ids):
        raise ArtifactError(f"saved constraint: {what} are not token ids")
    if any(a >= b for a, b in itertools.pairwise(ids)):
        raise ArtifactError(f"saved constraint: {what} are not sorted and distinct")
    return tuple(ids)


def _text(header: Mapping[str, Any], name: str) -> str:
    value = header.get(name)
    if type(value) is not str:
        raise ArtifactError(f'saved constraint: "{name}" is not text')
    return value


def _texts(header: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = header.get(name)
    if not isinstance(values, list) or not all(type(v) is str for v in values):
        raise ArtifactError(f'saved constraint: "{name}" is not a list of texts')
    return tuple(values)


def _member(kind: Any, header: Mapping[str, Any], name: str) -> Any:
    try:
        return kind(header.get(name))
    except (ValueError, TypeError):
        raise ArtifactError(f'saved constraint: "{name}" is {header.get(name)!r}, which is unknown') from None


def _warnings(entries: Any) -> tuple[Diagnostic, ...]:
    warnings = []
    for message, severity, place in _pairs({"warnings": entries}, "warnings", 3):
        if isinstance(place, list):
            if len(place) != 4 or not all(type(n) is int for n in place):
                raise ArtifactError("saved constraint: a warning has no place")
            place = Span(*place)
        if type(message) is not str or type(severity) is not str or not isinstance(place, (str, Span, type(None))):
            raise ArtifactError("saved constraint: a warning is not as saved")
        warnings.append(Diagnostic(message, place, severity))
    return tuple(warnings)
