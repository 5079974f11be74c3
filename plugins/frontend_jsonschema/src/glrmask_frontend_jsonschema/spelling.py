"""Characters and texts as they are spelled inside a JSON string (json_schema.md section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from glrmask_core.ir import Builder

Range = tuple[int, int]

SHORT = {0x08: b"\\b", 0x09: b"\\t", 0x0A: b"\\n", 0x0C: b"\\f", 0x0D: b"\\r", 0x22: b'\\"', 0x5C: b"\\\\"}
EVERY: tuple[Range, ...] = ((0, 0x10FFFF),)


def _hex_cases(code: int) -> list[bytes]:
    """``\\uHHHH`` in all mixtures of upper and lower case."""
    texts = [""]
    for digit in f"{code:04x}":
        texts = [t + d for t in texts for d in dict.fromkeys((digit, digit.upper()))]
    return [b"\\u" + t.encode() for t in texts]


def _canonical(code: int) -> list[bytes]:
    """The canonical spellings of a character, the usual one first."""
    out = []
    if code in SHORT:
        out.append(SHORT[code])
    elif code >= 0x20:
        out.append(chr(code).encode())
    if code < 0x20 or code == 0x7F:
        out += _hex_cases(code)
    return out


_SPECIAL: dict[int, list[bytes]] = {code: _canonical(code) for code in (*range(0x20), 0x22, 0x5C, 0x7F)}


def is_plain(text: str) -> bool:
    """Whether every character has one canonical spelling, itself."""
    return (text.isprintable() and '"' not in text and "\\" not in text) or not any(ord(c) in _SPECIAL for c in text)


def usual(text: str) -> bytes | None:
    """One canonical spelling of a text without the quotes; None with a lone surrogate, which has none."""
    try:
        if is_plain(text):
            return text.encode()
        return b"".join(_SPECIAL[ord(c)][0] if ord(c) in _SPECIAL else c.encode() for c in text)
    except UnicodeEncodeError:
        return None


def spelled_length(data: bytes) -> int:
    """How many characters the spelling ``data`` stands for."""
    if b"\\" not in data:
        return len(data) if data.isascii() else sum(byte & 0xC0 != 0x80 for byte in data)
    count = at = 0
    while at < len(data):
        byte = data[at]
        at += 1 if byte != 0x5C else 6 if data[at + 1 : at + 2] == b"u" else 2
        count += byte & 0xC0 != 0x80
    return count


class Speller:
    """Makes the nodes of spelled characters and texts in one builder."""

    def __init__(self, builder: Builder, any_escape: bool) -> None:
        self.builder = builder
        self.any_escape = any_escape
        self._classes: dict[tuple[Range, ...], int] = {}
        self.single: set[int] = set()  # nodes that spell exactly one character
        self.every = self.chars(EVERY)
        self.body = builder.repeat(self.every, 0, None)

    def chars(self, ranges: Iterable[Range]) -> int:
        """One character out of inclusive code-point ranges."""
        key = tuple(ranges)
        made = self._classes.get(key)
        if made is None:
            made = self._classes[key] = self._free(key) if self.any_escape else self._canonical(key)
            self.single.add(made)
        return made

    def text(self, text: str) -> int:
        """Exactly this text."""
        builder = self.builder
        plain = usual(text)
        if plain is None:
            return builder.nothing()
        if not self.any_escape and is_plain(text):
            return builder.literal(plain)
        return builder.seq([self.chars(((ord(c), ord(c)),)) for c in text])

    def texts(self, texts: Sequence[str]) -> int:
        """Any one of these texts."""
        builder = self.builder
        if not self.any_escape:
            try:
                if texts and is_plain("".join(texts)):  # so there is no line end in any
                    return builder.literals("\n".join(texts).encode().split(b"\n"))
            except UnicodeEncodeError:
                pass
            plain = [t.encode() for t in texts if is_plain(t) and usual(t) is not None]
            others = [self.text(t) for t in texts if not is_plain(t)]
            return builder.choice([builder.literals(plain), *others])
        return builder.choice([self.text(t) for t in texts])

    def _canonical(self, ranges: tuple[Range, ...]) -> int:
        builder = self.builder
        raw: list[Range] = []
        escaped: list[bytes] = []
        controls = 0
        for low, high in ranges:
            for code in range(low, min(high, 0x1F) + 1):
                escaped += _SPECIAL[code]
                controls += 1
            for code in (0x22, 0x5C):
                if low <= code <= high:
                    escaped += _SPECIAL[code]
            if low <= 0x7F <= high:
                escaped += _SPECIAL[0x7F][1:]
            at = max(low, 0x20)
            for code in (0x22, 0x5C):
                if at <= code <= high:
                    if at < code:
                        raw.append((at, code - 1))
                    at = code + 1
            if at <= high:
                raw.append((at, high))
        if len(raw) == 1 and not escaped and raw[0][0] == raw[0][1]:
            code = raw[0][0]
            return builder.nothing() if 0xD800 <= code <= 0xDFFF else builder.literal(chr(code).encode())
        parts = [builder.chars(raw)]
        if controls == 32:
            escaped = [x for x in escaped if x[1:5] not in (b"u000", b"u001") and x[1] not in b"bfnrt"]
            parts.append(self._all_controls(escaped))
        elif escaped:
            parts.append(builder.literals(escaped))
        return builder.choice(parts)

    def _all_controls(self, more: list[bytes]) -> int:
        """All characters below U+0020 (short escapes and hexadecimal ones) and what else is escaped."""
        builder = self.builder
        hexadecimal = builder.seq(
            [builder.literal(b"u00"), builder.bytes_class(b"01"), builder.bytes_class(b"0123456789abcdefABCDEF")]
        )
        short = [x[1:] for x in more if len(x) == 2]
        longer = [x[1:] for x in more if len(x) != 2]
        single = builder.bytes_class(b"bfnrt" + b"".join(short))
        return builder.seq([builder.literal(b"\\"), builder.choice([single, hexadecimal, builder.literals(longer)])])

    def _free(self, ranges: tuple[Range, ...]) -> int:
        builder = self.builder
        parts = [self._canonical(ranges)]
        units: list[int] = []
        for low, high in ranges:
            if low <= 0x2F <= high:
                parts.append(builder.literal(b"\\/"))
            for first, last in ((low, min(high, 0xD7FF)), (max(low, 0xE000), min(high, 0xFFFF))):
                if first <= last:
                    units.append(self._units(first, last))
            if high > 0xFFFF:
                units += self._pairs(max(low, 0x10000) - 0x10000, high - 0x10000)
        if units:
            parts.append(builder.seq([builder.literal(b"\\u"), builder.choice(units)]))
        return builder.choice(parts)

    def _pairs(self, low: int, high: int) -> list[int]:
        """Surrogate pairs, after the first ``\\u``; offsets from U+10000."""
        builder, middle, out = self.builder, self.builder.literal(b"\\u"), []
        while low <= high:
            lead = low >> 10
            last = min(high, lead << 10 | 0x3FF)
            leads = lead
            if low & 0x3FF == 0 and high - low >= 0x3FF:  # whole blocks at once
                leads = ((high + 1) >> 10) - 1
                last = leads << 10 | 0x3FF
            trail = self._units(0xDC00 | low & 0x3FF, 0xDC00 | last & 0x3FF)
            out.append(builder.seq([self._units(0xD800 | lead, 0xD800 | leads), middle, trail]))
            low = last + 1
        return out

    def _units(self, low: int, high: int, digits: int = 4) -> int:
        """Hexadecimal numbers of ``digits`` digits from ``low`` to ``high``, either case."""
        builder = self.builder
        if digits == 1:
            return builder.bytes_class(b"".join(f"{d:x}{d:X}".encode() for d in range(low, high + 1)))
        block = 16 ** (digits - 1)
        parts: list[tuple[int, int, int, int]] = []
        first, last = low // block, high // block
        if first == last:
            parts.append((first, last, low % block, high % block))
        else:
            if low % block:
                parts.append((first, first, low % block, block - 1))
                first += 1
            whole = last if high % block == block - 1 else last - 1
            if first <= whole:
                parts.append((first, whole, 0, block - 1))
            if whole < last:
                parts.append((last, last, 0, high % block))
        return builder.choice(
            [builder.seq([self._units(a, b, 1), self._units(c, d, digits - 1)]) for a, b, c, d in parts]
        )

    def copy(self, builder: Builder) -> Speller:
        """The same for a copy of the builder."""
        made = Speller.__new__(Speller)
        made.builder, made.any_escape = builder, self.any_escape
        made._classes, made.single = self._classes.copy(), self.single.copy()
        made.every, made.body = self.every, self.body
        return made
