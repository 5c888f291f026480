"""Documents read into Go's structs: what comes out, and what is said of the first value that does not fit."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lifecycle.api.go.json.structs import ANYTHING, BYTES, StructDecoder

TYPES = {
    "Config": {
        "name": "string",
        "on": "bool",
        "size": "int32",
        "wait": "v1.Duration",
        "data": BYTES,
        "level": "v1.Level",
        "words": "[]string",
        "parts": "[]v1.Part",
        "one": "v1.Part",
        "more": "map[string][]string",
        "named": "map[string]v1.Part",
        "free": ANYTHING,
    },
    "Part": {"name": "string", "value": "string"},
}
PLAIN = StructDecoder(TYPES, zeros={"Part": {"name": ""}})


@pytest.mark.parametrize(
    ("document", "decoded"),
    [
        ({}, {}),
        ({"name": "a", "on": True, "size": 3, "wait": "1s", "level": "x"},) * 2,
        ({"name": None, "words": None, "one": None, "more": None}, {}),
        ({"words": ["a", None]}, {"words": ["a", ""]}),
        ({"parts": [{"value": "v"}, None]}, {"parts": [{"name": "", "value": "v"}, {"name": ""}]}),
        ({"one": {"name": "a", "value": None}}, {"one": {"name": "a"}}),
        ({"more": {"a": ["b", None], "c": None}}, {"more": {"a": ["b", ""], "c": []}}),
        ({"named": {"a": None}}, {"named": {"a": {"name": ""}}}),
        ({"free": [None, {"x": 1}], "colour": 3, "one": {"colour": None}},
         {"free": [None, {"x": 1}], "colour": 3, "one": {"name": "", "colour": None}}),
        ({"data": "aGk="}, {"data": "aGk="}),
    ],
)  # fmt: skip
def test_each_value_has_its_type_and_null_is_nothing(document: Any, decoded: Any) -> None:
    assert PLAIN.decode(document, "Config") == decoded


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"name": 3}, "number into Go struct field Config.name of type string"),
        ({"on": "yes"}, "string into Go struct field Config.on of type bool"),
        ({"size": True}, "bool into Go struct field Config.size of type int32"),
        ({"level": []}, "array into Go struct field Config.level of type v1.Level"),
        ({"words": "a"}, "string into Go struct field Config.words of type []string"),
        ({"words": ["a", 3]}, "number into Go struct field Config.words of type string"),
        ({"parts": [{}, {"value": 3}]}, "number into Go struct field Part.parts.value of type string"),
        ({"one": []}, "array into Go struct field Config.one of type v1.Part"),
        ({"more": {"a": "b"}}, "string into Go struct field Config.more of type []string"),
        ({"named": {"a": {"name": 1}}}, "number into Go struct field Part.named.name of type string"),
        ({"wait": 3}, "number into Go struct field Config.wait of type string"),
        ({"data": 3}, "number into Go struct field Config.data of type []uint8"),
    ],
)
def test_a_value_of_another_type_is_called_by_its_struct_and_the_way_to_it(document: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^json: cannot unmarshal {re.escape(said)}$"):
        PLAIN.decode(document, "Config")


@pytest.mark.parametrize(
    ("text", "at"),
    [("?", 0), ("aGk", 0), ("aGk=x", 4), ("aGk\n=", None), ("aG?k", 2), ("====", 0), ("aGk=\r\n", None), ("", None)],
)
def test_bytes_are_base64_and_it_is_said_where_they_are_not(text: str, at: int | None) -> None:
    if at is None:
        assert PLAIN.decode({"data": text}, "Config") == {"data": text}
        return
    with pytest.raises(ValueError, match=f"^illegal base64 data at input byte {at}$"):
        PLAIN.decode({"data": text}, "Config")


def test_a_span_that_is_null_is_no_span() -> None:
    with pytest.raises(ValueError, match=r'time: invalid duration ""$'):
        PLAIN.decode({"wait": None}, "Config")


def test_fields_that_there_are_not_are_told_with_their_places_and_left_out() -> None:
    told: list[str] = []
    decoder = StructDecoder(TYPES, unknown=told.append)
    document = {"x": 1, "parts": [{"name": "a"}, {"y": 2}], "named": {"k": {"z": 3}}}
    assert decoder.decode(document, "Config") == {"parts": [{"name": "a"}, {}], "named": {"k": {}}}
    assert told == ["x", "parts[1].y", "named.z"]


@pytest.mark.parametrize(("in_order", "first"), [(True, "size"), (False, "name")])
def test_what_is_wrong_first_is_told_in_the_order_in_which_go_sees_it(in_order: bool, first: str) -> None:
    with pytest.raises(ValueError, match=f"Config.{first} "):
        StructDecoder(TYPES, in_order=in_order).decode({"size": "x", "name": 3}, "Config")
