"""Terminals of lark's own grammars whose expressions look around, and equal regular ones.

A key is the alternative as :func:`render` spells it, so another lark with another definition is not matched
and gets the ordinary error. Lazy expressions stand for their shortest matches: texts that the expression,
tried at their first character, takes exactly. The keys are the same in lark 1.1.0 to 1.3.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .tokens import placeholder_index


class Known(NamedTuple):
    """A replacement: Python regular expression and flags.

    ``inner`` marks the inside of a string, which has a meaning only before its delimiter: ``%s`` in the pattern
    is the delimiter as a member of a class.
    """

    pattern: str
    flags: str = ""
    inner: bool = False


_PREFIX = r"(?:[ubf]?r?|r[ubf])"
_SHORT = r"(?:[^%s\\\n]|\\[^\n])*"
_LONG = r"(?:%s{0,2}(?:[^%s\\]|\\.))*"
_INNER = r"/.*?/ /(?<!\\)(\\\\)*?/"

KNOWN: dict[str, Known] = {
    # common
    r"/.*?/": Known(r"[^%s\n]*", inner=True),
    f"({_INNER})": Known(_SHORT, inner=True),
    rf'("\"" ({_INNER}) "\"")': Known(f'"{_SHORT % chr(34)}"'),
    r'("/*" /(.|\n)*?/ "*/")': Known(r"/\*(?:[^*]|\*+[^*/])*\*+/"),
    # python
    r"""/([ubf]?r?|r[ubf])("(?!"").*?(?<!\\)(\\\\)*?"|'(?!'').*?(?<!\\)(\\\\)*?')/i""": Known(
        f"{_PREFIX}(?:\"{_SHORT % chr(34)}\"|'{_SHORT % chr(39)}')", "i"
    ),
    r"""/([ubf]?r?|r[ubf])(\"\"\".*?(?<!\\)(\\\\)*?\"\"\"|'''.*?(?<!\\)(\\\\)*?''')/is""".replace('\\"', '"'): Known(
        f'{_PREFIX}(?:"""{_LONG % (chr(34), chr(34))}"""' + f"|'''{_LONG % (chr(39), chr(39))}''')", "is"
    ),
    r'("0" ((("_")? "0"))* /(?![1-9])/)': Known(r"0(?:_?0)*"),
    # lark
    r"/[+*]|[?](?![a-z])/": Known(r"[+*?]"),
    r"/\/(?!\/)(\\\/|\\\\|[^\/])*?\/[imslux]*/": Known(r"/(?:\\/|[^/])+/[imslux]*"),
}


def render(tree: Any) -> str:
    """A canonical spelling of a (small) terminal tree, references resolved."""
    if isinstance(tree, str):
        return str(tree)
    parts = [render(child) for child in tree.children]
    if tree.data == "expansions":
        return f"({'|'.join(parts)})" if len(parts) > 1 else parts[0]
    if tree.data == "expansion":
        return f"({' '.join(parts)})" if len(parts) > 1 else "".join(parts)
    if tree.data == "expr":
        return f"({parts[0]}){''.join(parts[1:])}"
    if tree.data == "maybe":
        return f"[{parts[0]}]"
    return "..".join(parts) if tree.data == "range" else "".join(parts)


def is_bundled(tree: Any) -> bool:
    """Whether all of a tree comes from lark's own grammars."""
    stack, found = [tree], False
    while stack:
        item = stack.pop()
        if not isinstance(item, str):
            stack += item.children
        elif placeholder_index(item) is not None:
            return False
        else:
            found = True
    return found
