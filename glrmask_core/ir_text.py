r"""A module as text, for people, logs and golden files. Nothing reads it back.

::

    root = expr                 rule = expr             %7 = a node that several places use

    "text"  {"a", "b"}          bytes, a set of them    <NAME: lexical>  <lexical>   a terminal; ``!`` exempt
    [a-z\xff]  [a-zà-ÿ]u        one byte, one character  name                        a rule
    a b   a | b   a & b   a - b                         @{3, 9}  $$slot  $slot       exact tokens, slots
    a* a+ a? a{2} a{2,5}        counted                 a{0,3 by b}                  with separators
    fa{0 -"x"> 1; ends 1}       an automaton            scope{a ignore b}  order{a! b by c extra d, 1..3}

In ``order{..}`` a ``!`` marks required items. Cost: linear in the module; every node is written once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from . import ir
from .ir import Module
from .ir_walk import children, reachable_nodes

DEPTH = 12  # expressions that nest deeper get lines of their own
MANY = 20  # members of a set that are shown
_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 92: "\\\\", 34: '\\"'}
_SIMPLE = (ir.LITERAL, ir.BYTES, ir.CALL, ir.NOTHING, ir.EXTERN_GRAMMAR, ir.EXTERN_TOKEN)
# How tightly an operator binds; what is looser than its place goes into parentheses.
_CHOICE, _MINUS, _AND, _SEQ, _ATOM = range(5)
_BINDS = {
    ir.CHOICE: _CHOICE,
    ir.LEX_CHOICE: _CHOICE,
    ir.WITHOUT: _MINUS,
    ir.BOTH: _AND,
    ir.SEQ: _SEQ,
    ir.LEX_SEQ: _SEQ,
}


def dump(module: Module) -> str:
    """The text of a module: the root, the rules that it reaches, then nodes that several places use."""
    return _Dump(module).text()


class _Dump:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.reached = sorted(reachable_nodes(module))
        uses: Counter[int] = Counter()
        for node in self.reached:
            if module.row(node)[0] != ir.CALL:
                uses.update(children(module, node))
        self.own = {n for n, count in uses.items() if count > 1 and not self._is_small(n)}
        self._split_deep()
        self.rules = self._rule_names()

    def _is_small(self, node: int) -> bool:
        op, a, b, _ = self.module.row(node)
        if op == ir.TERMINAL:
            return self.module.row(a)[0] == ir.LITERAL
        return op in _SIMPLE and (op != ir.LITERAL or b < 40)

    def _split_deep(self) -> None:
        """Give nodes lines of their own where nesting gets deep; children come before their parents."""
        height: dict[int, int] = {}
        for node in self.reached:
            op = self.module.row(node)[0]
            below = (
                [] if op == ir.CALL else [height.get(x, 0) for x in children(self.module, node) if x not in self.own]
            )
            height[node] = 1 + max(below, default=0)
            if height[node] > DEPTH:
                self.own.add(node)

    def _rule_names(self) -> dict[int, str]:
        """Names of the reached rules, made distinct by their numbers."""
        module = self.module
        numbers = [module.row(n)[1] for n in self.reached if module.row(n)[0] == ir.CALL]
        names = {number: module.names[module.rules[2 * number]] for number in numbers}
        twice = {name for name, count in Counter(names.values()).items() if count > 1 or name == "root"}
        return {number: f"{name}#{number}" if name in twice else name for number, name in names.items()}

    def text(self) -> str:
        lines = [f"root = {self.inside(self.module.root)}"]
        for number, name in sorted(self.rules.items()):
            lines.append(f"{name} = {self.expr(self.module.rules[2 * number + 1], _CHOICE)}")
        lines += (f"%{node} = {self.inside(node)}" for node in sorted(self.own) if node != self.module.root)
        return "\n".join(lines) + "\n"

    def expr(self, node: int, place: int) -> str:
        """A node where something at least as tight as ``place`` is expected."""
        if node in self.own:
            return f"%{node}"
        op = self.module.row(node)[0]
        text = self.inside(node)
        return f"({text})" if _BINDS.get(op, _ATOM) < place and not text.endswith("?") else text

    def inside(self, node: int) -> str:
        """What a node consists of."""
        op, a, b, c = self.module.row(node)
        args = self.module.args
        if op in (ir.LITERAL, ir.LITERALS, ir.BYTES, ir.CHARS, ir.TOKEN_IDS):
            return self.atom(node)
        if op in (ir.SEQ, ir.LEX_SEQ):
            return " ".join(self.expr(x, _ATOM) for x in args[a : a + b])
        if op in (ir.CHOICE, ir.LEX_CHOICE):
            return self.choice(args[a : a + b])
        if op in (ir.REPEAT, ir.LEX_REPEAT):
            return self.expr(a, _ATOM) + self.count(b, c)
        if op == ir.SEPARATED:
            return f"{self.expr(args[a], _ATOM)}{{{self.bounds(b, c)} by {self.expr(args[a + 1], _ATOM)}}}"
        if op == ir.BOTH:
            return f"{self.expr(a, _SEQ)} & {self.expr(b, _SEQ)}"
        if op == ir.WITHOUT:
            return f"{self.expr(a, _MINUS)} - {self.expr(b, _AND)}"
        if op == ir.TERMINAL:
            name = f"{self.module.names[c]}: " if c >= 0 else ""
            return f"<{name}{self.expr(a, _CHOICE)}>{'!' if b else ''}"
        if op == ir.CALL:
            return self.rules[a]
        if op in (ir.EXTERN_GRAMMAR, ir.EXTERN_TOKEN):
            return ("$" if op == ir.EXTERN_GRAMMAR else "$$") + self.module.names[a]
        if op == ir.SCOPE:
            return f"scope{{{self.expr(a, _CHOICE)}{f' ignore {self.expr(b, _CHOICE)}' if b >= 0 else ''}}}"
        if op == ir.AUTOMATON:
            return self.automaton(a, b)
        return self.order(a, b) if op == ir.ANY_ORDER else "nothing"

    def choice(self, parts: Sequence[int]) -> str:
        """Alternatives; one that is empty makes the others optional."""
        shown = [x for x in parts if not self.is_empty(x)]
        if len(shown) == len(parts):
            return " | ".join(self.expr(x, _MINUS) for x in shown)
        if len(shown) == 1:
            return f"{self.expr(shown[0], _ATOM)}?"
        return f"({' | '.join(self.expr(x, _MINUS) for x in shown)})?"

    def is_empty(self, node: int) -> bool:
        """Whether a node is the empty text."""
        op, _, length, _ = self.module.row(node)
        return op == ir.LITERAL and length == 0

    def bounds(self, low: int, high: int) -> str:
        """Of a repeat, without braces."""
        return str(low) if low == high else f"{low},{high if high >= 0 else ''}"

    def count(self, low: int, high: int) -> str:
        """The suffix of a repeat."""
        return {(0, -1): "*", (1, -1): "+", (0, 1): "?"}.get((low, high)) or f"{{{self.bounds(low, high)}}}"

    def atom(self, node: int) -> str:
        """A node without parts."""
        op, a, b, _ = self.module.row(node)
        args, blob = self.module.args, self.module.blob
        if op == ir.LITERAL:
            return quoted(blob[a : a + b]) if b else "eps"
        if op == ir.LITERALS:
            pairs = [(args[a + 2 * i], args[a + 2 * i + 1]) for i in range(min(b, MANY))]
            return f"{{{', '.join(quoted(blob[at : at + n]) for at, n in pairs)}{more(b)}}}"
        if op == ir.BYTES:
            bits = int.from_bytes(blob[a : a + 32], "little")
            members = [x for x in range(256) if bits >> x & 1]
            return f"[{''.join(_range(*r, _byte) for r in runs(members))}]"
        if op == ir.CHARS:
            ranges = [(args[a + 2 * i], args[a + 2 * i + 1]) for i in range(min(b, MANY))]
            return f"[{''.join(_range(*r, _char) for r in ranges)}{more(b)}]u"
        return f"@{{{', '.join(str(i % 2**32) for i in args[a : a + min(b, MANY)])}{more(b)}}}"

    def automaton(self, at: int, length: int) -> str:
        """The edges of an automaton, its start first."""
        args = self.module.args[at : at + length]
        edges = [args[i : i + 3] for i in range(3, 3 + 3 * args[2], 3)]
        shown = [f"{s} -{self.expr(label, _ATOM)}> {t}" for s, label, t in edges]
        ends = ", ".join(map(str, args[4 + 3 * args[2] :]))
        return f"fa{{start {args[1]}; {''.join(f'{edge}; ' for edge in shown)}ends {ends}}}"

    def order(self, at: int, count: int) -> str:
        """The members of any_order."""
        args = self.module.args
        separator, extra, low, high = args[at : at + 4]
        items = [(args[at + 4 + 2 * i], args[at + 5 + 2 * i]) for i in range(count)]
        text = " ".join(self.expr(x, _ATOM) + ("!" if required else "") for x, required in items)
        text += f" by {self.expr(separator, _ATOM)}" if separator >= 0 else ""
        text += f" extra {self.expr(extra, _ATOM)}" if extra >= 0 else ""
        return f"order{{{text}{f', {low}..{high if high >= 0 else str()}' if (low, high) != (0, -1) else ''}}}"


def more(count: int) -> str:
    """Tells how many members are not shown."""
    return f" ...+{count - MANY}" if count > MANY else ""


def quoted(data: bytes) -> str:
    """Bytes as readable text; what is no printable UTF-8 as ``\\xHH``."""
    out = []
    for c in data.decode("utf-8", "surrogateescape"):
        code = ord(c)
        if code in _ESCAPES:
            out.append(_ESCAPES[code])
        elif 0xDC80 <= code <= 0xDCFF:
            out.append(f"\\x{code - 0xDC00:02x}")
        else:
            out.append(c if c.isprintable() else "".join(f"\\x{x:02x}" for x in c.encode()))
    return f'"{"".join(out)}"'


def runs(members: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as inclusive ranges."""
    out: list[tuple[int, int]] = []
    for x in members:
        if out and out[-1][1] == x - 1:
            out[-1] = out[-1][0], x
        else:
            out.append((x, x))
    return out


def _byte(code: int) -> str:
    return f"\\x{code:02x}" if code > 0x7E else _char(code)


def _char(code: int) -> str:
    if code in _ESCAPES and code != 34:
        return _ESCAPES[code]
    c = chr(code)
    if c in "]-^":
        return f"\\{c}"
    return c if c.isprintable() else f"\\x{code:02x}" if code < 0x80 else f"\\u{{{code:x}}}"


def _range(low: int, high: int, show: Callable[[int], str]) -> str:
    return show(low) if low == high else f"{show(low)}{'-' if high > low + 1 else ''}{show(high)}"
