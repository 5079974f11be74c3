"""Puts grammars and exact tokens into the slots of a module.

The children's nodes come first, the largest child's as they are, each other one's renumbered by a constant, then the
parent's; so children keep smaller ids than their parents, and an engine that has compiled the first child finds its
nodes where they were. All of it is array arithmetic: the cost is that of copying the arrays. A child that is closed is
copied once, however many slots it fills.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .ir import MAX_COUNT, SCOPE, TOKEN_IDS, Module
from .ir_layout import ARGS, BLOB, NAME, NODE, RULE, Layout

if TYPE_CHECKING:
    import numpy.typing as npt

    from .source import Place

    Ints = npt.NDArray[np.int32]


class Shifted(Mapping[int, "Place"]):
    """Several place tables side by side, each moved by an offset; nothing is copied."""

    __slots__ = ("_parts",)
    _parts: list[tuple[int, int, Mapping[int, Place]]]

    def __init__(self, parts: Sequence[tuple[int, int, Mapping[int, Place]]]) -> None:
        flat: list[tuple[int, int, Mapping[int, Place]]] = []
        for offset, size, places in parts:
            if isinstance(places, Shifted):
                flat += [(offset + o, s, p) for o, s, p in places._parts]
            elif places:
                flat.append((offset, size, places))
        self._parts = flat

    def __getitem__(self, node: int) -> Place:
        for offset, size, places in self._parts:
            if offset <= node < offset + size:
                return places[node - offset]
        raise KeyError(node)

    def __iter__(self) -> Iterator[int]:
        for offset, _, places in self._parts:
            for node in places:
                yield node + offset

    def __len__(self) -> int:
        return sum(len(places) for _, _, places in self._parts)


class _Joined:
    """The pools of the result as they grow."""

    def __init__(self) -> None:
        self.rows: list[Ints] = []
        self.args: list[Ints] = []
        self.blob: list[bytes] = []
        self.names: list[str] = []
        self.rules: list[Ints] = []
        self.places: list[tuple[int, int, Mapping[int, Place]]] = []
        self.rule_places: list[tuple[int, int, Mapping[int, Place]]] = []
        self.nodes = self.n_args = self.n_blob = self.n_rules = 0

    def add(self, module: Module) -> tuple[Ints, int]:
        """Append a module; returns its rows and the offset of its nodes.

        Rows are a copy, for the caller to patch, if the module has slots.
        """
        offset = self.nodes
        rows = np.frombuffer(module.rows, np.int32).reshape(-1, 4)
        rows = rows.copy() if module.slots or offset else rows
        args = np.frombuffer(module.args, np.int32) if len(module.args) else np.zeros(0, np.int32)
        rules = np.frombuffer(module.rules, np.int32) if len(module.rules) else np.zeros(0, np.int32)
        if offset:  # the first module keeps its numbers: the one large child of most links is only copied
            rows, args, rules = self._shifted(module.layout, rows, args, rules)
        self.places.append((offset, len(rows), module.places))
        self.rule_places.append((self.n_rules, len(rules) // 2, module.rule_places))
        self.rows.append(rows)
        self.args.append(args)
        self.blob.append(module.blob)
        self.names += module.names
        self.rules.append(rules)
        self.nodes += len(rows)
        self.n_args += len(args)
        self.n_blob += len(module.blob)
        self.n_rules += len(rules) // 2
        return rows, offset

    def _shifted(self, layout: Layout, rows: Ints, args: Ints, rules: Ints) -> tuple[Ints, Ints, Ints]:
        """The arrays with every reference moved behind what is here; ``rows`` in place."""
        offsets = {NODE: self.nodes, ARGS: self.n_args, BLOB: self.n_blob, NAME: len(self.names), RULE: self.n_rules}
        shift = np.array([offsets.get(kind, 0) for kind in range(6)], np.int32)
        if len(args):
            args = args + shift[layout.pooled] * (args >= 0)
        columns = rows[:, 1:]
        columns += shift[layout.columns] * (columns >= 0)
        return rows, args, (rules.reshape(-1, 2) + shift[[NAME, NODE]]).reshape(-1)

    def add_args(self, values: Sequence[int]) -> int:
        """Append to the args pool; returns where."""
        at = self.n_args
        self.args.append(np.array(values, np.int64).astype(np.uint32).view(np.int32))
        self.n_args += len(values)
        return at

    def add_name(self, name: str) -> int:
        self.names.append(name)
        return len(self.names) - 1


def inline(parent: Module, grammars: Mapping[str, Module], tokens: Mapping[str, Sequence[int]]) -> Module:
    """``parent`` with slots filled.

    Args:
        parent: its ``slots`` declare the names used below.
        grammars: modules for grammar slots. Their own open slots become ``name.SLOT`` of the result. Each is
            put under a SCOPE of its own, so no ignore of the parent applies inside.
        tokens: ascending distinct token ids for token slots.

    Returns:
        A new module; slots that were not given stay open. ``parent`` itself when nothing is given.

    Cost: O(size of all arrays); for 7,000 nodes 0.05 ms if they are the first child's, else 0.5 ms.
    """
    if not grammars and not tokens:
        return parent
    out = _Joined()
    roots: dict[str, int] = {}
    shared: dict[int, int] = {}
    given = [slot for slot in parent.slots if slot in grammars]
    for slot in sorted(given, key=lambda slot: len(grammars[slot]), reverse=True):
        child = grammars[slot]
        root = shared.get(id(child))
        if root is None:
            rows, offset = out.add(child)
            root = child.root + offset
            if child.slots:
                _rename_slots(out, child.layout, rows, slot)
            else:
                shared[id(child)] = root
        roots[slot] = root
    slots: dict[str, str] = {}
    for slot, kind in parent.slots.items():
        if slot in grammars:
            slots.update({f"{slot}.{name}": kind for name, kind in grammars[slot].slots.items()})
        elif slot not in tokens:
            slots[slot] = kind
    rows, offset = out.add(parent)
    _fill_slots(out, parent.layout, rows, roots, tokens)
    return Module(
        _array(out.rows),
        _array(out.args),
        b"".join(out.blob),
        tuple(out.names),
        _array(out.rules),
        parent.root + offset,
        slots,
        Shifted(out.places),
        Shifted(out.rule_places),
    )


def exact_ids(module: Module) -> Ints:
    """All ids in TOKEN_IDS nodes of a module, as unsigned 32-bit numbers, unordered. Unreachable nodes count."""
    rows = np.frombuffer(module.rows, np.int32)
    nodes = np.flatnonzero(rows[0::4] == TOKEN_IDS)  # about 5 microseconds for 5,000 nodes
    if not len(nodes):
        return np.zeros(0, np.uint32)
    args = np.frombuffer(module.args, np.int32)
    parts = [args[rows[4 * n + 1] : rows[4 * n + 1] + rows[4 * n + 2]] for n in nodes.tolist()]
    return np.concatenate(parts).view(np.uint32)


def _fill_slots(
    out: _Joined, layout: Layout, rows: Ints, roots: Mapping[str, int], tokens: Mapping[str, Sequence[int]]
) -> None:
    """Turn the externs of the parent's rows into scopes and token sets."""
    for node in layout.externs:
        slot = out.names[int(rows[node, 1])]
        if slot in roots:
            rows[node] = SCOPE, roots[slot], -1, 0
        elif slot in tokens:
            ids = tokens[slot]
            rows[node] = TOKEN_IDS, out.add_args(ids), len(ids), 0


def _rename_slots(out: _Joined, layout: Layout, rows: Ints, slot: str) -> None:
    """Give the open slots of a child their names in the result."""
    for node in layout.externs:
        rows[node, 1] = out.add_name(f"{slot}.{out.names[int(rows[node, 1])]}")


def _array(parts: Sequence[Ints]) -> array[int]:
    joined: array[int] = array("i")
    for part in parts:
        joined.frombytes(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    if len(joined) > MAX_COUNT:
        from .errors import LimitExceededError

        raise LimitExceededError("the linked grammar is too large: its arrays pass 2^31 numbers", "memory_bytes")
    return joined
