"""Literals and classes as GLRM writes them; the inverse of reading them."""

from __future__ import annotations

from collections.abc import Sequence

from glrmask_core.regex_sets import complement, union

Ranges = Sequence[tuple[int, int]]
SURROGATES = (0xD800, 0xDFFF)
NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", '"': '\\"'}


def string(data: bytes) -> str:
    """A string literal: characters where the bytes are printable text, ``\\xHH`` otherwise."""
    try:
        text = data.decode()
        is_text = all(c.isprintable() or c in NAMED for c in text)
    except UnicodeDecodeError:
        is_text = False
    if is_text:
        return '"' + "".join(NAMED.get(c, c) for c in text) + '"'
    return '"' + "".join(NAMED.get(chr(b), chr(b)) if b in range(32, 127) else f"\\x{b:02x}" for b in data) + '"'


def byte_class(bits: bytes) -> str:
    """``[...]`` of a 256-bit set, negated when that is shorter; ``.`` for all bytes."""
    members = [b for b in range(256) if bits[b >> 3] >> (b & 7) & 1]
    if len(members) == 256:
        return "."
    if len(members) <= 128:
        return f"[{_ranges(_runs(members), True)}]"
    others = [b for b in range(256) if not bits[b >> 3] >> (b & 7) & 1]
    return f"[^{_ranges(_runs(others), True)}]"


def char_class(ranges: Ranges) -> str:
    """``[...]/utf8`` of code-point ranges, negated when they reach the end."""
    if ranges and ranges[-1][1] == 0x10FFFF:
        outside = complement(union([*ranges, SURROGATES]))
        return f"[^{_ranges(outside, False)}]/utf8"
    return f"[{_ranges(ranges, False)}]/utf8"


def _runs(members: Sequence[int]) -> Ranges:
    runs: list[tuple[int, int]] = []
    for b in members:
        if runs and runs[-1][1] == b - 1:
            runs[-1] = runs[-1][0], b
        else:
            runs.append((b, b))
    return runs


def _ranges(ranges: Ranges, are_bytes: bool) -> str:
    out = []
    for first, last in ranges:
        out.append(_member(first, are_bytes))
        if last > first:
            out.append(("-" if last > first + 1 else "") + _member(last, are_bytes))
    return "".join(out)


def _member(value: int, is_byte: bool) -> str:
    c = chr(value)
    if c in "\\]-^[":
        return "\\" + c
    if 32 <= value < 127:
        return c
    if value < 128 or is_byte:
        return f"\\x{value:02x}"
    return f"\\u{value:04x}" if value < 0x10000 else f"\\U{value:08x}"
