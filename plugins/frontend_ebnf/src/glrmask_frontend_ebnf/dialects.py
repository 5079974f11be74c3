"""What a piece of text that is not this EBNF dialect may have been meant as."""

from __future__ import annotations

import re

from glrmask_core.grammar_text import Fault, shown

HEAD = 20_000  # characters looked at; a note is not worth a scan of megabytes
GLRM = re.compile(r"\s*(?://[^\n]*\n\s*)*glrm\s+[0-9]+\s*;")
LARK = re.compile(
    r"^[ \t]*(?:%(?:import|ignore|declare|extend|override)\b|[?!_]*[a-z]\w*(?:\.[0-9]+)?[ \t]*:(?!:?=).*/)", re.M
)
BY_CHARACTER = {
    "=": 'the separator of a rule is "::=", ":=" or ":"',
    ";": "a rule ends with its line",
    "-": 'names consist of A-Z, a-z, 0-9 and "_", without dashes; exclusion is not part of this dialect',
    "<": "names have no angle brackets; write name ::= other",
    ">": "names have no angle brackets; write name ::= other",
    "/": 'comments begin with "#", and there are no regexes; write classes and quantifiers',
    "{": 'counts and "{ }" are not part of this dialect; write the repetitions out, or use "?", "*", "+"',
    "}": 'counts and "{ }" are not part of this dialect; write the repetitions out, or use "?", "*", "+"',
    ",": "parts of a sequence stand side by side without commas",
    "~": "exclusion is not part of this dialect; write a negated class such as [^a]",
    "&": "intersection is not part of this dialect; Grammar.from_glrm has it",
    "!": "lookahead is not part of this dialect",
    "@": 'exact tokens are written "@token(123)", without spaces and in decimal',
    "]": 'there is no "[" in front of it; optional parts are written "(...)?"',
    "%": "directives belong to Lark; see Grammar.from_lark",
    "\ufeff": "this is a byte order mark; save the text without it",
}


def guess(text: str) -> str:
    """A sentence about what the text looks like, or ``""``."""
    head = text[:HEAD]
    stripped = head.lstrip()
    if GLRM.match(head):
        return "this looks like GLRM; see Grammar.from_glrm"
    if stripped[:1] == "{":
        return "this looks like a JSON Schema; see Grammar.from_json_schema"
    if LARK.search(head):
        return "this looks like a Lark grammar; see Grammar.from_lark"
    return ""


def foreign(text: str, at: int) -> Fault:
    """The fault of a character that this dialect does not have."""
    c = text[at]
    advice = BY_CHARACTER.get(c, "no EBNF text has it outside of literals")
    note = guess(text)
    message = f'unexpected "{shown(c)}" (U+{ord(c):04X}); {advice}'
    return Fault(message, at, is_syntax=True, notes=(note,) if note else ())
