"""Sets of completion indexes, kept as intervals.

A Job may ask for two billion completions, and `0-2147483646` is a short text. So a set
of indexes is kept as it is written, and nothing here takes longer for a wide interval
than for a narrow one.

Upstream: `pkg/controller/job/indexed_job_utils.go` (`interval`, `orderedIntervals`,
`parseIndexesFromString`, `withOrderedIndexes`), `success_policy.go`
(`matchSucceededIndexesRule`), v1.36.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

Interval = tuple[int, int]
"""The first and the last index of it."""


@dataclass(frozen=True, slots=True)
class OrderedIntervals:
    """Indexes as intervals in order, with a gap between any two."""

    intervals: tuple[Interval, ...] = ()

    @classmethod
    def of(cls, intervals: Iterable[Interval]) -> OrderedIntervals:
        """Of intervals in any order, which may overlap."""
        merged: list[Interval] = []
        for first, last in sorted(intervals):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        return cls(tuple(merged))

    @property
    def total(self) -> int:
        """How many indexes these are."""
        return sum(last - first + 1 for first, last in self.intervals)

    def __bool__(self) -> bool:
        return bool(self.intervals)

    def __contains__(self, index: int) -> bool:
        at = bisect_right(self.intervals, index, key=lambda each: each[0]) - 1
        return at >= 0 and index <= self.intervals[at][1]

    def with_indexes(self, indexes: Iterable[int]) -> OrderedIntervals:
        """And these."""
        fresh = [(index, index) for index in indexes]
        return self.of((*self.intervals, *fresh)) if fresh else self

    def with_intervals(self, other: OrderedIntervals) -> OrderedIntervals:
        """Those of either."""
        return self.of((*self.intervals, *other.intervals))

    def common(self, other: OrderedIntervals) -> int:
        """How many indexes are in both."""
        return self.total + other.total - self.with_intervals(other).total

    def gaps(self, end: int) -> Iterator[range]:
        """What is missing from 0 up to `end`, in order."""
        edges = ((-1, -1), *self.intervals, (end, end))
        for (_, last), (first, _) in pairwise(edges):
            yield range(last + 1, min(first, end))

    def __str__(self) -> str:
        """As a status says it: `0-2,5`. Two neighbours have a comma between them."""
        return ",".join(
            str(first)
            if first == last
            else f"{first}{',' if last == first + 1 else '-'}{last}"
            for first, last in self.intervals
        )


NO_INDEXES = OrderedIntervals()


def parse_intervals(text: str, completions: int) -> OrderedIntervals:
    """The indexes of `0-2,5`; those from `completions` on are dropped. What cannot be
    read ends the list.
    """
    intervals: list[Interval] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        try:
            interval = int(first), min(int(last or first), completions - 1)
        except ValueError:
            break
        if interval[0] <= interval[1]:
            intervals.append(interval)
    return OrderedIntervals.of(intervals)
