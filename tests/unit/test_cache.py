"""``glrmask.Cache``: keys, damage, size, processes."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

import glrmask
from glrmask import Cache, Limits, Optimization, Vocab


def files(cache: Cache) -> list[Path]:
    return sorted(cache.directory.glob("*.glrmask"))


def test_hit_and_miss(tmp_path: Path, grammar: Any, letters: Vocab, engine: str) -> None:
    cache = Cache(tmp_path / "new" / "folder")
    made = cache.compile(grammar("a b*"), letters, end_tokens=[20], engine=engine)
    again = cache.compile(grammar("a b*"), letters, end_tokens={20}, engine=engine)
    assert (1, 1) == (cache.hits, cache.misses)
    assert made.save() == again.save() and again.vocab is letters and again.accepts("abb")
    assert 1 == len(files(cache)) and cache.size() == files(cache)[0].stat().st_size
    cache.clear()
    assert [] == files(cache) and 0 == cache.size()


def test_a_hit_does_not_parse(tmp_path: Path, grammar: Any, letters: Vocab, mini: Any) -> None:
    Cache(tmp_path).compile(grammar("a b"), letters, engine="null")
    before = mini.parses
    Cache(str(tmp_path)).compile(grammar("a b"), letters, engine="null")
    assert before == mini.parses


def test_the_key_tells_everything_apart(tmp_path: Path, grammar: Any, letters: Vocab) -> None:
    cache = Cache(tmp_path)
    base: dict[str, Any] = {"engine": "null"}
    other = Vocab.from_dict({b"a": 0, b"b": 1})
    calls: list[tuple[Any, Vocab, dict[str, Any]]] = [
        (grammar("a"), letters, base),
        (grammar("b"), letters, base),
        (grammar("a", warn=True), letters, base),
        (grammar("a"), other, base),
        (grammar("a"), letters, {**base, "end_tokens": [20]}),
        (grammar("a"), letters, {**base, "optimization": Optimization.FAST_BUILD}),
        (grammar("a"), letters, {**base, "limits": Limits(states=5)}),
        (grammar("a"), letters, {"engine": "oracle"}),
        (grammar("$P").bind("P", grammar("a")), letters, base),
        (grammar("$P").bind("P", grammar("b")), letters, base),
        (grammar("@P").bind("P", letters.token(0)), letters, base),
        (grammar("@P").bind("P", letters.token(1)), letters, base),
    ]
    for made, vocab, options in calls:
        cache.compile(made, vocab, **options)
    assert (0, len(calls)) == (cache.hits, cache.misses) and len(calls) == len(files(cache))
    for made, vocab, options in calls:
        cache.compile(made, vocab, **options)
    assert (len(calls), len(calls)) == (cache.hits, cache.misses)


@pytest.mark.parametrize("damage", [b"", b"GLRMASK\0", b"x" * 500])
def test_damaged_files_are_misses(tmp_path: Path, grammar: Any, letters: Vocab, damage: bytes) -> None:
    cache = Cache(tmp_path)
    cache.compile(grammar("a"), letters, engine="oracle")
    (path,) = files(cache)
    whole = path.read_bytes()
    path.write_bytes(damage or whole[:-1])
    assert cache.compile(grammar("a"), letters, engine="oracle").accepts("a")
    assert (0, 2) == (cache.hits, cache.misses) and whole == path.read_bytes()


def test_size_is_bounded_and_the_oldest_go_first(tmp_path: Path, grammar: Any, letters: Vocab) -> None:
    cache = Cache(tmp_path)
    for at, text in enumerate("abcxyz"):
        cache.compile(grammar(text), letters, engine="null")
        for path in files(cache):
            if path.stat().st_mtime > 1000:
                os.utime(path, (at, at))
    sizes = [path.stat().st_size for path in files(cache)]
    cache._max_bytes = sum(sizes) - 1
    cache.compile(grammar("ab"), letters, engine="null")
    assert cache.size() <= cache._max_bytes
    cache.compile(grammar("z"), letters, engine="null")
    assert 1 == cache.hits
    cache._max_bytes = 1
    cache.compile(grammar("abc"), letters, engine="null")
    assert not [p for p in tmp_path.iterdir() if p.suffix == ".tmp"]


def test_an_unwritable_cache_is_no_error(tmp_path: Path, grammar: Any, letters: Vocab) -> None:
    cache = Cache(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert cache.compile(grammar("a"), letters, engine="oracle").accepts("a")


def test_errors_are_those_of_compile(tmp_path: Path, grammar: Any, letters: Vocab) -> None:
    cache = Cache(tmp_path)
    with pytest.raises(glrmask.GrammarSyntaxError):
        cache.compile(grammar("!"), letters, engine="oracle")
    with pytest.raises(glrmask.BindError):
        cache.compile(grammar("$P"), letters, engine="oracle")
    with pytest.raises(TypeError):
        cache.compile("a", letters)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        cache.compile(grammar("a"), letters, end_tokens=3)  # type: ignore[arg-type]
    assert [] == files(cache)


def test_many_threads_on_one_directory(tmp_path: Path, grammar: Any, letters: Vocab) -> None:
    failures: list[BaseException] = []

    def run(seed: int) -> None:
        cache = Cache(tmp_path)
        try:
            for n in range(20):
                text = "abcxyz"[(n + seed) % 6]
                assert cache.compile(grammar(text), letters, engine="oracle").accepts(text)
                if n % 7 == seed:
                    cache.clear()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [] == failures


def test_a_file_under_another_name_is_not_used(tmp_path: Path, grammar: Any, letters: Vocab, engine: str) -> None:
    cache = Cache(tmp_path)
    cache.compile(grammar("a"), letters, engine=engine)
    (name,) = files(cache)
    cache.compile(grammar("b"), letters, engine=engine)
    (other,) = set(files(cache)) - {name}
    name.write_bytes(other.read_bytes())
    again = cache.compile(grammar("a"), letters, engine=engine)
    assert (True, False) == (again.accepts("a"), again.accepts("b"))
