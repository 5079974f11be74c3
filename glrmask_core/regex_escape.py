r"""Escapes and classes of regular expressions: what stands for characters. See :mod:`glrmask_core.regex`."""

from __future__ import annotations

import enum
import re
from typing import Any, NoReturn

from .errors import GrammarSyntaxError
from .regex_sets import (
    DIGIT,
    ECMA_SPACE,
    SPACE,
    TOP,
    WORD,
    Ranges,
    complement,
    ignore_case,
    unicode_property,
    union,
)

Node = tuple[Any, ...]
_HEX = re.compile(r"[0-9A-Fa-f]+")
_CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}


class Dialect(enum.Enum):
    """How a regular expression is read; see the table of :mod:`glrmask_core.regex`."""

    GLRM = "glrm"
    PYTHON = "python"
    ECMA = "ecma"


class RegexError(GrammarSyntaxError):
    """A regular expression that cannot be read or is not regular.

    Attributes:
        offset: of the fault, in characters of the pattern.
        pattern: the regular expression.
        reason: the message without the place.
    """

    def __init__(self, reason: str, offset: int, pattern: str) -> None:
        near = pattern[offset : offset + 12]
        at = f'at offset {offset} (near "{near}")' if near else f"at its end (offset {offset})"
        super().__init__(f"regular expression: {reason}, {at}")
        self.offset, self.pattern, self.reason = offset, pattern, reason


class Reader:
    """A pattern, a place in it, the flags there."""

    def __init__(self, pattern: str, dialect: Dialect, flags: str) -> None:
        self.text, self.at, self.depth = pattern, 0, 0
        self.first = 0  # where the pattern begins, behind flags
        self.dialect = dialect
        self.glrm, self.python, self.ecma = (dialect is d for d in Dialect)
        self.flags: frozenset[str] = frozenset()
        for flag in flags:
            self._check_flag(flag, 0)
        self.flags = frozenset(flags)

    def fail(self, reason: str, offset: int | None = None) -> NoReturn:
        raise RegexError(reason, self.at if offset is None else offset, self.text)

    def _check_flag(self, flag: str, offset: int) -> None:
        known = "isux" if self.ecma else "imsuxa" if self.python else ""
        if flag not in known:
            self.fail(
                f'flag "{flag}" is not supported' + (f" (supported: {', '.join(known)})" if known else ""), offset
            )

    def _peek(self, c: str) -> bool:
        return self.text.startswith(c, self.at)

    def _char(self, code: int) -> Node:
        if "i" in self.flags:
            folded = ignore_case(((code, code),))
            if folded != ((code, code),):
                return ("set", folded, ())
        return ("text", chr(code))

    # -- escapes ------------------------------------------------------------------------------

    def _escape_atom(self) -> Node:
        start = self.at
        c = self.text[start + 1 : start + 2]
        if self.python and c in ("A", "Z"):
            at_end = start == self.first if c == "A" else start + 2 == len(self.text)
            if not at_end:
                self.fail(f'anchor "\\{c}" in the middle: a terminal always matches as a whole')
            self.at += 2
            return ("empty",)
        ranges, raw = self._escape(in_class=False)
        if raw is not None:
            return ("set", (), (raw,))
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self._char(ranges[0][0])
        return ("set", ignore_case(ranges) if self._folds(c) else ranges, ())

    def _folds(self, escape: str) -> bool:
        """Whether case is ignored in what an escape stands for; Python's shorthands stay as they are."""
        return "i" in self.flags and not (self.python and escape in "dDsSwW")

    def _escape(self, in_class: bool) -> tuple[Ranges, int | None]:
        """(code points, raw byte) of the escape at ``self.at``."""
        start = self.at
        c = self.text[start + 1 : start + 2]
        self.at += 2
        if not c:
            self.fail("a backslash at the end", start)
        if c in "dwsDWS":
            kind = c.lower()
            found = DIGIT if kind == "d" else WORD if kind == "w" else ECMA_SPACE if self.ecma else SPACE
            if self.ecma and "i" in self.flags:  # \w gains two letters that fold to s and k
                found = ignore_case(found)
            return (found if c.islower() else complement(found)), None
        if c in _CONTROL:
            return self._one(_CONTROL[c]), None
        if c == "x":
            return self._escape_x(start)
        if c in ("u", "U"):
            return self._one(self._escape_u(c, start)), None
        if c in ("p", "P"):
            return self._property(c, start), None
        if c == "0":
            return self._one(self._octal(start)), None
        if c.isdigit():
            self.fail(f'a backreference "\\{c}" is not regular', start)
        if c == "c" and self.ecma:
            letter = self.text[self.at : self.at + 1]
            if not (letter.isascii() and letter.isalpha()):
                self.fail("expected a letter after \\c", start)
            self.at += 1
            return self._one(ord(letter) % 32), None
        if c == "b" and in_class and not self.glrm:
            return self._one(8), None
        if c == "a" and self.python:
            return self._one(7), None
        if c in "bB":
            self.fail(f'the word boundary "\\{c}" is not supported', start)
        if c in "AzZ":
            self.fail(
                f'the anchor "\\{c}" is not supported: the expression always matches as a whole (full-match)', start
            )
        if c.isascii() and not c.isalnum() and c.isprintable():
            return self._one(ord(c)), None
        if self.python and not c.isascii():
            return self._one(ord(c)), None
        if c == "k":
            self.fail('a backreference "\\k" is not regular', start)
        self.fail(f'unknown escape "\\{c}"', start)

    def _one(self, code: int) -> Ranges:
        return ((code, code),)

    def _digits(self, n: int, start: int) -> int:
        digits = self.text[self.at : self.at + n]
        if len(digits) < n or not _HEX.fullmatch(digits):
            self.fail(f"expected {n} hexadecimal digits", start)
        self.at += n
        return int(digits, 16)

    def _escape_x(self, start: int) -> tuple[Ranges, int | None]:
        code = self._digits(2, start)
        return ((), code) if self.glrm and code >= 0x80 else (self._one(code), None)

    def _escape_u(self, c: str, start: int) -> int:
        if c == "U":
            if self.ecma:
                self.fail('unknown escape "\\U"', start)
            code = self._digits(8, start)
        elif self.ecma and self._peek("{"):
            end = self.text.find("}", self.at)
            digits = self.text[self.at + 1 : max(end, 0)]
            if not _HEX.fullmatch(digits) or len(digits) > 8:
                self.fail("expected hexadecimal digits and }", start)
            self.at = end + 1
            code = int(digits, 16)
        else:
            code = self._digits(4, start)
            if 0xD800 <= code < 0xDC00 and self.text.startswith("\\u", self.at):
                self.at += 2
                low = self._digits(4, start)
                if not 0xDC00 <= low < 0xE000:
                    self.fail("a high surrogate must be followed by a low one", start)
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        if code > TOP:
            self.fail(f"U+{code:X} is beyond Unicode", start)
        if 0xD800 <= code < 0xE000:
            self.fail("a lone surrogate is no character", start)
        return code

    def _octal(self, start: int) -> int:
        """``\\0``; in Python up to two octal digits more."""
        digits = ""
        while self.python and len(digits) < 2 and self.text[self.at : self.at + 1] in tuple("01234567"):
            digits += self.text[self.at]
            self.at += 1
        if self.text[self.at : self.at + 1].isdigit() and not self.python:
            self.fail("octal escapes are not supported", start)
        return int(digits or "0", 8)

    def _property(self, c: str, start: int) -> Ranges:
        if not self.ecma:
            self.fail(f'"\\{c}" (Unicode properties) is not supported in this dialect', start)
        end = self.text.find("}", self.at)
        if not self._peek("{") or end < 0:
            self.fail(f'expected {{name}} after "\\{c}"', start)
        name = self.text[self.at + 1 : end]
        found = unicode_property(name)
        if found is None:
            self.fail(f'the Unicode property "{name[:40]}" is not supported; general categories are', start)
        self.at = end + 1
        return found if c == "p" else complement(found)

    # -- classes ------------------------------------------------------------------------------

    def _class(self) -> Node:
        start, text = self.at, self.text
        self.at += 1
        negated = self._peek("^")
        self.at += negated
        parts: list[tuple[int, int]] = []
        fixed: list[tuple[int, int]] = []  # not subject to case folding
        raw: set[int] = set()
        if self._peek("]") and self.glrm:
            self.fail("an empty class; escape the bracket to mean the character", start)
        first = True
        while (first and self.python) or not self._peek("]"):
            if self.at >= len(text):
                self.fail('expected "]" before the end; the class is opened here', start)
            first = False
            self._class_item(parts, fixed, raw)
        self.at += 1
        if negated and raw:
            self.fail("a negated class cannot hold a raw byte above 7F", start)
        ranges = union(parts)
        if "i" in self.flags:
            ranges = ignore_case(ranges)
        if fixed:
            ranges = union((*ranges, *fixed))
        return ("set", complement(ranges) if negated else ranges, tuple(sorted(raw)))

    def _class_item(self, parts: list[tuple[int, int]], fixed: list[tuple[int, int]], raw: set[int]) -> None:
        start = self.at
        low, low_raw = self._class_atom()
        if self._peek("-") and self.at + 1 < len(self.text) and self.text[self.at + 1] != "]":
            dash = self.at
            self.at += 1
            if self._peek("-"):
                self.fail('"--" could be a set operation; escape the hyphen', dash)
            high, high_raw = self._class_atom()
            if (low_raw is None) != (high_raw is None):
                self.fail("a range from a character to a raw byte", start)
            if low_raw is not None and high_raw is not None:
                if high_raw < low_raw:
                    self.fail("a reversed range", start)
                raw.update(range(low_raw, high_raw + 1))
                return
            if any(len(r) != 1 or r[0][0] != r[0][1] for r in (low, high)):
                self.fail("a range must go from one character to another; escape the hyphen", dash)
            if high[0][0] < low[0][0]:
                self.fail("a reversed range", start)
            parts.append((low[0][0], high[0][0]))
            return
        if low_raw is not None:
            raw.add(low_raw)
        if self.text[start] == "\\" and not self._folds(self.text[start + 1]):
            fixed += low
        else:
            parts += low

    def _class_atom(self) -> tuple[Ranges, int | None]:
        text, start = self.text, self.at
        c = text[start]
        if c == "\\":
            return self._escape(in_class=True)
        for operation in ("[:", "[.", "[=", "&&", "~~", "||") if c in "[&~|" else ():
            if text.startswith(operation, start) and (not self.ecma or operation == "[:"):
                self.fail(f'"{operation}" in a class could be a POSIX class or a set operation; escape it', start)
        if c == "[" and self.glrm:
            self.fail('an unescaped "[" inside a class', start)
        self.at += 1
        return self._one(ord(c)), None
