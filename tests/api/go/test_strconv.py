"""Texts as numbers, as Go reads them."""

from __future__ import annotations

import pytest

from lifecycle.api.go.strconv import atoi, parse_int, parse_uint


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7), ("-7", -7), ("+7", 7), ("007", 7), ("-0", 0), ("0", 0), ("0" * 100 + "1", 1),
        ("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)),
    ],
)  # fmt: skip
def test_decimal_numbers(text: str, number: int) -> None:
    assert atoi(text) == parse_int(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0x1F", 31), ("0b101", 5), ("0o17", 15), ("017", 15), ("1_000", 1000), ("-0x10", -16), ("0", 0), ("0x0", 0),
        ("0b" + "1" * 63, 2**63 - 1),
    ],
)  # fmt: skip
def test_base_zero_reads_what_a_go_programme_may_say(text: str, number: int) -> None:
    assert parse_int(text, base=0) == number


def test_numbers_have_as_many_bits_as_are_asked_for() -> None:
    assert (parse_uint("255", 8), parse_int("127", 8), parse_int("-128", 8)) == (255, 127, -128)


@pytest.mark.parametrize("text", ["x", "", "0x1", "1_0", "+", "-", "1 ", " 1", "1.0", "٣", "--1", "1\n"])
def test_what_is_no_number_is_said_in_gos_words(text: str) -> None:
    for function, read in (("Atoi", atoi), ("ParseInt", parse_int), ("ParseUint", parse_uint)):
        with pytest.raises(ValueError, match=f"^strconv.{function}: parsing .*: invalid syntax$"):
            read(text)


def test_what_is_quoted_is_quoted_as_go_quotes() -> None:
    with pytest.raises(ValueError, match=r"invalid syntax$") as caught:
        atoi('a"\n')
    assert str(caught.value) == r'strconv.Atoi: parsing "a\"\n": invalid syntax'


@pytest.mark.parametrize("text", ["09", "0b2", "1__0", "_1", "0x", "0xg"])
def test_base_zero_has_a_syntax_too(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid syntax$"):
        parse_int(text, base=0)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (atoi, "9223372036854775808"), (atoi, "-9223372036854775809"), (atoi, "9" * 100_000),
        (lambda text: parse_int(text, 8), "128"), (lambda text: parse_int(text, 8), "-129"),
        (lambda text: parse_uint(text, 8), "256"), (lambda text: parse_int(text, base=0), "0x" + "f" * 100_000),
        (lambda text: parse_int(text, base=0), "0b1" + "0" * 63),
    ],
)  # fmt: skip
def test_what_is_too_large_is_out_of_range(read, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=r"value out of range$"):
        read(text)


@pytest.mark.parametrize("text", ["-1", "+1", "-0"])
def test_what_has_no_sign_may_not_have_one(text: str) -> None:
    with pytest.raises(ValueError, match=r"strconv.ParseUint: parsing .*: invalid syntax$"):
        parse_uint(text)
