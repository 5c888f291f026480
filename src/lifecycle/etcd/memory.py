"""The store in memory: multi-version, like etcd, and gone when the process ends.

Three structures, each for one kind of question:

- `_live`, the newest state of each key, and `_order`, its keys sorted: "what is there
  now?"
- `_versions`, all states of each key since the last compaction: "what was there at
  revision 17?"
- `_log`, which key each revision wrote: "what happened since revision 17?"

A write touches all three and then tells the watches, before anybody else gets to run;
so a watch sees every change, once, in order.

Upstream: etcd `server/storage/mvcc` (`kvstore.go`, `watchable_store.go`), v3.6. Left
out: durability; several changes in one revision (the keys of a lease go one by one).
"""

from __future__ import annotations

from collections import deque
from heapq import merge
from itertools import islice, takewhile

from lifecycle.api.loop.worker import beside
from lifecycle.api.sorted_keys import SortedKeys
from lifecycle.etcd.leases import Leases
from lifecycle.etcd.past_versions import PastVersions, whole
from lifecycle.etcd.store import (
    CompactedError,
    Event,
    FutureRevisionError,
    KeyValue,
    RangeResult,
    check_request_size,
)
from lifecycle.etcd.watches import EventWatch, Watches

DEFAULT_HISTORY = 20_000
"""Revisions kept before the store compacts by itself, whatever the time: a bound beside
that of the API server's compactor.
"""
MAX_PAST_BYTES = 64 * 1024 * 1024
"""Of values that are no longer the newest: the other bound."""
WHOLE_BYTES = 32 * 1024 * 1024
"""Of those values, so much stays whole, the newest. Most who ask for the past ask for
these; and where much is written, most are forgotten before it would pay to pack them.
"""
AT_ONCE = 2
"""Values that one write may have packed. It adds one at the most."""


class MemoryStore:
    """Implements `etcd.store.Store`. `history` is the number of revisions kept (0: any,
    until `compact`, or there are too many bytes of them).
    """

    remote = False
    problem = ""

    def __init__(self, history: int = DEFAULT_HISTORY) -> None:
        self._history = history
        self._revision = 1  # as in etcd: an empty store is at revision 1
        self._compacted = 0
        self._live: dict[str, KeyValue] = {}
        self._order = SortedKeys()
        self._versions: dict[str, PastVersions] = {}
        self._log: deque[tuple[int, str]] = deque()
        self._past_bytes = 0
        self._superseded: deque[tuple[int, str, int]] = deque()
        """Values that are whole still: which write made them past, and their bytes."""
        self._whole_bytes = 0
        self._watches = Watches()
        self._leases = Leases(self._expire)
        self._leased: dict[int, set[str]] = {}

    @property
    def revision(self) -> int:
        """The newest revision."""
        return self._revision

    async def catch_up(self) -> None:
        """Nobody else writes here, and a write feeds the watches before it returns."""

    # -- reads -------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """The key now or at a revision."""
        if not revision or revision == self._revision:
            return self._live.get(key)
        self._check(revision)
        versions = self._versions.get(key)
        return versions.at(revision) if versions is not None else None

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """Keys in `[start, end)`, in order, of one consistent picture."""
        now = self._revision
        if not revision or revision == now:
            count = self._order.count(start, end)
            first = islice(self._order.between(start, end), limit or None)
            kvs = [self._live[key] for key in first]
        else:
            self._check(revision)
            keys, count = self._keys_at(revision, start, end, limit)
            packed = [self._versions[key].packed_at(revision) for key in keys]
            size = sum(len(versions) * len(versions[-1].value) for versions in packed)
            kvs = await beside(size, _whole_each, packed)
        return RangeResult(kvs, now, count, len(kvs) < count)

    def _keys_at(
        self, revision: int, start: str, end: str, limit: int
    ) -> tuple[list[str], int]:
        """The first keys in `[start, end)` that were there at a revision, in order, and
        how many there were: those of now, but for what has been written since, which is
        little when somebody reads page by page.
        """
        since = takewhile(lambda entry: entry[0] > revision, reversed(self._log))
        changed = {key for _, key in since if start <= key < end}
        before = sorted(k for k in changed if self._versions[k].was_there(revision))
        now = self._order.between(start, end)
        keys = merge((key for key in now if key not in changed), before)
        count = self._order.count(start, end) - sum(k in self._live for k in changed)
        return list(islice(keys, limit or None)), count + len(before)

    def _check(self, revision: int) -> None:
        if revision > self._revision:
            raise FutureRevisionError(self._revision)
        if revision < self._compacted:
            raise CompactedError(self._compacted)

    # -- writes ------------------------------------------------------------------------

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """Compare and swap; the new revision, or None if the comparison failed."""
        check_request_size(key, value)
        before = self._live.get(key)
        if expected is not None and expected != (before.mod_revision if before else 0):
            return None
        if lease:
            self._leases.check(lease)
            self._leased[lease].add(key)
        self._revision += 1
        created = before.create_revision if before else self._revision
        kv = KeyValue(
            key,
            value,
            created,
            self._revision,
            before.version + 1 if before else 1,
            lease,
        )
        self._live[key] = kv
        if before is None:
            self._order.add(key)
        self._commit(Event("PUT", kv, before))
        return self._revision

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """Compare and delete; the new revision, or None if absent or the comparison
        failed.
        """
        before = self._live.get(key)
        if before is None or (expected is not None and expected != before.mod_revision):
            return None
        return self._delete(before)

    def _delete(self, before: KeyValue) -> int:
        key = before.key
        self._revision += 1
        del self._live[key]
        self._order.remove(key)
        self._commit(Event("DELETE", KeyValue(key, b"", 0, self._revision, 0), before))
        return self._revision

    def _commit(self, event: Event) -> None:
        key = event.kv.key
        versions = self._versions.get(key)
        if versions is None:
            versions = self._versions[key] = PastVersions()
        versions.append(event.kv)
        self._log.append((self._revision, key))
        if event.prev is not None:
            size = len(event.prev.value)
            self._superseded.append((self._revision, key, size))
            self._whole_bytes += size
            self._past_bytes += size
        self._watches.tell(event)
        self._bound_the_past()

    # -- watches -----------------------------------------------------------------------

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> EventWatch:
        """Changes in `[start, end)` from a revision on (0: from now on)."""
        watch = EventWatch(self._watches, start, end, revision)
        if revision and revision <= self._compacted:
            watch.end_of_events(CompactedError(self._compacted))
            return watch
        if revision:
            known = self._log[0][0] if self._log else revision
            since = islice(self._log, max(revision - known, 0), None)
            watch.feed_all(
                self._versions[key].event(written)
                for written, key in since
                if start <= key < end
            )
        self._watches.add(watch)
        return watch

    # -- leases ------------------------------------------------------------------------

    async def grant(self, ttl: int) -> int:
        """A lease of `ttl` seconds."""
        lease = self._leases.grant(ttl)
        self._leased[lease] = set()
        return lease

    async def revoke(self, lease: int) -> None:
        """End a lease and delete its keys. Raises LeaseNotFoundError."""
        self._leases.end(lease)
        self._expire(lease)

    def _expire(self, lease: int) -> None:
        for key in sorted(self._leased.pop(lease)):
            kv = self._live.get(key)
            if (
                kv is not None and kv.lease == lease
            ):  # else it was deleted, or written again without it
                self._delete(kv)

    # -- history -----------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        """Forget what was before a revision; the state at that revision stays
        readable.
        """
        if revision > self._revision:
            raise FutureRevisionError(self._revision)
        if revision <= self._compacted:
            raise CompactedError(self._compacted)
        self._forget_before(revision)

    def _bound_the_past(self) -> None:
        """After each write: the oldest of what is too much to be kept whole is kept as
        differences, and what is too much even so is forgotten.
        """
        for _ in range(AT_ONCE):
            if self._whole_bytes <= WHOLE_BYTES:
                break
            written, key, size = self._superseded.popleft()
            self._whole_bytes -= size
            self._past_bytes -= self._versions[key].pack_before(written)
        if self._history and len(self._log) > 2 * self._history:
            self._forget_before(self._revision - self._history)
        while self._past_bytes > MAX_PAST_BYTES:
            self._forget_before(self._log[len(self._log) // 2][0])

    def _forget_before(self, revision: int) -> None:
        touched = set()
        while self._log and self._log[0][0] <= revision:
            touched.add(self._log.popleft()[1])
        for key in touched:
            versions = self._versions[key]
            self._past_bytes -= versions.forget_before(revision)
            if not versions:
                del self._versions[key]
        while self._superseded and self._superseded[0][0] <= revision:
            self._whole_bytes -= self._superseded.popleft()[2]
        self._compacted = revision

    async def close(self) -> None:
        """All watches end."""
        self._leases.close()
        self._watches.end()


def _whole_each(packed: list[list[KeyValue]]) -> list[KeyValue]:
    return [whole(versions) for versions in packed]
