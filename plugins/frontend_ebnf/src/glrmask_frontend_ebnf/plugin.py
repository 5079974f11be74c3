"""EBNF for glrmask: ``Grammar.from_ebnf(text)``. Nothing is imported before a grammar is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from glrmask_core.errors import ArgumentTypeError
from glrmask_core.hookspecs import hookimpl
from glrmask_core.protocols import option_names

if TYPE_CHECKING:
    from glrmask_core.protocols import Frontend, Parsed


class EbnfFrontend:
    """Reads the EBNF dialect of the README. Stateless and thread-safe; it has no options."""

    name = "ebnf"
    api_version = 1

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        """The source itself.

        Raises:
            ArgumentTypeError: not a ``str``, or any option.
        """
        option_names(options, (), "the EBNF front-end")
        if not isinstance(source, str):
            raise ArgumentTypeError(f"an EBNF grammar is a str, not {type(source).__name__}")
        return source

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        """Parse and lower a grammar.

        Raises:
            GrammarSyntaxError: the text cannot be read.
            GrammarError: an undefined name, or a use that has no exact meaning.

        Cost: linear; about 0.5 s for 2,000 rules, once per text.
        """
        from glrmask_core.grammar_text import Fault, GrammarText

        from .lower import lower
        from .parser import parse

        source = GrammarText(text, "<ebnf>")
        try:
            return lower(parse(text), source)
        except Fault as fault:
            source.raise_fault(fault)


@hookimpl
def glrmask_register_frontends() -> list[Frontend]:
    """The one front-end of this distribution."""
    return [EbnfFrontend()]
