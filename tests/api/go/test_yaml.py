"""YAML as Go writes it. What is expected here is what a real `kubectl create … -o yaml` of 1.36 printed for the same values."""

from __future__ import annotations

import pytest

from lifecycle.api.go.yaml import to_yaml

SCALARS = {
    "0b11": '"0b11"',
    "0o17": '"0o17"',
    "017": '"017"',
    "1e5": '"1e5"',
    "1.": '"1."',
    "+.5": '"+.5"',
    ".": ".",
    ".inf": '".inf"',
    "1_000": '"1_000"',
    "12:30:45": '"12:30:45"',
    "2020-01-01": '"2020-01-01"',
    "2020-13-45": "2020-13-45",
    "2020-01-01T23:59:59Z": '"2020-01-01T23:59:59Z"',
    "2020-01-01T24:00:00Z": "2020-01-01T24:00:00Z",
    "2020-01-01T10:60:00Z": "2020-01-01T10:60:00Z",
    "2020-01-01T10:20:60Z": "2020-01-01T10:20:60Z",
    "n": '"n"',
    "": '""',
    "=": "=",
    "<<": "<<",
    " ": "' '",
    "a #b": "'a #b'",
    "a\tb": '"a\\tb"',
    "a\r\nb": '"a\\r\\nb"',
    "a\x01b": '"a\\x01b"',
    " \nx": '" \\nx"',
    "é ☃": "é ☃",
    "😀": '"\\U0001F600"',
    "a\nb": "|-\n  a\n  b",
    "\n": "|2+\n",
    "word "
    * 20: "'word word word word word word word word word word word word word word word word\n  word word word word '",
}


@pytest.mark.parametrize("value", SCALARS)
def test_text_is_quoted_where_it_would_read_as_something_else(value: str) -> None:
    assert to_yaml({"k": value}) == f"k: {SCALARS[value]}\n"


def test_keys_are_in_natural_order() -> None:
    """Numbers count as numbers, and what is no letter comes before letters."""
    keys = ["rec-10", "rec-9", "a_b", "aZ", "app.x/y", "app", "1", "02", "f:x", "."]
    assert list(map(str.strip, to_yaml(dict.fromkeys(keys)).replace(": null", "").splitlines())) == [
        ".", '"1"', '"02"', "a_b", "aZ", "app", "app.x/y", "f:x", "rec-9", "rec-10",
    ]  # fmt: skip


def test_other_values() -> None:
    assert to_yaml({"a": [], "b": {}, "c": None, "d": True, "e": 1e20, "f": 0.5, "g": [[1], {"h": "x"}], "": "e"}) == (
        '"": e\na: []\nb: {}\nc: null\nd: true\ne: 1e+20\nf: 0.5\ng:\n- - 1\n- h: x\n'
    )
