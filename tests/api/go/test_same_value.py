"""True is not 1, wherever it stands."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.go.same_value import same_value


@pytest.mark.parametrize("value", [None, 0, 1, 1.5, "", "a", True, [], {}, [1, [True]], {"a": {"b": [False, 0]}}])
def test_a_value_is_the_same_as_itself_and_its_copy(value: Any) -> None:
    assert same_value(value, value)
    assert same_value({"k": [value]}, {"k": [value]})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        ([1], [True]),
        ({"a": {"b": 0}}, {"a": {"b": False}}),
        ([[0, 1]], [[0, True]]),
        (1, 2),
        ([1], [1, 1]),
    ],
)
def test_python_may_be_mistaken(one: Any, other: Any) -> None:
    assert not same_value(one, other)
    assert not same_value(other, one)


def test_a_number_is_the_same_however_it_is_kept() -> None:
    assert same_value({"a": [2]}, {"a": [2.0]})
