"""``pragma glrmask { lexer group ... }``: performance hints that are checked and then left alone."""

from __future__ import annotations

from collections.abc import Set

from glrmask_core.grammar_text import Fault, shown

from .strings import decode
from .symbols import KINDS, Symbols
from .syntax import Member, Name, Text


def check_pragmas(symbols: Symbols, literals: Set[bytes]) -> None:
    """Check the lexer groups of a scope.

    Args:
        literals: every string that an ``nt`` rule of the scope uses.

    Raises:
        Fault: unknown namespace, a member twice, or a member that is no terminal of the nt rules.
    """
    seen: set[tuple[str, str | bytes]] = set()
    for pragma in symbols.pragmas:
        space = pragma.namespace
        if space.name != "glrmask":
            raise Fault(f'unknown pragma "{shown(space.name)}"; the only one is "glrmask"', space.start, space.end)
        for group in pragma.groups:
            for member in group:
                key = member.kind, _resolve(symbols, literals, member)
                if key in seen:
                    raise Fault(f"{shown(member.text)} is in a lexer group already", member.start, member.end)
                seen.add(key)


def _resolve(symbols: Symbols, literals: Set[bytes], member: Member) -> str | bytes:
    if member.kind == "string":
        data, _ = decode(Text(member.text, member.start, member.end))
        if data not in literals:
            raise Fault(f"no nt rule of this scope uses {shown(member.text)}", member.start, member.end)
        return data
    if member.kind == "name":
        symbol = symbols.find(Name(member.text, member.start, member.end))
        if symbol.kind != "t":
            raise Fault(
                f'"{shown(member.text)}" is {KINDS[symbol.kind]}; lexer groups hold terminals that nt rules can use',
                member.start,
                member.end,
            )
        return member.text
    return ""
