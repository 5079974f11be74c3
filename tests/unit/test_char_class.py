"""The inside of character classes."""

from __future__ import annotations

import pytest

from glrmask_core.char_class import ClassError, read_class
from glrmask_core.ir import Builder


def members(body: str) -> set[int]:
    """The bytes that a byte class matches."""
    b = Builder()
    module = b.build(b.terminal(read_class(body, is_unicode=False).lower(b)))
    _, offset, _, _ = module.row(2)
    return {n for n in range(256) if module.blob[offset + (n >> 3)] >> (n & 7) & 1}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a-c", b"abc"),
        ("-a", b"-a"),
        ("a-", b"-a"),
        ("a-c-", b"abc-"),
        ("-", b"-"),
        ("a^", b"^a"),
        (r"\-\]\\\^\[\.", b"-]\\^[."),
        (r"\n\r\t\f\v", b"\n\r\t\f\v"),
        (r"\x41-\x43\xff", b"ABC\xff"),
        (r"\d", b"0123456789"),
        (r"\s", b" \t\n\r\f\v"),
        ("+--", None),
        (r"+-\-", b"+,-"),
        ("&&[", b"&["),
    ],
)
def test_bytes(body: str, expected: bytes | None) -> None:
    if expected is None:
        with pytest.raises(ClassError, match="dash"):
            members(body)
    else:
        assert members(body) == set(expected)


def test_negated_bytes() -> None:
    assert members("^a-c") == set(range(256)) - set(b"abc")
    assert members("^-") == set(range(256)) - {45}
    assert members("^") == set(range(256))


def test_characters() -> None:
    found = read_class(r"é-ë\u65e5\ud83d\ude00\U0001F601\xfe\xff\x41\w", is_unicode=True)
    assert found.raw == {0xFE, 0xFF}
    assert found.ranges[:5] == [(0xE9, 0xEB), (0x65E5, 0x65E5), (0x1F600, 0x1F600), (0x1F601, 0x1F601), (0x41, 0x41)]


@pytest.mark.parametrize(
    ("body", "is_unicode", "offset", "says"),
    [
        ("c-a", False, 0, "reversed"),
        ("xé", False, 1, "[...]/utf8"),
        (r"\u0041", False, 0, "[...]/utf8"),
        (r"x\q", True, 1, "no meaning"),
        (r"\é", True, 0, "no meaning"),
        ("a\\", True, 1, "at the end"),
        (r"\x4", True, 0, "2 hexadecimal digits"),
        (r"\u12", True, 0, "4 hexadecimal digits"),
        (r"\U00110000", True, 0, "above U+10FFFF"),
        (r"\ude00", True, 0, "half"),
        (r"\ud83dx", True, 0, "half"),
        (r"^\xff", True, 0, "negated"),
        (r"a-\xff", True, 0, "no meaning"),
        (r"\d-z", True, 0, "cannot begin"),
        (r"a-\d", True, 2, "cannot end"),
        ("a-c-e", True, 3, "two ways"),
        ("--a", True, 0, "cannot begin"),
    ],
)
def test_errors(body: str, is_unicode: bool, offset: int, says: str) -> None:
    with pytest.raises(ClassError) as caught:
        read_class(body, is_unicode=is_unicode)
    assert says in str(caught.value)
    assert caught.value.offset == offset
