"""The decoding loop in full, with the embedded model: any model that gives a score per token fits in its place.

python examples/quickstart.py [SCHEMA]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import glrmask
from glrmask.model import default_model

HERE = Path(__file__).resolve().parent


def main() -> int:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "schemas" / "tool_call.schema.json"
    model = default_model()
    grammar = glrmask.Grammar.from_json_schema(path.read_text(encoding="utf-8"))
    constraint = grammar.compile(model.vocab, end_tokens=[model.end_token])

    rng = np.random.default_rng(0)
    state = constraint.start()
    words = np.zeros(constraint.mask_len(), np.uint32)  # kept for the whole text
    written: list[int] = []
    while not state.is_terminated():
        state.fill_mask(words)
        allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        weights = model.probabilities(written)[allowed]
        token = int(rng.choice(allowed, p=weights / weights.sum()))
        state.commit_token(token)
        written.append(token)

    document = json.loads(model.decode(written))
    print(json.dumps(document, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
