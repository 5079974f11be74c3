r"""The inside of a character class ``[...]``, shared by grammar formats that have classes outside of regexes.

Contents: characters, ranges ``a-z``, ``\n \r \t \f \v``, ``\xHH``, ``\d \w \s`` (ASCII), an escaped ASCII
punctuation mark for itself; in Unicode classes also ``\uXXXX`` (pairs for astral characters) and
``\UXXXXXXXX``. A first or last ``-`` and a ``^`` that is not first stand for themselves. What could be read in
two ways is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .ir import Builder
from .regex_sets import DIGIT, SPACE, TOP, WORD, complement, union

SIMPLE = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}
SETS = {"d": DIGIT, "w": WORD, "s": SPACE}
HEX = frozenset("0123456789abcdefABCDEF")


class ClassError(ValueError):
    """A class that cannot be read.

    Attributes:
        offset: into the body.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass
class CharClass:
    """A class that was read.

    Attributes:
        negated: whether it began with ``^``.
        ranges: inclusive code points (Unicode classes) or byte values (byte classes), unsorted.
        raw: bytes of a Unicode class that stand for themselves, 128..255.
        is_unicode: which of the two it is.
    """

    negated: bool
    is_unicode: bool
    ranges: list[tuple[int, int]] = field(default_factory=list)
    raw: set[int] = field(default_factory=set)

    def lower(self, builder: Builder) -> int:
        """The lexical node: one byte, or one character in UTF-8 (or one raw byte)."""
        if not self.is_unicode:
            members = {b for first, last in self.ranges for b in range(first, last + 1)}
            return builder.bytes_class(set(range(256)) - members if self.negated else members)
        chars = builder.chars(complement(union(self.ranges)) if self.negated else self.ranges)
        return builder.choice((chars, builder.bytes_class(self.raw))) if self.raw else chars


def read_class(body: str, *, is_unicode: bool) -> CharClass:
    """Read what stands between the brackets.

    Args:
        body: without the brackets.
        is_unicode: members are characters (in UTF-8) rather than bytes.

    Raises:
        ClassError: with the offset into ``body``.
    """
    negated = body.startswith("^")
    found = CharClass(negated, is_unicode)
    at = first = int(negated)
    while at < len(body):
        if body[at] == "-" and first < at < len(body) - 1:
            raise ClassError('"-" between two members can be read in two ways; write "\\-" or put it last', at)
        kind, value, end = _member(body, at, is_unicode)
        if end < len(body) - 1 and body[end] == "-":
            if kind == "set" or body[at] == "-":
                raise ClassError('a range cannot begin here; write "\\-" for a dash, or put it first or last', at)
            kind, value, end = _range(body, at, kind, value, end + 1, is_unicode)
        if kind == "set":
            found.ranges += SETS[body[at + 1]]
        elif kind == "raw":
            found.raw.update(range(value[0], value[1] + 1))
        else:
            found.ranges.append(value)
        at = end
    if negated and found.raw:
        raise ClassError('a negated class of characters cannot hold a raw byte above "\\x7f"', 0)
    return found


Member = tuple[str, tuple[int, int], int]  # "char", "raw" or "set"; inclusive range; offset behind it


def _range(body: str, at: int, kind: str, low: tuple[int, int], second: int, is_unicode: bool) -> Member:
    last_kind, high, end = _member(body, second, is_unicode)
    if last_kind == "set" or body[second] == "-":
        raise ClassError('a range cannot end here; write "\\-" for a dash, or put it first or last', second)
    if kind != last_kind:
        raise ClassError("a range from a character to a raw byte has no meaning", at)
    if low[0] > high[0]:
        raise ClassError(f"the range {body[at:end]} is reversed", at)
    return kind, (low[0], high[0]), end


def _member(body: str, at: int, is_unicode: bool) -> Member:
    if body[at] != "\\":
        value = ord(body[at])
        if value > 127 and not is_unicode:
            raise ClassError(
                f'"{body[at]}" is not ASCII, and this class matches one byte; write [...]/utf8 for characters', at
            )
        return "char", (value, value), at + 1
    if at + 1 == len(body):
        raise ClassError('a "\\" at the end; write "\\\\"', at)
    c = body[at + 1]
    if c in SIMPLE:
        return "char", (SIMPLE[c], SIMPLE[c]), at + 2
    if c in SETS:
        return "set", (0, 0), at + 2
    if c == "x":
        value = _hex(body, at, 2)
        return "raw" if is_unicode and value > 127 else "char", (value, value), at + 4
    if c in "uU":
        if not is_unicode:
            raise ClassError(f'"\\{c}" is a character, and this class matches one byte; write [...]/utf8', at)
        value, end = _code_point(body, at)
        return "char", (value, value), end
    if c.isascii() and not c.isalnum() and c.isprintable():
        return "char", (ord(c), ord(c)), at + 2
    raise ClassError(f'"\\{c}" has no meaning in a class', at)


def _code_point(body: str, at: int) -> tuple[int, int]:
    """The character of ``\\u`` or ``\\U`` at an offset, and the offset behind it."""
    if body[at + 1] == "U":
        value, end = _hex(body, at, 8), at + 10
    else:
        value, end = _hex(body, at, 4), at + 6
        if 0xD800 <= value < 0xDC00 and body[end : end + 2] == "\\u":
            low = _hex(body, end, 4)
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00), end + 6
    if 0xD800 <= value < 0xE000:
        raise ClassError(f"U+{value:04X} is half of a surrogate pair", at)
    if value > TOP:
        raise ClassError(f"U+{value:X} is above U+10FFFF", at)
    return value, end


def _hex(body: str, at: int, digits: int) -> int:
    text = body[at + 2 : at + 2 + digits]
    if len(text) < digits or not HEX.issuperset(text):
        raise ClassError(f'"\\{body[at + 1]}" needs {digits} hexadecimal digits', at)
    return int(text, 16)
