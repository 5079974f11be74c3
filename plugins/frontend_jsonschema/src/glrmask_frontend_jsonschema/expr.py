"""Schemas as expressions: a schema object, or AND, OR, NOT of expressions.

Equal expressions are one object (:class:`Exprs` interns them), so whatever is computed for one is computed
once, and a recursive schema meets itself again as the same object.
"""

from __future__ import annotations

from typing import Any

from glrmask_core.errors import GrammarError

from .refuse import Where

MOST_EXPRESSIONS = 100_000

ATOM, AND, OR, NOT, TRUE_KIND, FALSE_KIND = range(6)


class Expr:
    """An interned expression.

    Attributes:
        kind: ATOM, AND, OR, NOT or one of the two constants.
        parts: operands, in order of first appearance.
        halves: of AND and OR, the two expressions it was joined from.
        schema: of an atom, the schema object (a dict).
        where: of an atom, where it stands.
        resource: of an atom, the resource that relative references start from (see ``resolve``).
        shape, tracked: what it means, once known (without and with evaluated names).
        node: IR node, once known.
        groups: of an atom, the groups of its keywords (see ``support``).
        shared: an atom that stands for all schemas of its kind; its place says nothing.
        state: 1 while its meaning is computed, 2 while its node is built.
    """

    # Most expressions never need these: as defaults of the class they cost nothing.
    shared = False
    halves: tuple[Expr, Expr] | None = None
    shape: Any = None
    tracked: Any = None
    node: int | None = None
    rule: int | None = None
    state = 0

    def __init__(
        self, kind: int, parts: tuple[Expr, ...] = (), schema: Any = None, where: Where = None, resource: Any = None,
        groups: int = 0,
    ) -> None:  # fmt: skip
        self.kind, self.parts = kind, parts
        self.schema, self.where, self.resource, self.groups = schema, where, resource, groups

    def place(self) -> Expr | None:
        """The first atom inside, for messages; one that is not shared if there is any."""
        shared: Expr | None = None
        todo = [self]
        while todo:
            found = todo.pop()
            if found.kind != ATOM:
                todo += found.parts[::-1]
            elif not found.shared:
                return found
            elif shared is None:
                shared = found
        return shared


class Exprs:
    """Makes expressions of one compile."""

    def __init__(self) -> None:
        self.true = Expr(TRUE_KIND)
        self.false = Expr(FALSE_KIND)
        self._made: dict[object, Expr] = {}
        self._negated: dict[int, Expr] = {}  # by identity of what is negated

    def conj(self, left: Expr, right: Expr) -> Expr:
        """Both."""
        if left is right or right.kind == TRUE_KIND or left.kind == FALSE_KIND:
            return left
        if left.kind == TRUE_KIND or right.kind == FALSE_KIND:
            return right
        return self._join(AND, left, right)

    def disj(self, left: Expr, right: Expr) -> Expr:
        """At least one."""
        if left is right or right.kind == FALSE_KIND or left.kind == TRUE_KIND:
            return left
        if left.kind == FALSE_KIND or right.kind == TRUE_KIND:
            return right
        return self._join(OR, left, right)

    def negate(self, expr: Expr) -> Expr:
        """Everything else."""
        if expr.kind == NOT:
            return expr.parts[0]
        if expr.kind == TRUE_KIND:
            return self.false
        if expr.kind == FALSE_KIND:
            return self.true
        made = self._negated.get(id(expr))
        if made is None:
            made = self._negated[id(expr)] = Expr(NOT, (expr,))
        return made

    def _join(self, kind: int, left: Expr, right: Expr) -> Expr:
        parts = dict.fromkeys(left.parts if left.kind == kind else (left,))
        for part in right.parts if right.kind == kind else (right,):
            opposite = part.parts[0] if part.kind == NOT else self._negated.get(id(part))
            if opposite in parts:
                return self.false if kind == AND else self.true
            parts[part] = None
        if len(parts) == 1:
            return left
        key = (kind, frozenset(map(id, parts)))
        made = self._made.get(key)
        if made is None:
            if len(self._made) + len(self._negated) >= MOST_EXPRESSIONS:
                raise GrammarError(
                    f"the schema comes to more than {MOST_EXPRESSIONS} combinations of its parts; "
                    "simplify recursive definitions under allOf, not, oneOf or if"
                )
            made = self._made[key] = Expr(kind, tuple(parts))
            made.halves = left, right
        return made
