"""Do all optimisation levels give the same masks on real schemas and a real vocabulary?

``python benchmarks/modes_agree.py [--schemas 600] [--vocab llama3]``: every MaskBench schema that compiles, every
instance of it as text, the mask after every token compared word by word between FAST_BUILD, BALANCED,
FAST_RUNTIME and AUTO (with its worker running). Limits of FAST_RUNTIME count apart. Exit code 1 on a difference.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections import Counter

import numpy as np
from vocabularies import DATA, load

import glrmask

LEVELS = tuple(glrmask.Optimization)


def compile_all(text: str, vocab: glrmask.Vocab, count: Counter[str]) -> dict[str, glrmask.Constraint]:
    """The constraint of each level that compiles."""
    out = {}
    for level in LEVELS:
        start = time.perf_counter()
        try:
            out[level.name] = glrmask.Grammar.from_json_schema(text).compile(vocab, optimization=level)
        except glrmask.LimitExceededError as error:
            count[f"{level.name} past {error.limit}"] += 1
        except ValueError:
            count["refused"] += 1
            break
        count[f"{level.name} compile ms"] += int(1e3 * (time.perf_counter() - start))
    return out


def compare(constraints: dict[str, glrmask.Constraint], ids: list[int], words: int, count: Counter[str]) -> str | None:
    """Where two levels differ, or None. Follows the ids as far as they are allowed."""
    states = {name: c.start(0) for name, c in constraints.items()}
    masks = {name: np.zeros(words, np.uint32) for name in states}
    first = next(iter(states))
    for at, token in enumerate([*ids, None]):
        for name, state in states.items():
            state.fill_mask(masks[name])
        count["masks"] += 1
        for name in states:
            if not np.array_equal(masks[first], masks[name]):
                return f"{first} and {name} differ at token {at}"
        if len({s.is_accepting() for s in states.values()}) > 1:
            return f"is_accepting differs at token {at}"
        if token is None or not masks[first][token >> 5] >> (token & 31) & 1:
            return None
        for state in states.values():
            state.commit_token(token)
    return None


def main() -> int:
    """Run and print; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemas", type=int, default=600)
    parser.add_argument("--vocab", default="llama3")
    args = parser.parse_args()
    real = load(args.vocab)
    if real is None:
        print("the vocabularies and schemas of ../shared/data are not there: nothing compared")
        return 2
    vocab, encode = glrmask.Vocab.from_id_to_bytes(real.tokens), real.encoder().encode
    with gzip.open(DATA / "maskbench_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    words = (vocab.max_id + 32) // 32
    count: Counter[str] = Counter()
    wrong = []
    for row in rows[: args.schemas]:
        constraints = compile_all(json.dumps(row["schema"]), vocab, count)
        if len(constraints) < 2:
            continue
        count["schemas"] += 1
        for test in row["tests"]:
            found = compare(constraints, encode(json.dumps(test["data"], ensure_ascii=False).encode()), words, count)
            if found:
                wrong.append(f"{row['name']}: {found}")
                break
    for name, value in sorted(count.items()):
        print(f"{name:28} {value:12,}")
    print("\n".join(wrong) or "no difference")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
