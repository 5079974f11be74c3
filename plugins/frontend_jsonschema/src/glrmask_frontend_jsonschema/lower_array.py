"""Array records to syntactic nodes.

Plain arrays are a chain of the prefix and a counted repeat. ``contains`` turns the array into a small
automaton whose states count witnesses; the only cycles are loops of a state on itself, so a state becomes
"loop items, then a way on". The automaton may be ambiguous: an item may or may not count for a lower bound,
and for an upper bound the items that do not count satisfy the negation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .expr import FALSE_KIND, Expr
from .shape import Arr
from .values import finite_values

if TYPE_CHECKING:
    from .lower import Lowering

MOST_STATES = 4096
MOST_DISTINCT = 64  # values of the items of an array with uniqueItems
State = tuple[int, ...]


class ArrayLowering:
    """Arrays of one grammar."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.meaning = lowering.meaning
        self.builder = lowering.builder
        self.marks = lowering.marks

    def node(self, record: Arr, origin: Expr) -> int:
        """All spellings of a record's arrays."""
        if record is self.meaning.array_any:
            return self.marks.any_array
        builder, marks = self.builder, self.marks
        if record.unique is not None and record.high not in (0, 1):
            return self._distinct(record)
        if record.contains:
            inner = self._counted(record, origin)
            may_be_empty = record.low == 0 and all(c.low == 0 for c in record.contains)
        else:
            inner, may_be_empty = self._plain(record), record.low == 0
        parts = [marks.empty_array] if may_be_empty else []
        if inner != builder.nothing():
            parts.append(builder.seq((marks.open_array, inner, marks.close_array)))
        return builder.choice(parts)

    def _item(self, expr: Expr) -> int:
        return self.builder.nothing() if expr.kind == FALSE_KIND else self.lowering.node_of(expr)

    def _plain(self, record: Arr) -> int:
        """One or more items."""
        builder, comma, nothing = self.builder, self.marks.comma, self.builder.nothing()
        low, high = record.low, record.high
        if high == 0:
            return nothing
        prefix = record.prefix if high is None else record.prefix[:high]
        size = len(prefix)
        more = nothing
        if high is None or high > size:
            node = self._item(record.rest)
            if node != nothing:
                more = builder.repeat(node, max(low - size, 1), None if high is None else high - size, comma)
        parts: list[int] = [] if more == nothing else [more]  # reversed
        for i in range(size - 1, -1, -1):
            node = self._item(prefix[i])
            if node == nothing:
                parts = []
                continue
            if i + 1 < low:
                parts = [*parts, comma, node] if parts else []
            elif parts:
                parts = [builder.optional(builder.seq((comma, *reversed(parts)))), node]
            else:
                parts = [node]
        return builder.seq(parts[::-1]) if parts else nothing

    # -- contains -----------------------------------------------------------------------------

    def _counted(self, record: Arr, origin: Expr) -> int:
        """One or more items of an array with ``contains``."""
        nothing = self.builder.nothing()
        tops = [max(c.low, 0 if c.high is None else c.high) for c in record.contains]
        far = max([len(record.prefix), record.low, *(c.start for c in record.contains)])
        if record.high is not None:
            far = max(far, record.high)
        size = far + 1
        for top in tops:
            size *= top + 1
        if size > MOST_STATES:
            reason = f"counting positions and matching items takes {size} states (limit {MOST_STATES})"
            self.meaning.refuse(origin, "contains", reason, "Lower the bounds.")
        start = (0,) * (1 + len(tops))
        order: list[State] = [start]
        ways: dict[State, dict[State, int]] = {}
        for state in order:
            ways[state] = self._moves(record, state, far, tops)
            order += [target for target in ways[state] if target not in ways and target not in order]
        made: dict[State, int] = {}
        for state in sorted(order, key=sum, reverse=True):  # every move but a loop adds something
            made[state] = self._state(record, state, ways[state], made)
        return made.get(start, nothing)

    def _moves(self, record: Arr, state: State, far: int, tops: list[int]) -> dict[State, int]:
        """Item node by next state."""
        exprs, builder = self.meaning.exprs, self.builder
        at = state[0]
        if record.high is not None and at >= record.high:
            return {}
        item = record.prefix[at] if at < len(record.prefix) else record.rest
        options: list[tuple[Expr, list[int]]] = [(item, [min(at + 1, far)])]
        for contains, top, count in zip(record.contains, tops, state[1:], strict=True):
            more = []
            for expr, path in options:
                if at < contains.start:
                    more.append((expr, [*path, count]))
                    continue
                if contains.high is None or count < contains.high:
                    more.append((exprs.conj(expr, contains.expr), [*path, min(count + 1, top)]))
                if contains.high is not None:
                    more.append((exprs.conj(expr, exprs.negate(contains.expr)), [*path, count]))
                else:
                    more.append((expr, [*path, count]))
            options = more
        out: dict[State, int] = {}
        for expr, path in options:
            node = self._item(expr)
            if node != builder.nothing():
                target = tuple(path)
                out[target] = builder.choice((out[target], node)) if target in out else node
        return out

    def _state(self, record: Arr, state: State, moves: dict[State, int], made: dict[State, int]) -> int:
        """One or more items from a state on."""
        builder, comma, nothing = self.builder, self.marks.comma, self.builder.nothing()
        parts = []
        loop = moves.get(state)
        for target, node in moves.items():
            rest = nothing if target == state else made.get(target, nothing)
            ends = target[0] >= record.low and all(n >= c.low for c, n in zip(record.contains, target[1:], strict=True))
            onward = builder.seq((comma, rest))
            parts.append(builder.seq((node, builder.optional(onward) if ends else onward)))
        out = builder.choice(parts)
        if loop is not None and out != nothing:
            out = builder.seq((builder.repeat(builder.seq((loop, comma)), 0, None), out))
        return out

    # -- uniqueItems --------------------------------------------------------------------------

    def _distinct(self, record: Arr) -> int:
        """Distinct items out of few values: a fixed prefix, then any order, each at most once."""
        builder, marks = self.builder, self.marks
        unique = record.unique
        assert unique is not None, "the caller looked"
        size = len(record.prefix) if record.high is None else min(len(record.prefix), record.high)
        wanted = [*record.prefix[:size], record.rest]
        known = [finite_values(self.meaning, expr, MOST_DISTINCT) for expr in wanted]
        values = [found for found in known if found is not None]
        if record.contains or len(values) < len(wanted):
            reason = "whether items are distinct is not decidable by a grammar unless they have few values"
            self.meaning.refuse(unique, "uniqueItems", reason, 'Use "enum" for the items, or drop it (lenient=True).')
        nodes = [
            {key: self._value(expr, value) for key, value in found.items()}
            for expr, found in zip(wanted, values, strict=True)
        ]
        parts = [marks.empty_array] if record.low == 0 else []
        inner = self._distinct_from(record, nodes, 0, frozenset(), {})
        if inner != builder.nothing():
            parts.append(builder.seq((marks.open_array, inner, marks.close_array)))
        return builder.choice(parts)

    def _value(self, expr: Expr, value: object) -> int:
        """The node of one value of an expression."""
        atom = expr.place()
        where, context = (atom.where, atom.resource) if atom else (None, self.meaning.resolver.start)
        return self._item(self.meaning.exprs.conj(expr, self.meaning.constant(value, where, context)))

    def _distinct_from(
        self, record: Arr, nodes: list[dict[object, int]], at: int, used: frozenset[object],
        made: dict[tuple[int, frozenset[object]], int],
    ) -> int:  # fmt: skip
        """One or more items from position ``at`` on, none of them used before."""
        builder, comma = self.builder, self.marks.comma
        low, high = record.low, record.high
        if high is not None and at >= high:
            return builder.nothing()
        left = {key: node for key, node in nodes[at].items() if key not in used and node != builder.nothing()}
        if at == len(nodes) - 1:
            least, most = max(low - at, 1), None if high is None else high - at
            if len(left) < least:
                return builder.nothing()
            return builder.any_order([(node, False) for node in left.values()], comma, None, least, most)
        key = (at, used)
        if key not in made:
            if len(made) >= MOST_STATES and record.unique is not None:
                reason = f"it takes more than {MOST_STATES} states to tell distinct items"
                self.meaning.refuse(record.unique, "uniqueItems", reason, "Use fewer values, or a shorter prefix.")
            parts = []
            for value, node in left.items():
                rest = builder.seq((comma, self._distinct_from(record, nodes, at + 1, used | {value}, made)))
                parts.append(builder.seq((node, rest if at + 1 < low else builder.optional(rest))))
            made[key] = builder.choice(parts)
        return made[key]
