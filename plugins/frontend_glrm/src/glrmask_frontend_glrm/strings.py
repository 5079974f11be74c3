"""String literals of GLRM: bytes out of text."""

from __future__ import annotations

import re

from glrmask_core.grammar_text import Fault

from .syntax import Text

ESCAPE = re.compile(r"\\(.)", re.DOTALL)
SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
HEX_PAIR = re.compile(r"[0-9A-Fa-f]{2}")


def decode(text: Text) -> tuple[bytes, list[Fault]]:
    r"""The bytes of a literal, and warnings for escapes that keep their backslash.

    ``\xHH`` is one raw byte; other characters are their UTF-8 bytes.

    Raises:
        Fault: ``\u``, ``\U``, or ``\x`` without two hexadecimal digits.
    """
    raw = text.raw
    if "\\" not in raw:
        return raw[1:-1].encode(), []
    out, kept = bytearray(), []
    at, end, quote = 1, len(raw) - 1, raw[0]
    while at < end:
        found = raw.find("\\", at, end)
        if found < 0:
            found = end
        out += raw[at:found].encode()
        if found == end:
            break
        c = raw[found + 1]
        start = text.start + found
        at = found + 2
        if c in SIMPLE:
            out += SIMPLE[c].encode()
        elif c == quote:
            out += c.encode()
        elif c == "x":
            pair = HEX_PAIR.match(raw, at, end)
            if pair is None:
                raise Fault('"\\x" needs two hexadecimal digits', start, start + 2, is_syntax=True)
            out.append(int(pair.group(), 16))
            at += 2
        elif c in "uU":
            raise Fault(
                f'"\\{c}" is no escape here; write the character itself, or its bytes with "\\x"',
                start,
                start + 2,
                is_syntax=True,
            )
        else:
            out += b"\\" + c.encode()
            kept.append(Fault(f'"\\{c}" is no escape, so the text has the backslash too', start, start + 2))
    return bytes(out), kept
