"""Go's sorting, where entries are equal: the order in which the real kubectl 1.36 described pods with many events of one second."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.go.sort import Sorting, go_sorted

OBSERVED = {
    "20-4-mix": (
        "0 0 2 1 1 0 3 1 2 0 3 1 2 3 1 1 1 0 2 0 4",
        "9 1 19 17 0 5 15 3 7 11 14 4 16 8 2 12 18 10 13 6",
    ),
    "64-30-down": (
        "26 26 25 25 24 24 24 23 22 22 22 21 21 20 19 19 19 19 19 18 18 18 18 17 16 16 16 16 16 15 15 15 14 14 14 13 13 "
        "12 11 11 10 9 9 9 8 8 7 7 7 7 6 5 4 4 4 4 3 3 2 1 0 0 0 0 27",
        "63 62 61 60 59 58 57 56 55 54 53 52 51 50 46 49 48 47 44 45 43 42 41 40 39 38 37 35 36 33 32 34 29 31 30 28 27 "
        "26 25 24 23 19 22 21 20 18 17 16 15 14 13 11 12 10 9 8 7 6 5 4 3 2 0 1",
    ),
    "90-7-up": (
        "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 1 1 2 2 2 3 2 2 2 2 2 2 2 2 2 3 3 3 3 3 2 3 3 3 3 3 3 4 4 4 "
        "4 4 4 4 4 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 6 6 6 6 6 6 6 6 6 6 6 6 6 6 7",
        "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 45 31 32 33 34 35 36 37 38 39 "
        "43 41 42 40 44 30 46 47 48 49 50 51 52 53 54 55 56 57 58 59 65 75 62 63 64 60 66 67 68 69 70 71 72 73 74 61 82 "
        "86 78 79 80 81 77 84 76 85 83 87 88 89",
    ),
}
"""In which second each event happened, in the server's order, and the order in which they were shown. The last event, the scheduler's
own, came after all others and was shown last."""


@pytest.mark.parametrize("case", OBSERVED)
def test_equal_entries_come_as_go_leaves_them(case: str) -> None:
    seconds, order = ([int(number) for number in numbers.split()] for numbers in OBSERVED[case])
    assert go_sorted(range(len(seconds)), seconds.__getitem__) == [*order, len(seconds) - 1]


def test_twelve_and_fewer_keep_the_order_of_equal_ones() -> None:
    items = [(key, at) for at, key in enumerate([3, 1, 3, 2, 1, 3, 1, 2, 2, 3, 1, 1])]
    assert go_sorted(items, lambda item: item[0]) == sorted(items)


FEW, MANY = st.integers(0, 3), st.integers()


@given(st.one_of(st.lists(FEW, max_size=200), st.lists(MANY, max_size=200)))
def test_everything_is_there_and_in_order(keys: list[int]) -> None:
    assert go_sorted(keys, lambda key: key) == sorted(keys)
    places = go_sorted(range(len(keys)), keys.__getitem__)
    assert sorted(places) == list(range(len(keys)))
    assert [keys[at] for at in places] == sorted(keys)


@given(st.lists(FEW, max_size=60))
def test_where_too_many_pivots_were_bad_a_heap_sorts(keys: list[int]) -> None:
    data = Sorting(list(enumerate(keys)), lambda item: item[1])
    data.pdqsort(0, len(keys), 0)
    assert [key for _, key in data.items] == sorted(keys)
    assert sorted(data.items) == list(enumerate(keys))
