"""Keys are in order for whoever asks, whatever came and went, and none costs more because there are many."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import sorted_keys
from lifecycle.api.sorted_keys import LEAF, SortedKeys

KEYS = st.text("abc", max_size=4)


@given(st.lists(KEYS), st.integers(1, 3), st.tuples(KEYS, KEYS))
def test_keys_come_and_go_in_any_order(steps: list[str], leaf: int, asked: tuple[str, str]) -> None:
    keys, there = SortedKeys(), set[str]()
    with patch.object(sorted_keys, "LEAF", leaf):
        for key in steps:
            (keys.remove if key in there else keys.add)(key)
            there ^= {key}
            assert list(keys) == sorted(there)
            assert (len(keys), bool(keys)) == (len(there), bool(there))
            between = [key for key in sorted(there) if asked[0] <= key < asked[1]]
            assert (list(keys.between(*asked)), keys.count(*asked)) == (between, len(between))
            assert all(len(each) <= 2 * leaf for each in keys._leaves)


def test_a_key_moves_only_what_is_on_its_leaf() -> None:
    keys = SortedKeys()
    for number in range(50 * LEAF):
        keys.add(f"{number * 7919 % (50 * LEAF):06}")  # in no order
    before = [list(leaf) for leaf in keys._leaves]
    keys.add("000001.5")
    keys.remove("000003")
    assert sum(leaf != old for leaf, old in zip(keys._leaves, before, strict=True)) == 1
    assert max(map(len, keys._leaves)) <= 2 * LEAF


def test_what_is_asked_for_is_found_without_looking_at_the_rest() -> None:
    class Key(str):
        compared = 0

        def __lt__(self, other: str) -> bool:
            Key.compared += 1
            return str.__lt__(self, other)

    keys = SortedKeys()
    for number in range(20 * LEAF):
        keys.add(Key(f"{number:06}"))
    Key.compared = 0
    assert list(keys.between("000100", "000103")) == ["000100", "000101", "000102"]
    assert keys.count("000100", "009000") == 8900
    assert Key.compared < 100
