"""The costs that the engine's design sets as goals, each with the figure reached.

    python benchmarks/engine_costs.py [--repeats 5] [--vocab llama3]

Whole calls from Python on one thread. A text is replayed so many times, and of each of its steps the fastest counts,
since the steps are the same each time: that leaves out what other processes took. "Warm cache miss" has no final mask
cache and all tables filled by an earlier pass; "first visit" has a fresh constraint (and, for the first repeat, a fresh
vocabulary) and counts the steps that had to make table entries.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from measuring import SHARED, save, smallest
from vocabularies import DATA, RealVocabulary, load

import glrmask
from glrmask import Grammar, Limits, Optimization, Vocab

HOST = 'glrm 1;\nstart start;\nextern grammar CALL;\nnt start = "<call>" CALL "</call>" | "none";\n'
WIDE = 1000  # tokens allowed; below, a position is called narrow
UNCACHED = Limits(mask_cache_bytes=0)


@dataclass
class Case:
    """A grammar with a text of it."""

    name: str
    make: Callable[[], Grammar]
    ids: list[int]

    def compile(self, vocab: Vocab, level: str, limits: Limits | None = None) -> glrmask.Constraint:
        return self.make().compile(vocab, optimization=Optimization[level], background=False, limits=limits)


def language_cases(real: RealVocabulary) -> list[Case]:
    """The grammars outside JSON Schema that have a text."""
    folder = SHARED / "bench" / "peers" / "grammars"
    encoder = real.encoder()
    text = json.dumps(
        {"name": "caf\u00e9", "list": [1, 2.5e3, None, True, {"a": []}], "note": "x" * 90 + "\n"}, indent=2
    )
    texts = {
        "C": ("c.lark", (folder / "sample.c.txt").read_bytes()),
        "SQL": ("sql.lark", (folder / "sample.sql.txt").read_bytes()),
        "JSON": ("json.lark", text.encode()),
    }
    cases = []
    for name, (file, sample) in texts.items():
        source = (folder / file).read_text(encoding="utf-8")
        cases.append(Case(name, lambda source=source: Grammar.from_lark(source), encoder.encode(sample)))
    return cases


def schema_cases(real: RealVocabulary, vocab: Vocab, count: int) -> list[Case]:
    """Real schemas with a first valid instance that is accepted as written."""
    encoder = real.encoder()
    cases: list[Case] = []
    with gzip.open(DATA / "maskbench_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            valid = [test["data"] for test in row["tests"] if test["valid"]]
            if not valid or len(cases) == count:
                continue
            schema = json.dumps(row["schema"])
            ids = encoder.encode(json.dumps(valid[0], ensure_ascii=False).encode())
            case = Case("schemas", lambda schema=schema: Grammar.from_json_schema(schema), ids)
            try:
                state = case.compile(vocab, "FAST_BUILD").start()
            except ValueError:
                continue
            if state.validate_tokens(ids) == len(ids):
                cases.append(case)
    return cases


class Steps:
    """The fastest time of each step over repeats, in us."""

    def __init__(self) -> None:
        self.best: dict[Any, float] = {}

    def add(self, key: Any, nanoseconds: int) -> None:
        self.best[key] = min(self.best.get(key, float("inf")), nanoseconds / 1e3)

    def figures(self, keys: Iterable[Any] | None = None) -> dict[str, float]:
        values = np.array([self.best[k] for k in keys] if keys is not None else list(self.best.values()))
        if not len(values):
            return {"steps": 0}
        found = {"steps": len(values), "max": float(values.max())}
        for name, point in (("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("p99.99", 99.99)):
            found[name] = float(np.percentile(values, point))
        return {name: round(value, 3) for name, value in found.items()}


def replay(constraint: glrmask.Constraint, case: Case, at: Any, masks: Steps | None, commits: Steps | None) -> None:
    """One pass over a text."""
    words = np.zeros(constraint.mask_len(), np.uint32)
    state = constraint.start()
    clock = time.perf_counter_ns
    for i, token in enumerate(case.ids):
        begin = clock()
        state.fill_mask(words)
        middle = clock()
        state.commit_token(token)
        end = clock()
        if masks is not None:
            masks.add((at, i), middle - begin)
        if commits is not None:
            commits.add((at, i), end - middle)


def again(cases: list[Case], vocab: Vocab, repeats: int) -> dict[str, float]:
    """One ``fill_mask`` after another at one place, in the middle of each text: us of the fastest hundred."""
    found: list[float] = []
    for case in cases:
        constraint = case.compile(vocab, "AUTO")
        words = np.zeros(constraint.mask_len(), np.uint32)
        state = constraint.start()
        for token in case.ids[: len(case.ids) // 2]:
            state.commit_token(token)
        fill = state.fill_mask

        def hundred(fill: Callable[[Any], None] = fill, words: Any = words) -> None:
            for _ in range(100):
                fill(words)

        found.append(smallest(hundred, 5 * repeats, time.perf_counter_ns) / 1e5)
    return {"p50": round(statistics.median(found), 3), "max": round(max(found), 3)}


def clones(case: Case, vocab: Vocab, repeats: int) -> dict[str, dict[str, float]]:
    """``clone()`` at each place of a text, tables warm, and the first mask and commit of the clone; us."""
    constraint = case.compile(vocab, "FAST_BUILD", UNCACHED)
    replay(constraint, case, None, None, None)
    words = np.zeros(constraint.mask_len(), np.uint32)
    found = {name: Steps() for name in ("clone", "mask of the clone", "commit of the clone")}
    clock = time.perf_counter_ns
    for _ in range(repeats):
        state = constraint.start()
        for i, token in enumerate(case.ids):
            begin = clock()
            clone = state.clone()
            cloned = clock()
            clone.fill_mask(words)
            masked = clock()
            clone.commit_token(token)
            done = clock()
            for steps, spent in zip(found.values(), (cloned - begin, masked - cloned, done - masked), strict=True):
                steps.add(i, spent)
            state.commit_token(token)
    return {name: steps.figures() for name, steps in found.items()}


def paced(cases: list[Case], real: RealVocabulary, pause: float) -> dict[str, dict[str, float]]:
    """Mask + commit with a pause before each token, as a model makes; us. AUTO's worker fills tables meanwhile.

    After the pause the processor is kept busy for 50 us, which brings its clock up again but not its caches.
    """
    found = {}
    clock = time.perf_counter_ns
    for level in ("AUTO", "FAST_BUILD", "FAST_RUNTIME"):
        steps = Steps()
        vocab = build_vocabulary(real)  # a fresh one: it keeps what wide terminals need
        for at, case in enumerate(cases):
            try:
                constraint = case.make().compile(vocab, optimization=Optimization[level])
            except glrmask.LimitExceededError:
                continue
            words = np.zeros(constraint.mask_len(), np.uint32)
            state = constraint.start()
            for i, token in enumerate(case.ids[:60]):
                time.sleep(pause)
                until = clock() + 50_000
                while clock() < until:
                    pass
                begin = clock()
                state.fill_mask(words)
                state.commit_token(token)
                steps.add((at, i), clock() - begin)
        found[level] = steps.figures()
    return found


def first_visits(cases: list[Case], real: RealVocabulary, repeats: int) -> dict[str, Any]:
    """Masks that had to make table entries, by how many tokens they allow; the first in a vocabulary apart."""
    found: dict[str, Steps] = {name: Steps() for name in ("narrow", "wide", "wide_first")}
    for repeat in range(repeats):
        vocab = Vocab.from_id_to_bytes(real.tokens)
        seen_wide = False
        for at, case in enumerate(cases):
            constraint = case.compile(vocab, "FAST_BUILD", UNCACHED)
            words = np.zeros(constraint.mask_len(), np.uint32)
            state = constraint.start()
            before = made(constraint)
            for i, token in enumerate(case.ids):
                begin = time.perf_counter_ns()
                state.fill_mask(words)
                spent = time.perf_counter_ns() - begin
                now = made(constraint)
                if now != before:
                    wide = int(np.unpackbits(words.view(np.uint8)).sum()) >= WIDE
                    kind = ("wide" if seen_wide else "wide_first") if wide else "narrow"
                    seen_wide |= wide
                    found[kind].add((at, i), spent)
                state.commit_token(token)
                before = made(constraint)
        del repeat
    return {name: steps.figures() for name, steps in found.items()}


def made(constraint: glrmask.Constraint) -> tuple[int, int]:
    """How much has been computed so far."""
    sizes = constraint.report.figures
    return sizes["walked"], sizes["summaries"]


def link_times(vocab: Vocab, repeats: int) -> dict[str, float]:
    """``bind`` and ``link`` of a compiled object of 1,000 keys, in ms of processor time."""
    host = Grammar.from_glrm(HOST).compile_unlinked(vocab)
    kinds: list[dict[str, Any]] = [{"type": "string"}, {"type": "integer"}, {"enum": ["red", "green", "blue"]}]
    spent = []
    for salt in range(repeats):
        properties = {f"key_{salt}_{i}": kinds[i % 3] for i in range(1000)}
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        child = Grammar.from_json_schema(schema).compile(vocab, background=False)
        child.start().mask()
        spent.append(smallest(lambda child=child: host.bind("CALL", child).link(background=False), 1) / 1e6)
    return {"p50": round(statistics.median(spent), 3), "max": round(max(spent), 3)}


def build_vocabulary(real: RealVocabulary) -> glrmask.Vocab:
    """A vocabulary with what the engine makes of it."""
    vocab = Vocab.from_id_to_bytes(real.tokens)
    Grammar.from_ebnf('start ::= "a"').compile(vocab, background=False)
    return vocab


def main() -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--schemas", type=int, default=100, help="how many real schemas beside the languages")
    parser.add_argument("--pause-ms", type=float, default=5.0, help="what a model takes for a token")
    parser.add_argument("--vocab", default="llama3")
    arguments = parser.parse_args()
    real = load(arguments.vocab)
    if real is None or not (SHARED / "bench").exists():
        print("SKIPPED: no vocabulary or grammars in a folder shared beside the checkout", file=sys.stderr)
        return 0
    repeats = arguments.repeats
    build_vocabulary(real)
    vocab_ms = smallest(lambda: build_vocabulary(real), repeats) / 1e6
    vocab = build_vocabulary(real)
    languages = language_cases(real)
    schemas = schema_cases(real, vocab, arguments.schemas)
    figures: dict[str, Any] = {"vocab_build_ms": round(vocab_ms, 1), "vocab": real.name, "tokens": len(real.tokens)}

    cached, warm, commit, static = Steps(), Steps(), Steps(), Steps()
    skipped = 0
    for at, case in enumerate([*languages, *schemas]):
        key = (case.name, at)
        constraint = case.compile(vocab, "FAST_BUILD")
        without = case.compile(vocab, "FAST_BUILD", UNCACHED)
        try:
            closed = case.compile(vocab, "FAST_RUNTIME", UNCACHED)
        except glrmask.LimitExceededError:
            closed, skipped = None, skipped + 1
        replay(constraint, case, key, None, None)
        replay(constraint, case, key, None, None)
        replay(without, case, key, None, None)
        for _ in range(repeats):
            replay(constraint, case, key, cached, commit)
            replay(without, case, key, warm, None)
            if closed is not None:
                replay(closed, case, key, static, None)
    names = list(dict.fromkeys(case.name for case in [*languages, *schemas]))
    for name, steps in (("cached", cached), ("warm_miss", warm), ("commit", commit), ("static", static)):
        figures[name] = {
            "all": steps.figures(),
            **{n: steps.figures([key for key in steps.best if key[0][0] == n]) for n in names},
        }
    figures["static_refused"] = skipped
    figures["again_us"] = again([*languages, *schemas], vocab, repeats)
    figures["first_visit"] = first_visits([*languages, *schemas[:40]], real, max(2, repeats - 2))
    figures["pause_ms"] = arguments.pause_ms
    figures["paced"] = paced(schemas[:30], real, arguments.pause_ms / 1e3)
    figures["clones"] = clones(languages[0], vocab, repeats)
    builds = {}
    for case in languages:
        grammar = case.make()
        grammar.compile(vocab, background=False)  # reads the text, which is not the engine's part
        options: dict[str, Any] = {"optimization": Optimization.FAST_RUNTIME}
        builds[case.name] = round(smallest(lambda g=grammar, o=options: g.compile(vocab, **o), repeats) / 1e6, 2)
    figures["static_build_ms"] = builds
    figures["link_ms"] = link_times(vocab, repeats)
    save("engine_costs", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
