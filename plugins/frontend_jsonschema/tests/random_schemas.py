"""Random schemas and values: small alphabets, so that keywords meet often."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

# No text ends in a line feed: `$` of the judge (Python) matches before it, in ECMA-262 it does not.
KEYS = ["a", "b", "ab", "c"]
TEXTS = ["", "a", "b", "ab", "ba", "abc", "aa", "é", "\t", '"', "\\"]
PATTERNS = ["^a", "b$", "a", "^[ab]+$", "^$", "^a?b?$", "c|^b", "^.{2}$"]
NUMBERS: list[Any] = [0, 1, -1, 2, 3, 5, 6, 10, -4, 0.5, 2.5, -0.25, 12, 100]
SCALARS: list[Any] = [None, True, False, *TEXTS[:6], *NUMBERS[:9]]


def value(rng: random.Random, depth: int = 2) -> Any:
    """A JSON value."""
    kind = rng.randrange(8 if depth else 5)
    if kind < 2:
        return rng.choice(TEXTS)
    if kind < 4:
        return rng.choice(NUMBERS)
    if kind == 4:
        return rng.choice([None, True, False])
    if kind == 5:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    names = rng.sample(KEYS, rng.randrange(len(KEYS)))
    return {name: value(rng, depth - 1) for name in names}


def schema(rng: random.Random, depth: int = 2, unevaluated: bool = False) -> Any:
    """A schema of drafts 2020-12 keywords."""
    if rng.random() < 0.08:
        return rng.random() < 0.7
    out: dict[str, Any] = {}
    if rng.random() < 0.5:
        types = ["null", "boolean", "object", "array", "number", "integer", "string"]
        out["type"] = rng.choice(types) if rng.random() < 0.7 else rng.sample(types, rng.randint(1, 3))
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        keyword, made = _keyword(rng, depth)
        out[keyword] = made
    if unevaluated:
        keyword = rng.choice(["unevaluatedProperties", "unevaluatedItems"])
        out[keyword] = False if rng.random() < 0.6 else schema(rng, 0)
    items = list(out.items())
    rng.shuffle(items)
    return dict(items)


def _keyword(rng: random.Random, depth: int) -> tuple[str, Any]:
    """One keyword with a value."""

    def sub() -> Any:
        return schema(rng, depth - 1, rng.random() < 0.1)

    scalar = [
        ("minLength", lambda: rng.randrange(3)),
        ("maxLength", lambda: rng.randrange(4)),
        ("pattern", lambda: rng.choice(PATTERNS)),
        ("minimum", lambda: rng.choice(NUMBERS)),
        ("maximum", lambda: rng.choice(NUMBERS)),
        ("exclusiveMinimum", lambda: rng.choice(NUMBERS)),
        ("exclusiveMaximum", lambda: rng.choice(NUMBERS)),
        ("multipleOf", lambda: rng.choice([1, 2, 3, 0.5, 5])),
        ("enum", lambda: [value(rng, 1) for _ in range(rng.randint(1, 3))]),
        ("const", lambda: value(rng, 1)),
        ("required", lambda: rng.sample(KEYS, rng.randrange(3))),
        ("minProperties", lambda: rng.randrange(3)),
        ("maxProperties", lambda: rng.randrange(4)),
        ("minItems", lambda: rng.randrange(3)),
        ("maxItems", lambda: rng.randrange(4)),
        ("dependentRequired", lambda: {rng.choice(KEYS): rng.sample(KEYS, rng.randint(1, 2))}),
    ]
    nested = [
        ("properties", lambda: {name: sub() for name in rng.sample(KEYS, rng.randint(1, 3))}),
        ("properties", lambda: {name: sub() for name in rng.sample(KEYS, rng.randint(1, 3))}),
        ("patternProperties", lambda: {rng.choice(PATTERNS): sub()}),
        ("additionalProperties", lambda: False if rng.random() < 0.5 else sub()),
        ("propertyNames", sub),
        ("items", sub),
        ("prefixItems", lambda: [sub() for _ in range(rng.randint(1, 2))]),
        ("contains", sub),
        ("minContains", lambda: rng.randrange(3)),
        ("maxContains", lambda: rng.randint(1, 2)),
        ("allOf", lambda: [sub() for _ in range(rng.randint(1, 2))]),
        ("anyOf", lambda: [sub() for _ in range(rng.randint(1, 3))]),
        ("oneOf", lambda: [sub() for _ in range(rng.randint(1, 3))]),
        ("not", sub),
        ("if", sub),
        ("then", sub),
        ("else", sub),
        ("dependentSchemas", lambda: {rng.choice(KEYS): sub()}),
    ]
    name, make = rng.choice(scalar + nested if depth else scalar)
    return name, make()


def orders(data: Any, most: int = 200) -> Iterator[Any]:
    """The value with the keys of its objects in every order, up to a number of variants."""
    return itertools.islice(_orders(data), most)


def _orders(data: Any) -> Iterator[Any]:
    if isinstance(data, list):
        for items in itertools.product(*(list(orders(item, 24)) for item in data)):
            yield list(items)
    elif isinstance(data, dict):
        for names in itertools.permutations(data):
            for values in itertools.product(*(list(orders(data[name], 24)) for name in names)):
                yield dict(zip(names, values, strict=True))
    else:
        yield data
