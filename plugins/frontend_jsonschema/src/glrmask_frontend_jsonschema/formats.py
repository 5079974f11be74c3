"""Formats: what each one means, as a regular expression over the decoded string.

A format is asserted, on strings only (integer ranges: on integers only). Sources: RFC 3339 (dates, times,
durations), RFC 5321 and 5322 (addresses), RFC 1123 (host names), RFC 4291 (IPv6), RFC 3986 (URIs),
RFC 6570 (templates), RFC 6901 (pointers), RFC 4648 (base64), RFC 4122 (UUIDs).
"""

from __future__ import annotations

_DAYS = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_NONZERO_MULTIPLE_OF_4 = "(?:0[48]|[2468][048]|[13579][26])"
# Years from 0001 on: RFC 3339 has a year 0000, most libraries that read dates do not.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DATE = f"(?:{_YEAR}-{_DAYS}|(?:[0-9]{{2}}{_NONZERO_MULTIPLE_OF_4}|{_NONZERO_MULTIPLE_OF_4}00)-02-29)"


def _leap_seconds() -> dict[str, list[str]]:
    """Local times of 23:59 UTC with their offsets, for offsets of whole quarters of an hour."""
    found: dict[str, list[str]] = {"23:59": ["Z", "z"]}
    for hours in range(24):
        for minutes in (0, 15, 30, 45):
            east, west = 23 * 60 + 59 + hours * 60 + minutes, 23 * 60 + 59 - hours * 60 - minutes
            for sign, local in (("+", east % 1440), ("-", west % 1440)):
                time = f"{local // 60:02d}:{local % 60:02d}"
                found.setdefault(time, []).append(f"{sign}{hours:02d}:{minutes:02d}")
    return found


# Local times that have a second 60 (an optional fraction follows it), and the offsets they go with. Kept out of
# the expressions: 96 alternatives are cheaper to build than to parse.
LEAP_SECONDS = _leap_seconds()
TIMED = frozenset(("time", "date-time"))
DATE_AND_T = f"{_DATE}[Tt]"
_HOUR = "(?:[01][0-9]|2[0-3])"
_TIME = f"{_HOUR}:[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+-]{_HOUR}:[0-5][0-9])"
_DUR_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DUR_DATE = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"

_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = f"{_BYTE}(?:\\.{_BYTE}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = (
    f"(?:(?:{_H16}:){{6}}{_LS32}"
    f"|::(?:{_H16}:){{5}}{_LS32}"
    f"|(?:{_H16})?::(?:{_H16}:){{4}}{_LS32}"
    f"|(?:(?:{_H16}:){{0,1}}{_H16})?::(?:{_H16}:){{3}}{_LS32}"
    f"|(?:(?:{_H16}:){{0,2}}{_H16})?::(?:{_H16}:){{2}}{_LS32}"
    f"|(?:(?:{_H16}:){{0,3}}{_H16})?::{_H16}:{_LS32}"
    f"|(?:(?:{_H16}:){{0,4}}{_H16})?::{_LS32}"
    f"|(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}"
    f"|(?:(?:{_H16}:){{0,6}}{_H16})?::)"
)
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = f"{_LABEL}(?:\\.{_LABEL})*"
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"

_PCT = "%[0-9A-Fa-f]{2}"
_PCHAR = f"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|{_PCT})"
_PCHAR_NO_COLON = f"(?:[A-Za-z0-9._~!$&'()*+,;=@-]|{_PCT})"
_IP_LITERAL = f"\\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]"
_REG_NAME = f"(?:[A-Za-z0-9._~!$&'()*+,;=-]|{_PCT})*"
_USER = f"(?:[A-Za-z0-9._~!$&'()*+,;=:-]|{_PCT})*@"
_AUTHORITY = f"(?:{_USER})?(?:{_IP_LITERAL}|{_REG_NAME})(?::[0-9]*)?"
_ABSOLUTE = f"/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?"
_TAIL = f"(?:\\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
_HIER = f"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|{_ABSOLUTE}|{_PCHAR}+(?:/{_PCHAR}*)*)?"
_RELATIVE = f"(?://{_AUTHORITY}(?:/{_PCHAR}*)*|{_ABSOLUTE}|{_PCHAR_NO_COLON}+(?:/{_PCHAR}*)*)?"
_URI = f"[A-Za-z][A-Za-z0-9+.-]*:{_HIER}{_TAIL}"

_VARCHAR = f"(?:[A-Za-z0-9_]|{_PCT})"
_VARIABLE = f"{_VARCHAR}(?:\\.?{_VARCHAR})*(?::[1-9][0-9]{{0,3}}|\\*)?"
_TEMPLATE = (
    "(?:[!#$&-;=?-\\[\\]_a-z~\\u{A0}-\\u{D7FF}\\u{E000}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}"
    "\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}\\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}"
    "\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}\\u{90000}-\\u{9FFFD}\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}"
    "\\u{C0000}-\\u{CFFFD}\\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}]"
    f"|{_PCT}|\\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\\}})*"
)
_POINTER = "(?:/(?:[^~/]|~[01])*)*"

# format: the regular expression that the whole decoded string matches (for those in TIMED: without second 60)
PATTERNS: dict[str, str] = {
    "date": _DATE,
    "time": _TIME,
    "date-time": f"{DATE_AND_T}{_TIME}",
    "duration": f"P(?:{_DUR_DATE}(?:{_DUR_TIME})?|{_DUR_TIME}|[0-9]+W)",
    "email": f"{_ATOM}(?:\\.{_ATOM})*@(?:{_HOST}|\\[{_IPV4}\\])",
    "hostname": _HOST,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uuid": "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
    "uri": _URI,
    "uri-reference": f"(?:{_URI}|{_RELATIVE}{_TAIL})",
    "uri-template": _TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
    "byte": "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?",
}
MOST_CHARACTERS = {"hostname": 253}

# on integers: inclusive range
INTEGER_RANGES: dict[str, tuple[int, int]] = {
    f"{'u' * unsigned}int{bits}": (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    for unsigned in (False, True)
    for bits in (8, 16, 32, 64)
}
NO_EFFECT = frozenset(("float", "double", "password", "binary"))
KNOWN = frozenset((*PATTERNS, *INTEGER_RANGES, *NO_EFFECT))


def format_table() -> str:
    """The Markdown table of the documentation."""
    lines = ["| format | enforced as |", "| --- | --- |"]
    notes = {
        "date": "RFC 3339, with month lengths and leap years, from year 0001",
        "time": "RFC 3339 full time, offset required; second 60 where it is 23:59 UTC and the offset whole quarters",
        "date-time": "RFC 3339, `T` and `Z` in either case, as `date` and `time`",
        "duration": "RFC 3339, appendix A",
        "email": "dot-atom, `@`, host name or IPv4 address in brackets",
        "hostname": "labels of 1 to 63 letters, digits and inner hyphens, 253 characters in all",
        "ipv4": "four decimal bytes without leading zeros",
        "ipv6": "RFC 4291, embedded IPv4 included",
        "uuid": "8-4-4-4-12 hexadecimal digits",
        "byte": "base64 with padding",
    }
    for name in PATTERNS:
        lines.append(f"| `{name}` | {notes.get(name, 'as its RFC')} |")
    for name, (low, high) in INTEGER_RANGES.items():
        lines.append(f"| `{name}` | integers {low} to {high} |")
    lines.append(f"| {', '.join(f'`{n}`' for n in sorted(NO_EFFECT))} | accepted, no effect |")
    lines.append('| any other | error; `unknown_formats="ignore"` drops it |')
    return "\n".join(lines)
