"""String literals of EBNF: bytes out of text."""

from __future__ import annotations

import re

from glrmask_core.grammar_text import Fault

from .syntax import Text

SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}
DIGITS = {"x": 2, "u": 4, "U": 8}
HEX = re.compile(r"[0-9A-Fa-f]*")


def decode(text: Text) -> tuple[bytes, list[Fault]]:
    r"""The UTF-8 bytes of a literal, and warnings for escapes that keep their backslash.

    ``\xHH``, ``\uXXXX`` and ``\UXXXXXXXX`` are characters, two ``\u`` may be a surrogate pair.

    Raises:
        Fault: one of these with too few digits, or no character.
    """
    raw = text.raw
    if "\\" not in raw:
        return raw[1:-1].encode(), []
    out, kept = [], []
    at, end = 1, len(raw) - 1
    while at < end:
        found = raw.find("\\", at, end)
        if found < 0:
            out.append(raw[at:end])
            break
        out.append(raw[at:found])
        c = raw[found + 1]
        at = found + 2
        if c in SIMPLE:
            out.append(SIMPLE[c])
        elif c in DIGITS:
            value, at = _character(text, found, end)
            out.append(value)
        else:
            out.append("\\" + c)
            start = text.start + found
            kept.append(Fault(f'"\\{c}" is no escape, so the text has the backslash too', start, start + 2))
    return "".join(out).encode(), kept


def _character(text: Text, at: int, end: int) -> tuple[str, int]:
    """The character of the escape at an offset of the literal, and the offset behind it."""
    value, behind = _number(text, at, end)
    if 0xD800 <= value < 0xDC00 and text.raw.startswith("\\u", behind) and behind < end:
        low, behind_low = _number(text, behind, end)
        if 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00)), behind_low
    if 0xD800 <= value < 0xE000:
        problem = f"U+{value:04X} is half of a surrogate pair"
    elif value > 0x10FFFF:
        problem = f"U+{value:X} is above U+10FFFF"
    else:
        return chr(value), behind
    raise Fault(problem, text.start + at, text.start + behind, is_syntax=True)


def _number(text: Text, at: int, end: int) -> tuple[int, int]:
    kind = text.raw[at + 1]
    count = DIGITS[kind]
    match = HEX.match(text.raw, at + 2, min(at + 2 + count, end))
    assert match is not None, "the pattern matches the empty text"
    if len(match.group()) < count:
        start = text.start + at
        raise Fault(f'"\\{kind}" needs {count} hexadecimal digits', start, start + 2, is_syntax=True)
    return int(match.group(), 16), match.end()
