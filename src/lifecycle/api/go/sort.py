"""Go's `sort.Sort`, for those who look closely: where two entries are equal, it is this
algorithm that says which comes first.

Up to twelve entries are sorted by insertion, which leaves equal ones in their order.
More go through a pattern-defeating quicksort, and equal ones may change places – the
same way each time, for there is no chance in it.

Upstream: Go's `sort` (`pdqsort`, `choosePivot`, `partition`, `partitionEqual`,
`partialInsertionSort`, `breakPatterns`, `heapSort`), as Go 1.26 has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
MAX_INSERTION = 12
SHORTEST_NINTHER = SHORTEST_SHIFTING = 50
MAX_STEPS = 5
MOST_SWAPS = 12
_64_BITS = 2**64 - 1


def go_sorted(items: Iterable[T], key: Callable[[T], Any]) -> list[T]:
    """The items in the order of their keys, equal ones where Go leaves them."""
    data = Sorting(list(items), key)
    length = len(data.items)
    if length > 1:
        data.pdqsort(0, length, length.bit_length())
    return data.items


class Sorting(Generic[T]):
    """What is being sorted. Ranges are from `a` up to, and without, `b`."""

    def __init__(self, items: list[T], key: Callable[[T], Any]) -> None:
        self.items = items
        self._keys = [key(item) for item in items]

    def less(self, i: int, j: int) -> bool:
        """Whether entry i comes before entry j."""
        return bool(self._keys[i] < self._keys[j])

    def swap(self, i: int, j: int) -> None:
        """Let two entries change places."""
        for entries in (self.items, self._keys):
            entries[i], entries[j] = entries[j], entries[i]

    def pdqsort(self, a: int, b: int, limit: int) -> None:
        """Sort a range. After `limit` bad pivots a heap has to do."""
        balanced = partitioned = True
        while (length := b - a) > MAX_INSERTION:
            if limit == 0:
                self._heap_sort(a, b)
                return
            if not balanced:
                self._break_patterns(a, b)
                limit -= 1
            pivot, swaps = self._choose_pivot(a, b)
            if swaps == MOST_SWAPS:  # it comes backwards
                self._reverse(a, b)
                pivot = b - 1 - (pivot - a)
                swaps = 0
            likely_sorted = balanced and partitioned and swaps == 0
            if likely_sorted and self._partial_insertion_sort(a, b):
                return
            if a > 0 and not self.less(a - 1, pivot):  # many are equal
                a = self._partition_equal(a, b, pivot)
                continue
            middle, partitioned = self._partition(a, b, pivot)
            left, right = middle - a, b - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.pdqsort(a, middle, limit)
                a = middle + 1
            else:
                self.pdqsort(middle + 1, b, limit)
                b = middle
        self._insertion_sort(a, b)

    def _insertion_sort(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            while i > a and self.less(i, i - 1):
                self.swap(i, i - 1)
                i -= 1

    def _heap_sort(self, a: int, b: int) -> None:
        length = b - a
        for i in range((length - 1) // 2, -1, -1):
            self._sift_down(i, length, a)
        for i in range(length - 1, -1, -1):
            self.swap(a, a + i)
            self._sift_down(0, i, a)

    def _sift_down(self, root: int, end: int, first: int) -> None:
        while (child := 2 * root + 1) < end:
            if child + 1 < end and self.less(first + child, first + child + 1):
                child += 1
            if not self.less(first + root, first + child):
                return
            self.swap(first + root, first + child)
            root = child

    def _choose_pivot(self, a: int, b: int) -> tuple[int, int]:
        """Where the pivot is, and how often two entries that were looked at stood the
        wrong way round.
        """
        quarter = (b - a) // 4
        samples = [a + quarter, a + 2 * quarter, a + 3 * quarter]
        swaps = 0
        if b - a >= SHORTEST_NINTHER:
            for at, sample in enumerate(samples):
                samples[at], more = self._median(sample - 1, sample, sample + 1)
                swaps += more
        pivot, more = self._median(*samples)
        return pivot, swaps + more

    def _median(self, a: int, b: int, c: int) -> tuple[int, int]:
        swaps = 0
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        if self.less(c, b):
            b, c, swaps = c, b, swaps + 1
        if self.less(b, a):
            a, b, swaps = b, a, swaps + 1
        return b, swaps

    def _reverse(self, a: int, b: int) -> None:
        for i in range((b - a) // 2):
            self.swap(a + i, b - 1 - i)

    def _partial_insertion_sort(self, a: int, b: int) -> bool:
        """Whether the range is sorted now: it was, or a few moves were enough."""
        i = a + 1
        for _ in range(MAX_STEPS):
            while i < b and not self.less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < SHORTEST_SHIFTING:
                return False
            self.swap(i, i - 1)
            if i - a >= 2:
                self._shift(range(i - 1, 0, -1))
            if b - i >= 2:
                self._shift(range(i + 1, b))
        return False

    def _shift(self, places: range) -> None:
        for j in places:
            if not self.less(j, j - 1):
                return
            self.swap(j, j - 1)

    def _partition(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Smaller ones to the left: where the pivot is now, and whether nothing had to
        move.
        """
        self.swap(a, pivot)
        i, j = self._apart(a, a + 1, b - 1)
        already = i > j
        while i <= j:
            self.swap(i, j)
            i, j = self._apart(a, i + 1, j - 1)
        self.swap(j, a)
        return j, already

    def _apart(self, pivot: int, i: int, j: int) -> tuple[int, int]:
        """The next entries from both ends that stand on the wrong side."""
        while i <= j and self.less(i, pivot):
            i += 1
        while i <= j and not self.less(j, pivot):
            j -= 1
        return i, j

    def _partition_equal(self, a: int, b: int, pivot: int) -> int:
        """Those that equal the pivot to the left: where the larger ones begin."""
        self.swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self.less(a, i):
                i += 1
            while i <= j and self.less(a, j):
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def _break_patterns(self, a: int, b: int) -> None:
        """Three entries of the middle change places with others that nobody chose."""
        length = b - a
        mask = (1 << length.bit_length()) - 1
        middle = a + length // 4 * 2
        state = length
        for i in range(3):
            state ^= state << 13 & _64_BITS
            state ^= state >> 7
            state ^= state << 17 & _64_BITS
            other = state & mask
            other -= length if other >= length else 0
            self.swap(middle - 1 + i, a + other)
