"""The readable form of a module."""

from __future__ import annotations

import time

from glrmask_core.ir import Builder
from glrmask_core.ir_text import dump


def shown(builder: Builder, root: int) -> list[str]:
    return dump(builder.build(root)).splitlines()


def test_lexical_forms() -> None:
    b = Builder()
    word = b.repeat(b.chars([(97, 122), (0xE0, 0xFF)]), 1)
    body = b.choice([b.without(word, b.literal(b"if")), b.seq([b.literal(b'"\n\xff'), b.repeat(b.any_byte(), 2, 5)])])
    assert ['root = <W: [a-zà-ÿ]u+ - "if" | "\\"\\n\\xff" [\\x00-\\xff]{2,5}>'] == shown(b, b.terminal(body, "W"))
    both = b.both(b.literals([b"a", b"b"]), b.choice([b.literal(b"c"), b.literal(b"d")]))
    assert ['root = <{"a", "b"} & ("c" | "d")>!'] == shown(b, b.terminal(both, exempt=True))
    fa = b.automaton(2, 0, [1], [(0, b.literal(b"x"), 1), (1, b.literal(b"y"), 0)])
    assert ['root = <fa{start 0; 0 -"x"> 1; 1 -"y"> 0; ends 1}>'] == shown(b, b.terminal(fa))


def test_syntactic_forms() -> None:
    b = Builder()
    x, y = b.terminal(b.literal(b"x")), b.terminal(b.literal(b"y"), "Y")
    r = b.rule("r", b.seq([x, b.optional(y)]))
    assert ["root = r", 'r = <"x"> <Y: "y">?'] == shown(b, r)
    assert ['root = (<"x"> | <Y: "y">)?'] == shown(b, b.choice([x, y, b.empty()]))
    assert ['root = <"x">{0,3 by <Y: "y">}'] == shown(b, b.repeat(x, 0, 3, y))
    assert ['root = <"x">* <Y: "y">{2} @{3, 4294967295}'] == shown(
        b, b.seq([b.repeat(x), b.repeat(y, 2, 2), b.token_ids([2**32 - 1, 3])])
    )
    order = b.any_order([(x, True), (y, False)], y, x, 1, 3)
    assert ['root = order{<"x">! <Y: "y"> by <Y: "y"> extra <"x">, 1..3}'] == shown(b, order)
    assert ['root = scope{<"x"> ignore " "}'] == shown(b, b.scope(x, b.literal(b" ")))
    assert ["root = $child $$mark"] == shown(b, b.seq([b.extern_grammar("child"), b.extern_token("mark")]))
    assert ["root = nothing"] == shown(b, b.nothing())
    assert ["root = eps"] == shown(b, b.empty())


def test_shared_nodes_and_equal_names() -> None:
    b = Builder()
    big = b.terminal(b.repeat(b.bytes_class(b"abc"), 1), "T")
    one, two = b.rule("r", big), b.rule("r", b.seq([big, big]))
    lines = shown(b, b.choice([one, two]))
    assert ["root = r#0 | r#1", f"r#0 = %{big}", f"r#1 = %{big} %{big}", f"%{big} = <T: [a-c]+>"] == lines


def test_only_what_the_root_reaches() -> None:
    b = Builder()
    b.rule("unused", b.terminal(b.literal(b"u")))
    assert ['root = <"x">'] == shown(b, b.terminal(b.literal(b"x")))


def test_deep_and_wide_modules_stay_linear() -> None:
    b = Builder()
    node = b.terminal(b.literal(b"x"))
    for i in range(20_000):
        node = b.seq([b.terminal(b.literal(b"%d" % i)), b.repeat(node, 0, 2)])
    wide = b.terminal(b.literals(b"%d" % i for i in range(50_000)))
    started = time.process_time()
    lines = shown(b, b.choice([node, wide]))
    assert time.process_time() - started < 5
    assert max(len(line) for line in lines) < 2000
    assert any("...+49980" in line for line in lines)
