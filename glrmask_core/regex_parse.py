"""Reading a regular expression into a tree of tuples; see :mod:`glrmask_core.regex` for the dialects.

Nodes: ``("text", str)``, ``("set", ranges, raw bytes)``, ``("seq", [..])``, ``("alt", [..])``, ``("empty",)``,
``("rep", node, low, high or None, offset)``, ``("start", offset)``, ``("end", offset)``. Case folding and
complements are applied here, so that what follows sees plain sets.
"""

from __future__ import annotations

import re

from .ir import MAX_COUNT
from .regex_escape import Dialect, Node, Reader, RegexError
from .regex_sets import ALL, complement

__all__ = ["Dialect", "Node", "RegexError", "parse"]

MAX_NESTING = 200
MOST_CLASSES = 1024  # kept per process
_classes: dict[str, Node] = {}
MAX_LENGTH = 500_000  # characters; about a second and 100 MB at worst
_BOUND = re.compile(r"\{([0-9]*)(?:(,)([0-9]*))?\}")
_PLAIN = re.compile(r"[^\\^$.|?*+(){}\[\]#\s]+|[^\S\n]", re.DOTALL)
_FLAGS = re.compile(r"\(\?([A-Za-z]*)(?:(-)([A-Za-z]*))?([:)])")
_CLASS = re.compile(r"\[(?:[^\\\]]|\\.)*\]", re.DOTALL)
_SIMPLE: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_NEWLINES = {"PYTHON": ((10, 10),), "ECMA": ((10, 10), (13, 13), (0x2028, 0x2029))}


def parse(pattern: str, dialect: Dialect, flags: str = "") -> Node:
    """The tree of a pattern.

    Raises:
        RegexError: with the offset of the fault.
    """
    if len(pattern) > MAX_LENGTH:
        raise RegexError(f"{len(pattern)} characters, more than {MAX_LENGTH}", MAX_LENGTH, pattern)
    return _Parser(pattern, dialect, flags).whole()


class _Parser(Reader):
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
        if c in _SIMPLE:
            self.at += 1
            return _SIMPLE[c]
        if c != "{":
            return None
        found = _BOUND.match(self.text, self.at)
        usable = found is not None and (found[1] or (self.python and found[2]))
        if not usable or found is None:
            if self.python:
                return None
            self.fail('"{" does not start a bound such as {2,5}; escape it to mean the character')
        if max(len(found[1]), len(found[3] or "")) > len(str(MAX_COUNT)):  # also keeps int() quick
            self.fail(f"a bound above {MAX_COUNT} (or with needless zeros)")
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
            return self._known_class() if self.ecma and not self.flags else self._class()
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

    def _known_class(self) -> Node:
        """A class of the ECMA dialect without flags; the same few are met again and again."""
        found = _CLASS.match(self.text, self.at)
        if found is None:
            return self._class()
        node = _classes.get(found[0])
        if node is None:
            node = self._class()
            if self.at == found.end():
                if len(_classes) >= MOST_CLASSES:
                    _classes.clear()
                _classes[found[0]] = node
        self.at = found.end()
        return node

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
