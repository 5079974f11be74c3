"""What the first pass over a grammar text found; see ``scan``."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from glrmask_core.ir import MAX_COUNT

from .report import Reporter
from .tokens import Token, is_terminal


@dataclass
class Definition:
    """One ``name: ...``, ``%override name: ...`` or ``%extend name: ...``."""

    name: str
    token: Token
    how: str
    params: list[Token] = field(default_factory=list)
    uses: list[Token] = field(default_factory=list)

    @property
    def is_terminal(self) -> bool:
        return is_terminal(self.name)


@dataclass
class Import:
    """One name of an ``%import``: where from, its name there and here."""

    grammar: str
    name: str
    alias: str
    token: Token


@dataclass
class Scanned:
    """What the pass found.

    Attributes:
        report: makes errors about the source.
        tokens: all significant tokens; placeholders hold indices into it.
        rewritten: the text for lark, in which places are found through :meth:`origin`.
        definitions, imports, declared: what the text names, in source order.
        ignored: the bodies of ``%ignore``: the tokens that name terminals there.
        renamed: generated rule name to the mixed-case name in the source.
        new, old: offsets in ``rewritten`` and the tokens that begin there.
    """

    report: Reporter
    tokens: list[Token] = field(default_factory=list)
    rewritten: str = ""
    definitions: list[Definition] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    declared: list[Token] = field(default_factory=list)
    ignored: list[Token] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    new: list[int] = field(default_factory=list)
    old: list[Token] = field(default_factory=list)

    def origin(self, position: int) -> Token | None:
        """The source token at an offset of the rewritten text."""
        at = bisect_right(self.new, position) - 1
        return self.old[at] if at >= 0 else None

    def bounds(self, operator: list[Any]) -> tuple[int, int | None]:
        """(low, high) of what lark parsed as ``? * +``, ``~ n`` or ``~ n..m``."""
        if operator[0] != "~":
            return {"?": (0, 1), "*": (0, None), "+": (1, None)}[str(operator[0])]
        low, high = int(operator[1]), int(operator[-1])
        if low < 0 or high < low or high > MAX_COUNT:
            token = self.origin(operator[1].start_pos)
            message = f"bad repetition ~{low}..{high}: expected 0 <= first <= second <= 2^31-1"
            raise self.report.meaning(message, token and token.start, token and token.end)
        return low, high

    def shown(self, name: str) -> str:
        """A name as the source spells it."""
        return self.renamed.get(name, name)
