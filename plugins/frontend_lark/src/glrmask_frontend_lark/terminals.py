"""Terminals: lark's trees and literals to lexical nodes.

Lark joins the parts of a terminal as text, so in ``A: /a|b/ "c"`` the bar of the expression splits the whole
terminal (``a|bc``). The language here is the same: a :class:`Piece` remembers the open alternatives of what
it came from, and a warning tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glrmask_core.errors import GrammarError
from glrmask_core.ir import LEX_SEQ, LITERAL, Builder
from glrmask_core.regex import Dialect, RegexError, compile_regex
from glrmask_core.source import Diagnostic, Span

from .known import KNOWN, Known, is_bundled, render
from .literals import Decoded, EscapeError, anchors, decode, raw_offset, split, top_level
from .loader import Loaded
from .scanned import Scanned
from .tokens import Token, placeholder_index

MAX_PARTS = 1 << 20  # of one flattened sequence: references multiply ("A: B B", "B: C C", ...)
_FEW = 4  # literals from which on a trie is worth its while


@dataclass(frozen=True)
class Piece:
    """A part of a terminal.

    Attributes:
        node: its language as a whole.
        open: when joined with neighbours: the alternatives of its text, which are not in brackets.
        starts, ends: whether the text begins or ends with an anchor.
        global_flags: whether the text begins with ``(?i)`` or the like.
        inner: the inside of a string, whose language depends on the delimiter that follows; ``node`` is void.
    """

    node: int
    open: Callable[[], list[int]] | None = None
    starts: bool = False
    ends: bool = False
    global_flags: bool = False
    inner: Known | None = None

    def alternatives(self) -> list[int]:
        return [self.node] if self.open is None else self.open()


class Terminals:
    """All terminals of one grammar, lowered when first asked for."""

    def __init__(self, scanned: Scanned, loaded: Loaded, builder: Builder) -> None:
        self.scanned = scanned
        self.report = scanned.report
        self.trees = loaded.terminals
        self.builder = builder
        self.warnings: list[Diagnostic] = []
        self.exact: dict[str, int] = {}
        self._pieces: dict[str, Piece] = {}
        self._memo: dict[int, Piece] = {}
        self._literals: dict[str, Piece] = {}
        self._texts: dict[int, bytes] = {}
        self._heads = {definition.name: definition.token for definition in reversed(scanned.definitions)}
        self._imports = {item.alias: item.token for item in reversed(scanned.imports)}
        self._context = ""

    # -- what rules ask for -------------------------------------------------------------------

    def place(self, name: str) -> Span | None:
        """Where a name is defined, or imported."""
        token = self._heads.get(name) or self._imports.get(name)
        return None if token is None else self.report.lines.span(token.start, token.end)

    def occurrence(self, name: str) -> int:
        """The syntactic node of one occurrence of a named terminal."""
        if self.trees[name] is None:
            return self.builder.extern_token(name)
        self.define(name)
        if name in self.exact:
            return self.builder.token_ids([self.exact[name]])
        return self.builder.terminal(self._node(name), name, place=self.place(name))

    def ignored(self, name: str) -> int:
        """The lexical node of a terminal to ignore."""
        if self.trees[name] is None:
            raise self._error(f'declared token "{name}" cannot be ignored: tokens have no text', None)
        self._context = "" if name.startswith("__") else name
        self.define(name)
        if name in self.exact:
            raise self._error("@token(n) cannot be ignored: it has no text", self._sole_token(self.trees[name]))
        return self._node(name)

    def anonymous(self, literal: str) -> int:
        """The syntactic node of a string, expression, ``.`` or ``@token(n)`` in a rule."""
        token = self._token(literal)
        place = None if token is None else self.report.lines.span(token.start, token.end)
        if token is not None and token.kind == "exact":
            node = self.builder.token_ids([self._token_id(token)])
            return node if place is None else self.builder.mark(node, place)
        return self.builder.terminal(self._literal(literal).node, place=place)

    def anonymous_range(self, first: str, last: str) -> int:
        """The syntactic node of ``"a".."z"`` in a rule."""
        return self.builder.terminal(self._range(first, last).node)

    # -- definitions --------------------------------------------------------------------------

    def define(self, name: str) -> None:
        """Lower one named terminal; what it refers to in the source must be lowered before."""
        if name in self._pieces or name in self.exact:
            return
        tree = self.trees[name]
        before, self._context = self._context, "" if name.startswith("__") else name
        sole = self._sole_token(tree)
        if sole is not None and sole.kind == "exact":
            self.exact[name] = self._token_id(sole)
        else:
            self._pieces[name] = self._lower(tree)
        self._context = before

    def _node(self, name: str) -> int:
        before, self._context = self._context, "" if name.startswith("__") else name
        node = self._alone(self._pieces[name]).node
        self._context = before
        return node

    def _sole_token(self, tree: Any) -> Token | None:
        while not isinstance(tree, str):
            if len(tree.children) != 1:
                return None
            tree = tree.children[0]
        return self._token(tree)

    def _lower(self, root: Any) -> Piece:
        """Bottom-up without recursion; trees are shared where terminals are referred to."""
        memo, stack = self._memo, [(root, False)]
        while stack:
            tree, ready = stack.pop()
            if id(tree) in memo:
                continue
            if not ready:
                known = self._known(tree) if tree.data == "expansion" else None
                if known is not None:
                    memo[id(tree)] = known
                    continue
                stack.append((tree, True))
                stack += [(child, False) for child in tree.children if not isinstance(child, str)]
            else:
                memo[id(tree)] = self._combine(tree)
        return memo[id(root)]

    def _combine(self, tree: Any) -> Piece:
        kind, children = tree.data, tree.children
        if kind == "literal":
            return self._literal(children[0])
        if kind == "range":
            return self._range(children[0], children[1])
        parts = [self._memo[id(child)] for child in children if not isinstance(child, str)]
        if kind == "value":
            return parts[0]
        if kind == "expansions":
            return self._choice(parts)
        if kind == "expansion":
            return self._join(parts)
        if kind == "maybe":
            return Piece(self.builder.optional(self._bracketed(parts[0])))
        assert kind == "expr", f"lark made a {kind} node in a terminal"
        low, high = self.scanned.bounds(children[1:])
        return Piece(self.builder.repeat(self._bracketed(parts[0]), low, high))

    def _bracketed(self, part: Piece) -> int:
        self._no_anchor(part.starts or part.ends)
        self._no_global_flags(part)
        return self._alone(part).node

    def _choice(self, parts: list[Piece]) -> Piece:
        if len(parts) == 1:
            return parts[0]
        nodes = [self._alone(part).node for part in parts]
        texts = [node for node in nodes if node in self._texts]
        if len(texts) >= _FEW:
            nodes = [self.builder.literals(self._texts[node] for node in texts)] + [
                node for node in nodes if node not in self._texts
            ]
        for part in parts:
            self._no_global_flags(part)
        starts, ends = any(part.starts for part in parts), any(part.ends for part in parts)
        return Piece(self.builder.choice(nodes), None, starts, ends)

    def _join(self, parts: list[Piece]) -> Piece:
        if not parts:
            return Piece(self.builder.empty())
        if len(parts) == 1:
            return parts[0]
        parts = [part if part.inner is None else self._delimited(part.inner, parts, i) for i, part in enumerate(parts)]
        rows: list[list[int]] = [[]]
        for i, part in enumerate(parts):
            self._no_anchor((part.starts and i > 0) or (part.ends and i < len(parts) - 1))
            self._no_global_flags(part)
            first, *more = part.alternatives()
            rows[-1].append(first)
            rows += [[node] for node in more]
            if more:
                self._warn_open()
        nodes = [self._seq(row) for row in rows]
        open_ = None if len(nodes) == 1 else (lambda: nodes)
        return Piece(self.builder.choice(nodes), open_, parts[0].starts, parts[-1].ends)

    def _seq(self, parts: list[int]) -> int:
        size = 0
        for part in parts:
            op, _, count, _ = self.builder.row(part)
            size += count if op in (LEX_SEQ, LITERAL) else 1
        if size > MAX_PARTS:
            raise self._error(f"its references multiply to more than {MAX_PARTS:,} parts", None)
        return self.builder.seq(parts)

    def _known(self, tree: Any) -> Piece | None:
        if not is_bundled(tree):
            return None
        key = render(tree)
        known = KNOWN.get(key)
        if known is None:
            return None
        if known.inner:
            return Piece(self.builder.nothing(), inner=known)
        return Piece(self._compile(known.pattern, known.flags, None, None, 0))

    def _delimited(self, inner: Known, parts: list[Piece], at: int) -> Piece:
        """The inside of a string up to the one-character delimiter after it: the shortest match."""
        texts = [self._texts.get(part.node, b"").decode() for part in parts]
        before, after = texts[at - 1] if at else "", texts[at + 1] if at + 1 < len(parts) else ""
        rest = parts[at + 2 :]
        if len(after) != 1 or after in "\\\n" or not before or before.endswith("\\"):
            raise self._no_meaning()
        if not all(part.inner is None and self.builder.is_nullable(part.node) for part in rest):
            raise self._no_meaning()
        member = f"\\{after}" if after.isascii() and not after.isalnum() else after
        return Piece(self._compile(inner.pattern % member, "", None, None, 0))

    def _alone(self, part: Piece) -> Piece:
        if part.inner is not None:
            raise self._no_meaning()
        return part

    def _no_meaning(self) -> GrammarError:
        return self._error(
            "_STRING_INNER and _STRING_ESC_INNER of lark's common grammar have no meaning of their own: expected "
            "a string before and one delimiter character after, at the end of the terminal; or use ESCAPED_STRING",
            None,
        )

    # -- literals -----------------------------------------------------------------------------

    def _token(self, literal: str) -> Token | None:
        index = placeholder_index(literal)
        return None if index is None else self.scanned.tokens[index]

    def _token_id(self, token: Token) -> int:
        digits = token.value[len("@token(") : -1].lstrip("0") or "0"
        if len(digits) > 10 or int(digits) >= 1 << 32:
            raise self._error("a token id must be below 2^32", token)
        return int(digits)

    def _literal(self, literal: str) -> Piece:
        token = self._token(literal)
        if token is None:
            return self._text(str(literal), None)
        if token.kind == "ident":
            return self._reference(token)
        if token.kind == "exact":
            raise self._error("@token(n) must be the whole body of a terminal; a larger one has only text", token)
        if token.kind == "punct":
            return Piece(self.builder.any_byte())
        return self._text(token.value, token)

    def _reference(self, token: Token) -> Piece:
        name = token.value
        if self.trees.get(name) is None:
            raise self._error(f'declared token "{name}" cannot be part of a terminal; use it in a rule', token)
        self.define(name)
        if name in self.exact:
            raise self._error(f'"{name}" is an exact token and cannot be part of a terminal; use it in a rule', token)
        return self._pieces[name]

    def _text(self, literal: str, token: Token | None) -> Piece:
        quote, raw, suffix = split(literal)
        found = self._literals.get(literal)
        if found is None:
            try:
                decoded = decode(raw, quote, quote == "/")
            except EscapeError as error:
                raise self._error(str(error), token, 1 + error.offset) from None
            make = self._regex if quote == "/" else self._string
            found = make(raw, decoded, suffix, token)
            self._literals[literal] = found
        return found

    def _string(self, raw: str, decoded: Decoded, suffix: str, token: Token | None) -> Piece:
        if suffix and decoded.text:
            pattern = "".join(
                f"\\{char}" if char.isascii() and not char.isalnum() and char > " " and char != "\x7f" else char
                for char in decoded.text
            )
            return Piece(self._compile(pattern, "i", token, None, 0))
        data = decoded.text.encode()
        node = self.builder.literal(data)
        self._texts[node] = data
        return Piece(node)

    def _regex(self, raw: str, decoded: Decoded, flags: str, token: Token | None) -> Piece:
        if "l" in flags:
            raise self._error("flag l (locale) is not supported; remove it", token)
        if "\n" in raw and "x" not in flags:
            raise self._error("a line end in a regular expression needs the flag x", token, 1 + raw.index("\n"))
        text = decoded.text
        start, end = anchors(text)
        body = text[start : len(text) - end]
        if token is not None and not text:
            raise self._error("an empty regular expression", token)
        node = self._compile(body, flags, token, decoded, start)

        def alternatives() -> list[int]:
            if flags or "|" not in body:
                return [node]
            nodes = []
            for at, part in top_level(body):
                inner_start, inner_end = anchors(part)
                if inner_start or inner_end:
                    raise self._error("an anchor inside a regular expression", token, 1 + start + at)
                nodes.append(self._compile(part, flags, token, decoded, start + at))
            return nodes

        flagged = re.match(r"\(\?[aiLmsux]+\)", body) is not None
        return Piece(node, alternatives, start > 0, end > 0, flagged)

    def _compile(self, pattern: str, flags: str, token: Token | None, decoded: Decoded | None, base: int) -> int:
        try:
            return compile_regex(pattern, self.builder, dialect=Dialect.PYTHON, flags="".join(sorted(set(flags))))
        except RegexError as error:
            offset = base + (getattr(error, "offset", 0) or 0)
            at = offset if decoded is None else raw_offset(decoded, offset)
            raise self._error(_first_line(error), token, 1 + at) from None

    def _range(self, first: str, last: str) -> Piece:
        ends, token = [], self._token(last)
        for literal in (first, last):
            token = self._token(literal)
            quote, raw, suffix = split(str(literal) if token is None else token.value)
            try:
                text = decode(raw, quote).text
            except EscapeError as error:
                raise self._error(str(error), token, 1 + error.offset) from None
            if len(text) != 1 or suffix:
                raise self._error("each end of a range must be one character without suffix", token)
            ends.append(ord(text))
        if ends[0] > ends[1]:
            raise self._error(f'reversed range: "{chr(ends[0])}" comes after "{chr(ends[1])}"', self._token(first))
        return Piece(self.builder.chars([(ends[0], ends[1])]))

    # -- complaints ---------------------------------------------------------------------------

    def _no_anchor(self, misplaced: bool) -> None:
        if misplaced:
            raise self._error("an anchor (^ $ \\A \\Z) can stand only at the very start or end of a terminal", None)

    def _no_global_flags(self, part: Piece) -> None:
        if part.global_flags:
            raise self._error(
                "an expression that begins with flags such as (?i) cannot be joined with other parts; "
                "write /.../i or (?i:...)",
                None,
            )

    def _warn_open(self) -> None:
        message = (
            f'terminal "{self._context}": lark joins an expression with | and its neighbours as text, so /a|b/ "c" '
            "means a|bc; write /(a|b)/ if that is not meant"
        )
        if not any(warning.message == message for warning in self.warnings):
            self.warnings.append(Diagnostic(message, self.place(self._context), "warning"))

    def _error(self, message: str, token: Token | None, offset: int | None = None) -> GrammarError:
        where = f'terminal "{self._context}": ' if self._context else ""
        if token is not None:
            start = token.start + (offset or 0)
            return self.report.meaning(where + message, min(start, token.end), None if offset else token.end)
        head = self._heads.get(self._context) or self._imports.get(self._context)
        if head is None and self.scanned.imports and not self._context:
            return self.report.meaning(where + message, None)
        return self.report.meaning(where + message, head and head.start, head and head.end)


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
