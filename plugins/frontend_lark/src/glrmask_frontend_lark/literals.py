"""Lark's string escapes, for strings and (as Lark does) for regular expressions before they are compiled.

Known escapes are backslash followed by n, t, r, f, x, u, U or a double quote; a doubled backslash stays
doubled in a regular expression and becomes one in a string; any other pair stays as it is.
"""

from __future__ import annotations

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
