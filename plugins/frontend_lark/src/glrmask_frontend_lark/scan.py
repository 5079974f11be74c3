"""Reads the lines of a grammar ahead of lark and writes it anew in the form that lark is given.

Why a pass of our own: imports must be checked before lark may open anything; nesting and length must be
bounded before a recursive parser sees them; and the extras over Lark have to be spelled in a way that lark
accepts. In the new text every literal (and ``.``, ``@token(n)``, and references inside terminals) is a
placeholder that holds its token number, so lark never interprets them and every place stays known.
"""

from __future__ import annotations

import re

from glrmask_core.grammar_text import MAX_NESTING, did_you_mean

from .report import Reporter
from .scanned import Definition, Import, Scanned
from .tokens import MARK, MIXED, RULE, TERMINAL, Token, is_terminal, show, tokens

MAX_TOKENS = 200_000  # lark needs about 2 kB and 40 microseconds per token
GRAMMARS = ("common", "unicode", "python", "lark")
DIRECTIVES = ("%import", "%ignore", "%declare", "%override", "%extend")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def scan(text: str) -> Scanned:
    """Read ``text``.

    Raises:
        GrammarSyntaxError, GrammarError: whatever can be seen without parsing expressions.
    """
    return _Scanner(text).run()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.report = Reporter(text)
        self.out = Scanned(self.report)
        self.source = tokens(text, self.report)
        self.ahead: Token | None = None
        self.parts: list[str] = []
        self.position = 0
        self.names: dict[str, str] = {}  # mixed-case name to generated name
        self.stem = "mixed"

    def run(self) -> Scanned:
        surrogate = re.search("[\ud800-\udfff]", self.text)
        if surrogate:
            at = surrogate.start()
            raise self.report.syntax(f"found a lone surrogate U+{ord(self.text[at]):04X}, which is not a character", at)
        while True:
            token = self._peek()
            if token is None:
                break
            if token.kind == "nl":
                self._next()
            elif token.kind == "directive":
                self._directive(self._next())
            else:
                self._definition("define")
        if not (self.out.definitions or self.out.imports):
            raise self.report.meaning("empty grammar: expected at least one rule 'start: ...'", None)
        self.out.rewritten = "".join(self.parts)
        return self.out

    # -- tokens -------------------------------------------------------------------------------

    def _peek(self) -> Token | None:
        if self.ahead is None:
            self.ahead = next(self.source, None)
        return self.ahead

    def _next(self) -> Token:
        token = self._peek()
        assert token is not None, "callers look ahead"
        self.ahead = None
        if token.kind != "nl":
            self.out.tokens.append(token)
            if len(self.out.tokens) > MAX_TOKENS:
                raise self.report.syntax(f"the grammar is too long: more than {MAX_TOKENS:,} tokens", token.start)
        return token

    def _expect(self, kind: str, value: str | None, what: str) -> Token:
        token = self._peek()
        if token is None or token.kind != kind or (value is not None and token.value != value):
            raise self.report.syntax(f"expected {what}, found {show(token)}", *self._place(token))
        return self._next()

    def _place(self, token: Token | None) -> tuple[int, int]:
        return (len(self.text), len(self.text)) if token is None else (token.start, token.end)

    def _is(self, value: str) -> bool:
        token = self._peek()
        return token is not None and token.value == value and token.kind in ("punct", "arrow")

    # -- writing ------------------------------------------------------------------------------

    def _emit(self, text: str, token: Token, end: str = " ") -> None:
        self.out.new.append(self.position)
        self.out.old.append(token)
        self.parts.append(text + end)
        self.position += len(text) + len(end)

    def _emit_placeholder(self, token: Token) -> None:
        quote = '"' if token.kind == "string" else "/"
        self._emit(f"{quote}{MARK}{len(self.out.tokens) - 1}{quote}", token)

    def _end_statement(self) -> None:
        self.parts.append("\n")
        self.position += 1

    def _name(self, token: Token) -> str:
        """The name lark is to see; mixed-case ones get a lower-case stand-in."""
        name = token.value
        if len(name) > 1000:
            raise self.report.syntax(f"a name of {len(name)} characters is too long (limit 1000)", token.start)
        if RULE.fullmatch(name) or TERMINAL.fullmatch(name):
            return name
        if not MIXED.fullmatch(name):
            raise self.report.syntax(
                f'"{name}" is not a name: expected a letter, after at most one "_"', token.start, token.end
            )
        known = self.names.get(name)
        if known is None:
            if not self.names:
                while self.stem in self.text:
                    self.stem += "x"
            known = f"{self.stem}_{len(self.names)}"
            self.names[name] = known
            self.out.renamed[known] = name
        return known

    # -- statements ---------------------------------------------------------------------------

    def _directive(self, token: Token) -> None:
        if token.value == "%import":
            self._import(token)
        elif token.value == "%ignore":
            self._emit("%ignore", token)
            self._body(None)
        elif token.value == "%declare":
            self._declare(token)
        elif token.value in ("%override", "%extend"):
            self._emit(token.value, token)
            self._definition(token.value[1:])
        else:
            raise self.report.syntax(
                f'unknown directive "{token.value}"; Lark has {", ".join(DIRECTIVES)}'
                + did_you_mean(token.value, DIRECTIVES),
                token.start,
                token.end,
            )

    def _import(self, directive: Token) -> None:
        self._emit("%import", directive)
        if self._is("."):
            raise self.report.meaning(
                "relative imports are refused: a grammar never reads files; expected one of " + ", ".join(GRAMMARS),
                *self._place(self._peek()),
            )
        path = [self._expect("ident", None, "the name of a grammar")]
        dots = []
        while self._is("."):
            dots.append(self._next())
            path.append(self._expect("ident", None, "a name"))
        names, aliases = [path[-1]], [path[-1]]
        opening = closing = arrow = None
        commas: list[Token] = []
        if self._is("("):
            opening, names = self._next(), []
            while not names or self._is(","):
                if names:
                    commas.append(self._next())
                self._skip_lines()
                names.append(self._expect("ident", None, "a name to import"))
                self._skip_lines()
            closing, aliases = self._expect("punct", ")", '"," or ")"'), names
        elif len(path) == 1:
            raise self.report.syntax(
                f'expected "%import {path[0].value}.NAME", found no name to import', path[0].start, path[0].end
            )
        elif self._is("->"):
            arrow = self._next()
            aliases = [self._expect("ident", None, "a new name")]
        grammar = path if opening else path[:-1]
        if len(grammar) != 1 or grammar[0].value not in GRAMMARS:
            shown = ".".join(part.value[:40] for part in grammar[:4]) + ("..." if len(grammar) > 4 else "")
            raise self.report.meaning(
                f'cannot import from "{shown}": a grammar never reads files; expected one of {", ".join(GRAMMARS)}'
                + did_you_mean(shown, GRAMMARS),
                grammar[0].start,
                grammar[-1].end,
            )
        self._line_end("the end of the line after %import")
        for name, alias in zip(names, aliases, strict=True):
            if is_terminal(name.value) != is_terminal(alias.value) or self._name(alias) != alias.value:
                raise self.report.meaning(
                    f'cannot import "{name.value}" as "{alias.value}": a terminal needs an upper-case name, '
                    "a rule a lower-case one",
                    alias.start,
                    alias.end,
                )
            self.out.imports.append(Import(grammar[0].value, name.value, alias.value, name))
        for i, part in enumerate(path):
            if i:
                self._emit(".", dots[i - 1])
            self._emit(part.value, part)
        if opening and closing:
            self._emit("(", opening)
            for i, name in enumerate(names):
                if i:
                    self._emit(",", commas[i - 1])
                self._emit(name.value, name)
            self._emit(")", closing)
        if arrow:
            self._emit("->", arrow)
            self._emit(aliases[0].value, aliases[0])
        self._end_statement()

    def _declare(self, directive: Token) -> None:
        self._emit("%declare", directive)
        names = [self._expect("ident", None, "the name of a terminal")]
        while (token := self._peek()) is not None and token.kind == "ident":
            names.append(self._next())
        for token in names:
            if not is_terminal(token.value):
                raise self.report.meaning(
                    f'%declare makes a token slot, which needs an upper-case name, found "{token.value}"',
                    token.start,
                    token.end,
                )
            self._emit(token.value, token)
        self.out.declared += names
        self._line_end("a name or the end of the line")
        self._end_statement()

    def _definition(self, how: str) -> None:
        while (token := self._peek()) is not None and token.value in ("?", "!"):
            self._next()  # prefixes shape trees only
            following = self._peek()
            if following is None or following.start != token.end:
                raise self.report.syntax(f'expected the name of a rule right after "{token.value}"', token.start)
        if token is None or token.kind != "ident":
            hint = ""
            if token is not None and how == "define" and self.out.definitions:
                hint = "; a rule goes on in the next line only if that line starts with |"
            raise self.report.syntax(
                f"expected a rule, a terminal or a directive, found {show(token)}{hint}", *self._place(token)
            )
        head = self._next()
        definition = Definition(self._name(head), head, how)
        self._emit(definition.name, head)
        if self._is("{"):
            self._params(definition)
        if self._is("["):
            raise self.report.syntax(
                'unexpected "[" after a name: attributes of rules do not exist here; expected ":"',
                *self._place(self._peek()),
            )
        if self._is("."):
            self._emit(".", self._next())
            self._emit_number(self._expect("number", None, "the number of a priority"))
        colon = self._expect("punct", ":", f'":" after the name "{head.value}"')
        self._emit(":", colon)
        self.out.definitions.append(definition)
        self._body(definition)

    def _params(self, definition: Definition) -> None:
        self._emit("{", self._next())
        while True:
            token = self._expect("ident", None, "the name of a template parameter")
            if is_terminal(token.value):
                raise self.report.syntax("a template parameter needs a lower-case name", token.start, token.end)
            self._emit(self._name(token), token)
            definition.params.append(token)
            if self._is("}"):
                break
            self._emit(",", self._expect("punct", ",", '"," or "}"'))
        self._emit("}", self._next())

    # -- bodies -------------------------------------------------------------------------------

    def _body(self, definition: Definition | None) -> None:
        """Everything up to the end of the statement; None for the body of ``%ignore``."""
        lexical = definition is None or definition.is_terminal
        uses = self.out.ignored if definition is None else definition.uses
        opened: list[Token] = []
        while (token := self._peek()) is not None:
            if token.kind == "nl":
                self._next()
                if opened:
                    continue
                self._skip_lines()
                if self._is("|"):
                    continue
                break
            self._next()
            if token.kind in ("string", "regexp", "exact") or token.value == ".":
                self._emit_placeholder(token)
            elif token.kind == "ident":
                self._reference(token, lexical, uses)
            elif token.kind == "arrow":
                self._alias(token, lexical, opened)
            elif token.kind == "number":
                self._emit_number(token)
            elif token.kind == "directive":
                raise self.report.syntax(
                    f'unexpected "{token.value}"; a directive starts a line of its own', token.start, token.end
                )
            elif token.value in (":", "!"):
                raise self.report.syntax(f'unexpected "{token.value}"; a rule starts a line of its own', token.start)
            else:
                self._bracket(token, opened)
                self._emit(token.value, token)
        if opened:
            token = opened[-1]
            raise self.report.syntax(
                f'expected "{_CLOSING[token.value]}" before the end of the text, to close this', token.start
            )
        self._end_statement()

    def _bracket(self, token: Token, opened: list[Token]) -> None:
        if token.value in _CLOSING:
            opened.append(token)
            if len(opened) > MAX_NESTING:
                raise self.report.syntax(f"brackets are nested deeper than {MAX_NESTING}", token.start)
        elif token.value in ")]}":
            if not opened:
                raise self.report.syntax(f'unexpected "{token.value}": nothing is open here', token.start)
            start = opened.pop()
            if _CLOSING[start.value] != token.value:
                at = self.report.lines.span(start.start)
                raise self.report.syntax(
                    f'expected "{_CLOSING[start.value]}" for the "{start.value}" opened at {at}, found "{token.value}"',
                    token.start,
                )

    def _reference(self, token: Token, lexical: bool, uses: list[Token]) -> None:
        name = self._name(token)
        uses.append(token)
        if not lexical:
            self._emit(name, token)
        elif is_terminal(name):
            self._emit_placeholder(token)
        else:
            raise self.report.meaning(
                f'rule "{token.value}" cannot stand inside a terminal; terminals are made of strings, '
                "regular expressions and other terminals (upper-case names)",
                token.start,
                token.end,
            )

    def _alias(self, arrow: Token, lexical: bool, opened: list[Token]) -> None:
        if lexical:
            raise self.report.syntax("an alias (->) cannot stand inside a terminal", arrow.start, arrow.end)
        if opened:
            raise self.report.syntax(
                "an alias (->) names a whole alternative of a rule; it cannot stand inside brackets",
                arrow.start,
                arrow.end,
            )
        token = self._expect("ident", None, "the name of an alias")
        if is_terminal(token.value):
            raise self.report.syntax("an alias needs a lower-case name", token.start, token.end)
        self._emit("->", arrow)
        self._emit(self._name(token), token)

    def _emit_number(self, token: Token) -> None:
        if len(token.value) > 10:
            raise self.report.syntax("expected a number of at most ten digits", token.start, token.end)
        self._emit(token.value, token)

    def _skip_lines(self) -> None:
        while (token := self._peek()) is not None and token.kind == "nl":
            self._next()

    def _line_end(self, what: str) -> None:
        token = self._peek()
        if token is not None and token.kind != "nl":
            raise self.report.syntax(f"expected {what}, found {show(token)}", token.start, token.end)
