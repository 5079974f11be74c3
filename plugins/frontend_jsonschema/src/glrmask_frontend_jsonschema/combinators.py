"""Keywords that apply schemas to the same value: references, combinators, and the unevaluated ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .expr import TRUE_KIND, Expr
from .keywords import NO_NAMES, Readers
from .refuse import fault, pointer
from .shape import Arr, Obj, Rule, Shape


class Combinators(Readers):
    """The readers of the groups COMBINE, REFER and UNEVALUATED."""

    def _combine(self, schema: dict[str, Any], order: list[str], base: Shape, expr: Expr, track: bool) -> Shape:
        """Intersect with every applicator, in the order of the text (it decides the order of keys)."""
        algebra = self._algebra
        shape_of = algebra.tracked if track else algebra.shape
        first = "properties" in schema
        out = self.anything if first else base
        has_base = not first
        for key in order:
            reader = _READERS.get(key)
            if reader is not None:
                self._here = expr, key
                if key in ("anyOf", "oneOf"):
                    out = self._alternatives(schema, key, expr, shape_of, out, None if has_base else base)
                    continue
                out = algebra.meet(out, reader(self, schema, key, expr, shape_of))
            elif key == "properties":  # what came before stays the one to name
                out = algebra.meet(out, base)
                has_base = True
        return out

    def _all_of(self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape]) -> Shape:
        found = schema[key]
        parts = self._schemas(found if isinstance(found, list) or key == "allOf" else [found], key, expr)
        if not parts and key == "allOf":
            raise self._fault(expr, key, "at least one schema", found)
        out = self.anything
        for part in parts:
            out = self._algebra.meet(out, shape_of(part))
        return out

    def _alternatives(
        self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape], so_far: Shape,
        base: Shape | None,
    ) -> Shape:  # fmt: skip
        """``anyOf`` or ``oneOf``, intersected with what is known: alternatives are told apart more easily so."""
        algebra, parts = self._algebra, self._schemas(schema[key], key, expr)
        if not parts:
            raise self._fault(expr, key, "at least one schema", schema[key])
        plain = [algebra.shape(part) for part in parts]
        tracked = shape_of != algebra.shape
        if key == "anyOf" and not tracked:
            return algebra.meet(so_far, algebra.union(plain))
        kept = [algebra.tracked(part) for part in parts] if tracked else plain
        if so_far is not self.anything:
            kept = [algebra.meet(so_far, shape) for shape in kept]
        if base is not None:  # the order of keys is that of the text, so what comes later is intersected later
            kept = [algebra.meet(shape, base) for shape in kept]
        if len(parts) == 1:
            return kept[0]
        if key == "anyOf":
            return algebra.at_least_one(plain, kept)
        return algebra.exactly_one(plain, kept)

    def _not(self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape]) -> Shape:
        part = self._sub(schema, key, expr)
        return self._algebra.complement(self._algebra.shape(part))

    def _if(self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape]) -> Shape:
        algebra = self._algebra
        if "then" not in schema and "else" not in schema and shape_of != algebra.tracked:
            return self.anything
        condition = self._sub(schema, "if", expr)
        yes, no = self._sub(schema, "then", expr), self._sub(schema, "else", expr)
        shapes = shape_of(condition), shape_of(yes), shape_of(no)
        against = algebra.complement(algebra.shape(condition))
        positive = algebra.meet(_late(shapes[0]), shapes[1])
        negative = algebra.meet(against, shapes[2])
        return algebra.union((positive, negative))

    def _nothing(self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape]) -> Shape:
        return self.anything

    def _dependent_schemas(
        self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape]
    ) -> Shape:
        algebra, where = self._algebra, (expr.where, key)
        records: tuple[Obj, ...] = self.anything.obj
        for trigger, found in self._map(schema, key, expr).items():
            if isinstance(found, list) and key == "dependencies":
                records = self._dependent({trigger: found}, key, expr, records)
                continue
            part = self.atom(found, (where, trigger), expr.resource)
            if part.kind == TRUE_KIND:
                continue
            present = Obj({trigger: self.exprs.true}, {trigger: 2}, frozenset((trigger,)))
            absent = Obj({trigger: self.exprs.false}, {trigger: 2}, NO_NAMES)
            wanted = algebra.meet_records((present,), _late(shape_of(part)).obj)
            records = tuple(algebra.meet_records(records, (*wanted, absent)))
        return self.anything._replace(obj=records)

    def _ref(self, schema: dict[str, Any], key: str, expr: Expr, shape_of: Callable[[Expr], Shape]) -> Shape:
        context = expr.resource
        if key == "$dynamicRef":
            found = self.resolver.resolve_dynamic(schema[key], schema, expr.where, context)
        elif key == "$recursiveRef":
            if schema[key] != "#":
                raise self._fault(expr, key, "'#'", schema[key])
            found = self.resolver.resolve_recursive(schema, expr.where, context)
        else:
            found = self.resolver.resolve(schema[key], schema, expr.where, context)
        target = self.atom(*found)
        if target is expr:
            raise fault(pointer(expr.where, key), "a reference that ends at a schema", "a reference to itself")
        return shape_of(target)

    # -- unevaluated --------------------------------------------------------------------------

    def _unevaluated(self, schema: dict[str, Any], base: Shape, expr: Expr) -> Shape:
        arrays, objects = base.arr, base.obj
        if "unevaluatedItems" in schema:
            asked = self._sub(schema, "unevaluatedItems", expr)
            arrays = tuple(self._rest_items(record, asked, expr) for record in arrays)
        if "unevaluatedProperties" in schema:
            asked = self._sub(schema, "unevaluatedProperties", expr)
            objects = tuple(self._rest_members(record, asked) for record in objects)
        return base._replace(arr=arrays, obj=objects)

    def _rest_items(self, record: Arr, asked: Expr, expr: Expr) -> Arr:
        size, everything, looked = record.seen
        seen = (size, True, looked)
        if everything or asked.kind == TRUE_KIND:
            return record._replace(seen=seen)
        root = expr.resource.resource.root
        dialect = root.get("$schema") if isinstance(root, dict) else None
        if not (isinstance(dialect, str) and "2019-09" in dialect):  # there, "contains" evaluates nothing
            for part in looked:
                asked = self.exprs.disj(part, asked)
        prefix = record.prefix + (record.rest,) * (size - len(record.prefix))
        conj = self.exprs.conj
        prefix = tuple(item if i < size else conj(item, asked) for i, item in enumerate(prefix))
        return record._replace(prefix=prefix, rest=conj(record.rest, asked), seen=seen)

    def _rest_members(self, record: Obj, asked: Expr) -> Obj:
        if record.seen is None or asked.kind == TRUE_KIND:
            return record._replace(seen=None)
        names, languages = record.seen
        props = dict(record.props)
        for name, value in props.items():
            if name not in names and not any(self.matches(language, name) for language in languages):
                props[name] = self.exprs.conj(value, asked)
        rule = Rule(tuple((language, False) for language in languages), names, asked)
        return record._replace(props=props, rules=(*record.rules, rule), seen=None)


def _late(shape: Shape) -> Shape:
    """The same with all names ranked as mentioned in a condition only."""
    if not any(record.props for record in shape.obj):
        return shape
    return shape._replace(obj=tuple(record._replace(late=dict.fromkeys(record.props, 2)) for record in shape.obj))


_READERS: dict[str, Callable[..., Shape]] = {
    "allOf": Combinators._all_of,
    "extends": Combinators._all_of,
    "anyOf": Combinators._nothing,  # see _alternatives
    "oneOf": Combinators._nothing,
    "not": Combinators._not,
    "if": Combinators._if,
    "then": Combinators._nothing,
    "else": Combinators._nothing,
    "dependentSchemas": Combinators._dependent_schemas,
    "dependencies": Combinators._dependent_schemas,
    "$ref": Combinators._ref,
    "$dynamicRef": Combinators._ref,
    "$recursiveRef": Combinators._ref,
}
