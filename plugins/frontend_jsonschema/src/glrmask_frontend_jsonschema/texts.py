"""Tests on single strings: does a name match a pattern, does a value satisfy a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glrmask_core.errors import GrammarError, LimitExceededError
from glrmask_core.ir import Builder
from glrmask_core.languages import is_empty

from .patterns import fragment_of
from .refuse import Refusal, pointer
from .settings import Settings
from .shape import Str, Strings
from .spelling import usual

if TYPE_CHECKING:
    from .expr import Expr

MOST_STEPS = 1_500  # of a proof that a language is empty: about 5 ms
MOST_PROOFS = 2_500  # in one compile; 64 key patterns have 2,016 pairs
MOST_CACHED = 4_096  # such proofs kept per process

_empty: dict[tuple[Str, bool], bool] = {}


class Texts:
    """Answers about single strings, memoised per compile."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._tested: dict[tuple[str, str, str], bool] = {}
        self._asked: set[tuple[Str, bool]] = set()

    def check_pattern(self, text: str, expr: Expr, keyword: str) -> None:
        """Raise where the schema is at fault for a pattern that cannot be compiled."""
        try:
            fragment_of("pattern", text, self.settings.escapes == "any")
        except GrammarError as error:
            more = (text,) if keyword == "patternProperties" else ()
            raise Refusal(
                expr.schema, pointer(expr.where, keyword, *more), keyword, str(error), "Write the pattern without it."
            ) from error

    def test(self, kind: str, text: str, value: str) -> bool:
        """Whether a string has a match of a pattern, or is of a format."""
        key = (kind, text, value)
        known = self._tested.get(key)
        if known is None:
            spelled = usual(value)
            known = spelled is not None and fragment_of(kind, text, self.settings.escapes == "any").matches(spelled)
            self._tested[key] = known
        return known

    def fits(self, record: Str, value: str) -> bool:
        """Whether a string satisfies a record."""
        if record.values is not None and value not in record.values:
            return False
        size = len(value)
        if size < record.low or (record.high is not None and size > record.high) or value in record.excluded:
            return False
        for kind, text, wanted in record.tests:
            known = self._tested.get((kind, text, value))
            if (self.test(kind, text, value) if known is None else known) != wanted:
                return False
        return True

    def matches(self, strings: Strings, name: str) -> bool:
        """Whether a name is in a key language."""
        for record in strings:
            values = record.values
            if name in values if values is not None else self.fits(record, name):
                return True
        return False

    def is_empty_string(self, record: Str) -> bool:
        """Whether surely no string satisfies a record, by its automaton; False when that takes too long."""
        if record.values is not None:
            return not record.values
        wanted = [test for test in record.tests if test[2]]
        if len(wanted) >= 2 and not record.low and record.high is None:
            # Texts that contain one thing and texts that contain another: some contain both.
            any_escape = self.settings.escapes == "any"
            if all(fragment_of(kind, text, any_escape).is_open for kind, text, _ in wanted[:2]):
                return False
        if len(record.tests) > 2:  # a larger language, but quickly examined
            record = record._replace(tests=tuple(wanted[:2]), excluded=frozenset())
        if not record.tests:
            return False
        if wanted and self._is_plainly_empty(record, wanted):
            return True
        key = (record._replace(tests=tuple(sorted(record.tests))), self.settings.escapes == "any")
        self._asked.add(key)
        if len(self._asked) > MOST_PROOFS:  # counted whether cached or not: the same schema gives the same grammar
            return False
        known = _empty.get(key)
        if known is None:
            if len(_empty) >= MOST_CACHED:
                _empty.clear()
            known = _empty[key] = self._compute_empty(record)
        return known

    def _is_plainly_empty(self, record: Str, wanted: list[tuple[str, str, bool]]) -> bool:
        """Whether no text has a first byte, a last byte or a length that suits all tests. The empty text has none."""
        firsts = lasts = -1
        may_be_empty, low, high = record.low == 0, record.low, record.high
        for kind, text, _ in wanted:
            fragment = fragment_of(kind, text, self.settings.escapes == "any")
            first, last, empty = fragment.borders
            firsts, lasts, may_be_empty = firsts & first, lasts & last, may_be_empty and empty
            lengths = fragment.lengths()
            if lengths is not None:
                least, most = lengths
                low = max(low, least)
                if most is not None:
                    high = most if high is None else min(high, most)
        return not may_be_empty and (not firsts or not lasts or (high is not None and low > high))

    def _compute_empty(self, record: Str) -> bool:
        from .lower_string import StringLowering

        builder = Builder()
        node = StringLowering(builder, self.settings).body(record)
        try:
            return is_empty(builder, node, MOST_STEPS)
        except LimitExceededError:
            return False
