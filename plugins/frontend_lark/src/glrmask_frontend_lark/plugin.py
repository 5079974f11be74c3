"""The hook and the front-end class. Cheap to import: lark is loaded when a text is parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glrmask_core.errors import ArgumentTypeError
from glrmask_core.hookspecs import hookimpl
from glrmask_core.protocols import Frontend, Parsed, option_names


class LarkFrontend:
    """Reads Lark grammars. Stateless and thread-safe; has no options."""

    name = "lark"
    api_version = 1

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        """The source itself, once it is known to be a ``str``.

        Raises:
            ArgumentTypeError: another type, or any option.
        """
        option_names(options, (), "the lark front-end")
        if not isinstance(source, str):
            raise ArgumentTypeError(f"from_lark: expected the grammar as str, found {type(source).__name__}")
        return source

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        """Parse and lower a grammar text. Never opens a file that the text names.

        Raises:
            GrammarSyntaxError: text that is not Lark, with line, column and the source line.
            GrammarError: text that is Lark but means nothing that can be represented.

        Cost: O(text); about 0.4 ms per rule, most of it inside lark.
        """
        from .lower import lower
        from .scan import scan

        return lower(scan(text))


@hookimpl
def glrmask_register_frontends() -> list[Frontend]:
    """The one front-end of this package."""
    return [LarkFrontend()]
