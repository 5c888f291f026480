"""Open watches, and who is told of a change.

Every back end has its own way to keep the past; telling the present is the same for
all. A watch is a queue. A change goes to the queues of the watches that cover its key,
and to find those without asking all, watches are filed by the first part of their
range: `/registry/pods/` has a drawer of its own.

Upstream: etcd `server/storage/mvcc/watcher_group.go` (`watcherGroup`, which uses an
interval tree), v3.6.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence

from lifecycle.etcd.store import Bell, Event


class EventWatch:
    """An open watch on `[start, end)`. Implements `etcd.store.Watch`; `first` is the
    revision it begins with.
    """

    def __init__(self, watches: Watches, start: str, end: str, first: int = 0) -> None:
        self.start, self.end, self.first = start, end, first
        self._watches = watches
        self._pending: deque[Event] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self.ended = False
        self.bells: Sequence[Bell] = ()
        self._error: Exception | None = None

    def feed(self, event: Event) -> None:
        """Queue a change in range."""
        if event.kv.mod_revision >= self.first:
            self._pending.append(event)
            for bell in self.bells:
                bell.ring()
            self._wake()

    def feed_all(self, events: Iterable[Event]) -> None:
        """Queue those of the changes that are in range."""
        for event in events:
            if self.start <= event.kv.key < self.end:
                self.feed(event)

    def end_of_events(self, error: Exception | None = None) -> None:
        """No event will follow; what is pending can still be read, and then `error` is
        raised.
        """
        self.ended, self._error = True, error
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> AsyncIterator[list[Event]]:
        return self

    async def __anext__(self) -> list[Event]:
        """Everything that has happened since the last call, at least one event."""
        while not self._pending:
            if self._error is not None:
                raise self._error
            if self.ended:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self.take()

    def take(self) -> list[Event]:
        """What has arrived and was not read yet, without waiting."""
        if not self._pending:
            return []
        batch = list(self._pending)
        self._pending.clear()
        return batch

    async def close(self) -> None:
        """End the watch; what was not read is dropped."""
        self._pending.clear()
        self.end_of_events()
        self._watches.remove(self)


class Watches:
    """The open watches of a store."""

    def __init__(self) -> None:
        self._by_bucket: dict[str, list[EventWatch]] = {}
        self._wide: list[EventWatch] = []

    def add(self, watch: EventWatch) -> None:
        """From now on the watch is told."""
        self._drawer(watch).append(watch)

    def remove(self, watch: EventWatch) -> None:
        """The watch was closed."""
        drawer = self._drawer(watch)
        if watch in drawer:
            drawer.remove(watch)

    def tell(self, event: Event) -> None:
        """A change: feed it to every watch that covers its key."""
        key = event.kv.key
        for watch in self._by_bucket.get(_bucket(key), ()):
            if watch.start <= key < watch.end:
                watch.feed(event)
        for watch in self._wide:
            if watch.start <= key < watch.end:
                watch.feed(event)

    def end(self, error: Exception | None = None) -> None:
        """All watches end, with or without an error."""
        for drawer in (*self._by_bucket.values(), self._wide):
            for watch in drawer:
                watch.end_of_events(error)
        self._by_bucket.clear()
        self._wide.clear()

    def _drawer(self, watch: EventWatch) -> list[EventWatch]:
        bucket = _bucket(watch.start)
        inside = (
            bucket and watch.start.startswith(bucket) and watch.end <= bucket[:-1] + "0"
        )  # "0" follows "/"
        return self._by_bucket.setdefault(bucket, []) if inside else self._wide


def _bucket(key: str) -> str:
    """`/registry/pods/` of `/registry/pods/default/nginx`; empty if it is not that
    deep.
    """
    first = key.find("/", 1)
    return key[: key.find("/", first + 1) + 1] if first > 0 else ""
