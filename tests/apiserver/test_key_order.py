"""The keys of a cache are in order for whoever asks, whatever came and went before."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.apiserver.storage.cacher import key_order
from lifecycle.apiserver.storage.cacher.key_order import MANY, KeyOrder


@pytest.fixture(autouse=True, scope="module")
def soon_many() -> Iterator[None]:
    with patch.object(key_order, "MANY", 4):
        yield


@given(st.lists(st.tuples(st.sampled_from(["change", "change", "change", "ask"]), st.text("ab", max_size=3))))
def test_keys_come_and_go_in_any_order(steps: list[tuple[str, str]]) -> None:
    order, there = KeyOrder(), set[str]()
    for step, key in steps:
        if step == "ask":
            assert order.in_order() == sorted(there)
        elif key in there:
            there.discard(key)
            order.remove(key)
        else:
            there.add(key)
            order.add(key)
        assert len(order) == len(there)
    assert order.in_order() == sorted(there)


def test_no_more_than_a_thousand_new_keys_are_put_in_their_places_at_once() -> None:
    assert MANY == 1000
    order, sorts = KeyOrder(), []
    with patch.object(KeyOrder, "in_order", lambda self: sorts.append(len(self)) or setattr(self, "_new", 0)):
        for number in range(12):
            order.add(str(number))
    assert sorts == [4, 8, 12]
