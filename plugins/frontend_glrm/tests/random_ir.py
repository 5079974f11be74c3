"""Random modules for the printer: a list of small instructions, so that hypothesis can shrink them."""

from __future__ import annotations

from hypothesis import strategies as st

from glrmask_core.ir import Builder, Module

NAMES = (None, "A", "ID", "a b", "x::y", "eps", "start", "1z", "part", "IGNORED")
TEXTS = (b"", b"a", b"b", b"ab", b"ba", b"\xc3\xa9", b"\xff", b'"\\\n')
Instruction = tuple[int, int, int, int]


def modules(max_size: int = 24) -> st.SearchStrategy[Module]:
    """Closed modules without what GLRM lacks; every rule is defined, some are unused."""
    number = st.integers(0, 60)
    instruction = st.tuples(st.integers(0, 18), number, number, number)
    return st.lists(instruction, min_size=1, max_size=max_size).map(build)


def build(program: list[Instruction]) -> Module:
    """Run the instructions on a pool of lexical and a pool of syntactic nodes; the last syntactic one is the root."""
    b = Builder()
    lexical = [b.literal(b"a"), b.bytes_class(b"ab")]
    rules = [b.rule(name) for name in ("s", "x::s", "s t")]
    syntactic = [b.terminal(lexical[0]), *rules]
    for op, i, j, k in program:
        x, y = lexical[i % len(lexical)], lexical[j % len(lexical)]
        u, v = syntactic[i % len(syntactic)], syntactic[j % len(syntactic)]
        low, high = k % 3, None if k % 4 == 0 else k % 3 + j % 3
        if op <= 9:
            lexical.append(_lexical(b, op, x, y, i, j, k, (low, high)))
        elif op == 10 or op == 11:
            syntactic.append(b.terminal(x, NAMES[j % len(NAMES)]))
        elif op == 12 or op == 13:
            syntactic.append(b.seq((u, v)))
        elif op == 14:
            syntactic.append(b.choice((u, v, b.empty()) if k % 3 == 0 else (u, v)))
        elif op == 15:
            syntactic.append(b.repeat(u, low, high))
        elif op == 16:
            syntactic.append(b.repeat(u, low, high, separator=v))
        elif op == 17:
            syntactic.append(b.rule(NAMES[j % len(NAMES)] or "r", _syntactic(b, u)))
        else:
            syntactic.append(b.scope(_syntactic(b, u), x if k % 2 else None))
    for at, rule in enumerate(rules):
        b.define(rule, _syntactic(b, syntactic[-1 - at % len(syntactic)] if program[0][1] % 2 else syntactic[0]))
    return b.build(_syntactic(b, syntactic[-1]))


def _syntactic(b: Builder, node: int) -> int:
    return node if not b.is_lexical(node) or node in (b.empty(), b.nothing()) else b.terminal(node)


def _lexical(b: Builder, op: int, x: int, y: int, i: int, j: int, k: int, bounds: tuple[int, int | None]) -> int:
    if op == 0:
        return b.literal(TEXTS[i % len(TEXTS)])
    if op == 1:
        return b.literals(TEXTS[n % len(TEXTS)] for n in (i, j, k))
    if op == 2:
        return b.bytes_class(range(i, 256 if k % 2 else 97 + j))
    if op == 3:
        return b.chars([(i, 0x10FFFF if k % 2 else 97), (0xE9, 0xE9 + j), (0x1F600, 0x1F600 + k)])
    if op == 4:
        return b.seq((x, y))
    if op == 5:
        return b.choice((x, y, b.empty()) if k % 3 == 0 else (x, y))
    if op == 6:
        return b.repeat(x, *bounds)
    if op == 7:
        return b.both(x, y)
    if op == 8:
        return b.without(x, y)
    edges = [(i % 3, x, j % 3), (j % 3, y, k % 3), (k % 3, None if i % 2 else x, i % 3)]
    return b.automaton(3, i % 3, {j % 3, k % 3} if k % 5 else (), edges)
