"""The IR as bytes (msgpack, versioned), and back with everything checked.

``encode`` is deterministic. ``decode`` takes untrusted bytes and checks all that engines rely on, mostly as
array operations: known ops; references in range, of the right level, children before their parents; pool
ranges in bounds and *disjoint*, so that all nodes together are no larger than the pools; sorted and
distinct where the table in ``ir.py`` says so; counts, names, slots, rules and root. Cost: O(size).
"""

from __future__ import annotations

import itertools
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgpack  # type: ignore[import-untyped]
import numpy as np

from . import ir
from .errors import ArtifactError
from .ir import Module
from .ir_layout import ARGS, BLOB, NAME, NODE, NONE, RULE, args_lengths, column_kinds, spread
from .source import Place, Span

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]
    Longs = npt.NDArray[np.int64]

_FIELDS = ("version", "rows", "args", "blob", "names", "rules", "root", "slots", "places", "rule_places")
_KNOWN = np.zeros(256, bool)
_KNOWN[[int(op) for op in ir.Op]] = True
IDLE_STATES = 100_000
_LEXICAL_PARENTS = (ir.LEX_SEQ, ir.LEX_CHOICE)


def encode(module: Module) -> bytes:
    """A module as bytes; equal modules (places included) give equal bytes."""
    packed: bytes = msgpack.packb(
        (
            ir.IR_VERSION,
            _little(module.rows),
            _little(module.args),
            module.blob,
            list(module.names),
            _little(module.rules),
            module.root,
            list(module.slots.items()),
            _pack_places(module.places),
            _pack_places(module.rule_places),
        )
    )
    return packed


def decode(data: bytes) -> Module:
    """The module of ``encode``'s bytes.

    Raises:
        ArtifactError: they are not that, or break a rule that engines rely on.
    """
    fields = unpack(data, "grammar")
    if not isinstance(fields, list) or len(fields) != len(_FIELDS):
        raise ArtifactError("grammar: not the saved form of a grammar")
    version, rows, args, blob, names, rules, root, slots, places, rule_places = fields
    if version != ir.IR_VERSION:
        raise ArtifactError(f"grammar: IR version {version!r}, this core reads {ir.IR_VERSION}; compile it anew")
    row_array = _ints(rows, "rows", 4)
    need(isinstance(blob, bytes), "blob is not bytes")
    need(isinstance(names, list) and all(type(n) is str for n in names), "names are not text")
    need(type(root) is int, "the root is not a number")
    rule_array = _ints(rules, "rules", 2)
    module = Module(
        _to_array(row_array),
        _to_array(_ints(args, "args", 1)),
        blob,
        tuple(names),
        _to_array(rule_array),
        root,
        _slots(slots),
        PackedPlaces(places, len(row_array) // 4),
        PackedPlaces(rule_places, len(rule_array) // 2),
    )
    check(module)
    return module


def check(module: Module) -> None:
    """Raise ``ArtifactError`` when a module breaks a rule that engines rely on."""
    rows = _view(module.rows).reshape(-1, 4)
    args = _view(module.args)
    need(len(rows) > 0, "there are no nodes")
    need(bool(((rows[:, 0] >= 0) & (rows[:, 0] < 256)).all() and _KNOWN[rows[:, 0]].all()), "unknown op")
    _check_columns(module, rows, args)
    children = _children(rows, args)
    _check_children(rows, *children)
    _check_bounds(rows)
    _check_sets(module, rows, args)
    _check_slots(module, rows)
    _check_rules(module, rows)


# -- checks ---------------------------------------------------------------------------------------------------


def need(holds: bool, what: str) -> None:
    """Raise ``ArtifactError`` unless ``holds``."""
    if not holds:
        raise ArtifactError(f"grammar: {what}; the saved data are not what a front-end builds")


def _check_columns(module: Module, rows: Ints, args: Ints) -> None:
    """Columns a to c against their pools, and the ranges of the pools against each other."""
    kinds = column_kinds(rows)
    values = rows[:, 1:]
    optional = np.zeros_like(kinds, dtype=bool)
    optional[:, 2] = kinds[:, 2] == NAME
    optional[:, 1] = (rows[:, 0] == ir.SCOPE) & (kinds[:, 1] == NODE)
    top = np.zeros(6, np.int64)
    top[[NODE, ARGS, BLOB, NAME, RULE]] = (
        len(rows),
        len(args) + 1,
        len(module.blob) + 1,
        len(module.names),
        len(module.rules) // 2,
    )
    fine = (kinds == NONE) | ((values >= 0) & (values < top[kinds])) | (optional & (values == -1))
    need(bool(fine.all()), "a reference is out of range")
    pooled = kinds[:, 0] == ARGS
    need(bool((rows[pooled, 2] >= 0).all()), "a count is negative")
    starts, lengths = rows[pooled, 1].astype(np.int64), args_lengths(rows[pooled])
    need(bool((starts + lengths <= len(args)).all()), "a range of args is out of bounds")
    _disjoint(starts, lengths, "args")
    _check_blob(module, rows, args)


def _check_blob(module: Module, rows: Ints, args: Ints) -> None:
    ops = rows[:, 0]
    literals, classes = rows[ops == ir.LITERAL], rows[ops == ir.BYTES]
    sets = rows[ops == ir.LITERALS]
    need(bool((sets[:, 2] >= 1).all()), "an empty set of literals")
    pairs = args[spread(sets[:, 1].astype(np.int64), 2 * sets[:, 2].astype(np.int64))].reshape(-1, 2)
    starts = np.concatenate((literals[:, 1], classes[:, 1], pairs[:, 0])).astype(np.int64)
    lengths = np.concatenate((literals[:, 2], np.full(len(classes), 32, np.int32), pairs[:, 1])).astype(np.int64)
    need(
        bool(((starts >= 0) & (lengths >= 0) & (starts + lengths <= len(module.blob))).all()), "a text is out of bounds"
    )
    _disjoint(starts, lengths, "the byte pool")


def _disjoint(starts: Longs, lengths: Longs, what: str) -> None:
    used = lengths > 0
    starts, lengths = starts[used], lengths[used]
    order = np.argsort(starts, kind="stable")
    starts, lengths = starts[order], lengths[order]
    need(bool((starts[:-1] + lengths[:-1] <= starts[1:]).all()), f"ranges of {what} overlap")


def _children(rows: Ints, args: Ints) -> tuple[Longs, Longs]:
    """(parent, child) for every reference from node to node."""
    kinds = column_kinds(rows)
    parents, children = [], []
    for column in range(3):
        which = np.flatnonzero((kinds[:, column] == NODE) & (rows[:, column + 1] >= 0))
        parents.append(which)
        children.append(rows[which, column + 1].astype(np.int64))
    ops = rows[:, 0]
    listed = np.flatnonzero(np.isin(ops, (*_LEXICAL_PARENTS, ir.SEQ, ir.CHOICE, ir.SEPARATED)))
    lengths = args_lengths(rows[listed])
    parents.append(np.repeat(listed, lengths))
    children.append(args[spread(rows[listed, 1].astype(np.int64), lengths)].astype(np.int64))
    idle = 0  # states that no edge speaks of; engines keep something per state, so they must stay few
    for node in np.flatnonzero((ops == ir.ANY_ORDER) | (ops == ir.AUTOMATON)).tolist():
        _, at, count, _ = rows[node].tolist()
        if ops[node] == ir.ANY_ORDER:
            found = _any_order(args[at : at + 4 + 2 * count])
        else:
            found = _automaton(args[at : at + count])
            idle += max(0, int(args[at]) - count)
        parents.append(np.full(len(found), node))
        children.append(found.astype(np.int64))
    need(idle <= IDLE_STATES, "automata with too many states that no edge reaches")
    return np.concatenate(parents), np.concatenate(children)


def _any_order(args: Ints) -> Ints:
    head, items, required = args[:4], args[4::2], args[5::2]
    low, high = int(head[2]), int(head[3])
    need(bool((head[:2] >= -1).all() and ((required == 0) | (required == 1)).all()), "any_order: bad arguments")
    need(low >= 0 and (high == ir.UNBOUNDED or high >= low), "any_order: bad bounds")
    need(bool((items >= 0).all()), "any_order: a reference is out of range")
    return np.concatenate((head[:2][head[:2] >= 0], items))


def _automaton(args: Ints) -> Ints:
    need(len(args) >= 4, "automaton: too short")
    states, start, count = args[:3].tolist()
    need(states >= 1 and 0 <= start < states and 0 <= count <= (len(args) - 4) // 3, "automaton: bad header")
    edges = args[3 : 3 + 3 * count].reshape(-1, 3)
    ends = args[4 + 3 * count :]
    need(int(args[3 + 3 * count]) == len(ends), "automaton: wrong length")
    ids = np.concatenate((edges[:, 0], edges[:, 2], ends))
    need(bool(((ids >= 0) & (ids < states)).all()), "automaton: a state is out of range")
    need(bool((edges[1:, 0] >= edges[:-1, 0]).all()), "automaton: edges are not sorted")
    need(bool((ends[1:] > ends[:-1]).all()), "automaton: accepting states are not sorted and distinct")
    return edges[:, 1]


def _check_children(rows: Ints, parents: Longs, children: Longs) -> None:
    need(bool(((children >= 0) & (children < parents)).all()), "a child does not come before its parent")
    ops = rows[:, 0]
    lexical_parent = ops[parents] < ir.FIRST_SYNTACTIC
    child_ops = ops[children]
    lexical_child = child_ops < ir.FIRST_SYNTACTIC
    # TERMINAL and the ignore of a SCOPE are where a syntactic node has a lexical child.
    wants_lexical = lexical_parent | (ops[parents] == ir.TERMINAL)
    is_ignore = (ops[parents] == ir.SCOPE) & (rows[parents, 2] == children) & (rows[parents, 1] != children)
    both = _both_levels(rows)[children]
    need(bool((~wants_lexical | lexical_child).all()), "a syntactic node where a lexical one is needed")
    need(
        bool((wants_lexical | is_ignore | ~lexical_child | both).all()),
        "a lexical node where a syntactic one is needed",
    )
    scopes = rows[(ops == ir.SCOPE) & (rows[:, 2] >= 0)]
    need(bool((ops[scopes[:, 2]] < ir.FIRST_SYNTACTIC).all()), "the ignore of a scope is not lexical")
    terminals = rows[ops == ir.TERMINAL]
    need(not _both_levels(rows)[terminals[:, 1]].any(), "a terminal of nothing or of the empty text")
    in_any_order = ops[parents] == ir.ANY_ORDER
    need(bool((child_ops[in_any_order] >= ir.FIRST_SYNTACTIC).all()), "any_order: a lexical item")


def _both_levels(rows: Ints) -> npt.NDArray[np.bool_]:
    """Nodes that are lexical and syntactic alike: nothing, and the empty text."""
    found: npt.NDArray[np.bool_] = (rows[:, 0] == ir.NOTHING) | ((rows[:, 0] == ir.LITERAL) & (rows[:, 2] == 0))
    return found


def _check_bounds(rows: Ints) -> None:
    ops = rows[:, 0]
    counted = rows[np.isin(ops, (ir.LEX_REPEAT, ir.REPEAT, ir.SEPARATED))]
    low, high = counted[:, 2], counted[:, 3]
    need(bool(((low >= 0) & ((high == ir.UNBOUNDED) | (high >= low))).all()), "a repeat has bad bounds")
    need(bool(np.isin(rows[ops == ir.TERMINAL, 2], (0, 1)).all()), "a terminal is neither exempt nor not")


def _check_sets(module: Module, rows: Ints, args: Ints) -> None:
    """Sorted and distinct contents: characters, token ids, literals; byte classes not empty."""
    ops = rows[:, 0]
    for op, each in ((ir.CHARS, 2), (ir.TOKEN_IDS, 1)):
        chosen = rows[ops == op]
        need(bool((chosen[:, 2] >= 1).all()), "an empty set of characters or tokens")
        lengths = each * chosen[:, 2].astype(np.int64)
        values = args[spread(chosen[:, 1].astype(np.int64), lengths)]
        ordered = values.astype(np.int64) if op == ir.CHARS else values.view(np.uint32).astype(np.int64)
        first = np.zeros(len(values), bool)
        first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
        rises = np.diff(ordered, prepend=-1)
        if op == ir.CHARS:
            _check_chars(ordered.reshape(-1, 2), rises.reshape(-1, 2), first.reshape(-1, 2))
        else:
            need(bool((first | (rises > 0)).all()), "token ids are not sorted and distinct")
    for node in np.flatnonzero(ops == ir.BYTES).tolist():
        at = int(rows[node, 1])
        need(any(module.blob[at : at + 32]), "an empty byte class")
    for node in np.flatnonzero(ops == ir.LITERALS).tolist():
        _, at, count, _ = rows[node].tolist()
        flat = args[at : at + 2 * count].tolist()
        texts = [module.blob[s : s + n] for s, n in zip(flat[0::2], flat[1::2], strict=True)]
        need(all(a < b for a, b in itertools.pairwise(texts)), "literals are not sorted and distinct")


def _check_chars(pairs: Longs, rises: Longs, first: npt.NDArray[np.bool_]) -> None:
    low, high = pairs[:, 0], pairs[:, 1]
    need(bool(((low >= 0) & (low <= high) & (high <= 0x10FFFF)).all()), "characters out of range")
    need(bool(((high < 0xD800) | (low > 0xDFFF)).all()), "characters include surrogates")
    need(bool((first[:, 0] | (rises[:, 0] > 0)).all()), "characters are not sorted")


def _check_slots(module: Module, rows: Ints) -> None:
    for op, kind in ((ir.EXTERN_GRAMMAR, "grammar"), (ir.EXTERN_TOKEN, "token")):
        for name in set(rows[rows[:, 0] == op, 1].tolist()):
            need(module.slots.get(module.names[name]) == kind, f'slot "{module.names[name]}" is not declared as {kind}')


def _check_rules(module: Module, rows: Ints) -> None:
    rules = _view(module.rules).reshape(-1, 2)
    need(bool(((rules[:, 0] >= 0) & (rules[:, 0] < len(module.names))).all()), "a rule has no name")
    bodies = np.append(rules[:, 1], np.clip(module.root, -1, len(rows))).astype(np.int64)
    need(bool(((bodies >= 0) & (bodies < len(rows))).all()), "a rule or the root has no body")
    fine = (rows[bodies, 0] >= ir.FIRST_SYNTACTIC) | _both_levels(rows)[bodies]
    need(bool(fine.all()), "the body of a rule is lexical")


# -- pieces ---------------------------------------------------------------------------------------------------


def unpack(data: bytes, what: str) -> Any:
    """One msgpack value out of untrusted bytes.

    Raises:
        ArtifactError: not just one value.
    """
    try:
        return msgpack.unpackb(data, use_list=True, strict_map_key=True)
    except (ValueError, TypeError, RecursionError, MemoryError, OverflowError, msgpack.UnpackException) as error:
        raise ArtifactError(f"{what}: unreadable ({type(error).__name__})") from None


def _little(numbers: array[int]) -> bytes:
    return numbers.tobytes() if sys.byteorder == "little" else _view(numbers).astype("<i4").tobytes()


def _ints(data: object, what: str, each: int) -> Ints:
    if not isinstance(data, bytes) or len(data) % (4 * each):
        raise ArtifactError(f"grammar: {what} is not an array of {each} number(s) per entry")
    return np.frombuffer(data, "<i4").astype(np.int32, copy=False)


def _to_array(numbers: Ints) -> array[int]:
    made: array[int] = array("i")
    made.frombytes(numbers.tobytes())
    return made


def _view(numbers: array[int]) -> Ints:
    return np.frombuffer(numbers, np.int32) if len(numbers) else np.zeros(0, np.int32)


def _slots(entries: object) -> dict[str, str]:
    need(isinstance(entries, list), "slots are not a list")
    slots: dict[str, str] = {}
    assert isinstance(entries, list), "checked above"
    for entry in entries:
        need(isinstance(entry, list) and len(entry) == 2, "a slot is not a pair")
        name, kind = entry
        need(type(name) is str and kind in ("grammar", "token") and name not in slots, "a slot is not as declared")
        slots[name] = kind
    return slots


def _pack_places(places: Mapping[int, Place]) -> list[Any]:
    """Places as [ids, four numbers each, pointers]; a JSON pointer is (-1, index, 0, 0)."""
    ids = sorted(places)
    numbers: list[int] = []
    pointers: dict[str, int] = {}
    for i in ids:
        place = places[i]
        if isinstance(place, Span):
            numbers += (place.line, place.column, place.start, place.end)
        else:
            numbers += (-1, pointers.setdefault(place, len(pointers)), 0, 0)
    return [np.array(ids, "<i4").tobytes(), np.array(numbers, "<i4").tobytes(), list(pointers)]


class PackedPlaces(Mapping[int, Place]):
    """Places as saved; each is made when it is asked for."""

    __slots__ = ("_ids", "_numbers", "_pointers")

    def __init__(self, packed: object, top: int) -> None:
        if not isinstance(packed, list) or len(packed) != 3:
            raise ArtifactError("grammar: places are not as saved")
        ids, numbers, pointers = _ints(packed[0], "places", 1), _ints(packed[1], "places", 4), packed[2]
        rows = numbers.reshape(-1, 4)
        need(len(rows) == len(ids) and isinstance(pointers, list), "places are not as saved")
        need(all(type(p) is str for p in pointers), "a JSON pointer is not text")
        need(bool((ids[1:] > ids[:-1]).all() and (ids >= 0).all() and (ids < top).all()), "places are not sorted")
        pointing = rows[rows[:, 0] == -1, 1]
        need(bool(((pointing >= 0) & (pointing < len(pointers))).all()), "a place is out of range")
        self._ids, self._numbers, self._pointers = ids.tolist(), rows, pointers

    def __getitem__(self, node: int) -> Place:
        at = bisect_left(self._ids, node)
        if at == len(self._ids) or self._ids[at] != node:
            raise KeyError(node)
        line, column, start, end = self._numbers[at].tolist()
        return self._pointers[column] if line == -1 else Span(line, column, start, end)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)
