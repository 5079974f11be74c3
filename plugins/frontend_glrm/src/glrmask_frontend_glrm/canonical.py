"""Orders and names that do not depend on node numbers, so that a printed text is stable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from glrmask_core import ir
from glrmask_core.ir import Module


def literal_bytes(module: Module, node: int) -> bytes:
    """The bytes of a LITERAL."""
    _, offset, length, _ = module.row(node)
    return module.blob[offset : offset + length]


def literal_set(module: Module, node: int) -> list[bytes] | None:
    """The sorted texts of a LITERALS node, or of a LEX_CHOICE of literals that reads back as one; else None."""
    op, a, b, _ = module.row(node)
    args = module.args
    if op == ir.LITERALS:
        return [module.blob[args[a + 2 * i] : args[a + 2 * i] + args[a + 2 * i + 1]] for i in range(b)]
    if op != ir.LEX_CHOICE or optional_part(module, node) is not None:
        return None
    parts = args[a : a + b]
    if any(module.row(part)[0] != ir.LITERAL for part in parts):
        return None
    return sorted({literal_bytes(module, part) for part in parts})


def optional_part(module: Module, node: int) -> int | None:
    """What a node makes optional, where it is written ``x?``; else None."""
    op, a, b, c = module.row(node)
    args = module.args
    if op in (ir.LEX_REPEAT, ir.REPEAT):
        return a if (b, c) == (0, 1) else None
    if op in (ir.LEX_CHOICE, ir.CHOICE) and b == 2 and is_empty(module, args[a + 1]):
        return args[a]
    return None


def is_empty(module: Module, node: int) -> bool:
    """Whether a node is the one of the empty text."""
    op, _, length, _ = module.row(node)
    return op == ir.LITERAL and length == 0


def live_edges(module: Module, node: int) -> dict[int, list[tuple[int, int]]]:
    """The edges (label, target) of the states that the start of an AUTOMATON leads to, by source; the start first."""
    offset = module.row(node)[1]
    args = module.args
    leaving: dict[int, list[tuple[int, int]]] = {}
    for i in range(offset + 3, offset + 3 + 3 * args[offset + 2], 3):
        leaving.setdefault(args[i], []).append((args[i + 1], args[i + 2]))
    start = args[offset + 1]
    found = {start: leaving.get(start, [])}
    todo = [start]
    while todo:
        for _, target in found[todo.pop()]:
            if target not in found:
                found[target] = leaving.get(target, [])
                todo.append(target)
    return found


@dataclass(frozen=True)
class Canonical:
    """An AUTOMATON with states renumbered from the start; unreachable ones are left out.

    Attributes:
        edges: (source, label node, target), in the order of their source.
        accepts: reachable accepting states, ascending.
    """

    edges: list[tuple[int, int, int]]
    accepts: list[int]


class Canon:
    """Digests of lexical nodes and canonical automata. ``nodes`` must hold children before parents."""

    def __init__(self, module: Module, nodes: Iterable[int]) -> None:
        self._module = module
        self._digests: dict[int, bytes] = {}
        self.automata: dict[int, Canonical] = {}
        for node in nodes:
            self._digests[node] = self._digest(node)

    def operands(self, node: int) -> tuple[int, int]:
        """The operands of a BOTH node in canonical order."""
        _, a, b, _ = self._module.row(node)
        return (a, b) if self._digests[a] <= self._digests[b] else (b, a)

    def _digest(self, node: int) -> bytes:
        module, known = self._module, self._digests
        op, a, b, c = module.row(node)
        args, blob = module.args, module.blob
        part = optional_part(module, node)
        texts = literal_set(module, node)
        key: object
        if part is not None:
            key = "optional", known[part]
        elif texts is not None:
            key = "literals", texts
        elif op == ir.LITERAL:
            key = op, literal_bytes(module, node)
        elif op == ir.BYTES:
            key = op, blob[a : a + 32]
        elif op == ir.CHARS:
            key = op, args[a : a + 2 * b].tobytes()
        elif op in (ir.LEX_SEQ, ir.LEX_CHOICE):
            key = op, [known[x] for x in args[a : a + b]]
        elif op == ir.LEX_REPEAT:
            key = op, known[a], b, c
        elif op == ir.BOTH:
            key = op, sorted((known[a], known[b]))
        elif op == ir.WITHOUT:
            key = op, known[a], known[b]
        elif op == ir.AUTOMATON:
            canonical = self.automata[node] = self._canonical(node)
            key = op, [(s, known[label], t) for s, label, t in canonical.edges], canonical.accepts
        else:
            key = op
        return blake2b(repr(key).encode(), digest_size=16).digest()

    def _canonical(self, node: int) -> Canonical:
        """Breadth first from the start; edges of a state by digest of the label, then by target."""
        edges_of = live_edges(self._module, node)
        start = next(iter(edges_of))
        _, offset, length, _ = self._module.row(node)
        args = self._module.args
        ends = args[offset + 4 + 3 * args[offset + 2] : offset + length]
        numbers = {start: 0}
        order = [start]
        edges = []
        for state in order:
            ways = sorted((self._digests[label], target, label) for label, target in edges_of[state])
            for _, target, _ in ways:
                if target not in numbers:
                    numbers[target] = len(numbers)
                    order.append(target)
            by_number = sorted((digest, numbers[target], label) for digest, target, label in ways)
            edges += [(numbers[state], label, target) for _, target, label in by_number]
        return Canonical(edges, sorted(numbers[end] for end in set(ends) if end in numbers))
