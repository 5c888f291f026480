"""Elements of paths in `managedFields`: how they are written, sorted and read out (`fieldpath/serialize-pe.go`, `element.go`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import pytest

from lifecycle.api.fieldpath import path_elements
from lifecycle.api.fieldpath.path_elements import (
    AT_ONCE,
    key_element,
    name_key,
    order,
    path_text,
    set_element,
    sorted_elements,
    value_element,
)


def test_an_item_is_known_by_its_keys_or_its_value() -> None:
    assert name_key("name", "web") == 'k:{"name":"web"}'
    assert name_key("web", "name") == 'k:{"web":"name"}'
    assert key_element({"protocol": "TCP", "containerPort": 80}) == 'k:{"containerPort":80,"protocol":"TCP"}'
    assert value_element("a") == 'v:"a"'
    assert value_element("<") == 'v:"\\u003c"'
    assert [value_element(each) for each in (3, True, 1.5)] == ["v:3", "v:true", "v:1.5"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "associative list without keys has an element that's a map type"),
        ([], "not supported: associative list with lists as elements"),
        (None, "associative list without keys has an element that's an explicit null"),
    ],
)
def test_what_cannot_be_in_a_set_is_refused(value: Any, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{why}$"):
        set_element(value)
    assert set_element("a") == 'v:"a"'
    assert set_element(0) == "v:0"


def test_fields_come_before_keys_before_values_before_positions_and_numbers_count_as_numbers() -> None:
    elements = [
        ".", "f:a", "f:b", 'k:{"name":"a"}', 'k:{"name":"b"}', 'k:{"port":9}', 'k:{"port":80}', 'k:{"port":"1"}',
        'k:{"port":true}', "v:2", "v:10", 'v:"1"', "v:false", "v:true", "i:2", "i:10",
    ]  # fmt: skip
    jumbled = elements[::-1]
    assert sorted(jumbled, key=order) == elements


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (["f:spec", "f:containers", 'k:{"name":"c"}', "f:image"], '.spec.containers[name="c"].image'),
        (["f:ports", 'k:{"protocol":"TCP","containerPort":80}'], '.ports[containerPort=80,protocol="TCP"]'),
        (["f:finalizers", 'v:"x"'], '.finalizers[="x"]'),
        (["f:a", "v:true"], ".a[=true]"),
        (["f:a", "v:null"], ".a[=null]"),
        (["f:a", 'v:["b",1]'], '.a[=["b",1]]'),
        (["f:a", "i:3"], ".a[3]"),
        ([], ""),
    ],
)
def test_a_path_is_read_out_as_conflicts_print_it(path: list[str], text: str) -> None:
    assert path_text(path) == text


@pytest.mark.parametrize("length", [0, 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_very_many_are_sorted_a_portion_at_a_time_and_come_out_in_the_same_order(length: int) -> None:
    jumbled = [f"v:{(number * 7919) % length}" for number in range(length)]
    longest = 0

    def noted(elements: Iterable[str], *, key: Any) -> list[str]:
        nonlocal longest
        portion = sorted(elements, key=key)
        longest = max(longest, len(portion))
        return portion

    with patch.object(path_elements, "sorted", noted, create=True):
        found = sorted_elements(jumbled)
    assert found == sorted(jumbled, key=order)
    assert longest <= AT_ONCE
