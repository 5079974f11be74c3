"""Nodes of the IR as GLRM expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from glrmask_core import ir
from glrmask_core.grammar_text import Task
from glrmask_core.ir import Module
from glrmask_core.program import lexical_nullable

from . import literals
from .canonical import is_empty, literal_bytes, literal_set, optional_part
from .plan import Plan

# How tightly an expression binds; the smaller needs brackets inside the larger.
ALTERNATIVES, DIFFERENCE, INTERSECTION, SEQUENCE, POSTFIX, ATOM = range(6)
Written = tuple[str, int]


class Expressions:
    """Writes the nodes of one scope.

    Args:
        reference: gives the name of a node that has a definition of its own.
    """

    def __init__(self, module: Module, plan: Plan, reference: Callable[[int], str]) -> None:
        self._module = module
        self._plan = plan
        self._reference = reference

    def body(self, node: int, in_place: bool) -> Task[str]:
        """The body of a definition.

        Args:
            in_place: write the node itself even if it has a definition (namely this one).
        """
        op = self._module.row(node)[0]
        if op == ir.AUTOMATON and (in_place or self._plan.is_used_once(node)):
            automaton: str = yield self._automaton(node)
            return automaton
        text, _ = yield self._write(node) if in_place else self._part(node)
        return str(text)

    def ignored(self, node: int) -> Task[str]:
        """The body of an ignored terminal; GLRM wants one that does not match the empty text."""
        text, binding = yield self._part(node)
        if lexical_nullable(self._module)[node]:
            return f"{_within(text, binding, DIFFERENCE)} - eps"
        body: str = yield self.body(node, False)
        return body

    def _part(self, node: int) -> Task[Written]:
        """A node inside an expression: in place, or its name."""
        if self._plan.is_inline(node):
            written: Written = yield self._write(node)
            return written
        return self._reference(node), ATOM

    def _write(self, node: int) -> Task[Written]:
        module = self._module
        op, a, b, c = module.row(node)
        args = module.args
        part = optional_part(module, node)
        texts = literal_set(module, node)
        if part is not None:
            return (yield from self._inside(part, ATOM)) + "?", POSTFIX
        if texts is not None:
            return " | ".join(map(literals.string, texts)), ALTERNATIVES
        if op == ir.TERMINAL:
            return self._leaf(a), ATOM
        if op in (ir.LEX_SEQ, ir.SEQ):
            written = yield from self._all(args[a : a + b], POSTFIX)
            return " ".join(written), SEQUENCE
        if op in (ir.LEX_CHOICE, ir.CHOICE):
            written = yield from self._all(args[a : a + b], DIFFERENCE)
            written = list(dict.fromkeys(written))  # a scope and a rule that is that scope have one name
            return " | ".join(written), ALTERNATIVES if len(written) > 1 else ATOM
        if op in (ir.LEX_REPEAT, ir.REPEAT):
            return (yield from self._inside(a, ATOM)) + quantifier(b, c), POSTFIX
        if op == ir.BOTH:
            written = yield from self._all(self._plan.canon.operands(node), SEQUENCE)
            return " & ".join(written), INTERSECTION
        if op == ir.WITHOUT:
            left = yield from self._inside(a, DIFFERENCE)
            right = yield from self._inside(b, POSTFIX)
            return f"{left} - {right}", DIFFERENCE
        if op == ir.SEPARATED:
            separator = yield from self._inside(args[a + 1], ATOM)
            item = yield from self._inside(args[a], ATOM)
            return f"{separator} ~ ({item}{quantifier(b, c)})", POSTFIX
        return self._leaf(node), ATOM

    def _leaf(self, node: int) -> str:
        module = self._module
        op, a, b, _ = module.row(node)
        if op == ir.NOTHING:
            return "[]"
        if op == ir.LITERAL:
            return "eps" if is_empty(module, node) else literals.string(literal_bytes(module, node))
        if op == ir.BYTES:
            return literals.byte_class(module.blob[a : a + 32])
        pairs = module.args[a : a + 2 * b]
        return literals.char_class(list(zip(pairs[::2], pairs[1::2], strict=True)))

    def _inside(self, node: int, binding: int) -> Task[str]:
        text, own = yield self._part(node)
        return _within(text, own, binding)

    def _all(self, nodes: Iterable[int], binding: int) -> Task[list[str]]:
        written = []
        for node in nodes:
            text, own = yield self._part(node)
            written.append(_within(text, own, binding))
        return written

    def _automaton(self, node: int) -> Task[str]:
        canonical = self._plan.canon.automata[node]
        lines = ["start 0;"]
        for source, label, target in canonical.edges:
            text, _ = yield self._part(label)
            lines.append(f"{source} -> {target} : {text};")
        accepts = ", ".join(map(str, canonical.accepts)) or "none"  # a state that nothing leads to
        return f"fa {{ {' '.join(lines)} accept {accepts}; }}"


def quantifier(low: int, high: int) -> str:
    """``*``, ``+`` or ``{...}``; ``high`` -1 is unbounded."""
    if high < 0:
        return {0: "*", 1: "+"}.get(low, f"{{{low},}}")
    return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


def _within(text: str, own: int, binding: int) -> str:
    return text if own >= binding else f"({text})"
