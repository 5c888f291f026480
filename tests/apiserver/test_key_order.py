"""The keys of a cache are in order for whoever asks, whatever came and went before."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.apiserver.storage.cacher import key_order
from lifecycle.apiserver.storage.cacher.key_order import MANY, SHARE, KeyOrder


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


def test_new_keys_are_put_in_their_places_when_they_are_an_eighth_of_all() -> None:
    assert (MANY, SHARE) == (1000, 8)
    order, sorts = KeyOrder(), []
    with patch.object(KeyOrder, "in_order", lambda self: sorts.append(len(self)) or setattr(self, "_changes", 0)):
        for number in range(60):
            order.add(str(number))
    assert sorts == [4, 8, 12, 16, 20, 24, 28, 32, 36, 41, 46, 52, 59]


def test_to_remove_a_key_is_not_to_look_at_the_others() -> None:
    class Key(str):
        compared = 0

        def __lt__(self, other: str) -> bool:
            Key.compared += 1
            return str.__lt__(self, other)

    order, keys = KeyOrder(), [Key(number) for number in range(1000)]
    for key in keys:
        order.add(key)
    order.in_order()
    Key.compared = 0
    order.remove(keys[0])
    order.remove(keys[999])
    assert (Key.compared, len(order)) == (0, 998)
    assert order.in_order() == sorted(map(str, range(1, 999)))
