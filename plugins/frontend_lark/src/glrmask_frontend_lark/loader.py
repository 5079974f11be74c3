"""The call into lark: resolved trees of rules and terminals, and lark's complaints in our words.

The text that lark sees holds placeholders for all literals (see ``scan``), imports only grammars that lark
brings along, and nests no deeper than ``MAX_NESTING``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from glrmask_core.errors import GrammarError

from .scan import GRAMMARS
from .scanned import Scanned
from .tokens import show


@dataclass
class Loaded:
    """What lark understood.

    Attributes:
        rules: name to (template parameters, tree or None for an abstract one).
        terminals: name to its tree, None when declared only.
        ignored: names of the terminals to ignore.
    """

    rules: dict[str, tuple[tuple[str, ...], Any]] = field(default_factory=dict)
    terminals: dict[str, Any] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


def load(scanned: Scanned) -> Loaded:
    """Let lark parse the rewritten text and resolve its imports.

    Raises:
        GrammarSyntaxError, GrammarError: what lark refuses, at the place in the source.
    """
    from lark.load_grammar import load_grammar

    assert all(item.grammar in GRAMMARS for item in scanned.imports), "only bundled grammars reach lark"
    call: Any = load_grammar  # not annotated
    try:
        grammar, _ = call(scanned.rewritten, "<string>", [], False)
    except RecursionError:
        raise scanned.report.meaning(
            "the grammar is nested too deeply for the Python stack that is left here", None
        ) from None
    except Exception as error:  # lark's own, and slips in its making of messages (TypeError in 1.3.1)
        raise _translated(scanned, error) from None
    loaded = Loaded(ignored=[str(name) for name in grammar.ignore])
    for name, params, tree, _ in grammar.rule_defs:
        loaded.rules[str(name)] = (tuple(str(param) for param in params), tree)
    for name, (tree, _) in grammar.term_defs:
        loaded.terminals[str(name)] = tree
    return loaded


def _translated(scanned: Scanned, error: Exception) -> GrammarError:
    """Our exception for one of lark's, which may wrap the syntax error that has the position."""
    from lark.exceptions import LarkError

    message = re.split(r",? at line \d+|\n", str(error) or type(error).__name__)[0].strip().rstrip(".:,")
    message = message[:1].lower() + message[1:] if isinstance(error, LarkError) else "unexpected input"
    cause: BaseException | None = None
    chain: BaseException | None = error
    while chain is not None:  # the first cause is last; others come from lark comparing with examples
        cause = chain if hasattr(chain, "pos_in_stream") else cause
        chain = chain.__context__
    position = getattr(cause, "pos_in_stream", None)
    if isinstance(position, int):
        token = scanned.origin(position)
        at_end = position >= len(scanned.rewritten.rstrip())
        found = "the end of the text" if at_end else show(token)
        if getattr(getattr(cause, "token", None), "type", "").startswith("_NL"):
            found = "the end of the line"
        if message.startswith(("unexpected token", "unexpected input", "unexpected colon", "no terminal")):
            message = f"expected {_expected(cause)}"
        place = (len(scanned.report.lines.text),) * 2 if token is None else (token.start, token.end)
        return scanned.report.syntax(f"{message}, found {found}", *place)
    for stand_in, name in scanned.renamed.items():
        message = message.replace(stand_in, name)
    for name in re.findall(r"\w+", message):
        for definition in scanned.definitions:
            if definition.token.value == name:
                return scanned.report.meaning(message, definition.token.start, definition.token.end)
    return scanned.report.meaning(message, None)


_WORDS = {
    "OP": "?, * or +",
    "TILDE": "~",
    "_OR": "|",
    "_NL_OR": "|",
    "_NL": "the end of the line",
    "RULE": "a rule name",
    "TERMINAL": "a terminal name",
    "STRING": "a string",
    "REGEXP": "a regular expression",
    "NUMBER": "a number",
    "_LPAR": "(",
    "_RPAR": ")",
    "_LBRA": "[",
    "_RBRA": "]",
    "_LBRACE": "{",
    "_RBRACE": "}",
    "_COLON": ":",
    "_COMMA": ",",
    "_DOT": ".",
    "_DOTDOT": "..",
    "_TO": "->",
}


def _expected(cause: object) -> str:
    names = getattr(cause, "accepts", None) or getattr(cause, "expected", None) or ()
    words = sorted({_WORDS[name] for name in names if name in _WORDS})
    return "one of " + " ".join(words) if words else "something else"
