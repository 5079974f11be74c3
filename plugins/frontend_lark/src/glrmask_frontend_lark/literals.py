"""Lark's string escapes, for strings and (as Lark does) for regular expressions before they are compiled.

Known escapes are backslash followed by n, t, r, f, x, u, U or a double quote; a doubled backslash stays
doubled in a regular expression and becomes one in a string; any other pair stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_DIGITS = {"x": 2, "u": 4, "U": 8}


class EscapeError(ValueError):
    """An escape that cannot be read, at an offset of the raw text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class Decoded(NamedTuple):
    """Decoded text, and for each of its characters the offset in the raw text."""

    text: str
    offsets: list[int]


def split(literal: str) -> tuple[str, str, str]:
    """(quote, inside, suffix) of a string or regular-expression literal."""
    end = literal.rindex(literal[0])
    return literal[0], literal[1:end], literal[end + 1 :]


def decode(raw: str, quote: str, regex: bool = False) -> Decoded:
    """Resolve the escapes of the inside of a literal.

    Raises:
        EscapeError: cut short, not hexadecimal, or not a character.
    """
    if "\\" not in raw:
        return Decoded(raw, [])
    out: list[str] = []
    offsets: list[int] = []
    at, size = 0, len(raw)
    while at < size:
        char, start = raw[at], at
        at += 1
        if char == "\\":
            if at == size:
                raise EscapeError("a backslash at the end of a literal", start)
            following = raw[at]
            at += 1
            if following in _DIGITS:
                code, at = _code_point(raw, at, _DIGITS[following])
                if 0xD800 <= code < 0xDC00 and raw[at : at + 2] == "\\u":
                    low, end = _code_point(raw, at + 2, 4)
                    if 0xDC00 <= low < 0xE000:
                        code, at = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00, end
                if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                    raise EscapeError(f"U+{code:04X} is not a character", start)
                char = chr(code)
            elif following in _SIMPLE:
                char = _SIMPLE[following]
            elif following == '"' or (following == quote and not regex):
                char = following
            elif following == "\\" and not regex:
                char = "\\"
            else:
                out.append("\\")
                offsets.append(start)
                char = following
        out.append(char)
        offsets.append(start)
    return Decoded("".join(out), offsets)


def _code_point(raw: str, at: int, digits: int) -> tuple[int, int]:
    text = raw[at : at + digits]
    if len(text) < digits or not all(char in "0123456789abcdefABCDEF" for char in text):
        raise EscapeError(f"expected {digits} hexadecimal digits in an escape", at - 2)
    return int(text, 16), at + digits


def raw_offset(decoded: Decoded, offset: int) -> int:
    """Where a character of the decoded text stands in the raw text."""
    if not decoded.offsets:
        return offset
    return decoded.offsets[min(offset, len(decoded.offsets) - 1)]


def anchors(text: str) -> tuple[int, int]:
    """Lengths of an anchor at the start and at the end."""
    start = 1 if text.startswith("^") else 2 if text.startswith("\\A") else 0
    rest = text[start:]
    backslashes = len(rest[:-1]) - len(rest[:-1].rstrip("\\"))
    if rest.endswith("$") and backslashes % 2 == 0:
        return start, 1
    return start, 2 if rest.endswith("Z") and backslashes % 2 == 1 else 0


def top_level(pattern: str) -> Iterator[tuple[int, str]]:
    """(offset, text) of the alternatives of a valid expression that are not in brackets."""
    depth = begin = at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at += 2 if pattern[at + 1 : at + 2] == "^" else 1
            at += 1  # a first "]" is a member
            while pattern[at] != "]":
                at += 2 if pattern[at] == "\\" else 1
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "|" and depth == 0:
            yield begin, pattern[begin:at]
            begin = at + 1
        at += 1
    yield begin, pattern[begin:]
