"""A recogniser for modules of this front-end, independent of any engine: sets of end positions.

It leaves out the rule of the longest match, which decides nothing in these grammars but the length of a run
of blanks, and it does not handle left recursion, which they do not have.
"""

from __future__ import annotations

import sys

from glrmask_core.ir import Module, Op


def cache(function):  # type: ignore[no-untyped-def]
    """Like functools.cache, but in Python: deep recursion through C is limited from Python 3.12 on."""
    known: dict[object, object] = {}

    def cached(*key):  # type: ignore[no-untyped-def]
        if key not in known:
            known[key] = function(*key)
        return known[key]

    return cached


class Recogniser:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.rows = [module.row(i) for i in range(len(module))]
        self._chars: dict[int, list[tuple[int, int]]] = {}

    def accepts(self, text: str | bytes) -> bool:
        data = text.encode() if isinstance(text, str) else text
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 20000))
        try:
            return len(data) in self._run(data)(self.module.root, 0)
        finally:
            sys.setrecursionlimit(limit)

    def _run(self, data: bytes):  # type: ignore[no-untyped-def]
        module, rows, args, blob = self.module, self.rows, self.module.args, self.module.blob
        size = len(data)

        @cache
        def ends(node: int, at: int) -> frozenset[int]:
            return frozenset(compute(node, at))

        def sequence(parts, starts):  # type: ignore[no-untyped-def]
            for part in parts:
                starts = {e for s in starts for e in ends(part, s)}
                if not starts:
                    break
            return starts

        def repeat(step, starts, low, high):  # type: ignore[no-untyped-def]
            out, now, count = set(), set(starts), 0
            seen = set()
            while now and (high < 0 or count <= high):
                if count >= low:
                    if now <= out:
                        break
                    out |= now
                elif count > low - 1 or frozenset(now) in seen:
                    pass
                now = {e for s in now for e in step(s)}
                count += 1
                if count > low + size + 1:
                    break
            return out

        def compute(node: int, at: int):  # type: ignore[no-untyped-def]
            op, a, b, c = rows[node]
            if op == Op.LITERAL:
                return {at + b} if data.startswith(blob[a : a + b], at) else set()
            if op == Op.LITERALS:
                return {
                    at + args[a + 2 * i + 1] for i in range(b)
                    if data.startswith(blob[args[a + 2 * i] : args[a + 2 * i] + args[a + 2 * i + 1]], at)
                }  # fmt: skip
            if op == Op.BYTES:
                return {at + 1} if at < size and blob[a + (data[at] >> 3)] >> (data[at] & 7) & 1 else set()
            if op == Op.CHARS:
                if at >= size:
                    return set()
                n = 1 if data[at] < 0x80 else 2 if data[at] < 0xE0 else 3 if data[at] < 0xF0 else 4
                try:
                    code = ord(data[at : at + n].decode())
                except (UnicodeDecodeError, TypeError):
                    return set()
                return {at + n} if any(args[a + 2 * i] <= code <= args[a + 2 * i + 1] for i in range(b)) else set()
            if op in (Op.LEX_SEQ, Op.SEQ):
                return sequence(args[a : a + b], {at})
            if op in (Op.LEX_CHOICE, Op.CHOICE):
                return {e for part in args[a : a + b] for e in ends(part, at)}
            if op in (Op.LEX_REPEAT, Op.REPEAT):
                return repeat(lambda s: ends(a, s), {at}, b, c)
            if op == Op.SEPARATED:
                item, separator = args[a], args[a + 1]
                out = {at} if b == 0 else set()
                if c != 0:
                    most = c - 1 if c > 0 else -1
                    out |= repeat(lambda s: sequence((separator, item), {s}), ends(item, at), max(b - 1, 0), most)
                return out
            if op == Op.BOTH:
                return ends(a, at) & ends(b, at)
            if op == Op.WITHOUT:
                return ends(a, at) - ends(b, at)
            if op == Op.AUTOMATON:
                start, count = args[a + 1], args[a + 2]
                edges = [tuple(args[a + 3 + 3 * i : a + 6 + 3 * i]) for i in range(count)]
                tail = a + 3 + 3 * count
                accepting = set(args[tail + 1 : tail + 1 + args[tail]])
                seen, todo = {(start, at)}, [(start, at)]
                while todo:
                    state, s = todo.pop()
                    for source, label, target in edges:
                        if source == state:
                            new = {(target, e) for e in ends(label, s)} - seen
                            seen |= new
                            todo += new
                return {s for state, s in seen if state in accepting}
            if op == Op.TERMINAL:
                return ends(a, at)
            if op == Op.CALL:
                return ends(module.rules[2 * a + 1], at)
            if op == Op.ANY_ORDER:
                return any_order(a, b, at)
            return set()

        def any_order(a: int, b: int, at: int) -> set[int]:
            separator, extra, low, high = args[a : a + 4]
            items = [(args[a + 4 + 2 * i], args[a + 5 + 2 * i]) for i in range(b)]
            needed = frozenset(i for i, (_, required) in enumerate(items) if required)
            start = (frozenset(), 0, at)
            seen, todo, out = {start}, [start], set()
            while todo:
                used, count, s = todo.pop()
                if needed <= used and count >= low:
                    out.add(s)
                if high >= 0 and count >= high:
                    continue
                froms = {s} if count == 0 or separator < 0 else ends(separator, s)
                for f in froms:
                    left = [(i, n) for i, (n, _) in enumerate(items) if i not in used]
                    new = {(used | {i}, count + 1, e) for i, n in left for e in ends(n, f)}
                    if extra >= 0:
                        new |= {(used, count + 1, e) for e in ends(extra, f) if e > s}
                    todo += new - seen
                    seen |= new
            return out

        return ends
