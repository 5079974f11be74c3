r"""Sets of code points for regular expressions: shorthand classes, complements, case folding, ``\p{..}``.

A set is a tuple of inclusive ranges, ascending and disjoint. What is costly (case folding beyond ASCII,
general categories) is made on first use and kept.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]
TOP = 0x10FFFF
ALL: Ranges = ((0, TOP),)
DIGIT: Ranges = ((48, 57),)
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Ranges = ((9, 13), (32, 32))
# ECMA-262, white space and line terminators together.
ECMA_SPACE: Ranges = (
    (9, 13),
    (32, 32),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
LAST_CASED = 0x1E943  # ADLAM SMALL LETTER SHA: no character beyond has case


def union(parts: Iterable[tuple[int, int]]) -> Ranges:
    """The set of all characters in these ranges, in any order."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(parts):
        if out and first <= out[-1][1] + 1:
            if last > out[-1][1]:
                out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return tuple(out)


@functools.lru_cache(256)
def complement(ranges: Ranges) -> Ranges:
    """All other code points."""
    out, at = [], 0
    for first, last in ranges:
        if first > at:
            out.append((at, first - 1))
        at = last + 1
    if at <= TOP:
        out.append((at, TOP))
    return tuple(out)


def _fold(code: int) -> int:
    """The simple case folding of a code point."""
    folded = chr(code).casefold()
    if len(folded) != 1:
        folded = chr(code).lower()
    return ord(folded) if len(folded) == 1 else code


@functools.lru_cache(1)
def _fold_classes() -> dict[int, tuple[int, ...]]:
    """Code point to all others with the same folding. Cost: about 40 ms, once."""
    groups: dict[int, list[int]] = {}
    for code in range(LAST_CASED + 1):
        if not 0xD800 <= code <= 0xDFFF:
            fold = _fold(code)
            if fold != code:
                groups.setdefault(fold, [fold]).append(code)
    return {code: tuple(group) for group in groups.values() for code in group}


@functools.lru_cache(256)
def ignore_case(ranges: Ranges) -> Ranges:
    """The set with all characters that differ from a member in case only (simple folding)."""
    if ranges == ALL:
        return ranges
    classes = _fold_classes()
    extra: list[tuple[int, int]] = []
    if sum(last - first + 1 for first, last in ranges) < len(classes):
        members: Iterable[int] = (c for first, last in ranges for c in range(first, min(last, LAST_CASED) + 1))
    else:
        members = (c for c in classes if any(first <= c <= last for first, last in ranges))
    for code in members:
        extra += ((other, other) for other in classes.get(code, ()))
    return union((*ranges, *extra))


@functools.lru_cache(1)
def _categories() -> dict[str, Ranges]:
    """General category (one and two letters) to its code points. Cost: about 150 ms, once."""
    runs: dict[str, list[tuple[int, int]]] = {}
    category, start = unicodedata.category("\0"), 0
    for code in range(1, TOP + 2):
        here = unicodedata.category(chr(code)) if code <= TOP else ""
        if here != category:
            runs.setdefault(category, []).append((start, code - 1))
            category, start = here, code
    out = {name: tuple(found) for name, found in runs.items()}
    for letter in "LMNPSZC":
        out[letter] = union(r for name, found in runs.items() if name[0] == letter for r in found)
    out["LC"] = union((*out["Lu"], *out["Ll"], *out["Lt"]))
    return out


_LONG_NAMES = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Combining_Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Other": "C",
    "Control": "Cc",
    "cntrl": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}


def unicode_property(name: str) -> Ranges | None:
    r"""The set of ``\p{name}``, or None for a property that is not supported.

    General categories by short or long name, alone or after ``General_Category=`` or ``gc=``; ``Any``,
    ``ASCII``, ``Assigned``, ``White_Space``. The data is that of Python's ``unicodedata``.
    """
    for prefix in ("General_Category=", "gc="):
        if name.startswith(prefix):
            name = name[len(prefix) :]
            return _categories().get(_LONG_NAMES.get(name, name))
    if name == "Any":
        return ALL
    if name == "ASCII":
        return ((0, 0x7F),)
    if name in ("White_Space", "space"):
        return union((*(r for r in ECMA_SPACE if r[0] != 0xFEFF), (0x85, 0x85)))
    if name == "Assigned":
        return complement(_categories()["Cn"])
    return _categories().get(_LONG_NAMES.get(name, name))
