"""Walking a module: the parts of a node, and which nodes matter at all. Findings about them: ``ir_lint.py``."""

from __future__ import annotations

from . import ir
from .ir import Module


def children(module: Module, node: int) -> list[int]:
    """The nodes that a node is made of, the bodies of rules and lexical nodes included."""
    op, a, b, _ = module.row(node)
    args = module.args
    if op in (ir.LEX_SEQ, ir.LEX_CHOICE, ir.SEQ, ir.CHOICE):
        return list(args[a : a + b])
    if op in (ir.LEX_REPEAT, ir.REPEAT, ir.TERMINAL):
        return [a]
    if op in (ir.BOTH, ir.WITHOUT):
        return [a, b]
    if op == ir.AUTOMATON:
        return list(args[a + 4 : a + 3 + 3 * args[a + 2] : 3])
    if op == ir.CALL:
        return [module.rules[2 * a + 1]]
    if op == ir.SEPARATED:
        return list(args[a : a + 2])
    if op == ir.SCOPE:
        return [a] if b < 0 else [a, b]
    if op == ir.ANY_ORDER:
        return [x for x in (*args[a : a + 2], *args[a + 4 : a + 4 + 2 * b : 2]) if x >= 0]
    return []


def reachable_nodes(module: Module) -> set[int]:
    """All nodes that the root is made of, itself included. Cost: linear."""
    seen = {module.root}
    todo = [module.root]
    while todo:
        for child in children(module, todo.pop()):
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return seen
