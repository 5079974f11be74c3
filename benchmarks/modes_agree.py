"""Do all optimisation levels give the same masks on real schemas and a real vocabulary?

``python benchmarks/modes_agree.py [--schemas 600] [--vocab llama3]``: every MaskBench schema that compiles, every
instance of it as text, the mask after every token compared word by word between FAST_BUILD, BALANCED,
FAST_RUNTIME and AUTO (with its worker running). Limits of FAST_RUNTIME count apart. Exit code 1 on a difference.

With ``--linked`` each schema is compiled, used for its first instance and linked into a host, and compared with the
same host compiled from source.
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


HOST = 'glrm 1;\nstart start;\nextern grammar CALL;\nnt start = "<call>" CALL "</call>" start | "none";\n'


def compile_linked(
    text: str, vocab: glrmask.Vocab, used: list[int], host: glrmask.UnlinkedConstraint, count: Counter[str]
) -> dict[str, glrmask.Constraint]:
    """A host with the schema as a compiled child that has made masks for ``used``, and from source."""
    try:
        child = glrmask.Grammar.from_json_schema(text)
        compiled = child.compile(vocab)
    except ValueError:
        count["refused"] += 1
        return {}
    state = compiled.start(0)
    for token in used[: state.validate_tokens(used)]:
        state.fill_mask(np.zeros(compiled.mask_len(), np.uint32))
        state.commit_token(token)
    return {
        "linked": host.bind("CALL", compiled).link(),
        "source": glrmask.Grammar.from_glrm(HOST).bind("CALL", child).compile(vocab),
    }


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
    parser.add_argument("--linked", action="store_true", help="compare linking with compiling from source instead")
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
    host = glrmask.Grammar.from_glrm(HOST).compile_unlinked(vocab)
    for row in rows[: args.schemas]:
        text, texts = json.dumps(row["schema"]), [json.dumps(test["data"], ensure_ascii=False) for test in row["tests"]]
        if args.linked:
            constraints = compile_linked(text, vocab, encode(texts[0].encode()) if texts else [], host, count)
            texts = [f"<call>{one}</call><call>{one}</call>none" for one in texts]
        else:
            constraints = compile_all(text, vocab, count)
        if len(constraints) < 2:
            continue
        count["schemas"] += 1
        for one in texts:
            found = compare(constraints, encode(one.encode()), words, count)
            if found:
                wrong.append(f"{row['name']}: {found}")
                break
    for name, value in sorted(count.items()):
        print(f"{name:28} {value:12,}")
    print("\n".join(wrong) or "no difference")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
