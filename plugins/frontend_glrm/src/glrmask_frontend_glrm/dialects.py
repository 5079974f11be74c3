"""What another format the text looks like, for texts that are not GLRM at all."""

from __future__ import annotations

import re

from glrmask_core.grammar_text import Fault

HEAD = 20_000  # characters looked at; a note is not worth a scan of megabytes
ITEM = re.compile(r"^[ \t]*(?:start|ignore|nt|t|internal[ \t]+t|g|subgrammar|extern[ \t]+\w+)[ \t]+[A-Za-z_]\w*", re.M)
OLD_RULE = re.compile(r"^[ \t]*(?:nt|t|g|internal|fa)\b[^\n\"'=]*::=", re.M)
DASHED = re.compile(r"^[ \t]*[A-Za-z_]\w*-[\w-]*[ \t]*::=", re.M)
EBNF_RULE = re.compile(r"^[ \t]*[A-Za-z_]\w*[ \t]*::?=", re.M)
LARK = re.compile(
    r"^[ \t]*(?:%(?:import|ignore|declare|extend|override)\b|[?!]*[a-z_]\w*(?:\.\d+)?[ \t]*:(?!:?=))", re.M
)


def guess(text: str) -> str:
    """A sentence about what the text looks like, or ``""``."""
    head = text[:HEAD]
    stripped = head.lstrip()
    if not stripped:
        return ""
    if stripped[0] in "{[" or stripped.startswith("\ufeff{"):
        return "this looks like a JSON Schema; see Grammar.from_json_schema"
    if OLD_RULE.search(head):
        return 'this looks like GLRM without a version, an older dialect with "::=" that is not read here'
    if ITEM.search(head):
        return 'this looks like GLRM without its header; put "glrm 1;" first'
    if DASHED.search(head):
        return "this looks like GBNF; Grammar.from_ebnf reads something close, without dashes in names"
    if EBNF_RULE.search(head):
        return "this looks like EBNF; see Grammar.from_ebnf"
    if LARK.search(head):
        return "this looks like a Lark grammar; see Grammar.from_lark"
    return ""


def missing_header(text: str, at: int) -> Fault:
    """The fault of a text that does not begin with ``glrm 1;``."""
    note = guess(text)
    return Fault(
        'expected the header "glrm 1;" before anything else', at, is_syntax=True, notes=(note,) if note else ()
    )
