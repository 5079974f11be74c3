"""How costs grow: vocabulary, schema, enum, text, ambiguity, batch, threads.

    python benchmarks/scaling.py [--only NAME ...] [--repeats 3] [--quick]

Each series gives sizes, costs and the fitted exponent k of ``cost = c * size ** k`` over its larger half, where fixed
costs no longer hide the growth: 1 is linear, 0 does not grow. Processor time of the thread, the fastest of several
runs, except for threads and batches, which need the clock on the wall. AUTO without its worker.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import HERE, fitted_exponent, rss, save, smallest
from vocabularies import RealVocabulary, load

import glrmask
from glrmask import Grammar, Vocab

Series = dict[str, Any]
KINDS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "integer"},
    {"type": "boolean"},
    {"enum": ["red", "green", "blue"]},
    {"type": "array", "items": {"type": "number"}},
]


def series(x: str, y: str, sizes: list[float], costs: dict[str, list[float]]) -> Series:
    """A series with its exponents, fitted over the larger half."""
    exponents = {}
    half = min(len(sizes) // 2, len(sizes) - 2)
    for name, values in costs.items():
        exponents[name] = round(fitted_exponent(sizes[half:], values[half:]), 2)
    rounded = {name: [float(f"{v:.4g}") for v in values] for name, values in costs.items()}
    return {"x": x, "y": y, "sizes": sizes, "costs": rounded, "exponents": exponents}


class Measuring:
    """The vocabulary, and how often things are repeated."""

    def __init__(self, real: RealVocabulary, repeats: int, quick: bool) -> None:
        self.real, self.repeats, self.quick = real, repeats, quick
        self.vocab = Vocab.from_id_to_bytes(real.tokens)
        self.encoder = real.encoder()
        self.compile(Grammar.from_json_schema({"type": "string"})).start().mask()

    def compile(self, grammar: Grammar, vocab: Vocab | None = None) -> glrmask.Constraint:
        return grammar.compile(vocab or self.vocab, background=False)

    def sizes(self, *all_sizes: int) -> list[float]:
        """The sizes, without the largest when in a hurry."""
        return [float(n) for n in (all_sizes[:-1] if self.quick else all_sizes)]

    def best(self, call: Callable[[], Any], inner: int = 1) -> float:
        """Milliseconds of the fastest call."""
        return smallest(call, self.repeats) / 1e6 / inner

    # -- series -----------------------------------------------------------------------------------

    def vocabulary(self) -> Series:
        """The first n tokens of one vocabulary (they are in the order of its merges), and a larger one."""
        other = load("o200k")
        sets = [dict(list(self.real.tokens.items())[:n]) for n in (8_000, 16_000, 32_000, 64_000, 128_000)]
        sets += [other.tokens] if other and not self.quick else []
        costs: dict[str, list[float]] = {"build": [], "first mask, wide": [], "warm mask": [], "cached mask": []}
        schema = json.dumps({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False})
        for tokens in sets:

            def build(tokens: dict[int, bytes] = tokens) -> Vocab:
                vocab = Vocab.from_id_to_bytes(tokens)
                self.compile(Grammar.from_ebnf('start ::= "a"'), vocab)
                return vocab

            costs["build"].append(self.best(build))
            first = float("inf")
            for _ in range(self.repeats):
                constraint = self.compile(Grammar.from_json_schema(schema), build())
                state = constraint.start()
                state.commit_bytes(b'{"a": "')
                words = np.zeros(constraint.mask_len(), np.uint32)
                first = min(first, smallest(lambda s=state, w=words: s.fill_mask(w), 1) / 1e6)
            costs["first mask, wide"].append(first)
            for name, limits in (("warm mask", glrmask.Limits(mask_cache_bytes=0)), ("cached mask", None)):
                constraint = Grammar.from_json_schema(schema).compile(build(), background=False, limits=limits)
                state = constraint.start()
                state.commit_bytes(b'{"a": "')
                words = np.zeros(constraint.mask_len(), np.uint32)
                for _ in range(3):
                    state.fill_mask(words)
                costs[name].append(self.best(lambda s=state, w=words: [s.fill_mask(w) for _ in range(200)], 200))
        return series("tokens", "ms", [float(len(tokens)) for tokens in sets], costs)

    def properties(self) -> Series:
        """Objects of n optional keys."""
        sizes = self.sizes(10, 30, 100, 300, 1_000, 3_000, 10_000)
        costs: dict[str, list[float]] = {
            "compile": [],
            "first mask": [],
            "first mask of a key": [],
            "warm mask of a key": [],
        }
        for n in sizes:
            schema = json.dumps(
                {
                    "type": "object",
                    "properties": {f"key_{i}": KINDS[i % len(KINDS)] for i in range(int(n))},
                    "additionalProperties": False,
                }
            )
            self.points(lambda schema=schema: Grammar.from_json_schema(schema), b'{"key_', costs, "of a key")
        return series("properties", "ms", sizes, costs)

    def enum(self) -> Series:
        """Enumerations of n strings."""
        sizes = self.sizes(10, 100, 1_000, 10_000, 100_000)
        costs: dict[str, list[float]] = {
            "compile": [],
            "first mask": [],
            "first mask of a value": [],
            "warm mask of a value": [],
        }
        for n in sizes:
            values = [f"value {(i * 7919) % 1_000_003:06d}" for i in range(int(n))]
            schema = json.dumps({"enum": values})
            self.points(lambda schema=schema: Grammar.from_json_schema(schema), b'"value ', costs, "of a value")
        return series("values", "ms", sizes, costs)

    def points(self, make: Callable[[], Grammar], before: bytes, costs: dict[str, list[float]], where: str) -> None:
        """Compile (front-end included), first masks, and a warm mask without the cache of final masks."""
        compiled, first, inside, warm = (float("inf"),) * 4
        for _ in range(self.repeats):
            found: list[glrmask.Constraint] = []
            unlimited = glrmask.Limits(mask_cache_bytes=0)

            def build(found: list[glrmask.Constraint] = found, limits: glrmask.Limits = unlimited) -> None:
                found.append(make().compile(self.vocab, background=False, limits=limits))

            compiled = min(compiled, smallest(build, 1) / 1e6)
            words = np.zeros(found[0].mask_len(), np.uint32)
            state = found[0].start()
            first = min(first, smallest(lambda s=state, w=words: s.fill_mask(w), 1) / 1e6)
            state.commit_bytes(before)
            inside = min(inside, smallest(lambda s=state, w=words: s.fill_mask(w), 1) / 1e6)
            warm = min(warm, smallest(lambda s=state, w=words: [s.fill_mask(w) for _ in range(50)], 3) / 5e7)
        names = ("compile", "first mask", f"first mask {where}", f"warm mask {where}")
        for name, value in zip(names, (compiled, first, inside, warm), strict=True):
            costs[name].append(value)

    def text(self) -> Series:
        """An array of objects, written up to n bytes; nesting comes and goes."""
        item = {
            "type": "object",
            "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
        }
        constraint = self.compile(Grammar.from_json_schema(json.dumps({"type": "array", "items": item})))
        words = np.zeros(constraint.mask_len(), np.uint32)
        unit = '{"id": %d, "tags": ["first", "of many", "\u00e9t\u00e9"]}, '
        sizes = self.sizes(1_000, 10_000, 100_000, 1_000_000)
        costs: dict[str, list[float]] = {"commits of tokens": [], "masks and commits": [], "commit_bytes": []}
        grown: list[float] = []
        longest = self.encoder.encode(
            ("[" + "".join(unit % i for i in range(int(sizes[-1]) // 45))).encode()[: int(sizes[-1])]
        )
        for n in sizes:
            ids, size = [], 0
            for token in longest:
                if size >= n:
                    break
                ids.append(token)
                size += len(self.real.tokens[token])
            data = b"".join(self.real.tokens[token] for token in ids)

            def commits(ids: list[int] = ids) -> None:
                state = constraint.start()
                for token in ids:
                    state.commit_token(token)

            def both(ids: list[int] = ids) -> None:
                state = constraint.start()
                for token in ids:
                    state.fill_mask(words)
                    state.commit_token(token)

            both(ids[:2000])
            before = rss()
            costs["masks and commits"].append(smallest(both, 2 if n > 1e5 else self.repeats) / 1e6)
            grown.append((rss() - before) / 1024)
            costs["commits of tokens"].append(smallest(commits, 2 if n > 1e5 else self.repeats) / 1e6)
            costs["commit_bytes"].append(self.best(lambda data=data: constraint.start().commit_bytes(data)))
        found = series("bytes of text", "ms", sizes, costs)
        found["rss_grown_kib"] = [round(v) for v in grown]
        return found

    def ambiguity(self) -> Series:
        """Grammars with very many readings: all commits of a text of n bytes."""
        cases: dict[str, tuple[str, Callable[[int], bytes]]] = {
            "s: s s | a": ('start ::= start start | "a"', lambda n: b"a" * n),
            "s: a s b? | a": ('start ::= "a" start "b"? | "a"', lambda n: b"a" * n),
            "s: i s | i s e s | a": ('start ::= "i" start | "i" start "e" start | "a"', lambda n: b"i" * n),
            'e: NAME | "-" e | "--" e': ('start ::= [a-z]+ | "-" start | "--" start', lambda n: b"-" * n),
            'e: e "+" e | e e | NAME': ('start ::= start "+" start | start start | [a-z]', lambda n: b"a+b" * (n // 3)),
            "palindromes": ('start ::= "a" start "a" | "b" start "b" | "a" | "b"', lambda n: b"ab" * (n // 2)),
        }
        sizes = self.sizes(200, 400, 800, 1_600, 3_200, 6_400, 12_800)
        byte_ids = {data[0]: i for i, data in self.real.tokens.items() if len(data) == 1}
        costs: dict[str, list[float]] = {}
        for name, (source, make) in cases.items():
            constraint = self.compile(Grammar.from_ebnf(source))
            costs[name] = []
            for n in sizes:
                text = make(int(n))

                def run(text: bytes = text, constraint: glrmask.Constraint = constraint) -> None:
                    state = constraint.start()
                    for byte in text:
                        state.commit_token(byte_ids[byte])

                costs[name].append(self.best(run))
        return series("bytes of text", "ms", sizes, costs)

    def batch(self) -> Series:
        """``fill_masks`` of n states at different places of a text, on one thread."""
        states, words = self.batch_states(64)
        sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
        costs: dict[str, list[float]] = {"fill_masks": [], "one call each": []}
        for n in sizes:
            some, rows = states[: int(n)], words[: int(n)]

            def one_each(some: Any = some, rows: Any = rows) -> None:
                for state, row in zip(some, rows, strict=True):
                    state.fill_mask(row)

            for name, call in (
                ("fill_masks", lambda s=some, r=rows: glrmask.fill_masks(s, r)),
                ("one call each", one_each),
            ):
                costs[name].append(self.best(lambda call=call: [call() for _ in range(50)], 50))
        return series("states", "ms", sizes, costs)

    def threads(self) -> Series:
        """Masks per millisecond of 64 states by ``fill_masks(threads=n)``, and of n Python threads, a state each."""
        states, words = self.batch_states(64)
        sizes = [1.0, 2.0, 4.0, 8.0]
        names = ("fill_masks(threads=n)", "n Python threads", "fill_masks(threads=n), each a first visit")
        costs: dict[str, list[float]] = {name: [] for name in names}
        wall = time.perf_counter_ns
        for n in sizes:

            def batches(n: float = n) -> None:
                for _ in range(50):
                    glrmask.fill_masks(states, words, threads=int(n))

            masks = 50 * len(states)
            costs["fill_masks(threads=n)"].append(masks / (smallest(batches, self.repeats + 2, wall) / 1e6))

            def parallel(n: float = n) -> None:
                def work(i: int) -> None:
                    for _ in range(400):
                        states[i].fill_mask(words[i])

                workers = [threading.Thread(target=work, args=(i,)) for i in range(int(n))]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join()

            costs["n Python threads"].append(400 * n / (smallest(parallel, self.repeats + 2, wall) / 1e6))
            spent = []
            for _ in range(self.repeats + 2):
                fresh, rows = self.fresh_states(32)
                spent.append(smallest(lambda f=fresh, r=rows, n=n: glrmask.fill_masks(f, r, threads=int(n)), 1, wall))
            costs[names[2]].append(32 / (min(spent) / 1e6))
        return series("threads", "masks per ms", sizes, costs)

    def fresh_states(self, n: int) -> tuple[list[glrmask.ConstraintState], Any]:
        """States of n constraints of which no mask was made, where a name may come, and rows for their masks."""
        source = (HERE / "perf" / "statements.glrm").read_text(encoding="utf-8")
        states = []
        for i in range(n):
            constraint = self.compile(Grammar.from_glrm(source.replace('"let"', f'"let{i}"')))
            states.append(constraint.start())
            states[-1].commit_bytes(f"let{i} a = b".encode())
        return states, np.zeros((n, constraint.mask_len()), np.uint32)

    def batch_states(self, n: int) -> tuple[list[glrmask.ConstraintState], Any]:
        """States at n places of a document, warm, and rows for their masks."""
        schema = {"type": "object", "properties": {f"key {i}": KINDS[i % len(KINDS)] for i in range(20)}}
        constraint = Grammar.from_json_schema(json.dumps(schema)).compile(
            self.vocab, background=False, limits=glrmask.Limits(mask_cache_bytes=0)
        )
        document = {f"key {i}": ["some text", 12345, True, "green", [1, 2.5, 3e9]][i % 5] for i in range(20)}
        ids = self.encoder.encode(json.dumps(document).encode())
        state = constraint.start()
        states = []
        for token in ids[:n]:
            states.append(state.clone())
            state.commit_token(token)
        words = np.zeros((len(states), constraint.mask_len()), np.uint32)
        glrmask.fill_masks(states, words)
        return states, words


NAMES = ("vocabulary", "properties", "enum", "text", "ambiguity", "batch", "threads")


def main() -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="without the largest sizes")
    arguments = parser.parse_args()
    real = load("llama3")
    if real is None:
        print("SKIPPED: no vocabulary in a folder shared/data beside the checkout", file=sys.stderr)
        return 0
    measuring = Measuring(real, arguments.repeats, arguments.quick)
    found: dict[str, Series] = {}
    for name in arguments.only:
        found[name] = getattr(measuring, name)()
        print(name, json.dumps(found[name]["exponents"]), file=sys.stderr, flush=True)
    save("scaling", {"series": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
