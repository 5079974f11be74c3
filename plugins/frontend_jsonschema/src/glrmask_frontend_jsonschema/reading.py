"""JSON text to Python values, keeping what ``json.loads`` loses: number spellings and repeated keys."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any, Union

from glrmask_core.errors import GrammarError, GrammarSyntaxError
from glrmask_core.source import Diagnostic, span_at

DIGITS_AT_ONCE = 4_000  # below the interpreter's own limit on conversions between int and str
LONGEST_INTEGER = 100_000  # digits; converting is quadratic
DIGITS_AT_ONCE_BITS = 13_000  # numbers of fewer bits have fewer digits
LARGEST_EXPONENT = 5_000  # above it a number is kept by its spelling only

Exact = Union[int, Fraction]  # integers are always int: quick to compare, to hash and to spell


class Number(Decimal):
    """A JSON number that is not spelled as an integer, with its spelling."""

    spelling: str

    def __new__(cls, text: str) -> Number:
        made = super().__new__(cls, text)
        made.spelling = text
        return made


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise GrammarSyntaxError(f"expected distinct keys in an object, found {json.dumps(key)} twice")
            seen.add(key)
    return made


def _constant(text: str) -> Any:
    raise GrammarSyntaxError(f"expected a JSON number, found {text}, which JSON does not have")


def _integer(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise GrammarSyntaxError(f"expected a number of at most {LONGEST_INTEGER} digits, found {len(text)}")
    value = 0
    digits = text.lstrip("-")
    for at in range(0, len(digits), DIGITS_AT_ONCE):
        part = digits[at : at + DIGITS_AT_ONCE]
        value = value * 10 ** len(part) + int(part)
    return -value if text[0] == "-" else value


_decoder = json.JSONDecoder(parse_float=Number, parse_constant=_constant, object_pairs_hook=_pairs)
_slow_decoder = json.JSONDecoder(
    parse_float=Number, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_pairs
)


def read_json(text: str) -> Any:
    """The value of JSON text: dict, list, str, bool, None, int, or :class:`Number`.

    Raises:
        GrammarSyntaxError: not JSON, a key given twice in one object, NaN or Infinity, nested too deeply.
    """
    try:
        try:
            return _decoder.decode(text)
        except json.JSONDecodeError:
            raise
        except GrammarError:
            raise
        except ValueError:  # an integer beyond the interpreter's digit limit
            return _slow_decoder.decode(text)
    except json.JSONDecodeError as error:
        span = span_at(text, error.pos)
        message = f"expected JSON text of a schema: {error.msg} at line {error.lineno}, column {error.colno}"
        raise GrammarSyntaxError(message, [Diagnostic(message, span)]) from None
    except RecursionError:
        raise GrammarSyntaxError("expected a schema text that is nested less deeply (limit about 900 levels)") from None


def is_number(value: object) -> bool:
    """Whether a value read by :func:`read_json` is a number."""
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def as_integer(value: object) -> int | None:
    """The integer that a JSON number stands for (2.0 is 2), or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal) and value.adjusted() <= LARGEST_EXPONENT and value == value.to_integral_value():
        return int(value)
    return None


def as_exact(value: int | Decimal) -> Exact | None:
    """The exact value, or None when its exponent is beyond any use."""
    if isinstance(value, int):
        return value
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > LARGEST_EXPONENT or abs(value.adjusted()) > LARGEST_EXPONENT:
        return None if value else 0
    return reduced(Fraction(value))


def reduced(value: Fraction) -> Exact:
    """The same number, as an int where it is one."""
    return value.numerator if value.denominator == 1 else value


def exact_key(value: Any) -> Any:
    """A hashable key that is equal exactly when two values are written alike (blanks apart)."""
    if isinstance(value, bool) or value is None:
        return ("b", value)
    if isinstance(value, str):
        return value
    if isinstance(value, (int, Decimal)):
        return ("n", getattr(value, "spelling", value))
    if isinstance(value, list):
        return ("a", tuple(exact_key(item) for item in value))
    return ("o", tuple((key, exact_key(item)) for key, item in value.items()))


def integer_text(value: int) -> str:
    """The decimal digits of an integer of any size (``str`` refuses more than 4,300)."""
    if value.bit_length() < DIGITS_AT_ONCE_BITS:
        return str(value)
    parts, rest, block = [], abs(value), 10**DIGITS_AT_ONCE
    while rest:
        rest, part = divmod(rest, block)
        parts.append(str(part).rjust(DIGITS_AT_ONCE, "0") if rest else str(part))
    return ("-" if value < 0 else "") + "".join(reversed(parts))
