"""Object records to syntactic nodes.

With ``property_order="schema"`` the members stand in a fixed order, and N(i) is "one or more of the members
from i on", R(i) "nothing or a comma and N(i)": linear in the members, however many are optional. Counting
adds how many members are still needed and how many may still come. With ``"any"`` the IR's ``any_order``
does both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .expr import FALSE_KIND, Expr
from .shape import Obj, Rule, Strings, applies, asked_of
from .support import COMBINE, GROUPS

if TYPE_CHECKING:
    from .lower import Lowering

MOST_CELLS = 64  # satisfiable combinations of key patterns; json_schema.md section 5
MOST_COUNTING = 4096  # states; json_schema.md section 5
MOST_WITNESSES = 4
MOST_BUILT = 20_000  # object records in one grammar; at about 0.2 ms each

Member = tuple[int, int, bool]  # key, value, required


class ObjectLowering:
    """Objects of one grammar."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.meaning = lowering.meaning
        self.builder = lowering.builder
        self.marks = lowering.marks
        self._built = 0
        self._others: dict[tuple[str, ...], int] = {}  # any member with a key that is none of these
        self._apart: dict[tuple[Strings, Strings], bool] = {}
        self.any_order = lowering.settings.property_order == "any"

    def node(self, record: Obj, origin: Expr) -> int:
        """All spellings of a record's objects."""
        if record is self.meaning.object_any:
            return self.marks.any_object
        if record.some or record.rules:
            record = self._with_mentioned(record)
        if not record.some:
            return self._plain(record, (), origin)
        cases = [self._plain(case, witnesses, origin) for case, witnesses in self._cases(record, origin)]
        return self.builder.choice(cases)

    # -- witnesses ----------------------------------------------------------------------------

    def _with_mentioned(self, record: Obj) -> Obj:
        """Make names that conditions exclude known, so that all other keys are alike for them."""
        missing: dict[str, None] = {}
        for rule in (*record.rules, *record.some):
            if not rule.names <= record.props.keys():
                missing.update(dict.fromkeys(sorted(rule.names - record.props.keys())))
        if not missing:
            return record
        meaning, props = self.meaning, dict(record.props)
        for name in missing:
            props[name] = asked_of(record, name, meaning.exprs, meaning.matches)
        return record._replace(props=props, late={**record.late, **dict.fromkeys(missing, 3)})

    def _cases(self, record: Obj, origin: Expr) -> Iterator[tuple[Obj, tuple[Rule, ...]]]:
        """Each wanted witness is a known name, or a free member."""
        meaning = self.meaning
        cases: list[tuple[Obj, tuple[Rule, ...]]] = [(record._replace(some=()), ())]
        for rule in record.some:
            more = []
            for case, witnesses in cases:
                more.append((case, (*witnesses, rule)))
                for name, value in case.props.items():
                    if applies(rule, name, meaning.matches):
                        both = meaning.exprs.conj(value, rule.expr)
                        if not meaning.is_surely_empty(both):
                            props = {**case.props, name: both}
                            more.append((case._replace(props=props, required=case.required | {name}), witnesses))
            cases = more
            if len(cases) > MOST_COUNTING:
                meaning.refuse(
                    origin, _combinator(origin), f"it needs {len(cases)} cases of keys", "Simplify the negated schema."
                )
        return iter(cases)

    # -- one record ---------------------------------------------------------------------------

    def _plain(self, record: Obj, witnesses: Sequence[Rule], origin: Expr) -> int:
        builder, marks, lowering = self.builder, self.marks, self.lowering
        self._built += 1
        if self._built > MOST_BUILT:
            reason = f"the combinators of this schema come to more than {MOST_BUILT} kinds of objects"
            self.meaning.refuse(origin, _combinator(origin), reason, "Simplify them.")
        nothing = builder.nothing()
        props, late, required = record.props, record.late, record.required
        if late:
            props = {name: props[name] for name in sorted(props, key=lambda name: late.get(name, 0))}
        keys, node_of = lowering.keys, lowering.node_of
        members: list[Member] = []
        nodes, known = [value.node for value in props.values()], [keys.get(name) for name in props]
        if all(nodes) and all(known):  # all was met before
            members = list(zip(known, nodes, map(required.__contains__, props), strict=True))  # type: ignore[arg-type]
            props = {}
        for name, value in props.items():
            node = value.node
            if node is None:
                node = node_of(value)
            if node:  # not nothing
                key = keys.get(name)
                if key is None:
                    key = lowering.key(name)
                if key:
                    members.append((key, node, name in required))
                    continue
            if name in required:
                return nothing
        free = self._free(record, None, origin)
        if len(witnesses) > MOST_WITNESSES:
            self.meaning.refuse(
                origin, _combinator(origin), "it asks for more than four different keys", "Simplify it."
            )
        if self.any_order:
            return self._unordered(record, members, free, witnesses, origin)
        inner, may_be_empty = self._ordered(record, members, free, witnesses, origin)
        parts = [marks.empty_object] if may_be_empty else []
        if inner != nothing:
            parts.append(builder.seq((marks.open_object, inner, marks.close_object)))
        return builder.choice(parts)

    def _unordered(self, record: Obj, members: list[Member], free: int, witnesses: Sequence[Rule], origin: Expr) -> int:
        builder, marks = self.builder, self.marks
        nothing = builder.nothing()
        parts = []
        if not record.low and not record.required and not witnesses:
            parts.append(marks.empty_object)
        for extra in self._witness_sets(record, witnesses, origin):
            least = max(record.low, 1)
            if record.high is not None and record.high < least:
                continue
            items = [(builder.seq((key, value)), needed) for key, value, needed in members]
            items += [(node, True) for node in extra]
            inner = builder.any_order(items, marks.comma, None if free == nothing else free, least, record.high)
            parts.append(builder.seq((marks.open_object, inner, marks.close_object)))
        return builder.choice(parts)

    def _witness_sets(self, record: Obj, witnesses: Sequence[Rule], origin: Expr) -> list[list[int]]:
        """Ways to share free members among witnesses: one node per member."""
        if not witnesses:
            return [[]]
        out = []
        made: dict[tuple[Rule, ...], int] = {}
        for partition in _partitions(list(witnesses)):
            nodes = []
            for group in map(tuple, partition):
                if group not in made:
                    made[group] = self._free(record, group, origin)
                nodes.append(made[group])
            if self.builder.nothing() not in nodes:
                out.append(nodes)
        return out

    def _tail(self, free: int, sets: list[list[int]], low: int, high: int | None) -> int:
        """One or more free members, those of one of the sets among them (see :meth:`_witness_sets`)."""
        builder, comma = self.builder, self.marks.comma
        low = max(low, 1)
        if high is not None and high < low:
            return builder.nothing()
        if sets == [[]]:
            return builder.repeat(free, low, high, comma)
        extra = None if free == builder.nothing() else free
        return builder.choice(
            [builder.any_order([(node, True) for node in nodes], comma, extra, low, high) for nodes in sets]
        )

    def _ordered(
        self, record: Obj, members: list[Member], free: int, witnesses: Sequence[Rule], origin: Expr
    ) -> tuple[int, bool]:
        low, high = record.low, record.high
        needed = len(record.required)  # all of them are among the members
        if low <= needed:
            low = 0
        if high is not None and free == self.builder.nothing() and not witnesses and high >= len(members):
            high = None
        may_be_empty = low == 0 and needed == 0 and not witnesses
        if low or high is not None:
            return self._counted(record, members, free, witnesses, low, high, origin), may_be_empty
        tail = self._tail(free, self._witness_sets(record, witnesses, origin), 0, None)
        return self.builder.in_order(members, self.marks.comma, tail, bool(witnesses)), may_be_empty

    def _counted(
        self, record: Obj, members: list[Member], free: int, witnesses: Sequence[Rule], low: int, high: int | None,
        origin: Expr,
    ) -> int:  # fmt: skip
        """N(0) with at least ``low`` and at most ``high`` members; one node per (member, members so far)."""
        builder, comma, nothing = self.builder, self.marks.comma, self.builder.nothing()
        top = max(low, 0 if high is None else high + 1)
        if (len(members) + 1) * (min(top, len(members)) + 1) > MOST_COUNTING:
            keyword = "minProperties" if low else "maxProperties"
            reason = f"counting {len(members)} keys up to {top} takes more than {MOST_COUNTING} states"
            self.meaning.refuse(origin, keyword, reason, "Lower the bound, or drop it.")
        has_tail = free != nothing or witnesses
        tails: dict[int, int] = {}
        sets: list[list[list[int]]] = []  # made when first needed

        def tail(count: int) -> int:
            if not has_tail:
                return nothing
            if count not in tails:
                room = None if high is None else high - count
                if room is not None and room < 1:
                    tails[count] = nothing
                else:
                    if not sets:
                        sets.append(self._witness_sets(record, witnesses, origin))
                    tails[count] = self._tail(free, sets[0], low - count, room)
            return tails[count]

        # done(count, i): nothing more is needed after i members were passed
        size = len(members)
        still = [False] * (size + 1)
        for i in range(size - 1, -1, -1):
            still[i] = still[i + 1] or members[i][2]
        row = [tail(min(count, top)) for count in range(size + 1)]
        for i in range(size - 1, -1, -1):
            key, value, is_required = members[i]
            new = []
            for count in range(i + 1):
                after = count + 1
                if high is not None and after > high:
                    new.append(nothing)
                    continue
                rest = builder.seq((comma, row[after]))
                if after >= low and not still[i + 1] and not witnesses:
                    rest = builder.optional(rest)
                mine = builder.seq((key, value, rest))
                new.append(mine if is_required else builder.choice((mine, row[count])))
            row = new
        return row[0]

    # -- free keys ----------------------------------------------------------------------------

    def _free(self, record: Obj, wanted: Sequence[Rule] | None, origin: Expr) -> int:
        """A member with a key that is not known; with ``wanted``, one that is a witness of these rules."""
        builder, lowering, meaning = self.builder, self.lowering, self.meaning
        rules = record.rules
        if not rules and not wanted:
            names = tuple(record.props)
            made = self._others.get(names)
            if made is None:
                key = lowering.free_key(lowering.strings.speller.body, list(names)) if names else self.marks.any_key
                made = self._others[names] = builder.seq((key, self.marks.any_value))
            return made
        languages = list(dict.fromkeys(strings for rule in (*rules, *(wanted or ())) for strings, _ in rule.when))
        if not languages:
            value = meaning.exprs.true
            for rule in (*rules, *(wanted or ())):
                value = meaning.exprs.conj(value, rule.expr)
            if value.kind == FALSE_KIND:
                return builder.nothing()
            if not record.props and value.kind == meaning.exprs.true.kind:
                return builder.seq((self.marks.any_key, self.marks.any_value))
            node = lowering.node_of(value)
            if node == builder.nothing():
                return node
            return builder.seq((lowering.free_key(lowering.strings.speller.body, list(record.props)), node))
        groups: dict[Expr, list[tuple[bool, ...]]] = {}
        number = {strings: i for i, strings in enumerate(languages)}
        conditions = [
            ([(number[strings], positive) for strings, positive in rule.when], rule.expr, i >= len(rules))
            for i, rule in enumerate((*rules, *(wanted or ())))
        ]
        for cell in self._cells(languages, origin):
            value = meaning.exprs.true
            for when, asked, is_wanted in conditions:
                for i, positive in when:
                    if cell[i] != positive:
                        if is_wanted:
                            value = meaning.exprs.false
                        break
                else:
                    value = meaning.exprs.conj(value, asked)
            if value.kind != FALSE_KIND:
                groups.setdefault(value, []).append(cell)
        parts = []
        for value, cells in groups.items():
            node = lowering.node_of(value)
            if node != builder.nothing():
                left = [n for n in record.props if tuple(meaning.matches(s, n) for s in languages) in cells]
                parts.append(builder.seq((lowering.free_key(self._key_language(languages, cells), left), node)))
        return builder.choice(parts)

    def _cells(self, languages: list[Strings], origin: Expr) -> list[tuple[bool, ...]]:
        """Combinations of languages that a key can be in, as far as pairs show."""
        meaning = self.meaning
        cells: list[tuple[bool, ...]] = [()]
        for i, strings in enumerate(languages):
            apart = [self._are_apart(strings, languages[j]) for j in range(i)]
            more = []
            for cell in cells:
                more.append((*cell, False))
                if strings and not any(cell[j] and apart[j] for j in range(i)):
                    more.append((*cell, True))
            cells = more
            if len(cells) > MOST_CELLS:
                reason = f"its key patterns overlap in more than {MOST_CELLS} combinations"
                meaning.refuse(origin, "patternProperties", reason, "Make the patterns clearly different.")
        return cells

    def _are_apart(self, left: Strings, right: Strings) -> bool:
        """Whether surely no key is in both languages."""
        known = self._apart.get((left, right))
        if known is None:
            known = self._apart[left, right] = self.meaning.are_disjoint_records(left, right, 1)
        return known

    def _key_language(self, languages: list[Strings], cells: list[tuple[bool, ...]]) -> int:
        builder, strings = self.builder, self.lowering.strings
        nodes = [strings.union(language) if language else builder.nothing() for language in languages]
        body = strings.speller.body
        parts = []
        for cell in cells:
            held = [node for node, positive in zip(nodes, cell, strict=True) if positive]
            node = held[0] if held else body
            for other in held[1:]:
                node = builder.both(node, other)
            away = [
                nodes[i] for i, positive in enumerate(cell)
                if not positive and not any(
                    cell[j] and self._are_apart(languages[i], languages[j])
                    for j in range(len(cell))
                )
            ]  # fmt: skip
            parts.append(builder.without(node, builder.choice(away)) if away else node)
        return builder.choice(parts)


def _combinator(origin: Expr) -> str:
    """The keyword to name when an expression has too many cases."""
    atom = origin.place()
    found = [key for key in (atom.schema if atom else ()) if GROUPS.get(key, 0) & COMBINE]
    return found[0] if found else "allOf"


def _partitions(items: list[Rule]) -> Iterator[list[list[Rule]]]:
    """All ways to split a short list into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for partition in _partitions(rest):
        yield [[first], *partition]
        for i, group in enumerate(partition):
            yield [*partition[:i], [first, *group], *partition[i + 1 :]]
