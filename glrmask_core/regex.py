"""One regular-expression compiler for all front-ends: text in one of three dialects onto ``Builder`` nodes.

==========  ==================================================================================
dialect     meaning
==========  ==================================================================================
GLRM        full match; ``.`` is any character; ``\\xHH`` from 80 on is a raw byte; no anchors, no flags
PYTHON      full match, as ``re`` reads a ``str``; ``^`` and ``$`` at the very ends are dropped; flags
ECMA        ECMA-262 with ``u``; with ``search=True`` a match anywhere, ``^`` and ``$`` at the text's ends
==========  ==================================================================================

Shorthand classes are ASCII (but ``\\s`` in ECMA is Unicode). What a regular language cannot say, or could be
read in two ways, raises :class:`RegexError` with its offset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .ir import Builder
from .regex_parse import Dialect, Node, RegexError, parse

__all__ = ["Dialect", "RegexError", "compile_regex"]

CharsFn = Callable[[Sequence[tuple[int, int]]], int]
# What a part matches, by (must start at the beginning of the text, must end at its end).
Anchored = dict[tuple[bool, bool], int]
_KEYS = ((False, False), (True, False), (False, True), (True, True))


def compile_regex(
    pattern: str,
    builder: Builder,
    *,
    dialect: Dialect,
    flags: str = "",
    search: bool = False,
    chars: CharsFn | None = None,
    raw_byte: Callable[[int], int] | None = None,
    text: Callable[[str], int] | None = None,
) -> int:
    """The lexical node of a regular expression.

    Args:
        pattern: its text, without delimiters.
        builder: where the node is made.
        dialect: see the table of this module.
        flags: out of ``imslux``; PYTHON only (ECMA takes ``i``).
        search: the language of texts that *contain* a match (ECMA); otherwise of texts that are one.
        chars: makes the node for one character out of ranges of code points; ``builder.chars`` by default.
            A front-end that spells characters in another way (JSON escapes) gives its own: the mapping
            must be one to one on texts.
        text: makes the node of several characters in a row; by default that of ``chars`` for each.
        raw_byte: makes the node of a raw byte (GLRM); ``builder.bytes_class`` by default.

    Returns:
        The node; ``builder.nothing()`` when anchors contradict each other.

    Raises:
        RegexError: bad syntax, or a construct that is not supported, named, with its offset.

    Cost: linear in the pattern, about 1 us per construct; ``\\p`` and ``i`` make tables on first use (150 ms).
    """
    tree = parse(pattern, dialect, flags)
    lower = _Lower(builder, chars, raw_byte, text)
    parts = lower.anchored(tree)
    if not search:
        return builder.choice(parts.values())
    whole = builder.repeat(lower.chars(((0, 0x10FFFF),)))
    return builder.choice(
        builder.seq((builder.empty() if start else whole, part, builder.empty() if end else whole))
        for (start, end), part in parts.items()
    )


class _Lower:
    """Nodes of the tree to nodes of the builder; recursion is bounded by the parser's nesting limit."""

    def __init__(
        self,
        builder: Builder,
        chars: CharsFn | None,
        raw_byte: Callable[[int], int] | None,
        text: Callable[[str], int] | None,
    ) -> None:
        self.b = builder
        self.chars: CharsFn = chars or builder.chars
        self.raw = raw_byte or (lambda byte: builder.bytes_class((byte,)))
        self.text = text or (self._literal if chars is None else self._spelled)

    def _literal(self, text: str) -> int:
        try:
            return self.b.literal(text.encode())
        except UnicodeEncodeError:  # a lone surrogate is no character
            return self.b.nothing()

    def _spelled(self, text: str) -> int:
        return self.b.seq(self.chars(((ord(c), ord(c)),)) for c in text)

    def plain(self, node: Node) -> int:
        """A part without anchors."""
        kind = node[0]
        b = self.b
        if kind == "text":
            return self.text(node[1])
        if kind == "set":
            ranges, raw = node[1], node[2]
            return b.choice((self.chars(ranges), *(self.raw(byte) for byte in raw))) if raw else self.chars(ranges)
        if kind == "seq":
            return b.seq([self.plain(x) for x in node[1]])
        if kind == "alt":
            return b.choice([self.plain(x) for x in node[1]])
        if kind == "rep":
            return b.repeat(self.plain(node[1]), node[2], node[3])
        return b.empty()

    def anchored(self, node: Node) -> Anchored:
        """A part that may hold anchors, by what they ask for."""
        kind = node[0]
        b = self.b
        if not _has_anchor(node):
            return {(False, False): self.plain(node)}
        if kind == "start":
            return {(True, False): b.empty()}
        if kind == "end":
            return {(False, True): b.empty()}
        if kind == "alt":
            out: Anchored = {}
            for part in node[1]:
                for key, language in self.anchored(part).items():
                    out[key] = b.choice((out[key], language)) if key in out else language
            return out
        if kind == "seq":
            out = {(False, False): b.empty()}
            plain: list[int] = []  # parts since the last anchor
            for part in node[1]:
                if not _has_anchor(part):
                    plain.append(self.plain(part))
                    continue
                if plain:
                    out = self._follow(out, {(False, False): b.seq(plain)})
                    plain = []
                out = self._follow(out, self.anchored(part))
            return self._follow(out, {(False, False): b.seq(plain)}) if plain else out
        return self._repeated(self.anchored(node[1]), node[2], node[3])

    def _repeated(self, body: Anchored, low: int, high: int | None) -> Anchored:
        """Turns of which the first may ask for the beginning of the text and the last for its end.

        Any other turn that asks for either must be empty; so must all turns before one that asks for the
        beginning. Empty turns fill up a lower bound.
        """
        b = self.b
        plain, first, last, sole = (body.get(key, b.nothing()) for key in _KEYS)

        def between(used: int, *empties: int) -> int:
            """Plain turns beside ``used`` others, any number if some turn may be empty."""
            if high is not None and high < used:
                return b.nothing()
            least = 0 if any(b.is_nullable(x) for x in empties) else max(low - used, 0)
            return b.repeat(plain, least, None if high is None else high - used)

        both = [b.seq((first, between(2, plain, first, last), last))]
        if low < 2 or any(b.is_nullable(x) for x in body.values()):
            both.append(sole if high is None or high > 0 else b.nothing())
        found = (
            b.repeat(plain, low, high),
            b.seq((first, between(1, plain, first))),
            b.seq((between(1, plain, last), last)),
            b.choice(both),
        )
        return {key: language for key, language in zip(_KEYS, found, strict=True) if language != b.nothing()}

    def _follow(self, left: Anchored, right: Anchored) -> Anchored:
        """Sequence: what comes before a start anchor, and after an end anchor, must match the empty text."""
        b = self.b
        out: Anchored = {}
        for (start, end), x in left.items():
            for (start2, end2), y in right.items():
                before, after = x, y
                if start2:
                    if not b.is_nullable(before):
                        continue
                    before = b.empty()
                if end:
                    if not b.is_nullable(after):
                        continue
                    after = b.empty()
                key, language = (start or start2, end or end2), b.seq((before, after))
                out[key] = b.choice((out[key], language)) if key in out else language
        return out


def _has_anchor(node: Node) -> bool:
    kind = node[0]
    if kind in ("seq", "alt"):
        return any(_has_anchor(x) for x in node[1])
    return kind in ("start", "end") or (kind == "rep" and _has_anchor(node[1]))
