"""Quantities: exact, remembered notation, canonical text."""

from __future__ import annotations

import contextlib
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.quantity import ZERO, Format, Quantity, canonical_quantity, parse_quantity
from tests.conftest import RECORDINGS

SUFFIXES = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1), "k": Fraction(1000),
    "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12), "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40), "Pi": Fraction(2**50),
}  # fmt: skip


def exact(quantity: Quantity) -> Fraction:
    return Fraction(quantity.mantissa) * Fraction(10) ** quantity.exponent


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"), ("0Mi", "0"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi"), ("0.5", "500m"), ("1000m", "1"), ("100000", "100k"),
        ("12e6", "12e6"), ("1.2e3", "1200"), ("1e3", "1e3"), ("0.1Ki", "102400m"), ("0.5Ki", "512"), ("1023", "1023"),
        ("3.001n", "4n"), ("0.1n", "1n"), ("9Ei", "9223372036854775807"), ("-1500m", "-1500m"), ("-1.5Ki", "-1536"),
        ("0.000000000001Ki", "2n"), (".5", "500m"), ("1Ei", "1Ei"),
    ],
)  # fmt: skip
def test_the_canonical_form_loses_nothing_and_uses_the_largest_suffix(text: str, canonical: str) -> None:
    assert canonical_quantity(text) == canonical


@pytest.mark.parametrize("text", ["+5", "007Mi", "1.500", "1.G", "1E3", "1025Ki"])
def test_what_counts_as_canonical_keeps_the_authors_text(text: str) -> None:
    assert canonical_quantity(text) == text


@pytest.mark.parametrize("text", ["+", "-", ".", "k", "-.Mi"])
def test_what_is_missing_reads_as_zero(text: str) -> None:
    assert parse_quantity(text) == ZERO


@pytest.mark.parametrize("text", ["", "abc", "1..2", "1 0", "1.1.M", "1+1.0M", "0.1am", "aoeu", "-3.01e-x"])
def test_a_malformed_quantity_names_the_expected_form(text: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"quantities must match the regular expression '\^\(\[\+-\]\?\[0-9\.\]\+\)\(\[eEinumkKMGTP\]\*\[-\+\]\?\[0-9\]\*\)\$'$",
    ):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["1mm", "0.1mi", ".5i", "1i", "-3.01i", "-3.01e-", "1e", "1e99999999999999999999"])
def test_an_unknown_suffix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unable to parse quantity's suffix$"):
        parse_quantity(text)


def test_notations_are_recognised() -> None:
    assert [parse_quantity(t).format for t in ("1k", "1Ki", "1e3")] == [
        Format.DECIMAL_SI, Format.BINARY_SI, Format.DECIMAL_EXPONENT,
    ]  # fmt: skip


def test_values_round_away_from_zero() -> None:
    assert (parse_quantity("1.1").value(), parse_quantity("-1.1").value(), parse_quantity("1u").milli()) == (2, -2, 1)
    assert parse_quantity("2.5").milli() == 2500
    assert parse_quantity("1Gi").value() == 2**30


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        (str(2**63 - 1), 2**63 - 1, -1000),
        (str(2**63), -(2**63), 0),
        (str(2**64 + 5), 5, 5000),
        ("10E", 0, 0),  # few digits: an int64 and a scale, and what does not fit is nothing
        ("1e30", 0, 0),
        ("16Ei", 2**63 - 1, -1000),
        (str(-(2**63) - 1), -1, -1000),
    ],
)
def test_a_whole_number_has_64_bits_however_large_the_amount(text: str, value: int, milli: int) -> None:
    """The values: as a real API server shows them in its complaint about a volume's capacity."""
    quantity = parse_quantity(text)
    assert (quantity.value(), quantity.milli()) == (value, milli)


def test_amounts_beyond_reason_cost_nothing() -> None:
    huge = parse_quantity("1e2000000000")
    assert huge > parse_quantity("1e1999999999") > parse_quantity("1Ei")
    assert str(huge + parse_quantity("1")) == str(huge)
    assert huge.exact(0) > 2**63
    assert str(parse_quantity("1e-2000000000")) == "1e-9"


def test_zero_takes_the_notation_of_what_is_added() -> None:
    assert str(ZERO + parse_quantity("1Gi")) == "1Gi"
    assert str(parse_quantity("1Gi") - ZERO) == "1Gi"
    assert str(ZERO - parse_quantity("1Gi")) == "-1Gi"
    assert str(parse_quantity("1Gi") + parse_quantity("500M")) == "1573741824"


numbers = st.from_regex(r"[+-]?[0-9]{1,12}(\.[0-9]{1,6})?", fullmatch=True)
suffixes = st.sampled_from(sorted(SUFFIXES))


@given(numbers, suffixes)
def test_parsing_is_exact_down_to_a_billionth(number: str, suffix: str) -> None:
    wanted = Fraction(number) * SUFFIXES[suffix]
    quantity = parse_quantity(number + suffix)
    if suffix.endswith("i") and abs(wanted) >= 2**63 - 1:
        assert abs(exact(quantity)) == 2**63 - 1
    elif (wanted * 10**9).denominator == 1:
        assert exact(quantity) == wanted
    else:
        assert 0 < abs(exact(quantity)) - abs(wanted) < Fraction(1, 10**9)


@given(numbers, suffixes)
def test_the_canonical_form_reads_back_as_the_same_amount_and_is_stable(number: str, suffix: str) -> None:
    quantity = parse_quantity(number + suffix)
    if abs(exact(quantity)) >= 10**21:  # no suffix beyond E: upstream writes none
        return
    again = parse_quantity(quantity.canonical())
    assert again == quantity
    assert hash(again) == hash(quantity)
    assert again.canonical() == quantity.canonical()
    assert re.fullmatch(r"-?[0-9]+([numkMGTPE]|[KMGTPE]i)?", quantity.canonical())


@given(numbers, suffixes, numbers, suffixes)
def test_order_and_sums_are_those_of_the_amounts(a: str, b: str, c: str, d: str) -> None:
    one, two = parse_quantity(a + b), parse_quantity(c + d)
    assert (one < two) == (exact(one) < exact(two))
    assert (one == two) == (exact(one) == exact(two))
    assert exact(one + two) == exact(one) + exact(two)
    assert exact(one - two) == exact(one) - exact(two)


@given(st.text(max_size=12))
def test_any_text_parses_or_is_refused_as_a_value_error(text: str) -> None:
    with contextlib.suppress(ValueError):
        str(parse_quantity(text))


@pytest.mark.parametrize(
    ("text", "sign", "whole"),
    [
        ("0", 0, True), ("-0", 0, True), ("0Ki", 0, True), ("0.0", 0, True), ("1", 1, True), ("-1", -1, True), ("1n", 1, False),
        ("-1n", -1, False), ("1500m", 1, False), ("-2000m", -1, True), ("0.5Ki", 1, True), ("1e3", 1, True), ("-15e-1", -1, False),
    ],
)  # fmt: skip
def test_a_quantity_is_nothing_or_less_or_more_and_perhaps_whole(text: str, sign: int, whole: bool) -> None:
    quantity = parse_quantity(text)
    assert (quantity.sign, quantity.is_zero, quantity.is_integer()) == (sign, sign == 0, whole)


def test_every_quantity_of_the_recorded_objects_is_already_canonical() -> None:
    """What the API server answers has been through its own `String()`; so ours must leave it alone."""
    seen = 0

    def walk(node: object, key: str = "") -> None:
        nonlocal seen
        if isinstance(node, dict):
            for name, value in node.items():
                if key in ("requests", "limits", "capacity", "allocatable") and isinstance(value, str):
                    seen += 1
                    assert canonical_quantity(value) == value
                walk(value, name)
        elif isinstance(node, list):
            for value in node:
                walk(value, key)

    for line in (RECORDINGS / "kind-1.36.2" / "http" / "objects.jsonl").read_bytes().splitlines():
        walk(fast_json.loads(line)["response"])
    assert seen > 50
