"""Keys are sorted, however many there are, and never very many in one go."""

from __future__ import annotations

import random
from collections.abc import Iterable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.go import key_order
from lifecycle.api.go.key_order import in_key_order, sorted_keys


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=12))
def test_a_map_is_the_same_one_with_its_keys_sorted(mapping: dict[str, int]) -> None:
    with patch.object(key_order, "AT_ONCE", 3):
        ordered = in_key_order(mapping)
    assert ordered == mapping
    assert list(ordered) == sorted(mapping)


@pytest.mark.parametrize("count", [4, 5, 6, 10, 23])
def test_many_keys_are_sorted_in_portions(count: int) -> None:
    keys = [f"k{number}" for number in range(count)]
    random.Random(count).shuffle(keys)
    portions: list[int] = []

    def noted(some: Iterable[str]) -> list[str]:
        found = sorted(some)
        portions.append(len(found))
        return found

    with patch.object(key_order, "AT_ONCE", 5), patch.object(key_order, "sorted", noted, create=True):
        assert list(sorted_keys(keys)) == sorted(keys)
    assert max(portions) <= 5
    assert sum(portions) == count
