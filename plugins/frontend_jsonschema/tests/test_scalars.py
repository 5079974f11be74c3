"""Types, constants, strings, numbers: what is accepted and in which spelling."""

from __future__ import annotations

from fractions import Fraction

import pytest
from glrmask_frontend_jsonschema.lower_number import NumberTooLarge, number_fragment
from glrmask_frontend_jsonschema.shape import NUM_ANY, NUM_INTEGER, Num, both_numbers, number_fits
from judge import check, grammar, split

from glrmask_core.errors import GrammarError

VALUES = ["null", "true", "false", "0", "-1", "1.5", '""', '"a"', "[]", "[1]", "{}", '{"a":1}']


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        (True, VALUES),
        ({}, VALUES),
        ({"type": "null"}, ["null"]),
        ({"type": "boolean"}, ["true", "false"]),
        ({"type": "integer"}, ["0", "-1"]),
        ({"type": "number"}, ["0", "-1", "1.5"]),
        ({"type": ["number", "integer"]}, ["0", "-1", "1.5"]),
        ({"type": "string"}, ['""', '"a"']),
        ({"type": ["array", "null"]}, ["null", "[]", "[1]"]),
        ({"type": "object"}, ["{}", '{"a":1}']),
        ({"minLength": 1}, [v for v in VALUES if v != '""']),
        ({"minimum": 0}, [v for v in VALUES if v != "-1"]),
        ({"minItems": 1}, [v for v in VALUES if v != "[]"]),
        ({"minProperties": 1}, [v for v in VALUES if v != "{}"]),
        ({"enum": ["a", 1.5, None, [1], {"a": 1}]}, ["null", "1.5", '"a"', "[1]", '{"a":1}']),
        ({"const": False}, ["false"]),
        ({"const": [1]}, ["[1]"]),
        ({"enum": [0, "a", True], "type": ["string", "boolean"]}, ["true", '"a"']),
    ],
)
def test_types_and_values(schema: object, accepted: list[str]) -> None:
    assert accepted == split(schema, VALUES)


def test_spelling_of_characters() -> None:
    check(
        {"type": "string"},
        ['"\\""', '"\\\\"', '"\\n\\t\\b\\f\\r"', '"\\u000a\\u000A\\u001f"', '"\\u007f\x7f"', '"é☃😀"'],
        ['"\\/"', '"\\u0041"', '"\\ud83d\\ude00"', '"\\ud800"', '"\n"', '"\\x41"', '"a', '"\\u12"', "'a'"],
    )


def test_any_escape() -> None:
    check(
        {"const": "a/é😀"},
        ['"a/é😀"', '"\\u0061\\/\\u00e9\\uD83D\\uDe00"', '"a\\u002F\\u00E9😀"'],
        ['"a/é\\ud83d"', '"\\u0062/é😀"', '"a/é\\uDE00\\uD83D"'],
        escapes="any",
    )
    check({"type": "string", "maxLength": 1}, ['"\\ud83d\\ude00"', '"\\/"'], ['"\\ud800"', '"ab"'], escapes="any")
    assert not grammar({"type": "string"}, escapes="any").accepts(b'"\xed\xa0\x80"')
    every = grammar({"type": "string", "pattern": "^[^a]$"}, escapes="any")
    assert every.accepts('"\\u0062"') and every.accepts('"\\uDBFF\\uDFFF"') and not every.accepts('"\\u0061"')


def test_enum_takes_every_spelling_of_the_table() -> None:
    check({"enum": ["a\n", "\x7f"]}, ['"a\\n"', '"a\\u000A"', '"\x7f"', '"\\u007F"'], ['"a\n"', '"\\u0061\\n"'])


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"maxLength": 2}, ['""', '"ab"', '"\\n\\""', '"😀é"'], ['"abc"', '"\\n\\n\\n"']),
        ({"minLength": 2.0, "maxLength": 3}, ['"ab"', '"abc"'], ['"a"', '"abcd"']),
        ({"pattern": "a"}, ['"xax"', '"a"'], ['"x"', '""']),
        ({"pattern": "^a|b$"}, ['"ax"', '"xb"'], ['"xa"', '"bx"']),
        ({"pattern": "^[a-z]+$", "maxLength": 2}, ['"ab"'], ['"abc"', '""', '"A"']),
        ({"pattern": "^[a-z][0-9]*$", "maxLength": 3, "minLength": 2}, ['"a1"', '"a12"'], ['"a"', '"a123"']),
        ({"pattern": "b", "maxLength": 2}, ['"b"', '"ab"'], ['"abc"', '"a"']),
        ({"pattern": "^(ab)*$", "minLength": 3, "maxLength": 5}, ['"abab"'], ['"ab"', '"ababab"']),
        ({"pattern": "^\\S+$"}, ['"a"'], ['"a b"', '"\u00a0"', '"\\n"']),
        ({"pattern": "^.$"}, ['"a"', '"\\u0001"'], ['"\\n"', '"\u2028"', '"ab"']),
        ({"pattern": "^\\cJ$"}, ['"\\n"', '"\\u000a"'], ['"J"']),
        ({"pattern": "^\\p{Lu}$"}, ['"A"', '"É"'], ['"a"']),
        ({"pattern": "^a$"}, ['"a"'], ['"a\\n"']),
        ({"allOf": [{"pattern": "^a"}, {"pattern": "z$"}]}, ['"az"', '"abz"'], ['"bz"', '"a"']),
        ({"not": {"pattern": "^a"}}, ['""', '"b"'], ['"a"', '"ab"']),
        ({"pattern": "^[ab]*$", "not": {"maxLength": 1}}, ['"ab"'], ['"a"', '"xy"']),
    ],
)
def test_strings(schema: dict[str, object], accept: list[str], reject: list[str]) -> None:
    check({"type": "string", **schema}, accept, reject)


def test_length_of_anchored_class_needs_no_intersection() -> None:
    from judge import parse

    from glrmask_core.ir import Op

    for schema in (
        {"pattern": "^[a-z]+$", "maxLength": 40},
        {"pattern": "^x[a-z]*$", "minLength": 3},
        {"minLength": 9},
    ):
        module = parse({"type": "string", **schema}).module
        assert Op.BOTH not in module.rows[0::4]


@pytest.mark.parametrize(
    ("name", "accept", "reject"),
    [
        (
            "date",
            ["2024-02-29", "2000-02-29", "0001-12-31"],
            ["0000-12-31", "2023-02-29", "1900-02-29", "2024-04-31", "2024-1-01"],
        ),
        (
            "time",
            ["12:00:00Z", "23:59:60z", "15:59:60.5-08:00", "00:00:00.25+23:59"],
            ["24:00:00Z", "12:00:60Z", "12:00:00"],
        ),
        (
            "date-time",
            ["2024-02-29T10:00:00Z", "1990-12-31t23:59:60Z"],
            ["2023-02-29T10:00:00Z", "2024-01-01 10:00:00Z"],
        ),
        ("duration", ["P1Y2M3DT4H5M6S", "P4W", "PT1S", "P1Y"], ["P", "PT", "P1D1Y", "1D", "P1W1D"]),
        ("email", ["a@b.c", "a.b+c@[127.0.0.1]"], ["a", "@b", "a@", "a..b@c", "a@-b"]),
        ("hostname", ["a", "a-b.c", "a" * 63], ["", "-a", "a-", "a..b", "a" * 64, "a." * 126 + "aaa"]),
        ("ipv4", ["0.0.0.0", "255.249.199.99"], ["256.0.0.0", "1.2.3", "01.2.3.4"]),
        (
            "ipv6",
            ["::", "::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::8"],
            ["1", ":::", "1:2:3:4:5:6:7", "12345::", "::1::"],
        ),
        ("uuid", ["2eb8aa08-AA98-11ea-b4aa-73b441d16380"], ["2eb8aa08-aa98-11ea-b4aa-73b441d1638"]),
        (
            "uri",
            ["http://a/b?c#d", "urn:x", "http://[::1]:80/", "a:"],
            ["//a", "a", "http:// a", "1a:b", "http://a/%zz"],
        ),
        ("uri-reference", ["", "/a", "../b", "//h/p", "http://a", "?q"], ["\\\\w", "a b", "1:2"]),
        ("uri-template", ["http://a/{b}", "{+x,y*}", "{a:3}", "a'b"], ["{", "a}", "{a", "{!a}x}"]),
        ("json-pointer", ["", "/a~0~1", "//"], ["a", "/~2", "/~"]),
        ("relative-json-pointer", ["0#", "1/a", "0"], ["/a", "01#", "#"]),
        ("byte", ["", "YQ==", "YWI=", "YWJj"], ["YQ", "YQ=", "Y===", "YW J"]),
    ],
)
def test_formats(name: str, accept: list[str], reject: list[str]) -> None:
    import json

    check({"type": "string", "format": name}, [json.dumps(t) for t in accept], [json.dumps(t) for t in reject])
    check({"format": name}, ["1", "null"], [])


def test_format_with_other_keywords() -> None:
    check({"type": "string", "format": "date", "pattern": "^20", "maxLength": 10}, ['"2020-01-01"'], ['"1999-01-01"'])
    check({"type": "string", "format": "ipv4", "maxLength": 7}, ['"1.2.3.4"'], ['"1.2.3.44"'])


def test_integer_formats() -> None:
    check({"type": "integer", "format": "int32"}, ["2147483647", "-2147483648"], ["2147483648", "-2147483649"])
    check({"type": "integer", "format": "uint8"}, ["0", "255"], ["256", "-1"])
    check({"type": "number", "format": "int32"}, ["1", "1.5", "2147483648.5"], ["2147483648"])
    check({"format": "int64"}, ['"any text"', "9223372036854775807"], ["9223372036854775808"])


@pytest.mark.parametrize(
    ("schema", "accept", "reject"),
    [
        ({"type": "integer"}, ["-0", "10", "123456789012345678901234567890"], ["1.0", "1e2", "01", "+1", "-", "1."]),
        ({"type": "number"}, ["1e10", "1E+05", "-0.5e-07", "0.10"], ["01", "1e", ".5", "5.", "1e1.5", "NaN"]),
        ({"minimum": -5, "type": "integer"}, ["-5", "0", "1000"], ["-6", "-55", "-0"]),
        ({"exclusiveMinimum": 0}, ["0.1", "1", "0.0001"], ["0", "0.0", "-1", "1e5"]),
        ({"minimum": 1, "maximum": 5}, ["1", "4.99", "5.0"], ["5.7", "0.9", "5.0001", "10"]),
        ({"minimum": 1, "exclusiveMinimum": True}, ["1.1"], ["1", "1.0"]),
        ({"maximum": 9007199254740991, "minimum": 0}, ["9007199254740991"], ["9007199254740992", "90071992547409910"]),
        ({"minimum": 0.5, "maximum": 2.5, "type": "integer"}, ["1", "2"], ["0", "3"]),
        ({"maximum": -1.5}, ["-1.5", "-1.50", "-2"], ["-1.4", "0", "2"]),
        ({"multipleOf": 3}, ["3", "3.0", "-6.00", "0", "12", "1002"], ["4", "3.5", "1001", "3e0"]),
        ({"multipleOf": 0.01}, ["0.07", "19.99", "5", "1.10"], ["0.075", "1.001"]),
        ({"multipleOf": 1.5, "type": "integer"}, ["3", "0", "-6"], ["1", "4"]),
        ({"multipleOf": 5, "minimum": -20, "maximum": 20, "type": "integer"}, ["-20", "0", "15"], ["25", "7", "-25"]),
        ({"multipleOf": 1000, "minimum": 0, "maximum": 10000}, ["0", "3000", "3000.0", "10000"], ["1", "11000", "-0"]),
        ({"multipleOf": 1e2, "type": "integer"}, ["100", "0", "-200"], ["10", "150"]),
        ({"not": {"type": "integer"}}, ["0.5"], ["1", "1.0"]),
        ({"not": {"multipleOf": 2}, "type": "integer"}, ["1", "3"], ["2", "0"]),
        ({"const": 1}, ["1"], ["1.0", "2"]),
        ({"const": 10000000000000000000000001}, ["10000000000000000000000001"], ["10000000000000000000000002"]),
        ({"not": {"enum": [1, 2]}, "type": "integer"}, ["0", "3"], ["1", "2"]),
        ({"not": {"const": 0}}, ["1", "0.5"], ["0", "0.0", "-0"]),
    ],
)
def test_numbers(schema: dict[str, object], accept: list[str], reject: list[str]) -> None:
    check({"type": "number", **schema}, accept, reject)


def test_number_constants_keep_their_own_spelling() -> None:
    check('{"const": 1.50}', ["1.5", "1.50"], ["1.500"])
    check('{"const": 1e2}', ["100", "1e2"], ["1E2", "100.0"])
    check('{"enum": [1, 1.0]}', ["1", "1.0"], ["1.00"])
    check('{"const": 1e400}', ["1" + 400 * "0", "1e400"], [])
    check('{"const": 1e999999999}', ["1e999999999"], ["1"])


def test_digit_automata_agree_with_arithmetic() -> None:
    texts = [
        f"{sign}{whole}{part}"
        for sign in ("", "-")
        for whole in (*range(14), 29, 30, 99, 100, 101, 120, 199, 1000)
        for part in ("", ".0", ".5", ".25", ".10", ".01", ".125")
    ]
    bounds = [None, Fraction(0), Fraction(7), Fraction(-25, 2), Fraction(101), Fraction(1, 4)]
    extras = [
        Num(), Num(multiple=Fraction(3)), Num(multiple=Fraction(5, 2)), Num(multiple=Fraction(1, 100)),
        Num(not_multiples=(Fraction(1),)), Num(not_multiples=(Fraction(5, 2), Fraction(3))),
        Num(excluded=frozenset((Fraction(0), Fraction(5)))), Num(multiple=Fraction(300)),
    ]  # fmt: skip
    checked = 0
    for base in (NUM_ANY, NUM_INTEGER):
        for low in bounds:
            for high in bounds[::-1]:
                for i, extra in enumerate(extras):
                    record: Num | None = base
                    is_open = bool(i & 1)
                    for part in (Num(low=low, low_open=is_open and low is not None),
                                 Num(high=high, high_open=not is_open and high is not None), extra):  # fmt: skip
                        record = both_numbers(record, part) if record is not None else None
                    if record is None or record in (NUM_ANY, NUM_INTEGER):
                        continue
                    fragment = number_fragment(record)
                    bounded = low is not None or high is not None
                    for text in texts[(checked // 97) % 5 :: 5]:
                        value = Fraction(text)
                        expected = number_fits(record, value) and not (record.integer and "." in text)
                        if text[0] == "-" and value == 0 and bounded:
                            expected = False
                        assert expected == (fragment is not None and fragment.matches(text.encode())), (record, text)
                        checked += 1
    assert checked > 10_000


def test_too_many_remainders() -> None:
    with pytest.raises(NumberTooLarge):
        number_fragment(Num(multiple=Fraction(65_537)))
    with pytest.raises(GrammarError, match="65,536 remainders"):
        grammar({"multipleOf": 1e9})
    check({"multipleOf": 1e9, "minimum": 0, "maximum": 5e9}, ["0", "1000000000"], ["1", "6000000000"])
