"""The latest changes of a resource: what a watch can be told that it has missed.

A client that was away comes back with the revision it has seen last. It should be able
to go on from there, if it was away for no longer than from one bookmark to the next. So
the window reaches back over `FRESH` seconds, however much happens in them, and what is
older goes with the next changes. A resource that is written once a minute keeps a
hundred changes, and what happened yesterday is held by nobody.

Each change holds a version of an object that is long past. Whoever may write decides
how many there are and how large, so both have a bound: `MAX_CHANGES`, `MAX_BYTES`. What
has been read takes ten times the bytes of its JSON. Who is there looks at a change when
it happens; so a moment later large versions are packed, until somebody comes who was
away.

Upstream: `apiserver/pkg/storage/cacher/watch_cache.go` (`watchCache.updateCache`,
`resizeCacheLocked`, `getAllEventsSinceLocked`), v1.36, which counts changes only. There
the window is a ring: it doubles when it is full of what is fresh and halves when most
of it is old, so a busy hour's changes stay until others take their places.
"""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import takewhile
from operator import methodcaller

from lifecycle.api.loop.worker import LARGE, beside, let_go, one_by_one
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Change

FRESH = 75.0
"""Seconds that a watch can go back: one bookmark's, and a few more."""
MIN_CHANGES, MAX_CHANGES = 100, 102_400
"""So many are kept even if they are old, and no more even if they are fresh."""
AT_ONCE = 1_000
"""Changes that one change may push out: after a busy minute there are very many."""
OLD_BYTES = 1024 * 1024
"""So many are kept even if they are old: of stored JSON, which takes ten times as much
when it has been read.
"""
SETTLED, MOMENT = 2.0, 0.01
"""Seconds: by then those who were there have seen a change; what is due a moment later
is packed with it.
"""
MAX_BYTES = 16 * 1024 * 1024
"""Of stored JSON, all changes of a resource together: some 8,000 versions of a pod."""

_PACK, _UNPACK = methodcaller("pack"), methodcaller("unpack")


class EventWindow:
    """Changes in the order in which they happened."""

    def __init__(self) -> None:
        self.start = 0
        """From this revision on nothing is missing."""
        self._changes: deque[Change] = deque()
        self._bytes = 0
        self._timer: asyncio.TimerHandle | None = None
        self._read: deque[tuple[float, Cached]] = deque()
        """Large versions that are past and not packed, and when they are to be."""
        self._packing: asyncio.TimerHandle | None = None
        self._packer: asyncio.Task[list[None]] | None = None

    def __len__(self) -> int:
        return len(self._changes)

    def begin(self, revision: int) -> None:
        """Everything has been read as of a revision: there is nothing older here."""
        self._changes.clear()
        self._bytes = 0
        self._read.clear()
        self.start = revision
        for timer in (self._timer, self._packing):
            if timer is not None:
                timer.cancel()
        self._timer = self._packing = None

    def let_go(self) -> list[Cached]:
        """It is not needed any more: the versions that it held."""
        pairs = [(change.current, change.previous) for change in self._changes]
        self.begin(self.start)
        return [cached for pair in pairs for cached in pair if cached is not None]

    def append(self, change: Change) -> None:
        """The newest change; what is too old or too much for the window goes."""
        self._changes.append(change)
        self._bytes += change.size
        for _ in range(AT_ONCE):
            if not self._is_too_much(change.recorded):
                break
            self._forget_oldest()
        if change.previous is not None and change.size > LARGE:
            self._pack_later(change.previous)
        if self._timer is None and self._bytes > OLD_BYTES:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(FRESH, self._forget_old, loop)

    def _forget_oldest(self) -> Change:
        oldest = self._changes.popleft()
        self._bytes -= oldest.size
        self.start = oldest.revision
        return oldest

    def _forget_old(self, loop: asyncio.AbstractEventLoop) -> None:
        """There may never be another change: what is old goes now, if it is much."""
        self._timer = None
        now, forgotten = loop.time(), []
        for _ in range(AT_ONCE):
            if self._bytes <= OLD_BYTES or self._changes[0].recorded + FRESH > now:
                break
            forgotten.append(self._forget_oldest())
        let_go(forgotten, sum(change.size for change in forgotten))
        if self._bytes > OLD_BYTES:
            due = max(now, self._changes[0].recorded + FRESH)
            self._timer = loop.call_at(due, self._forget_old, loop)

    # -- large versions ----------------------------------------------------------------

    def _pack_later(self, version: Cached) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + SETTLED
        self._read.append((due, version))
        if self._packing is None:
            self._packing = loop.call_at(due, self._pack, loop)

    def _pack(self, loop: asyncio.AbstractEventLoop) -> None:
        self._packing = None
        now, versions = loop.time() + MOMENT, list[Cached]()
        while self._read and self._read[0][0] <= now:
            versions.append(self._read.popleft()[1])
        if versions:
            size = sum(version.size for version in versions)
            self._packer = loop.create_task(beside(size, one_by_one, _PACK, versions))
        if self._read:
            self._packing = loop.call_at(self._read[0][0], self._pack, loop)

    async def unpack_since(self, revision: int) -> None:
        """Before `since`, for who may wait: what is packed is read beside the loop."""
        versions = [
            version
            for change in self.since(revision)
            for version in (change.current, change.previous)
            if version is not None and version.is_packed
        ]
        if versions:
            size = sum(version.size for version in versions)
            await beside(size, one_by_one, _UNPACK, versions)
            for version in versions:
                self._pack_later(version)

    def _is_too_much(self, now: float) -> bool:
        held = len(self._changes)
        if held > MAX_CHANGES or self._bytes > MAX_BYTES:
            return True
        return held > MIN_CHANGES and now - self._changes[0].recorded > FRESH

    def since(self, revision: int) -> list[Change]:
        """What happened after a revision that is not before `start`, oldest first."""
        newest_first = reversed(self._changes)
        missed = list(takewhile(lambda each: each.revision > revision, newest_first))
        missed.reverse()
        return missed
