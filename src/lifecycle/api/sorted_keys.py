"""Keys in order, where to add one costs the same however many there are.

A sorted list moves everything behind the new key, and an hour's events are hundreds of
thousands of keys. So the keys stand on leaves of some hundreds each, in order, as in a
B-tree of two levels: a new key moves only what is on its leaf.

Upstream: etcd `server/storage/mvcc/index.go` (`treeIndex`), v3.6;
`apiserver/pkg/storage/cacher/store_btree.go` (`btreeStore`), v1.36; both with
`google/btree`, which has more levels.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

LEAF = 512
"""Keys on a leaf, up to twice as many before it is split."""


class SortedKeys:
    """A set of keys, in order."""

    __slots__ = ("_firsts", "_leaves")

    def __init__(self) -> None:
        self._leaves: list[list[str]] = []
        self._firsts: list[str] = []
        """Of each leaf its first key: no other key on it, or on those behind it, is
        less.
        """

    def __len__(self) -> int:
        return sum(map(len, self._leaves))

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def __iter__(self) -> Iterator[str]:
        for leaf in self._leaves:
            yield from leaf

    def add(self, key: str) -> None:
        """A key that is not there yet."""
        if not self._leaves:
            self._leaves.append([])
            self._firsts.append(key)
        at = self._leaf_of(key)
        leaf = self._leaves[at]
        insort(leaf, key)
        self._firsts[at] = leaf[0]
        if len(leaf) > 2 * LEAF:
            self._leaves[at : at + 1] = leaf[:LEAF], leaf[LEAF:]
            self._firsts.insert(at + 1, leaf[LEAF])

    def remove(self, key: str) -> None:
        """A key that is there."""
        at = self._leaf_of(key)
        leaf = self._leaves[at]
        del leaf[bisect_left(leaf, key)]
        if leaf:
            self._firsts[at] = leaf[0]
        else:
            del self._leaves[at], self._firsts[at]

    def between(self, start: str, end: str) -> Iterator[str]:
        """Those in `[start, end)`."""
        for leaf, low, high in self._pieces(start, end):
            yield from leaf[low:high]

    def count(self, start: str, end: str) -> int:
        """How many are in `[start, end)`."""
        return sum([high - low for _, low, high in self._pieces(start, end)])

    def _pieces(self, start: str, end: str) -> Iterator[tuple[list[str], int, int]]:
        """The leaves on which there are such keys, and where they begin and end."""
        if not self._leaves or start >= end:
            return
        first, last = self._leaf_of(start), self._leaf_of(end)
        for at in range(first, last + 1):
            leaf = self._leaves[at]
            low = bisect_left(leaf, start) if at == first else 0
            yield leaf, low, bisect_left(leaf, end) if at == last else len(leaf)

    def _leaf_of(self, key: str) -> int:
        return max(bisect_right(self._firsts, key) - 1, 0)
