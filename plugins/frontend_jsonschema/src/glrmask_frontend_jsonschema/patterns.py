"""Patterns and formats as fragments, compiled once per process."""

from __future__ import annotations

from glrmask_core.errors import GrammarError
from glrmask_core.ir import Builder
from glrmask_core.regex import Dialect, compile_regex

from . import formats
from .fragment import Fragment, capture
from .spelling import Speller

MOST_CACHED = 4096  # fragments kept per process

_cache: dict[tuple[str, str, bool], Fragment | GrammarError] = {}

_spellers: dict[bool, Speller] = {}


def fragment_of(kind: str, text: str, any_escape: bool) -> Fragment:
    """The strings (without quotes, as spelled) that a ``"pattern"`` finds a match in, or a ``"format"`` allows.

    Raises:
        GrammarError: a regular expression that is malformed, or that no regular language can express.
    """
    key = (kind, text, any_escape)
    found = _cache.get(key)
    if found is None:
        if len(_cache) >= MOST_CACHED:
            _cache.clear()
        try:
            found = _compile(kind, text, any_escape)
        except GrammarError as error:
            found = error
        _cache[key] = found
    if isinstance(found, GrammarError):
        raise found
    return found


def _compile(kind: str, text: str, any_escape: bool) -> Fragment:
    base = _spellers.get(any_escape)
    if base is None:
        base = _spellers[any_escape] = Speller(Builder(), any_escape)
    builder = base.builder.copy()
    speller = base.copy(builder)
    pattern = text if kind == "pattern" else formats.PATTERNS[text]
    node = compile_regex(
        pattern, builder, dialect=Dialect.ECMA, search=kind == "pattern", chars=speller.chars, text=speller.text
    )
    if kind == "format" and text in formats.TIMED:
        leap = _leap_seconds(builder, speller)
        if text == "date-time":
            date = compile_regex(
                formats.DATE_AND_T, builder, dialect=Dialect.ECMA, chars=speller.chars, text=speller.text
            )
            leap = builder.seq((date, leap))
        node = builder.choice((node, leap))
    if kind == "format" and text in formats.MOST_CHARACTERS:
        node = builder.both(node, builder.repeat(speller.every, 0, formats.MOST_CHARACTERS[text]))
    return capture(builder, node, speller.single, speller.body)


def _leap_seconds(builder: Builder, speller: Speller) -> int:
    digits = builder.repeat(speller.chars(((0x30, 0x39),)), 1, None)
    fraction = builder.optional(builder.seq((speller.text("."), digits)))
    return builder.choice(
        [
            builder.seq((speller.text(f"{time}:60"), fraction, speller.texts(offsets)))
            for time, offsets in formats.LEAP_SECONDS.items()
        ]
    )
