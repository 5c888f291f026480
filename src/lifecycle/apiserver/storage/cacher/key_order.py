"""The keys of a cache in order, for lists.

To put each new key in its place moves all that stand behind it, and an hour's events
are hundreds of thousands. Nobody asks for the order as often as keys come and go: so
new ones stand at the end until somebody does, or there are many, and those that are
gone keep their places as long. What is nearly sorted is sorted quickly.

Many is a share of all: were it a fixed number, each key would cost more than the one
before it.

Upstream: `apiserver/pkg/storage/cacher/store_btree.go` (`btreeStore`), v1.36.
"""

from __future__ import annotations

MANY = 1000
"""So few keys may come and go before the others are put in order, ..."""
SHARE = 8
"""... and of many the eighth part."""


class KeyOrder:
    """Keys, each of which is added once."""

    __slots__ = ("_changes", "_gone", "_keys")

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._gone: set[str] = set()
        """Of the keys those that are there no more."""
        self._changes = 0

    def __len__(self) -> int:
        return len(self._keys) - len(self._gone)

    def add(self, key: str) -> None:
        """A key that is not there yet."""
        if key in self._gone:
            self._gone.discard(key)
        else:
            self._keys.append(key)
        self._changed()

    def remove(self, key: str) -> None:
        """A key that is there."""
        self._gone.add(key)
        self._changed()

    def _changed(self) -> None:
        self._changes += 1
        if self._changes >= max(MANY, len(self._keys) // SHARE):
            self.in_order()

    def in_order(self) -> list[str]:
        """All of them. Shared: do not change the list."""
        if self._changes:
            if self._gone:
                self._keys = [key for key in self._keys if key not in self._gone]
                self._gone.clear()
            self._keys.sort()
            self._changes = 0
        return self._keys
