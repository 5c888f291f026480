"""The keys of a cache in order, for lists.

To put each new key in its place moves all that stand behind it, and an hour's events
are hundreds of thousands. Nobody asks for the order as often as keys are added: so new
ones stand at the end until somebody does, or there are many. What is nearly sorted is
sorted quickly.

Upstream: `apiserver/pkg/storage/cacher/store_btree.go` (`btreeStore`), v1.36.
"""

from __future__ import annotations

from bisect import bisect_left

MANY = 1000
"""New keys that are put in their places at the latest."""


class KeyOrder:
    """Keys, each of which is added once."""

    __slots__ = ("_in_order", "_new")

    def __init__(self) -> None:
        self._in_order: list[str] = []
        self._new = 0

    def __len__(self) -> int:
        return len(self._in_order)

    def add(self, key: str) -> None:
        """A key that is not there yet."""
        self._in_order.append(key)
        self._new += 1
        if self._new >= MANY:
            self.in_order()

    def remove(self, key: str) -> None:
        """A key that is there."""
        keys = self._in_order
        end = len(keys) - self._new
        at = bisect_left(keys, key, 0, end)
        if at == end or keys[at] != key:
            at = keys.index(key, end)
            self._new -= 1
        del keys[at]

    def in_order(self) -> list[str]:
        """All of them. Shared: do not change the list."""
        if self._new:
            self._in_order.sort()
            self._new = 0
        return self._in_order
