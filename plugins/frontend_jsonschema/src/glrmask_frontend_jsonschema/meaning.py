"""From expressions to shapes: the boolean algebra of schemas.

``Meaning.shape`` gives the shape of any expression, memoised. What single keywords mean is in
:mod:`keywords`; this module combines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union, cast

from glrmask_core.errors import GrammarError

from . import shape as sh
from .combinators import Combinators
from .expr import AND, ATOM, FALSE_KIND, NOT, OR, TRUE_KIND, Expr
from .refuse import Where, fault, pointer
from .shape import Arr, Num, Obj, Shape, Str
from .support import SCALAR

MOST_RECORDS = 4096  # records of one type in one schema; json_schema.md section 5 (2^12 combinations)
MOST_PAIRS = 40_000  # of alternatives that are compared one by one
DEEPEST_PROOF = 4  # levels that a proof of emptiness looks down

Record = Union[Num, Str, Arr, Obj]
Records = Sequence[Any]


class Meaning(Combinators):
    """Shapes of the expressions of one compile."""

    # -- shapes -------------------------------------------------------------------------------

    def shape(self, expr: Expr) -> Shape:
        """What an expression means.

        Raises:
            GrammarError: a malformed keyword inside, a refusal, or a reference cycle that consumes nothing.
        """
        found: Shape | None = expr.shape
        if found is None:
            if expr.kind == ATOM and not expr.groups & ~SCALAR:
                found = expr.shape = self.atom_shape(expr, False)
                return found
            if expr.state & 1:
                self.refuse_cycle(expr)
            expr.state |= 1
            here = self._here
            try:
                found = expr.shape = self.atom_shape(expr, False) if expr.kind == ATOM else self._shape(expr)
            finally:
                expr.state &= ~1
                self._here = here
        return found

    def _shape(self, expr: Expr) -> Shape:
        kind = expr.kind
        if kind == TRUE_KIND:
            return self.anything
        if kind == FALSE_KIND:
            return sh.EMPTY_SHAPE
        if kind == NOT:
            self._here = expr, ""  # wherever it is negated
            return self.complement(self.shape(expr.parts[0]))
        self._here = expr, "allOf"
        if kind == OR:
            return self.union([self.shape(part) for part in expr.parts])
        assert kind == AND, "no other kind has parts"
        if expr.halves is not None and expr.halves[0].shape is not None:
            return self.meet(expr.halves[0].shape, self.shape(expr.halves[1]))
        out = self.shape(expr.parts[0])
        for part in expr.parts[1:]:
            out = self.meet(out, self.shape(part))
        return out

    def tracked(self, expr: Expr) -> Shape:
        """The shape of an atom with the names and items that it evaluates."""
        if expr.kind != ATOM:
            return self.shape(expr)
        found: Shape | None = expr.tracked
        if found is None:
            if expr.state & 4:
                self.refuse_cycle(expr)
            expr.state |= 4
            here = self._here
            try:
                found = expr.tracked = self.atom_shape(expr, True)
            finally:
                expr.state &= ~4
                self._here = here
        return found

    def peek(self, expr: Expr) -> Shape | None:
        """The shape, or None while it is being computed: for proofs, which may give up."""
        if expr.shape is not None:
            return self.shape(expr)
        try:
            return self.shape(expr)
        except GrammarError:  # a cycle, or something that is refused where it is really needed
            return None

    def refuse_cycle(self, expr: Expr) -> None:
        """A schema that refers to itself without looking into an array or object."""
        atom = expr.place()
        where: Where = atom.where if atom else None
        raise fault(pointer(where), "a schema that can be decided", "a cycle of references to itself")

    # -- both, either, neither ----------------------------------------------------------------

    def meet(self, left: Shape, right: Shape) -> Shape:
        """Intersection."""
        if left is self.anything or left is right:
            return right
        if right is self.anything:
            return left
        meet, (null, bools, num, strs, arr, obj) = self.meet_records, left
        return Shape(
            null and right.null,
            bools & right.bools,
            tuple(meet(num, right.num)) if num and right.num else (),
            tuple(meet(strs, right.str)) if strs and right.str else (),
            tuple(meet(arr, right.arr)) if arr and right.arr else (),
            tuple(meet(obj, right.obj)) if obj and right.obj else (),
        )

    def union(self, shapes: Sequence[Shape]) -> Shape:
        """Union."""
        if len(shapes) == 1:
            return shapes[0]
        null, bools = False, 0
        sets: tuple[list[Records], ...] = ([], [], [], [])
        for shape in shapes:
            if shape is self.anything:
                return shape
            null = null or shape.null
            bools |= shape.bools
            for found, records in zip(sets, shape[2:], strict=True):
                if records:
                    found.append(cast(Records, records))
        num, strs, arr, obj = [tuple(self.join_records(found)) if found else () for found in sets]
        return Shape(null, bools, num, strs, arr, obj)

    def complement(self, shape: Shape) -> Shape:
        """Everything else."""
        every = self.anything
        return Shape(
            not shape.null,
            3 ^ shape.bools,
            tuple(self.negate_records(shape.num, every.num)),
            tuple(self.negate_records(shape.str, every.str)),
            tuple(self.negate_records(shape.arr, every.arr)),
            tuple(self.negate_records(shape.obj, every.obj)),
        )

    def join_records(self, sets: Sequence[Records]) -> Records:
        """Union of unions of one type; lists of values become one list."""
        sets = [records for records in sets if records]
        for records in sets:
            if self.is_every(records) or len(sets) == 1:
                return records
        if not sets:
            return ()
        flat: list[Any] = [record for records in sets for record in records]
        if isinstance(flat[0], Obj):
            return flat
        out = list(dict.fromkeys(flat))
        if isinstance(flat[0], Arr):
            return out
        listed = [record for record in out if record.values is not None]
        if len(listed) > 1:
            out = [record for record in out if record.values is None]
            out.append(sh.join_strings(listed) if isinstance(flat[0], Str) else sh.join_numbers(listed))
        return out

    def is_every(self, records: Records) -> bool:
        """Whether these are the records of "anything of this type"."""
        every = self.anything
        return records is every.str or records is every.obj or records is every.num or records is every.arr

    def meet_records(self, left: Records, right: Records) -> Records:
        """Intersection of two unions of one type."""
        if not left or not right:
            return ()
        if left is right or self.is_every(left):
            return right
        if self.is_every(right):
            return left
        if len(left) * len(right) > MOST_RECORDS * 16:
            self.refuse_here(f"it combines {len(left)} with {len(right)} alternatives")
        if len(left) == len(right) == 1:
            made = self.meet_two(left[0], right[0])
            return () if made is None else (made,)
        return self._product(left, right)

    def _product(self, left: Records, right: Records) -> Records:
        """All intersections of pairs. Where one is a member of the pair itself, that member stands for its others."""
        right_keys = [_key(b) for b in right]
        whole: dict[object, Record] = {}  # members of either side that are kept as they are
        rows: list[list[tuple[int, object, Record]]] = []
        for a in left:
            key_a = _key(a)
            row: list[tuple[int, object, Record]] = []
            for j, b in enumerate(right):
                made = self.meet_two(a, b)
                if made is None or self.is_surely_empty_record(made, 2):
                    continue
                key = _key(made)
                if key == right_keys[j]:
                    whole[key] = made
                if key == key_a:
                    whole[key] = made
                    row = []
                    break
                row.append((j, key, made))
            rows.append(row)
        out = dict(whole)
        for row in rows:
            out.update({key: made for j, key, made in row if right_keys[j] not in whole})
            if len(out) > MOST_RECORDS:
                self.refuse_here(f"it comes to more than {MOST_RECORDS} alternatives")
        return tuple(out.values())

    def meet_two(self, left: Any, right: Any) -> Record | None:
        """Intersection of two records of one type; None when it is plainly empty."""
        if isinstance(left, Str):
            return sh.both_strings(left, right, self.fits)
        if isinstance(left, Obj):
            return sh.both_objects(left, right, self.exprs, self.matches)
        if isinstance(left, Num):
            return sh.both_numbers(left, right)
        return sh.both_arrays(left, right, self.exprs)

    def negate_records(self, records: Records, every: Records) -> Records:
        """Complement of a union, within its type (``every``)."""
        out = every
        for record in records:
            if not out or self.is_every(records):
                return ()
            out = self.meet_records(out, self.negate_record(record))
        return out

    def negate_record(self, record: Any) -> Records:
        """Complement of one record, within its type."""
        if isinstance(record, Num):
            return sh.not_number(record)
        if isinstance(record, Str):
            return sh.not_string(record)
        if isinstance(record, Obj):
            return sh.not_object(record, self.exprs)
        if record.unique is not None:
            if self._here is not None and self._here[1]:
                self.refuse_here('it needs the complement of "uniqueItems", which is not available')
            self.refuse(record.unique, "uniqueItems", "its complement is not available", "Drop it.")
        return sh.not_array(record, self.exprs)

    def subtract(self, left: Records, right: Records, every: Records) -> Records:
        """What is in ``left`` and not in ``right``."""
        if self.are_disjoint_records(left, right, DEEPEST_PROOF):
            return left
        return self.meet_records(left, self.negate_records(right, every))

    def exactly_one(self, plain: Sequence[Shape], kept: Sequence[Shape]) -> Shape:
        """Texts of exactly one shape; ``kept`` are the same shapes, perhaps tracked."""
        if _are_of_different_types(plain):
            return self.union(kept)
        every = self.anything
        null = sum(s.null for s in plain) == 1 and any(s.null for s in kept)
        bools = sum(
            bit for bit in (1, 2)
            if sum(bool(s.bools & bit) for s in plain) == 1 and any(s.bools & bit for s in kept)
        )  # fmt: skip
        types: list[Records] = []
        for slot in range(2, 6):
            sets = [(i, _slot(shape, slot)) for i, shape in enumerate(kept) if shape[slot]]
            if not self._are_apart([records for _, records in sets]):
                if len(sets) * len(plain) > MOST_PAIRS:
                    self.refuse_here(f"it has {len(plain)} alternatives that are not told apart by one property")
                for at, (i, left) in enumerate(sets):
                    for j, other in enumerate(plain):
                        if j != i and other[slot] and left:
                            left = self.subtract(left, _slot(other, slot), _slot(every, slot))
                    sets[at] = i, left
            types.append(self.join_records([records for _, records in sets]))
        return Shape(null, bools, *(tuple(t) for t in types))

    def _are_apart(self, sets: Sequence[Records]) -> bool:
        """Whether unions of one type are pairwise disjoint, by listed values or by one required property."""
        if len(sets) < 2:
            return True
        first = sets[0][0]
        if isinstance(first, Arr) or (len(sets) == 2 and isinstance(first, Obj)):
            return False  # pairs are as good
        if not isinstance(first, Obj):
            listed = [[record.values for record in records] for records in sets]
            if any(values is None for found in listed for values in found):
                return False
            return _are_distinct([[v for values in found for v in values] for found in listed], isinstance(first, Num))
        for name in first.required:
            found = []
            for records in sets:
                texts = [self._listed_texts(record, name) for record in records]
                if None in texts:
                    break
                found.append([value for values in texts for value in values or ()])
            if len(found) == len(sets) and _are_distinct(found, False):
                return True
        return False

    def _listed_texts(self, record: Obj, name: str) -> list[str] | None:
        """The values of a required property that is one of some strings; None when it is not."""
        shape = self.peek(record.props[name]) if name in record.required else None
        if shape is None or shape.null or shape.bools or shape.num or shape.arr or shape.obj:
            return None
        if any(text.values is None for text in shape.str):
            return None
        return [value for text in shape.str for value in text.values or ()]

    def at_least_one(self, plain: Sequence[Shape], kept: Sequence[Shape]) -> Shape:
        """Texts of one shape or more, each told apart by which shapes it fits (for evaluated names)."""
        every = self.anything
        out = self.union(kept)
        types: list[Records] = []
        for slot in (4, 5):
            sets = [_slot(s, slot) for s in kept if s[slot]]
            if all(self.are_disjoint_records(a, b, DEEPEST_PROOF) for i, a in enumerate(sets) for b in sets[:i]):
                types.append(tuple(r for s in sets for r in s))
                continue
            matched: Records = ()
            unmatched = _slot(every, slot)
            for s, t in zip(plain, kept, strict=True):
                against = self.negate_records(_slot(s, slot), _slot(every, slot))
                mine = _slot(t, slot)
                matched = (
                    *self.meet_records(matched, mine),
                    *self.meet_records(matched, against),
                    *self.meet_records(unmatched, mine),
                )
                unmatched = self.meet_records(unmatched, against)
            types.append(matched)
        return out._replace(arr=tuple(types[0]), obj=tuple(types[1]))

    # -- proofs -------------------------------------------------------------------------------

    def is_surely_empty(self, expr: Expr, depth: int = DEEPEST_PROOF) -> bool:
        """Whether nothing satisfies an expression; False when that is not seen within ``depth`` levels."""
        if expr.kind == FALSE_KIND:
            return True
        if expr.kind == TRUE_KIND or depth <= 0:
            return False
        shape = self.peek(expr)
        if shape is None or shape.null or shape.bools or shape.num or shape.str:
            return False
        return all(self.is_surely_empty_record(r, depth - 1) for r in (*shape.arr, *shape.obj))

    def is_surely_empty_record(self, record: Any, depth: int) -> bool:
        """The same for one record."""
        if isinstance(record, Obj):
            return any(self.is_surely_empty(record.props[name], depth) for name in record.required)
        if isinstance(record, Arr):
            if record.low > len(record.prefix) and self.is_surely_empty(record.rest, depth):
                return True
            return any(self.is_surely_empty(item, depth) for item in record.prefix[: record.low])
        return False

    def are_disjoint(self, left: Expr, right: Expr, depth: int) -> bool:
        """Whether two expressions surely have nothing in common."""
        if left is right or TRUE_KIND in (left.kind, right.kind) or depth <= 0:
            return self.is_surely_empty(left, depth) or self.is_surely_empty(right, depth)
        key = (id(left), id(right), depth)
        known = self.proofs.get(key)
        if known is None:
            a, b = self.peek(left), self.peek(right)
            known = a is not None and b is not None and self.are_disjoint_shapes(a, b, depth)
            self.proofs[key] = known
        return known

    def are_disjoint_shapes(self, a: Shape, b: Shape, depth: int) -> bool:
        """The same for shapes."""
        if (a.null and b.null) or a.bools & b.bools:
            return False
        return all(self.are_disjoint_records(_slot(a, slot), _slot(b, slot), depth) for slot in range(2, 6))

    def are_disjoint_records(self, left: Records, right: Records, depth: int) -> bool:
        """The same for unions of one type."""
        if not left or not right:
            return True
        test: Callable[[Any, Any, int], bool]
        if isinstance(left[0], Obj):
            test = self._disjoint_objects
        elif isinstance(left[0], Arr):
            test = self._disjoint_arrays
        elif isinstance(left[0], Num):
            return all(sh.both_numbers(a, b) is None for a in left for b in right)
        else:
            return all(self._disjoint_strings(a, b) for a in left for b in right)
        return len(left) * len(right) <= MOST_RECORDS and all(test(a, b, depth) for a in left for b in right)

    def _disjoint_strings(self, left: Str, right: Str) -> bool:
        made = sh.both_strings(left, right, self.fits)
        return made is None or self.is_empty_string(made)

    def _disjoint_objects(self, left: Obj, right: Obj, depth: int) -> bool:
        for a, b in ((left, right), (right, left)):
            if b.high is not None and max(len(a.required), a.low) > b.high:
                return True
            for name in a.required:
                asked = sh.asked_of(b, name, self.exprs, self.matches)
                if asked.kind != TRUE_KIND and self.are_disjoint(a.props[name], asked, depth - 1):
                    return True
        return False

    def _disjoint_arrays(self, left: Arr, right: Arr, depth: int) -> bool:
        made = sh.both_arrays(left, right, self.exprs)
        return made is None or self.is_surely_empty_record(made, depth)


def _are_distinct(found: Sequence[Sequence[Any]], pairs: bool) -> bool:
    """Whether no value is in two of the lists; ``pairs``: values come with their spellings."""
    sets = [{v[0] for v in values} if pairs else set(values) for values in found]
    return sum(map(len, sets)) == len(set().union(*sets))


def _are_of_different_types(shapes: Sequence[Shape]) -> bool:
    """Whether no two shapes have a JSON type (or Boolean) in common."""
    seen = 0
    for null, bools, num, strs, arr, obj in shapes:
        types = bools | (4 if null else 0) | (8 if num else 0) | (16 if strs else 0) | (32 if arr else 0)
        types |= 64 if obj else 0
        if seen & types:
            return False
        seen |= types
    return True


def _slot(shape: Shape, slot: int) -> Records:
    """The records of one type: 2 number, 3 string, 4 array, 5 object."""
    return cast(Records, shape[slot])


def _key(record: Record) -> object:
    if isinstance(record, Obj):
        props = tuple(record.props.items())
        return props, record.required, record.rules, record.low, record.high, record.some, record.seen
    return record
