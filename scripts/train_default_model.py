"""Train the model that ships with glrmask: a byte-level BPE vocabulary and an n-gram model over it.

    python scripts/train_default_model.py            # writes glrmask/model/default.npz
    python scripts/train_default_model.py --check    # trains again and compares with the file

The training text is generated from the lists in ``scripts/corpus`` (written for this repository) by a
seeded generator, so the result depends on this file and those lists alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from glrmask.model.bpe import PIECES, encode_piece, token_table

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "glrmask" / "model" / "default.npz"
SIZE = 4096  # tokens, the end token included
DOCUMENTS = 5000
SEED = 20240501
MAX_ORDER = 3


# -- text -------------------------------------------------------------------------------------------------


class Writer:
    """Makes sentences and JSON documents out of the word lists."""

    def __init__(self, words: dict[str, list[str]], rng: random.Random) -> None:
        self.words = words
        self.rng = rng

    def pick(self, kind: str) -> str:
        """A word of a list; earlier words are more frequent, as in real text."""
        words = self.words[kind]
        return words[min(int(self.rng.paretovariate(0.7)) - 1, 10**6) % len(words)]

    def sentence(self) -> str:
        """A grammatical, meaningless English sentence."""
        p = self.pick
        forms: list[Callable[[], str]] = [
            lambda: f"The {p('adjective')} {p('noun')} {p('verb')} the {p('noun')} {p('preposition')} the {p('noun')}.",
            lambda: f"{p('first')} {p('verb')} a {p('adjective')} {p('noun')} and {p('verb')} it {p('adverb')}.",
            lambda: f"Does the {p('noun')} {p('preposition')} {p('city')} need a {p('adjective')} {p('noun')}?",
            lambda: f"In {p('country')}, every {p('noun')} {p('verb')} {self.rng.randint(2, 99)} {p('noun')}s.",
            lambda: f"{p('first')} {p('last')} from {p('city')} {p('adverb')} {p('verb')} the {p('noun')}.",
            lambda: f"{p('last')} {p('verb')} the {p('noun')}, but not the {p('noun')}.",
            lambda: f"If the {p('noun')} is {p('adjective')}, {p('last')} {p('verb')} the {p('noun')}.",
            lambda: f"{p('foreign')} {p('foreign')} {p('emoji')} {p('noun')}",
            lambda: f"This {p('noun')} is {p('adjective')}; that one is {p('adverb')} {p('adjective')}.",
        ]
        return self.rng.choice(forms)()

    def text(self) -> str:
        """A string value: from one word to a few sentences."""
        roll = self.rng.random()
        if roll < 0.5:
            return " ".join(self.pick("noun") for _ in range(self.rng.randint(1, 3)))
        if roll < 0.6:
            return f"{self.pick('adjective').capitalize()} {self.pick('noun')}"
        return " ".join(self.sentence() for _ in range(self.rng.randint(1, 2)))

    def scalar(self, key: str) -> Any:
        """A value that fits the name of its key."""
        rng, p = self.rng, self.pick
        name = key.lower()
        if "email" in name:
            host = rng.choice(["example.com", "example.org", "mail.example.net"])
            return f"{p('first').lower()}.{p('last').lower()}@{host}"
        if "phone" in name:
            return f"+{rng.randint(1, 99)} {rng.randint(100, 999)} {rng.randint(1000, 999999)}"
        if name in ("first_name", "firstname"):
            return p("first")
        if name in ("last_name", "lastname"):
            return p("last")
        if name in ("name", "author", "owner", "customer", "user"):
            return f"{p('first')} {p('last')}"
        if "city" in name:
            return p("city")
        if name in ("country", "region"):
            return p(rng.choice(["country", "code"]))
        if name == "currency":
            return rng.choice(["EUR", "USD", "GBP", "JPY", "CHF"])
        if name in ("status", "state", "level", "kind", "type"):
            return p("status")
        if name in ("role", "category"):
            return p(rng.choice(["role", "tag"]))
        if name in ("color", "colour"):
            return p("colour")
        if name == "unit":
            return p("unit")
        if name == "street":
            return f"{p('noun').capitalize()} Street {rng.randint(1, 200)}"
        if name in ("zip", "postal_code"):
            return str(rng.randint(10000, 99999))
        if name in ("uuid", "hash", "signature", "token", "key"):
            raw = f"{rng.getrandbits(128):032x}"
            return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:])) if name == "uuid" else raw
        if name in ("url", "link", "href", "image"):
            return f"https://www.example.com/{p('noun')}/{p('noun')}-{rng.randint(1, 999)}.html"
        if name in ("path", "file"):
            return f"/{p('noun')}/{p('noun')}/{p('noun')}.txt"
        if name in ("date", "birthday", "birth_date"):
            return f"{rng.randint(1950, 2029)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
        if name.endswith("at") or name in ("timestamp", "start", "end"):
            day = f"{rng.randint(1990, 2029)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"
            return f"{day}T{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:{rng.randint(0, 59):02d}Z"
        if name == "time":
            return f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}"
        if name in ("enabled", "active", "visible", "required", "optional", "is_active", "has_children"):
            return rng.random() < 0.6
        if name in (
            "age",
            "quantity",
            "count",
            "index",
            "page",
            "limit",
            "offset",
            "width",
            "height",
            "port",
            "size",
            "id",
        ):
            return rng.randint(0, rng.choice([9, 99, 999, 9999]))
        if name in ("price", "amount", "total", "tax", "discount", "score", "rating", "temperature", "weight", "speed"):
            return round(rng.uniform(-20, 500), rng.choice([1, 2, 2, 3]))
        if name in ("lat", "lon", "latitude", "longitude"):
            return round(rng.uniform(-180, 180), 5)
        roll = rng.random()
        if roll < 0.65:
            return self.text()
        if roll < 0.8:
            return rng.randint(-100, 10000)
        if roll < 0.9:
            return rng.random() < 0.5
        return None if roll < 0.95 else round(rng.uniform(-1, 1) * 10 ** rng.randint(-3, 6), 4)

    def document(self, depth: int = 0) -> dict[str, Any]:
        """An object of a few members, nested at most three levels."""
        rng = self.rng
        result: dict[str, Any] = {}
        for _ in range(rng.randint(1, 7 if depth == 0 else 4)):
            key = rng.choice(self.words["key"])
            roll = rng.random()
            if depth < 3 and (roll < 0.12 or key in ("address", "metadata", "config", "settings", "parameters")):
                result[key] = self.document(depth + 1)
            elif depth < 3 and (roll < 0.2 or key in ("items", "products", "children", "results", "users")):
                result[key] = [self.document(depth + 2) for _ in range(rng.randint(0, 3))]
            elif key in ("tags", "labels", "roles", "permissions"):
                result[key] = [self.pick("tag") for _ in range(rng.randint(0, 4))]
            elif key == "values":
                result[key] = [rng.randint(0, 100) for _ in range(rng.randint(0, 6))]
            else:
                result[key] = self.scalar(key)
        return result

    def json_text(self) -> str:
        """A document in one of the usual layouts."""
        document, roll = self.document(), self.rng.random()
        ascii_only = self.rng.random() < 0.2
        if roll < 0.4:
            return json.dumps(document, ensure_ascii=ascii_only)
        if roll < 0.7:
            return json.dumps(document, ensure_ascii=ascii_only, separators=(",", ":"))
        return json.dumps(document, ensure_ascii=ascii_only, indent=2 if roll < 0.9 else 4)


def read_words(path: Path) -> dict[str, list[str]]:
    """The lists of ``words.txt``, duplicates dropped."""
    lists = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, _, words = line.partition(": ")
            lists[kind] = list(dict.fromkeys(words.split()))
    return lists


def texts(documents: int) -> Iterator[str]:
    """The training texts, one generation unit each."""
    writer = Writer(read_words(HERE / "corpus" / "words.txt"), random.Random(SEED))
    prose = (HERE / "corpus" / "prose.txt").read_text(encoding="utf-8").splitlines()
    code = (HERE / "corpus" / "code.txt").read_text(encoding="utf-8").split("\n\n")
    for i in range(documents):
        yield writer.json_text()
        if i % 4 == 0:
            yield " ".join(writer.sentence() for _ in range(3))
        if i % 25 == 0:
            yield writer.rng.choice(prose)
            yield writer.rng.choice(code)


# -- vocabulary -------------------------------------------------------------------------------------------


def train_bpe(counts: Counter[bytes], merges_wanted: int) -> list[tuple[int, int]]:
    """Byte-pair encoding: the most frequent neighbouring pair becomes a token, again and again.

    Ties go to the smaller pair, so the result does not depend on hashing.

    Source: Sennrich, Haddow, Birch 2016, "Neural machine translation of rare words with subword units".
    """
    words = [list(word) for word in counts]
    weights = list(counts.values())
    pairs: Counter[tuple[int, int]] = Counter()
    where: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for i, word in enumerate(words):
        for pair in itertools.pairwise(word):
            pairs[pair] += weights[i]
            where[pair].add(i)
    merges: list[tuple[int, int]] = []
    while len(merges) < merges_wanted:
        best = max(pairs, key=lambda pair: (pairs[pair], -pair[0], -pair[1]))
        if pairs[best] < 2:
            raise SystemExit(f"the text is too small: only {len(merges)} merges of {merges_wanted}")
        new = 256 + len(merges)
        merges.append(best)
        for i in sorted(where.pop(best)):
            word = words[i]
            for pair in itertools.pairwise(word):
                pairs[pair] -= weights[i]
                if not pairs[pair]:
                    del pairs[pair]
            merged, at = [], 0
            while at < len(word):
                if at + 1 < len(word) and (word[at], word[at + 1]) == best:
                    merged.append(new)
                    at += 2
                else:
                    merged.append(word[at])
                    at += 1
            words[i] = merged
            for pair in itertools.pairwise(merged):
                pairs[pair] += weights[i]
                where[pair].add(i)
    return merges


# -- n-grams ----------------------------------------------------------------------------------------------


def count_ngrams(sequences: list[list[int]], order: int, at_least: int) -> dict[str, np.ndarray]:
    """Counts of the token after each context of ``order - 1`` tokens, as sorted contexts with rows."""
    table: Counter[tuple[int, int]] = Counter()
    for ids in sequences:
        for i in range(order - 1, len(ids)):
            context = 0
            for token in ids[i - order + 1 : i]:
                context = context * SIZE + token
            table[context, ids[i]] += 1
    kept = sorted((pair, n) for pair, n in table.items() if n >= at_least)
    contexts = np.array([pair[0] for pair, _ in kept], np.uint32)
    distinct, first = np.unique(contexts, return_index=True)
    return {
        f"contexts{order}": np.diff(distinct, prepend=np.uint32(0)).astype(np.uint32),  # differences compress well
        f"sizes{order}": np.diff(np.append(first, len(kept))).astype(np.uint16),
        f"tokens{order}": np.array([pair[1] for pair, _ in kept], np.uint16),
        f"counts{order}": np.array([min(n, 255) for _, n in kept], np.uint8),
    }


def train() -> dict[str, np.ndarray]:
    """Everything that the file holds."""
    corpus = list(texts(DOCUMENTS))
    pieces: Counter[bytes] = Counter()
    for text in corpus:
        pieces.update(piece.encode() for piece in PIECES.findall(text))
    merges = train_bpe(Counter(dict(sorted(pieces.items()))), SIZE - 1 - 256)
    ranks = {pair: i for i, pair in enumerate(merges)}
    cache = {piece: encode_piece(piece, ranks) for piece in pieces}
    end = SIZE - 1
    sequences = [
        [end] + [token for piece in PIECES.findall(text) for token in cache[piece.encode()]] + [end] for text in corpus
    ]
    arrays = {"merges": np.array(merges, np.uint16)}
    for order in range(1, MAX_ORDER + 1):
        arrays |= count_ngrams(sequences, order, at_least=1 if order < 3 else 2)
    total = sum(map(len, sequences))
    distinct = sum(len(a) for name, a in arrays.items() if name.startswith("tokens"))
    longest = max(map(len, token_table(arrays["merges"])))
    print(f"{len(corpus)} texts, {total} tokens, {distinct} n-grams, longest token {longest} bytes", file=sys.stderr)
    return arrays


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    arguments = parser.parse_args()
    arrays = train()
    if not arguments.check:
        np.savez_compressed(TARGET, **arrays)  # type: ignore[arg-type]
        print(f"{TARGET.name}: {TARGET.stat().st_size} bytes", file=sys.stderr)
        return 0
    with np.load(TARGET) as stored:
        same = set(stored.files) == set(arrays) and all(np.array_equal(stored[k], a) for k, a in arrays.items())
    print("default.npz is what this script makes" if same else "default.npz differs: run this script", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
