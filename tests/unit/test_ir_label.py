"""Texts for terminals without a name."""

from __future__ import annotations

import time

import pytest

from glrmask_core.ir import Builder
from glrmask_core.ir_label import LONGEST, label


def shown(make: object) -> str:
    builder = Builder()
    node = make(builder)  # type: ignore[operator]
    return label(builder.build(builder.terminal(node)), node)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda b: b.literal(b"foo"), '"foo"'),
        (lambda b: b.literal(b"\n\xff\0"), '"\\n\\xff\\x00"'),
        (lambda b: b.chars([(97, 122)]), "[a-z]"),
        (lambda b: b.repeat(b.bytes_class(range(48, 58)), 1), "[0-9]+"),
        (lambda b: b.seq([b.literal(b"a"), b.repeat(b.chars([(98, 99)]), 0, 3)]), '"a" [bc]{0,3}'),
        (lambda b: b.literals([b"b", b"a"]), '"a" | "b"'),
    ],
)
def test_short(make: object, expected: str) -> None:
    assert shown(make) == expected


@pytest.mark.parametrize(
    "make",
    [
        lambda b: b.literal(b"x" * 10_000_000),
        lambda b: b.literals([b"%d" % i for i in range(100_000)]),
        lambda b: b.seq([b.chars([(97 + i % 20, 99 + i % 20)]) for i in range(100_000)]),
        lambda b: b.choice([b.repeat(b.bytes_class([i % 256, 3]), i) for i in range(20_000)]),
    ],
)
def test_long_ones_are_cut(make: object) -> None:
    builder = Builder()
    node = make(builder)  # type: ignore[operator]
    module = builder.build(builder.terminal(node))
    started = time.thread_time()
    text = label(module, node)
    assert text.endswith("...") and len(text) <= LONGEST and time.thread_time() - started < 0.1


def test_deep_ones_are_cut() -> None:
    builder = Builder()
    node = builder.literal(b"a")
    for _ in range(5_000):
        node = builder.seq([builder.choice([node, builder.literal(b"b")]), builder.chars([(99, 100)])])
    assert "..." in label(builder.build(builder.terminal(node)), node)
