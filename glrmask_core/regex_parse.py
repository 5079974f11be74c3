"""Reading a regular expression into a tree of tuples; see :mod:`glrmask_core.regex` for the dialects.

Nodes: ``("text", str)``, ``("set", ranges, raw bytes)``, ``("seq", [..])``, ``("alt", [..])``, ``("empty",)``,
``("rep", node, low, high or None, offset)``, ``("start", offset)``, ``("end", offset)``. Case folding and
complements are applied here, so that what follows sees plain sets.
"""

from __future__ import annotations

import enum
import re
from typing import Any, NoReturn

from .errors import GrammarSyntaxError
from .ir import MAX_COUNT
from .regex_sets import (
    ALL,
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
MAX_NESTING = 200
_BOUND = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")
_PLAIN = re.compile(r"[^\\^$.|?*+(){}\[\]#\s]+|[^\S\n]", re.DOTALL)
_HEX = re.compile(r"[0-9A-Fa-f]+")
_FLAGS = re.compile(r"\(\?([A-Za-z]*)(?:(-)([A-Za-z]*))?([:)])")
_CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}
_NEWLINES = {"PYTHON": ((10, 10),), "ECMA": ((10, 10), (13, 13), (0x2028, 0x2029))}


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


def parse(pattern: str, dialect: Dialect, flags: str = "") -> Node:
    """The tree of a pattern.

    Raises:
        RegexError: with the offset of the fault.
    """
    return _Parser(pattern, dialect, flags).whole()


class _Parser:
    def __init__(self, pattern: str, dialect: Dialect, flags: str) -> None:
        self.text, self.at, self.depth = pattern, 0, 0
        self.dialect = dialect
        self.glrm, self.python, self.ecma = (dialect is d for d in Dialect)
        self.flags: frozenset[str] = frozenset()
        for flag in flags:
            self._check_flag(flag, 0)
        self.flags = frozenset(flags)

    def fail(self, reason: str, offset: int | None = None) -> NoReturn:
        raise RegexError(reason, self.at if offset is None else offset, self.text)

    # -- structure ----------------------------------------------------------------------------

    def whole(self) -> Node:
        if self.python or self.ecma:
            found = _FLAGS.match(self.text)
            if found and found[4] == ")":
                self._apply_flags(found)
                self.at = found.end()
        self.first = self.at
        node = self._alternatives()
        if self.at < len(self.text):
            self.fail('unmatched ")"')
        return node

    def _alternatives(self) -> Node:
        parts = [self._sequence()]
        while self._peek("|"):
            self.at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else ("alt", parts)

    def _sequence(self) -> Node:
        parts: list[Node] = []
        text, folds = self.text, "i" in self.flags
        while self.at < len(text):
            c = text[self.at]
            if c in "|)":
                break
            if "x" in self.flags and self._skip_verbose():
                continue
            run = _PLAIN.match(text, self.at)
            if run is not None and not folds:
                self._literal_run(run[0], run.end(), parts)
                continue
            start = self.at
            atom = self._atom(c)
            parts.append(self._quantified(atom, start))
        return parts[0] if len(parts) == 1 else ("seq", parts) if parts else ("empty",)

    def _literal_run(self, run: str, end: int, parts: list[Node]) -> None:
        """Ordinary characters; a quantifier after them belongs to the last one."""
        more = self.text[end : end + 1]
        if more and more in "*+?{" and (more != "{" or not self.python or _BOUND.match(self.text, end)):
            if len(run) > 1:
                parts.append(("text", run[:-1]))
            self.at = end
            parts.append(self._quantified(("text", run[-1]), end - 1))
        else:
            self.at = end
            parts.append(("text", run))

    def _skip_verbose(self) -> bool:
        c = self.text[self.at]
        if c.isspace():
            self.at += 1
            return True
        if c == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end + 1
            return True
        return False

    def _quantified(self, atom: Node, start: int) -> Node:
        bounds = self._quantifier()
        if bounds is None:
            return atom
        if atom[0] in ("start", "end") and not self.ecma:
            self.fail("a quantifier after an anchor", start)
        if self._peek("?"):
            self.at += 1  # lazy: the same language
        elif self._peek("+"):
            self.fail("possessive quantifiers are not regular; leave out the second sign")
        if self.at < len(self.text) and self.text[self.at] in "*+?":
            self.fail("a quantifier after a quantifier; put the first one in a group")
        if self._peek("{") and (not self.python or _BOUND.match(self.text, self.at)):
            self.fail("a quantifier after a quantifier; put the first one in a group")
        return ("rep", atom, *bounds, start)

    def _quantifier(self) -> tuple[int, int | None] | None:
        while "x" in self.flags and self.at < len(self.text) and self._skip_verbose():
            pass
        c = self.text[self.at : self.at + 1]
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if c in simple:
            self.at += 1
            return simple[c]
        if c != "{":
            return None
        found = _BOUND.match(self.text, self.at)
        usable = found is not None and (found[1] or (self.python and found[3]))
        if not usable or found is None:
            if self.python:
                return None
            self.fail('"{" does not start a bound such as {2,5}; escape it to mean the character')
        low = int(found[1] or 0)
        high = low if not found[2] else int(found[3]) if found[3] else None
        if max(low, high or 0) > MAX_COUNT:
            self.fail(f"a bound above {MAX_COUNT}")
        if high is not None and high < low:
            self.fail(f"reversed bounds {found[0]}")
        self.at = found.end()
        return low, high

    def _atom(self, c: str) -> Node:
        if c == "(":
            return self._group()
        if c == "[":
            return self._class()
        if c == "\\":
            return self._escape_atom()
        if c == ".":
            self.at += 1
            if self.glrm or "s" in self.flags:
                return ("set", ALL, ())
            return ("set", complement(_NEWLINES[self.dialect.name]), ())
        if c in "^$":
            return self._anchor(c)
        if c in "*+?":
            self.fail(f'"{c}" has nothing to repeat')
        if c == "{" and not self.python:
            self.fail('"{" does not follow anything it could repeat; escape it to mean the character')
        self.at += 1
        return self._char(ord(c))

    def _char(self, code: int) -> Node:
        if "i" in self.flags:
            folded = ignore_case(((code, code),))
            if folded != ((code, code),):
                return ("set", folded, ())
        return ("text", chr(code))

    def _anchor(self, c: str) -> Node:
        here = self.at
        self.at += 1
        if self.ecma:
            return ("start" if c == "^" else "end", here)
        if self.python and (here == self.first if c == "^" else self.at == len(self.text)):
            return ("empty",)
        if self.python:
            self.fail(f'anchor "{c}" in the middle: a terminal always matches as a whole', here)
        self.fail(f'anchor "{c}" is not needed: the expression always matches as a whole (full-match)', here)

    def _group(self) -> Node:
        start = self.at
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"groups nest more than {MAX_NESTING} deep")
        outer = self.flags
        self._open_group(start)
        node = self._alternatives()
        if not self._peek(")"):
            self.fail('expected ")" before the end; the group is opened here', start)
        self.at += 1
        self.flags = outer
        self.depth -= 1
        return node

    def _open_group(self, start: int) -> None:
        text = self.text
        if not text.startswith("(?", start):
            self.at = start + 1
            return
        for opening, name in (
            ("(?=", "lookahead"),
            ("(?!", "negative lookahead"),
            ("(?<=", "lookbehind"),
            ("(?<!", "negative lookbehind"),
            ("(?P=", "a backreference"),
            ("(?#", "a comment"),
            ("(?>", "an atomic group"),
            ("(?(", "a conditional"),
            ("(?|", "a branch reset"),
        ):
            if text.startswith(opening, start):
                self.fail(f'{name} "{opening}" is not supported')
        if text.startswith("(?:", start):
            self.at = start + 3
            return
        for opening in ("(?P<", "(?<"):
            if text.startswith(opening, start):
                end = text.find(">", start)
                name = text[start + len(opening) : max(end, 0)]
                if end < 0 or not name.isidentifier():
                    self.fail("expected a group name and >", start)
                self.at = end + 1
                return
        found = _FLAGS.match(text, start)
        if found is None:
            self.fail('unknown group "(?"', start)
        if self.glrm:
            self.fail("inline flags are not supported", start)
        if found[4] == ")":
            self.fail("flags for the whole expression must stand at its start", start)
        self._apply_flags(found)
        self.at = found.end()

    def _apply_flags(self, found: re.Match[str]) -> None:
        for flag in (found[1] or "") + (found[3] or ""):
            self._check_flag(flag, found.start())
        self.flags = (self.flags | set(found[1] or "")) - set(found[3] or "")

    def _check_flag(self, flag: str, offset: int) -> None:
        known = "imsux" if self.ecma else "imsuxa" if self.python else ""
        if flag not in known:
            self.fail(f'flag "{flag}" is not supported' + (f' (supported: {", ".join(known)})' if known else ""), offset)

    def _peek(self, c: str) -> bool:
        return self.text.startswith(c, self.at)

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
        return ("set", ignore_case(ranges) if "i" in self.flags else ranges, ())

    def _escape(self, in_class: bool) -> tuple[Ranges, int | None]:
        """(code points, raw byte) of the escape at ``self.at``."""
        start = self.at
        c = self.text[start + 1 : start + 2]
        self.at += 2
        if not c:
            self.fail("a backslash at the end", start)
        shorthand = {"d": DIGIT, "w": WORD, "s": ECMA_SPACE if self.ecma else SPACE}
        if c.lower() in shorthand:
            found = shorthand[c.lower()]
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
            self.fail(f'the anchor "\\{c}" is not supported: the expression always matches as a whole (full-match)', start)
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
        raw: set[int] = set()
        if self._peek("]") and self.glrm:
            self.fail("an empty class; escape the bracket to mean the character", start)
        first = True
        while (first and self.python) or not self._peek("]"):
            if self.at >= len(text):
                self.fail('expected "]" before the end; the class is opened here', start)
            first = False
            self._class_item(parts, raw)
        self.at += 1
        if negated and raw:
            self.fail("a negated class cannot hold a raw byte above 7F", start)
        ranges = union(parts)
        if "i" in self.flags:
            ranges = ignore_case(ranges)
        return ("set", complement(ranges) if negated else ranges, tuple(sorted(raw)))

    def _class_item(self, parts: list[tuple[int, int]], raw: set[int]) -> None:
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
        parts += low

    def _class_atom(self) -> tuple[Ranges, int | None]:
        text, start = self.text, self.at
        c = text[start]
        if c == "\\":
            return self._escape(in_class=True)
        for operation in ("[:", "[.", "[=", "&&", "~~", "||"):
            if text.startswith(operation, start) and (not self.ecma or operation == "[:"):
                self.fail(f'"{operation}" in a class could be a POSIX class or a set operation; escape it', start)
        if c == "[" and self.glrm:
            self.fail('an unescaped "[" inside a class', start)
        self.at += 1
        return self._one(ord(c)), None
