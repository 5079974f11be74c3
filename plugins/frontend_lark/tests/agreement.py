"""Agreement with lark itself: random texts that lark accepts or refuses must be accepted or refused alike.

The grammars in ``grammars/`` have no overlapping terminals, so lark's lexer and ours see the same terminals.
Run by hand for a long comparison:

    python plugins/frontend_lark/tests/agreement.py --texts 500 --engine native --optimization fast_runtime [NAME ...]
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    from re import _parser as sre_parse
else:
    import sre_parse

from lark import Lark
from lark.exceptions import LarkError

GRAMMARS = Path(__file__).parent / "grammars"


class Sampler:
    """Random texts near the language of one grammar, and lark's verdict on them."""

    def __init__(self, grammar: str, seed: int) -> None:
        lexer = "dynamic_complete" if grammar.startswith("// lexer: dynamic_complete") else "basic"
        self.lark = Lark(grammar, parser="earley", lexer=lexer)
        self.random = random.Random(seed)
        self.patterns = {t.name: t.pattern.to_regexp() for t in self.lark.terminals}
        self.ignored = [self.patterns[name] for name in self.lark.ignore_tokens]
        self.rules: dict[str, list[list[object]]] = {}
        for rule in self.lark.rules:
            self.rules.setdefault(rule.origin.name, []).append(list(rule.expansion))
        self.depths = self._depths()

    def accepts(self, text: str) -> bool:
        """lark's verdict."""
        try:
            self.lark.parse(text)
        except LarkError:
            return False
        return True

    def texts(self, count: int) -> Iterator[str]:
        """Sentences, each followed by a mutation of it."""
        for _ in range(count):
            text = self._sentence()
            yield text
            yield self._mutation(text)

    def _depths(self) -> dict[str, int]:
        depths: dict[str, int] = {}
        while len(depths) < len(self.rules):
            before = len(depths)
            for name, bodies in self.rules.items():
                for body in bodies:
                    parts = [0 if s.is_term else depths.get(s.name) for s in body]
                    if name not in depths and None not in parts:
                        depths[name] = 1 + max(parts, default=0)
            assert len(depths) > before, "a grammar with an unproductive rule"
        return depths

    def _cost(self, body: list) -> int:
        return max((0 if s.is_term else self.depths[s.name] for s in body), default=0)

    def _sentence(self) -> str:
        budget = self.random.choice((5, 15, 40))
        out, stack = [], ["start"]
        while stack:
            symbol = stack.pop()
            if isinstance(symbol, str):
                bodies = self.rules[symbol]
                if len(out) + len(stack) > budget:
                    least = min(map(self._cost, bodies))
                    bodies = [body for body in bodies if self._cost(body) == least]
                body = self.random.choice(bodies)
                stack += [s if s.is_term else s.name for s in reversed(body)]
            else:
                out.append(self._match(self.patterns[symbol.name]))
        text = ""
        for lexeme in out:
            text += self._blank() + lexeme
        return text + self._blank()

    def _blank(self) -> str:
        if not self.ignored or self.random.random() < 0.4:
            return ""
        return self._match(self.random.choice(self.ignored))

    def _match(self, pattern: str) -> str:
        return self._walk(sre_parse.parse(pattern))

    def _walk(self, nodes: object) -> str:
        out = ""
        for op, value in nodes:
            name = str(op)
            if name == "LITERAL":
                out += chr(value)
            elif name == "NOT_LITERAL":
                out += self.random.choice([c for c in 'ab 1"*/' if ord(c) != value])
            elif name == "ANY":
                out += self.random.choice("ab 1*/")
            elif name == "IN":
                out += self._member(value)
            elif name == "BRANCH":
                out += self._walk(self.random.choice(value[1]))
            elif name == "SUBPATTERN":
                out += self._walk(value[3])
            elif name in ("MAX_REPEAT", "MIN_REPEAT"):
                low, high, body = value
                for _ in range(self.random.randint(low, min(int(high), low + 2))):
                    out += self._walk(body)
            elif name not in ("ASSERT_NOT", "ASSERT", "AT"):
                raise NotImplementedError(name)
        return out

    def _member(self, items: list) -> str:
        if str(items[0][0]) == "NEGATE":
            pattern = [c for c in "abzAZ019 _-+*/,;:!?" if not any(_in(item, c) for item in items[1:])]
            return self.random.choice(pattern)
        op, value = self.random.choice(items)
        if str(op) == "RANGE":
            return chr(self.random.randint(*value))
        if str(op) == "CATEGORY":
            return self.random.choice([c for c in "a1 _\n" if _in((op, value), c)])
        return chr(value)

    def _mutation(self, text: str) -> str:
        pick = self.random
        for _ in range(pick.choice((1, 1, 2))):
            at = pick.randint(0, len(text))
            end = min(len(text), at + pick.randint(0, 2))
            kind = pick.randrange(4)
            if kind == 0:
                text = text[:at] + text[end:]
            elif kind == 1 and text:
                text = text[:at] + pick.choice(text) + text[at:]
            elif kind == 2:
                text = text[:at] + self._match(pick.choice([*self.patterns.values()])) + text[end:]
            else:
                text = text[:at] + text[at:end][::-1] + text[end:]
        return text


def _in(item: tuple, char: str) -> bool:
    op, value = str(item[0]), item[1]
    if op == "LITERAL":
        return ord(char) == value
    if op == "RANGE":
        return value[0] <= ord(char) <= value[1]
    classes = {"CATEGORY_SPACE": r"\s", "CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w"}
    return re.match(classes[str(value)], char) is not None


def compare(grammar: str, accepts: Callable[[str], bool], count: int, seed: int) -> tuple[int, list[tuple[str, bool]]]:
    """(number of texts lark accepted, the texts on which ``accepts`` disagrees and lark's verdict)."""
    sampler, accepted, wrong = Sampler(grammar, seed), 0, []
    for text in sampler.texts(count):
        expected = sampler.accepts(text)
        accepted += expected
        if accepts(text) != expected:
            wrong.append((text, expected))
    return accepted, wrong


def acceptor(
    grammar: str, engine: str | None, optimization: str | None = None, masks: bool = True
) -> Callable[[str], bool]:
    """Whether our reading of the grammar accepts a text; with ``masks`` they must agree with commits at every byte."""
    import glrmask

    vocab = glrmask.Vocab.from_dict({bytes([byte]): byte for byte in range(256)})
    level = None if optimization is None else glrmask.Optimization(optimization)
    constraint = glrmask.Grammar.from_lark(grammar).compile(vocab, engine=engine, optimization=level)

    def accepts(text: str) -> bool:
        state = constraint.start()
        if not masks:
            try:
                state.commit_bytes(text.encode())
            except glrmask.StateRejectedError:
                return False
            return state.is_accepting()
        for byte in text.encode():
            allowed = bool(state.mask()[byte])
            try:
                state.commit_token(byte)
            except glrmask.StateRejectedError:
                assert not allowed, f"the mask allows {bytes([byte])!r} in {text!r}, commit refuses it"
                return False
            assert allowed, f"the mask refuses {bytes([byte])!r} in {text!r}, commit takes it"
        return state.is_accepting()

    return accepts


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare with lark on random texts.")
    parser.add_argument("names", nargs="*", help="grammars (default: all)")
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine")
    parser.add_argument("--optimization", help="auto, fast_build, balanced or fast_runtime")
    options = parser.parse_args()
    failed = 0
    for path in sorted(GRAMMARS.glob("*.lark")):
        if options.names and path.stem not in options.names:
            continue
        grammar = path.read_text(encoding="utf-8")
        accepted, wrong = compare(
            grammar, acceptor(grammar, options.engine, options.optimization), options.texts, options.seed
        )
        print(f"{path.stem}: {accepted} of {2 * options.texts} texts accepted by lark, {len(wrong)} disagreements")
        for text, expected in wrong[:5]:
            print(f"    lark {'accepts' if expected else 'refuses'} {text!r}")
        failed += len(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
