"""Sets of completion indexes: what they say and hold, and that a wide interval costs what a narrow one does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.controllers.job.indexes import COMPLETION_INDEX, first_pending_indexes
from lifecycle.controllers.job.ordered_intervals import NO_INDEXES, parse_intervals
from lifecycle.controllers.job.success_policy import match_success_policy

INDEXES = st.sets(st.integers(0, 60))
MOST = 2**31 - 1


def running(index: int) -> dict[str, object]:
    return {"metadata": {"annotations": {COMPLETION_INDEX: str(index)}}}


@given(INDEXES)
def test_intervals_say_the_same_both_ways(indexes: set[int]) -> None:
    held = NO_INDEXES.with_indexes(indexes)
    assert parse_intervals(str(held), 61) == held
    assert str(NO_INDEXES.with_indexes([5, 0, 1, 3, 4])) == "0,1,3-5"


@given(INDEXES, INDEXES)
def test_intervals_are_the_sets_that_they_stand_for(one: set[int], other: set[int]) -> None:
    first, second = NO_INDEXES.with_indexes(one), NO_INDEXES.with_indexes(other)
    assert bool(first) == bool(one)
    assert {index for index in range(-2, 63) if index in first} == one
    assert first.total == len(one)
    assert first.common(second) == len(one & other)
    assert first.with_intervals(second) == first.with_indexes(other) == NO_INDEXES.with_indexes(one | other)
    assert [index for gap in first.gaps(30) for index in gap] == sorted(set(range(30)) - one)


def test_what_is_too_high_is_dropped_and_what_cannot_be_read_ends_the_list() -> None:
    assert str(parse_intervals("0-2,5,7-9", 8)) == "0-2,5,7"
    assert str(parse_intervals("1,,3-x,5", 8)) == "1"
    assert str(parse_intervals("9", 8)) == str(parse_intervals("", 8)) == ""


@given(INDEXES, st.sets(st.integers(0, 60)), st.integers(0, 70))
def test_the_lowest_indexes_that_nobody_works_at_come_next(done: set[int], active: set[int], count: int) -> None:
    found = first_pending_indexes(count, 50, [running(index) for index in active], NO_INDEXES.with_indexes(done))
    assert found == sorted(set(range(50)) - done - active)[:count]


def test_two_billion_indexes_are_one_interval() -> None:
    """Each of these numbers would be gigabytes if the indexes were laid out."""
    all_of_them = f"0-{MOST - 1}"
    held = parse_intervals(all_of_them, MOST)
    assert held.intervals == ((0, MOST - 1),)
    assert (held.total, MOST - 1 in held, MOST in held) == (MOST, True, False)
    rule = {"succeededIndexes": all_of_them}
    assert match_success_policy({"rules": [rule]}, MOST, NO_INDEXES.with_indexes([1])) is None
    assert match_success_policy({"rules": [rule]}, MOST, held) is not None
    last = first_pending_indexes(2, MOST, [running(MOST - 2)], parse_intervals(f"0-{MOST - 4}", MOST))
    assert last == [MOST - 3, MOST - 1]
