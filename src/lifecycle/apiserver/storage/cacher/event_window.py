"""The latest changes of a resource: what a watch can be told that it has missed.

A client that was away comes back with the revision it has seen last. It should be able
to go on from there, if it was away for no longer than from one bookmark to the next. So
the window reaches back over `FRESH` seconds, and its capacity follows from how much
happens in them: it doubles when it is full of what is fresh, and halves when most of
it is old. A resource that is written once a minute keeps a hundred changes, and what
happened yesterday is held by nobody.

Each change holds a version of an object that is long past. Whoever may write decides
how large those are, so their bytes have a bound as well: `MAX_BYTES`.

Upstream: `apiserver/pkg/storage/cacher/watch_cache.go` (`watchCache.updateCache`,
`resizeCacheLocked`, `getAllEventsSinceLocked`), v1.36, which counts changes only.
"""

from __future__ import annotations

from collections import deque
from itertools import takewhile

from lifecycle.apiserver.storage.cacher.cached_object import Change

FRESH = 75.0
"""Seconds that a watch can go back: one bookmark's, and a few more."""
MIN_CHANGES, MAX_CHANGES = 100, 102_400
"""Between these the capacity is adapted."""
MAX_BYTES = 16 * 1024 * 1024
"""Of stored JSON, all changes of a resource together: some 8,000 versions of a pod."""


class EventWindow:
    """Changes in the order in which they happened."""

    def __init__(self) -> None:
        self.capacity = MIN_CHANGES
        self.start = 0
        """From this revision on nothing is missing."""
        self._changes: deque[Change] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._changes)

    def begin(self, revision: int) -> None:
        """Everything has been read as of a revision: there is nothing older here."""
        self._changes.clear()
        self._bytes = 0
        self.start = revision

    def append(self, change: Change) -> None:
        """The newest change; what is too old or too much for the window goes."""
        if len(self._changes) >= self.capacity:
            self._adapt(change.recorded)
        self._changes.append(change)
        self._bytes += change.size
        while len(self._changes) > self.capacity or self._bytes > MAX_BYTES:
            oldest = self._changes.popleft()
            self._bytes -= oldest.size
            self.start = oldest.revision

    def _adapt(self, now: float) -> None:
        """The window is full: with what is fresh, or with what is not. That only a
        quarter of it is fresh, and not half, keeps it from going up and down.
        """
        if now - self._changes[0].recorded < FRESH:
            self.capacity = min(self.capacity * 2, MAX_CHANGES)
        elif now - self._changes[-(self.capacity // 4)].recorded > FRESH:
            self.capacity = max(self.capacity // 2, MIN_CHANGES)

    def since(self, revision: int) -> list[Change]:
        """What happened after a revision that is not before `start`, oldest first."""
        newest_first = reversed(self._changes)
        missed = list(takewhile(lambda each: each.revision > revision, newest_first))
        missed.reverse()
        return missed
