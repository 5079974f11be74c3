"""Syntactic equality of expressions."""

from __future__ import annotations

from . import syntax
from .strings import decode
from .syntax import Expr


def shape(expr: Expr) -> tuple[object, ...]:
    """A flat key, equal for expressions that are written alike (spelling of strings and brackets apart).

    Prefix order with the number of parts at each step, so it is unambiguous, and comparing never recurses.
    """
    out: list[object] = []
    todo: list[Expr] = [expr]
    while todo:
        e = todo.pop()
        kind = type(e).__name__
        parts: list[Expr] = []
        detail: object = None
        if isinstance(e, syntax.Name):
            detail = e.name
        elif isinstance(e, syntax.Text):
            detail, _ = decode(e)
            if not detail:
                kind = "Eps"
        elif isinstance(e, syntax.Regex):
            detail = e.pattern
        elif isinstance(e, syntax.Class):
            detail = e.body, e.is_unicode
        elif isinstance(e, (syntax.Seq, syntax.Alt, syntax.Both)):
            parts = e.parts
        elif isinstance(e, syntax.Minus):
            parts = [e.left, *e.removed]
        elif isinstance(e, syntax.Repeat):
            detail, parts = (e.low, e.high), [e.item]
        elif isinstance(e, syntax.Separated):
            detail = e.at_least_one, tuple((item.low, item.high) for item in e.items)
            parts = [e.separator, *(item.expr for item in e.items)]
        if kind == "Eps":
            detail = None
        out.append((kind, detail, len(parts)))
        todo += reversed(parts)
    return tuple(out)
