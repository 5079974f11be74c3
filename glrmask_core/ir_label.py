"""Short texts for lexical nodes, for messages about terminals that have no name."""

from __future__ import annotations

from collections.abc import Sequence

from . import ir
from .ir import Module
from .ir_text import _Dump, quoted

LONGEST = 60  # characters; fits a line of a message
PARTS = 8  # of a sequence or choice that are shown
DEEPEST = 6


def label(module: Module, node: int) -> str:
    """A lexical node in the notation of :mod:`glrmask_core.ir_text`, cut where it is long or deep.

    Cost: bounded, whatever the size of the node.
    """
    text = _Label(module).expr(node, 0)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


class _Label(_Dump):
    def __init__(self, module: Module) -> None:
        self.module = module
        self.own = set()
        self.rules = {}
        self._depth = 0
        self._left = LONGEST  # characters of atoms still to be written

    def expr(self, node: int, place: int) -> str:
        if self._depth == DEEPEST or self._left <= 0:
            return "..."
        self._depth += 1
        text = super().expr(node, place)
        self._depth -= 1
        return text

    def inside(self, node: int) -> str:
        op, a, b, _ = self.module.row(node)
        if op == ir.LEX_SEQ and b > PARTS:
            return " ".join([*(self.expr(x, 4) for x in self.module.args[a : a + PARTS]), "..."])
        return super().inside(node)

    def choice(self, parts: Sequence[int]) -> str:
        text = super().choice(parts[:PARTS])
        return text if len(parts) <= PARTS else f"{text} | ..."

    def atom(self, node: int) -> str:
        op, a, b, _ = self.module.row(node)
        if op == ir.LITERAL and b > LONGEST:
            text = quoted(self.module.blob[a : a + LONGEST]) + "..."
        elif op == ir.LITERALS:
            args, blob = self.module.args, self.module.blob
            pairs = [(args[a + 2 * i], args[a + 2 * i + 1]) for i in range(min(b, PARTS))]
            shown = [quoted(blob[at : at + min(n, LONGEST)]) for at, n in pairs]
            text = " | ".join([*shown, *(["..."] if b > PARTS else [])])
        else:
            text = super().atom(node).removesuffix("u")  # a class of characters, not of bytes
        self._left -= len(text)
        return text

    def automaton(self, at: int, length: int) -> str:
        return "<automaton>"
