"""The IR as bytes: round trips, and every rule that engines rely on."""

from __future__ import annotations

import random
from array import array
from typing import Any

import msgpack
import pytest

from glrmask_core import ir, ir_codec
from glrmask_core.errors import ArtifactError
from glrmask_core.ir import Builder, Module
from glrmask_core.ir_codec import check, decode, encode
from glrmask_core.source import Span

ROWS, ARGS, BLOB, NAMES, RULES, ROOT, SLOTS, PLACES, RULE_PLACES = range(1, 10)


def everything() -> Module:
    """A module with every op, places of both kinds, recursion and slots."""
    b = Builder()
    letter = b.bytes_class(b"abc")
    word = b.repeat(letter, 1)
    lexical = [
        b.literals([b"if", b"iff", b""]),
        b.chars([(0x61, 0x7A), (0xE9, 0x2FFF), (0x10000, 0x10FFFF)]),
        b.both(word, b.repeat(b.any_byte(), 2, 5)),
        b.without(word, b.literal(b"abc")),
        b.automaton(3, 0, [2], [(0, letter, 1), (1, None, 2), (1, letter, 1)]),
        b.choice([b.literal(b"x"), word]),
        b.seq([letter, word]),
    ]
    terminals = [b.terminal(node, f"T{n}") for n, node in enumerate(lexical)]
    exempt = b.terminal(word, exempt=True, place=Span(1, 2, 1, 4))
    expr = b.rule("expr", place=Span(3, 1, 20, 24))
    comma = b.terminal(b.literal(b","), ",")
    b.define(expr, b.choice([b.seq([expr, comma, terminals[0]]), exempt, b.empty()]))
    parts = [
        b.repeat(terminals[1], 2, 4),
        b.repeat(terminals[2], 1, separator=comma),
        b.token_ids([7, 2**32 - 1, 3]),
        b.extern_grammar("P"),
        b.extern_token("inner::T"),
        b.scope(expr, word),
        b.any_order([(terminals[3], True), (terminals[4], False)], comma, terminals[5], 1, 3),
        terminals[6],
    ]
    for part in parts:
        b.mark(part, f"/properties/{part}")
    return b.build(b.seq(parts))


def random_module(seed: int) -> Module:
    rng = random.Random(seed)
    b = Builder()
    lexical = [b.literal(b"a"), b.bytes_class(b"xyz"), b.chars([(0, 0x7F)])]
    for _ in range(rng.randint(0, 8)):
        x, y = rng.choice(lexical), rng.choice(lexical)
        lexical.append(
            rng.choice([b.seq, b.choice])([x, y]) if rng.random() < 0.6 else rng.choice([b.both, b.without])(x, y)
        )
    nodes = [b.terminal(rng.choice(lexical), rng.choice([None, "N"]), rng.random() < 0.3) for _ in range(4)]
    calls = [b.rule(f"r{n}") for n in range(2)]
    nodes += calls
    for _ in range(rng.randint(0, 12)):
        x, y = rng.choice(nodes), rng.choice(nodes)
        nodes.append(
            rng.choice(
                [
                    lambda x=x, y=y: b.seq([x, y]),
                    lambda x=x, y=y: b.choice([x, y, b.empty()]),
                    lambda x=x: b.repeat(x, 0, 3),
                    lambda x=x, y=y: b.repeat(x, 1, None, y),
                    lambda x=x: b.scope(x, lexical[0]),
                    lambda: b.token_ids([rng.randrange(50)]),
                ]
            )()
        )
    for call in calls:
        b.define(call, rng.choice([n for n in nodes if not b.is_lexical(n)]))
    return b.build(rng.choice([n for n in nodes if not b.is_lexical(n)]))


def test_round_trip() -> None:
    module = everything()
    assert set(ir.Op) == {ir.Op(op) for op in module.rows[0::4]}
    loaded = decode(encode(module))
    assert module.digest == loaded.digest and encode(module) == encode(loaded)
    assert dict(module.places) == dict(loaded.places) and dict(module.rule_places) == dict(loaded.rule_places)
    assert list(module.slots.items()) == list(loaded.slots.items())
    assert module.rows == loaded.rows and isinstance(loaded.rows, array)


@pytest.mark.parametrize("seed", range(30))
def test_random_modules_round_trip(seed: int) -> None:
    module = random_module(seed)
    loaded = decode(encode(module))
    assert module.digest == loaded.digest and encode(module) == encode(loaded)


def test_the_empty_languages() -> None:
    for root in (Builder().nothing(), Builder().empty()):
        module = Builder().build(root)
        assert module.digest == decode(encode(module)).digest


def test_loaded_places_answer_like_a_mapping() -> None:
    places = decode(encode(everything())).places
    assert len(places) == len(list(places)) > 5
    assert places.get(10**6) is None and -1 not in places


def changed(field: int, change: Any) -> bytes:
    fields = msgpack.unpackb(encode(everything()))
    fields[field] = change(fields[field])
    return msgpack.packb(fields)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        (0, lambda v: v + 1),
        (ROWS, lambda v: b""),
        (ROWS, lambda v: v[:-4]),
        (ROWS, lambda v: [1]),
        (ARGS, lambda v: v[:-4]),
        (ARGS, lambda v: v + b"x"),
        (BLOB, lambda v: v[:-1]),
        (BLOB, lambda v: "text"),
        (NAMES, lambda v: v[:-1]),
        (NAMES, lambda v: [3] * len(v)),
        (NAMES, lambda v: None),
        (RULES, lambda v: v[:-4]),
        (RULES, lambda v: b"\xff" * len(v)),
        (ROOT, lambda v: 10**6),
        (ROOT, lambda v: 2**70),
        (ROOT, lambda v: -1),
        (ROOT, lambda v: None),
        (ROOT, lambda v: True),
        (SLOTS, lambda v: []),
        (SLOTS, lambda v: [[n, "token"] for n, _ in v]),
        (SLOTS, lambda v: [*v, v[0]]),
        (SLOTS, lambda v: [["P"]]),
        (SLOTS, lambda v: [["P", "other"]]),
        (SLOTS, lambda v: None),
        (PLACES, lambda v: None),
        (PLACES, lambda v: [b"", b"", []][:2]),
        (PLACES, lambda v: [v[0], v[1][:-16], v[2]]),
        (PLACES, lambda v: [v[0], v[1], []]),
        (PLACES, lambda v: [v[0], v[1], [3] * len(v[2])]),
        (PLACES, lambda v: [b"\xff" * len(v[0]), v[1], v[2]]),
        (PLACES, lambda v: [b"\xff\xff\xff\x7f" + v[0][4:], v[1], v[2]]),
        (RULE_PLACES, lambda v: [b"\x09\0\0\0", v[1], v[2]]),
    ],
)
def test_fields_that_lie(field: int, change: Any) -> None:
    decode(changed(field, lambda v: v))
    try:
        data = changed(field, change)
    except OverflowError:
        pytest.skip("msgpack has no such number")
    with pytest.raises(ArtifactError):
        decode(data)


@pytest.mark.parametrize(
    "data", [b"", b"\xc1", b"\x90", b"\x01", msgpack.packb({}), b"\xdd\xff\xff\xff\xff", b"\x91" * 5000]
)
def test_other_bytes(data: bytes) -> None:
    with pytest.raises(ArtifactError):
        decode(data)


def edited(op: int, column: int, value: int, args: dict[int, int] | None = None) -> Module:
    """``everything()`` with one column of the first node of ``op`` replaced; ``args`` are relative to its range."""
    module = everything()
    rows, pool = array("i", module.rows), array("i", module.args)
    node = list(rows[0::4]).index(op)
    for at, number in (args or {}).items():
        pool[rows[4 * node + 1] + at] = number
    if column:
        rows[4 * node + column] = value
    return Module(rows, pool, module.blob, module.names, module.rules, module.root, module.slots)


def test_the_module_itself_passes() -> None:
    check(everything())
    check(edited(ir.LITERAL, 0, 0))


BIG = 2**31 - 1
LIES: list[tuple[int, int, int, dict[int, int]]] = [
    *((op, 1, bad, {}) for op in range(1, 27) if op in set(ir.Op) for bad in (-1, -(2**31), BIG)),
    *((op, 2, BIG, {}) for op in (1, 2, 4, 5, 6, 8, 9, 10, 18, 19, 22, 25, 26)),
    *((op, 2, -2, {}) for op in (1, 2, 4, 5, 6, 7, 8, 9, 10, 16, 18, 19, 20, 21, 22, 25, 26)),
    (ir.LITERALS, 2, 0, {}),
    (ir.CHARS, 2, 0, {}),
    (ir.TOKEN_IDS, 2, 0, {}),
    (ir.LEX_REPEAT, 3, 0, {}),
    (ir.LEX_REPEAT, 3, -2, {}),
    (ir.REPEAT, 3, 1, {}),
    (ir.SEPARATED, 3, 0, {}),
    (ir.TERMINAL, 2, 2, {}),
    (ir.TERMINAL, 3, BIG, {}),
    (ir.TERMINAL, 3, -2, {}),
    (ir.TERMINAL, 1, 0, {}),  # of nothing
    (ir.TERMINAL, 1, 1, {}),  # of the empty text
    (ir.CALL, 1, 1, {}),
    (ir.LITERALS, 0, 0, {1: 3, 3: 1}),  # not sorted
    (ir.LITERALS, 0, 0, {0: -1}),
    (ir.LITERALS, 0, 0, {1: BIG}),
    (ir.CHARS, 0, 0, {0: -1}),
    (ir.CHARS, 0, 0, {0: 0x7B}),  # first > last
    (ir.CHARS, 0, 0, {1: 0xD900}),
    (ir.CHARS, 0, 0, {1: 0xE9}),  # overlaps the next
    (ir.CHARS, 0, 0, {5: 0x110000}),
    (ir.TOKEN_IDS, 0, 0, {0: 9}),  # not sorted
    (ir.TOKEN_IDS, 0, 0, {1: 3}),  # twice
    (ir.LEX_SEQ, 0, 0, {0: -1}),
    (ir.SEQ, 0, 0, {0: BIG}),
    (ir.CHOICE, 0, 0, {0: 2}),  # lexical inside syntactic
    (ir.SEPARATED, 0, 0, {0: 2}),
    (ir.SEPARATED, 0, 0, {1: -1}),
    (ir.AUTOMATON, 0, 0, {0: 0}),
    (ir.AUTOMATON, 0, 0, {0: BIG}),
    (ir.AUTOMATON, 0, 0, {1: 3}),
    (ir.AUTOMATON, 0, 0, {1: -1}),
    (ir.AUTOMATON, 0, 0, {2: 3}),
    (ir.AUTOMATON, 0, 0, {2: -1}),
    (ir.AUTOMATON, 0, 0, {3: 7}),
    (ir.AUTOMATON, 0, 0, {4: BIG}),
    (ir.AUTOMATON, 0, 0, {5: -1}),
    (ir.ANY_ORDER, 0, 0, {0: -2}),
    (ir.ANY_ORDER, 0, 0, {1: BIG}),
    (ir.ANY_ORDER, 0, 0, {2: -1}),
    (ir.ANY_ORDER, 0, 0, {3: 0}),
    (ir.ANY_ORDER, 0, 0, {3: -2}),
    (ir.ANY_ORDER, 0, 0, {4: -1}),
    (ir.ANY_ORDER, 0, 0, {4: 2}),
    (ir.ANY_ORDER, 0, 0, {5: 2}),
    (ir.ANY_ORDER, 0, 0, {0: 2}),
]


@pytest.mark.parametrize(("op", "column", "value", "args"), LIES)
def test_every_lie_is_noticed(op: int, column: int, value: int, args: dict[int, int]) -> None:
    if (op, column, value) == (ir.SCOPE, 2, -1):
        pytest.skip("no ignore")
    with pytest.raises(ArtifactError):
        check(edited(op, column, value, args))


def test_unknown_ops() -> None:
    module = everything()
    for op in (-1, 11, 15, 27, 255, 256, 2**31 - 1):
        rows = array("i", module.rows)
        rows[0] = op
        with pytest.raises(ArtifactError, match="op"):
            check(Module(rows, module.args, module.blob, module.names, module.rules, module.root, module.slots))


def test_overlapping_ranges() -> None:
    module = everything()
    rows = array("i", module.rows)
    ops = list(rows[0::4])
    first, second = ops.index(ir.SEQ), ops.index(ir.CHOICE)
    rows[4 * second + 1] = rows[4 * first + 1]
    with pytest.raises(ArtifactError, match="overlap"):
        check(Module(rows, module.args, module.blob, module.names, module.rules, module.root, module.slots))
    rows = array("i", module.rows)
    rows[4 * ops.index(ir.BYTES) + 1] = 1
    with pytest.raises(ArtifactError, match="overlap"):
        check(Module(rows, module.args, module.blob, module.names, module.rules, module.root, module.slots))


def test_children_come_first() -> None:
    module = everything()
    rows = array("i", module.rows)
    node = list(rows[0::4]).index(ir.REPEAT)
    rows[4 * node + 1] = node
    with pytest.raises(ArtifactError, match="before its parent"):
        check(Module(rows, module.args, module.blob, module.names, module.rules, module.root, module.slots))


def test_an_empty_byte_class() -> None:
    module = everything()
    at = module.rows[4 * list(module.rows[0::4]).index(ir.BYTES) + 1]
    blob = module.blob[:at] + bytes(32) + module.blob[at + 32 :]
    with pytest.raises(ArtifactError, match="byte class"):
        check(Module(module.rows, module.args, blob, module.names, module.rules, module.root, module.slots))


def test_rules_with_lexical_bodies() -> None:
    module = everything()
    rules = array("i", module.rules)
    rules[1] = 2
    with pytest.raises(ArtifactError, match="lexical"):
        check(Module(module.rows, module.args, module.blob, module.names, rules, module.root, module.slots))


def test_automata_with_masses_of_idle_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir_codec, "IDLE_STATES", 10)
    check(edited(ir.AUTOMATON, 0, 0, {0: 12}))
    with pytest.raises(ArtifactError, match="too many states"):
        check(edited(ir.AUTOMATON, 0, 0, {0: 60}))


@pytest.mark.parametrize("seed", range(10))
def test_random_damage_never_does_worse(seed: int) -> None:
    rng = random.Random(seed)
    data = encode(everything())
    for _ in range(100):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.choice((0, 1, 255, rng.randrange(256)))
        try:
            loaded = decode(bytes(damaged))
        except ArtifactError:
            continue
        assert encode(loaded) == encode(decode(encode(loaded)))
