"""The store in memory: multi-version, like etcd, and gone when the process ends.

Three structures, each for one kind of question:

- `_live`, the newest state of each key, and `_order`, its keys sorted: "what is there now?"
- `_versions`, all states of each key since the last compaction: "what was there at revision 17?"
- `_log`, one event per revision: "what happened since revision 17?"

A write touches all three and then tells the watches, before anybody else gets to run; so a watch sees every change, once, in order.

Upstream: etcd `server/storage/mvcc` (`kvstore.go`, `watchable_store.go`). Left out: durability, and lease expiry by itself (who grants a
lease revokes it).
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import AsyncIterator

from lifecycle.etcd.store import CompactedError, Event, FutureRevisionError, KeyValue, RangeResult

DEFAULT_HISTORY = 20_000
"""Revisions kept before the store compacts by itself, in the role of the API server's compactor."""


def _bucket(key: str) -> str:
    """`/registry/pods/` of `/registry/pods/default/nginx`: what watches are sorted by."""
    second = key.find("/", key.find("/", 1) + 1)
    return key[: second + 1]


class MemoryWatch:
    """An open watch on a range of a `MemoryStore`."""

    def __init__(self, store: MemoryStore, start: str, end: str) -> None:
        self.start, self.end = start, end
        self._store = store
        self._pending: deque[Event] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self.error: Exception | None = None

    def feed(self, event: Event) -> None:
        """Called by the store with each change in range."""
        self._pending.append(event)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> AsyncIterator[list[Event]]:
        return self

    async def __anext__(self) -> list[Event]:
        """Everything that has happened since the last call, at least one event."""
        while not self._pending:
            if self.error is not None:
                raise self.error
            if self._closed:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self.take()

    def take(self) -> list[Event]:
        """What has arrived and was not read yet, without waiting."""
        batch = list(self._pending)
        self._pending.clear()
        return batch

    async def close(self) -> None:
        """End the watch; what was not read is dropped."""
        self._pending.clear()
        self.end_of_events()
        self._store.forget(self)

    def end_of_events(self) -> None:
        """No event will follow; what is pending can still be read."""
        self._closed = True
        self._wake()


class MemoryStore:
    """Implements `etcd.store.Store`. `history` is the number of revisions kept (0: all, until `compact`)."""

    def __init__(self, history: int = DEFAULT_HISTORY) -> None:
        self._history = history
        self._revision = 1  # as in etcd: an empty store is at revision 1
        self._compacted = 0
        self._live: dict[str, KeyValue] = {}
        self._order: list[str] = []
        self._versions: dict[str, list[KeyValue]] = {}
        self._log: deque[Event] = deque()
        self._by_bucket: dict[str, list[MemoryWatch]] = {}
        self._wide: list[MemoryWatch] = []

    @property
    def revision(self) -> int:
        """The newest revision."""
        return self._revision

    # -- reads --------------------------------------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """The key now or at a revision."""
        if not revision or revision == self._revision:
            return self._live.get(key)
        self._check(revision)
        return self._at(key, revision)

    async def range(self, start: str, end: str, *, revision: int = 0, limit: int = 0) -> RangeResult:
        """Keys in `[start, end)`, in order, of one consistent picture."""
        now = not revision or revision == self._revision
        if now:
            low, high = bisect_left(self._order, start), bisect_left(self._order, end)
            count = high - low
            keys = self._order[low : low + limit] if limit else self._order[low:high]
            found = [self._live[key] for key in keys]
        else:
            self._check(revision)
            past = (self._at(key, revision) for key in sorted(k for k in self._versions if start <= k < end))
            every = [kv for kv in past if kv is not None]
            count = len(every)
            found = every[:limit] if limit else every
        return RangeResult(found, self._revision, count, len(found) < count)

    def _at(self, key: str, revision: int) -> KeyValue | None:
        versions = self._versions.get(key, [])
        place = bisect_right(versions, revision, key=lambda kv: kv.mod_revision)
        if not place or not versions[place - 1].version:  # version 0 marks a deletion
            return None
        return versions[place - 1]

    def _check(self, revision: int) -> None:
        if revision > self._revision:
            raise FutureRevisionError(self._revision)
        if revision < self._compacted:
            raise CompactedError(self._compacted)

    # -- writes -------------------------------------------------------------------------------------------------------

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        """Compare and swap; the new revision, or None if the comparison failed."""
        before = self._live.get(key)
        if expected is not None and expected != (before.mod_revision if before else 0):
            return None
        self._revision += 1
        created = before.create_revision if before else self._revision
        kv = KeyValue(key, value, created, self._revision, before.version + 1 if before else 1, lease)
        self._live[key] = kv
        if before is None:
            insort(self._order, key)
        self._commit(Event("PUT", kv, before))
        return self._revision

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """Compare and delete; the new revision, or None if absent or the comparison failed."""
        before = self._live.get(key)
        if before is None or (expected is not None and expected != before.mod_revision):
            return None
        self._revision += 1
        del self._live[key]
        del self._order[bisect_left(self._order, key)]
        self._commit(Event("DELETE", KeyValue(key, b"", 0, self._revision, 0), before))
        return self._revision

    def _commit(self, event: Event) -> None:
        key = event.kv.key
        self._versions.setdefault(key, []).append(event.kv)
        self._log.append(event)
        for watch in self._by_bucket.get(_bucket(key), ()):
            if watch.start <= key < watch.end:
                watch.feed(event)
        for watch in self._wide:
            if watch.start <= key < watch.end:
                watch.feed(event)
        if self._history and len(self._log) > 2 * self._history:
            self._forget_before(self._revision - self._history)

    # -- watches ------------------------------------------------------------------------------------------------------

    def watch(self, start: str, end: str, *, revision: int = 0, progress: bool = False) -> MemoryWatch:
        """Changes in `[start, end)` from a revision on (0: from now on)."""
        watch = MemoryWatch(self, start, end)
        if revision and revision <= self._compacted:
            watch.error = CompactedError(self._compacted)
            return watch
        if revision:
            first = self._revision - len(self._log) + 1
            for number in range(max(revision - first, 0), len(self._log)):
                event = self._log[number]
                if start <= event.kv.key < end:
                    watch.feed(event)
        self._watches_of(watch).append(watch)
        return watch

    def _watches_of(self, watch: MemoryWatch) -> list[MemoryWatch]:
        bucket = _bucket(watch.start)
        inside = bucket and watch.start.startswith(bucket) and watch.end <= bucket[:-1] + "0"  # "0" follows "/"
        return self._by_bucket.setdefault(bucket, []) if inside else self._wide

    def forget(self, watch: MemoryWatch) -> None:
        """A watch was closed."""
        watches = self._watches_of(watch)
        if watch in watches:
            watches.remove(watch)

    # -- history ------------------------------------------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        """Forget what was before a revision; the state at that revision stays readable."""
        if revision > self._revision:
            raise FutureRevisionError(self._revision)
        if revision <= self._compacted:
            raise CompactedError(self._compacted)
        self._forget_before(revision)

    def _forget_before(self, revision: int) -> None:
        touched = set()
        while self._log and self._log[0].kv.mod_revision <= revision:
            touched.add(self._log.popleft().kv.key)
        for key in touched:
            versions = self._versions[key]
            keep = bisect_right(versions, revision, key=lambda kv: kv.mod_revision) - 1
            if keep >= 0 and not versions[keep].version:
                keep += 1
            if keep > 0:
                del versions[:keep]
            if not versions:
                del self._versions[key]
        self._compacted = revision

    async def close(self) -> None:
        """All watches end."""
        for watches in (*self._by_bucket.values(), self._wide):
            for watch in watches:
                watch.end_of_events()
        self._by_bucket.clear()
        self._wide.clear()
