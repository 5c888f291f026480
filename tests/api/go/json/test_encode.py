"""JSON as Go writes it. A real API server (v1.36.2) wrote these floats and texts of a custom resource the same way."""

from __future__ import annotations

import math

import pytest

from lifecycle.api.go.json.encode import html_escape, marshal, marshal_indent


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "-0"),
        (0.5, "0.5"),
        (1e-6, "0.000001"),
        (-1.25e-5, "-0.0000125"),
        (1e-7, "1e-7"),
        (9.5e-10, "9.5e-10"),
        (1e16, "10000000000000000"),
        (1.2345678901234567e20, "123456789012345670000"),
        (-1.5e20, "-150000000000000000000"),
        (1e21, "1e+21"),
        (-1.5e300, "-1.5e+300"),
        (5e-324, "5e-324"),
        (0.1 + 0.2, "0.30000000000000004"),
        (12345.678, "12345.678"),
    ],
)
def test_floats_are_plain_digits_unless_they_are_very_large_or_small(number: float, text: str) -> None:
    assert marshal(number) == text
    assert float(text) == number


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_what_no_json_can_hold_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="unsupported value"):
        marshal({"a": number})
    with pytest.raises(TypeError, match=r"json: unsupported type: set$"):
        marshal({"a": {1}})


def test_text_is_escaped_for_html_and_javascript() -> None:
    text = 'a<b>&"\\\n\b\f\x01\x7fé\u2028\u2029😀'
    assert (
        marshal({text: text})
        == "{" + ":".join(['"a\\u003cb\\u003e\\u0026\\"\\\\\\n\\b\\f\\u0001\x7fé\\u2028\\u2029😀"'] * 2) + "}"
    )
    assert html_escape('{"a":"&lt;"}') == '{"a":"\\u0026lt;"}'


def test_a_map_is_sorted_and_a_struct_is_not() -> None:
    value = {"b": {"d": 1, "c": True}, "a": [{"f": None, "e": ()}]}
    assert marshal(value) == '{"b":{"d":1,"c":true},"a":[{"f":null,"e":[]}]}'
    assert marshal(value, sort_keys=True) == '{"a":[{"e":[],"f":null}],"b":{"c":true,"d":1}}'


def test_indented_json_has_a_line_for_each_item() -> None:
    assert marshal_indent({"b": [1, {}], "a": {"c": []}}, " ") == (
        '{\n "b": [\n  1,\n  {}\n ],\n "a": {\n  "c": []\n }\n}'
    )
    assert marshal_indent({"b": "<", "a": 1}, sort_keys=True) == '{\n    "a": 1,\n    "b": "\\u003c"\n}'
    assert marshal_indent({}) == "{}"
