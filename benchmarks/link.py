"""Linking a compiled JSON Schema child into a GLRM host, against compiling the whole from source.

    python benchmarks/link.py [--keys 1000] [--vocab llama3] [--rounds 20] [--engine NAME] [--optimization NAME]

The child is compiled, run and thrown into the host by ``bind`` and ``link``; "source" binds the schema as source
and compiles everything. "first mask" is ``start()`` and ``fill_mask`` at the host's start, "inside" the mask
after the host's first bytes, which is the child's start. Processor time of the thread in milliseconds; nodes of the
vocabulary that masks walked tell whether the child is paid for twice. ``--check`` makes the exit code 1 when
linking takes a millisecond or more, or when the linked constraint walks the child's nodes again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from vocabularies import load

import glrmask

HOST = 'glrm 1;\nstart start;\nextern grammar CALL;\nnt start = "<call>" CALL "</call>" | "none";\n'


def schema(keys: int, salt: int) -> str:
    """An object of so many keys, some typed differently; the salt keeps caches of sources out of the way."""
    kinds: list[dict[str, Any]] = [
        {"type": "string"},
        {"type": "integer"},
        {"type": "boolean"},
        {"enum": ["red", "green", "blue"]},
        {"type": "array", "items": {"type": "number"}},
    ]
    properties = {f"key_{salt}_{i}": kinds[i % len(kinds)] for i in range(keys)}
    return json.dumps({"type": "object", "properties": properties, "additionalProperties": False})


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of a call, and its result."""
    started = time.thread_time()
    value = call()
    return 1e3 * (time.thread_time() - started), value


class Figures:
    """Named lists of milliseconds."""

    def __init__(self) -> None:
        self.lists: dict[str, list[float]] = {}

    def time(self, name: str, call: Callable[[], Any]) -> Any:
        """Run, remember the time, return the result."""
        spent, value = timed(call)
        self.lists.setdefault(name, []).append(spent)
        return value

    def median(self, name: str) -> float:
        return statistics.median(self.lists[name])

    def table(self) -> str:
        lines = [f"{'':34} {'p50':>9} {'min':>9} {'max':>9}"]
        for name, values in self.lists.items():
            lines.append(f"{name:34} {statistics.median(values):9.3f} {min(values):9.3f} {max(values):9.3f}")
        return "\n".join(lines)


def walked(constraint: glrmask.Constraint) -> int:
    """Nodes of the vocabulary that its masks have visited so far."""
    return int(constraint.compiled.report()["walked"])


def run(constraint: glrmask.Constraint, figures: Figures, label: str, opening: bytes = b"<call>") -> None:
    """First masks of a fresh constraint."""
    words = np.zeros(constraint.mask_len(), np.uint32)

    def first() -> glrmask.ConstraintState:
        state = constraint.start()
        state.fill_mask(words)
        return state

    state = figures.time(f"{label}: first mask", first)
    if opening:
        state.commit_bytes(opening)
        figures.time(f"{label}: first mask inside", lambda: state.fill_mask(words))
    state.commit_bytes(b'{"')
    figures.time(f"{label}: mask of the keys", lambda: state.fill_mask(words))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--vocab", default="llama3")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--engine")
    parser.add_argument("--optimization", default="auto")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    real = load(arguments.vocab)
    vocab = glrmask.Vocab.from_id_to_bytes(real.tokens)
    options: dict[str, Any] = {
        "engine": arguments.engine,
        "optimization": glrmask.Optimization(arguments.optimization),
        "background": False,
    }
    glrmask.Grammar.from_json_schema({"type": "string"}).compile(vocab, **options).start().mask()
    host = glrmask.Grammar.from_glrm(HOST).compile_unlinked(vocab)
    figures = Figures()
    again, alone = list[int](), list[int]()
    for salt in range(arguments.rounds):
        text = schema(arguments.keys, salt)
        child = figures.time(
            "child: compile", lambda text=text: glrmask.Grammar.from_json_schema(text).compile(vocab, **options)
        )
        run(child, figures, "child", b"")
        linked = figures.time(
            "link (bind and link)", lambda child=child: host.bind("CALL", child).link(end_tokens=[real.end], **options)
        )
        run(linked, figures, "link")
        again.append(walked(linked))
        text = schema(arguments.keys, salt + arguments.rounds)
        whole = figures.time(
            "source (parse, bind and compile)",
            lambda text=text: (
                glrmask.Grammar.from_glrm(HOST)
                .bind("CALL", glrmask.Grammar.from_json_schema(text))
                .compile(vocab, end_tokens=[real.end], **options)
            ),
        )
        run(whole, figures, "source")
        alone.append(walked(whole))
    print(f"{arguments.keys} keys, {len(vocab)} tokens, engine {linked.report.engine}, {len(linked.module)} nodes")
    print(figures.table())
    ratio = figures.median("source (parse, bind and compile)") / figures.median("link (bind and link)")
    print(f"linking is {ratio:.0f} times as fast as compiling from source")
    nodes = [statistics.median(again), statistics.median(alone)]
    print(f"nodes walked by the masks: {nodes[0]:.0f} linked, {nodes[1]:.0f} from source")
    return int(arguments.check and (figures.median("link (bind and link)") >= 1.0 or nodes[0] * 5 > nodes[1]))


if __name__ == "__main__":
    raise SystemExit(main())
