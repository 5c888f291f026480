"""How Go prints values: `%q`, `%v`, `%#v`, `%T`."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.go.format import go_g, go_json_type, go_label_selector, go_path_error, go_quote, go_syntax, go_value


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'), ("plain é", '"plain é"'), ('a"b', '"a\\"b"'), ("a\\b", '"a\\\\b"'), ("\a\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'),
        ("\x00\x1b\x7f", '"\\x00\\x1b\\x7f"'), ("\u200b", '"\\u200b"'), ("\x80", '"\\u0080"'), ("\U000e0001", '"\\U000e0001"'),
        ("😀", '"😀"'), ("\uffff", '"\\uffff"'), ("\U0001fffe", '"\\U0001fffe"'),
    ],
)  # fmt: skip
def test_text_is_quoted_and_what_cannot_be_printed_is_escaped(text: str, quoted: str) -> None:
    assert go_quote(text) == quoted


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"), (-0.0, "-0"), (1.0, "1"), (0.5, "0.5"), (-2.25, "-2.25"), (100000.0, "100000"), (1000000.0, "1e+06"),
        (1234567.0, "1.234567e+06"), (-1e21, "-1e+21"), (0.0001, "0.0001"), (0.00001, "1e-05"), (1.5e-7, "1.5e-07"),
        (1e100, "1e+100"), (123456.7, "123456.7"), (0.1, "0.1"),
    ],
)  # fmt: skip
def test_a_float_has_an_exponent_from_a_million_on_and_below_a_ten_thousandth(number: float, text: str) -> None:
    assert go_g(number) == go_value(number) == text


@pytest.mark.parametrize(
    ("value", "plain", "syntax"),
    [
        (None, "<nil>", "interface {}(nil)"), (True, "true", "true"), (False, "false", "false"), (3, "3", "3"),
        ("a b", "a b", '"a b"'), ([], "[]", "[]interface {}{}"), (["x", 1], "[x 1]", '[]interface {}{"x", 1}'),
        ({}, "map[]", "map[string]interface {}{}"),
        ({"b": ["x", None], "a": 1}, "map[a:1 b:[x <nil>]]",
         'map[string]interface {}{"a":1, "b":[]interface {}{"x", interface {}(nil)}}'),
    ],
)  # fmt: skip
def test_decoded_json_is_printed_with_its_keys_in_order(value: Any, plain: str, syntax: str) -> None:
    assert (go_value(value), go_syntax(value)) == (plain, syntax)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "<nil>"), (True, "bool"), (1, "int64"), (1.5, "float64"), ("", "string"), ({}, "map[string]interface {}"),
        ([], "[]interface {}"),
    ],
)  # fmt: skip
def test_decoded_json_has_types_of_go(value: Any, name: str) -> None:
    assert go_json_type(value) == name


def test_a_selector_is_printed_as_its_struct() -> None:
    assert go_label_selector(None) == "nil"
    empty = "&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}"
    assert go_label_selector({}) == go_label_selector({"matchLabels": None, "matchExpressions": None}) == empty
    both = {
        "matchLabels": {"b": "2", "a": "1"},
        "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}, {"key": "l", "operator": "Exists"}],
    }
    assert go_label_selector(both) == (
        "&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{"
        "LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},LabelSelectorRequirement{Key:l,Operator:Exists,Values:[],},},}"
    )


def test_what_the_system_refuses_is_said_with_the_operation_and_the_path() -> None:
    assert (
        go_path_error("open", FileNotFoundError(2, "No such file or directory", "/x"))
        == "open /x: no such file or directory"
    )
    assert go_path_error("mkdir", OSError(28, "No space left on device"), "/y") == "mkdir /y: no space left on device"
    assert go_path_error("read", OSError("is gone"), "/z") == "read /z: is gone"
