"""What of a scope is written in place and what gets a definition of its own.

A part that is used twice and not small would be written twice, and in a deep graph exponentially often, so it
becomes a rule (``nt``) or an ``internal t``. So does a part that nests too deep for one expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from glrmask_core import ir
from glrmask_core.ir import Module

from .canonical import Canon, literal_set, live_edges, optional_part

MAX_DEPTH = 30  # operators inside each other in one definition; far below the nesting limit of 200
MIN_SHARED = 4  # parts smaller than this (in nodes) are repeated rather than named
NAMED = (ir.CALL, ir.SCOPE, ir.AUTOMATON, ir.TOKEN_IDS, ir.EXTERN_GRAMMAR, ir.EXTERN_TOKEN, ir.ANY_ORDER)
SIMPLE = (ir.LITERAL, ir.BYTES, ir.CHARS)


def scope_children(module: Module, node: int) -> Sequence[int]:
    """The nodes that belong to a node inside its scope; rules are followed, scopes are not entered."""
    op, a, b, _ = module.row(node)
    args = module.args
    if op in (ir.LEX_SEQ, ir.LEX_CHOICE, ir.SEQ, ir.CHOICE):
        return args[a : a + b]
    if op in (ir.LEX_REPEAT, ir.REPEAT, ir.TERMINAL):
        return (a,)
    if op in (ir.BOTH, ir.WITHOUT):
        return a, b
    if op == ir.SEPARATED:
        return args[a : a + 2]
    if op == ir.AUTOMATON:
        return [label for edges in live_edges(module, node).values() for label, _ in edges]
    if op == ir.CALL:
        return (module.rules[2 * a + 1],)
    return ()


class Plan:
    """The nodes of one scope.

    Attributes:
        ops: the operators that occur.
        scopes: SCOPE nodes used directly, in no particular order.
        canon: digests of the lexical nodes.
    """

    def __init__(self, module: Module, start: int, ignore: int) -> None:
        self._module = module
        self._uses: dict[int, int] = {}
        self._named: set[int] = set()
        self._visit([start] if ignore < 0 else [start, ignore])
        nodes = sorted(self._uses)
        self.ops = {module.row(node)[0] for node in nodes}
        self.scopes = [node for node in nodes if module.row(node)[0] == ir.SCOPE]
        self.canon = Canon(module, [node for node in nodes if module.row(node)[0] < ir.FIRST_SYNTACTIC])
        self._measure(nodes)

    def is_inline(self, node: int) -> bool:
        """Whether the node is written where it is used."""
        return node not in self._named

    def is_used_once(self, node: int) -> bool:
        """Whether one place of the scope uses the node."""
        return self._uses[node] == 1

    def _visit(self, todo: list[int]) -> None:
        uses = self._uses
        uses.update(dict.fromkeys(todo, 1))
        while todo:
            for child in scope_children(self._module, todo.pop()):
                if child not in uses:
                    uses[child] = 0
                    todo.append(child)
                uses[child] += 1

    def _measure(self, nodes: list[int]) -> None:
        module = self._module
        sizes: dict[int, int] = {}
        depths: dict[int, int] = {}
        for node in nodes:  # children first: their numbers are smaller
            op, a, _, c = module.row(node)
            size, depth = 1, 0
            if op == ir.TERMINAL:
                named = c >= 0 or module.row(a)[0] not in SIMPLE or bool(module.row(node)[2])
            elif op in NAMED:
                named = True
            else:
                texts, part = literal_set(module, node), optional_part(module, node)
                children = () if texts is not None else scope_children(module, node) if part is None else (part,)
                size += len(texts or ()) + sum(sizes[child] for child in children)
                depth = 1 + max((depths[child] for child in children), default=-1)
                named = (self._uses[node] > 1 and size >= MIN_SHARED) or depth >= MAX_DEPTH
            if named:
                self._named.add(node)
                size, depth = 1, 0
            sizes[node], depths[node] = size, depth
