"""The small model that ships with glrmask, so that constrained decoding runs without any download.

It is an n-gram model over a byte-level vocabulary of 4,096 tokens, trained by
``scripts/train_default_model.py`` on generated JSON and prose. It writes words, not sense.

    model = default_model()
    constraint = glrmask.Grammar.from_json_schema(schema).compile(model.vocab, end_tokens=[model.end_token])
"""

from __future__ import annotations

from .default import DefaultModel, default_model

__all__ = ["DefaultModel", "default_model"]
