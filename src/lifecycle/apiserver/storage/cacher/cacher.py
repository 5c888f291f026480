"""The watch cache: one watch on the store, many readers.

For each resource the server keeps every object decoded, its JSON ready, and the latest
changes. Reads and lists are answered from here, and any number of clients
can watch while the store sees a single watch. An event is encoded once, however many
watchers it goes to.

Objects in the cache are shared with everybody and never change; a newer version is
another object.

An object that is encrypted with a key we do not have is not in the cache; `unreadable`
says so, and who asks for it gets that for an answer.

Upstream: `apiserver/pkg/storage/cacher/cacher.go` (`Cacher`), `watch_cache.go`
(`watchCache`), v1.36. Left out: decoding and dispatching in separate goroutines;
snapshots for old list revisions (the store answers those).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import LARGE, beside, let_go, one_by_one
from lifecycle.api.resources import Resource
from lifecycle.api.status import failure
from lifecycle.apiserver.storage.cacher.cache_watcher import (
    CacheWatcher,
    Criteria,
    as_of,
)
from lifecycle.apiserver.storage.cacher.cached_object import (
    Cached,
    Change,
    Shown,
    Writing,
)
from lifecycle.apiserver.storage.cacher.event_window import EventWindow
from lifecycle.apiserver.storage.cacher.indexed_watchers import IndexedWatchers
from lifecycle.apiserver.storage.cacher.store_indexer import StoreIndexer
from lifecycle.apiserver.storage.unreadable import Unreadable
from lifecycle.etcd.codec import UnreadableError, decode_value
from lifecycle.etcd.keys import resource_prefix
from lifecycle.etcd.store import (
    Bell,
    CompactedError,
    Event,
    KeyValue,
    Store,
    StoreError,
    Watch,
    prefix_end,
)

log = logging.getLogger(__name__)


class Cacher:
    """The cache of one resource. `await start()` before use; `await stop()` ends its
    watch and all watchers.

    Of a version that is not the stored one, `from_storage` makes what is shown, and
    `stored_as` is the cache of the stored one: what that has decoded already is shared,
    and shown when somebody asks for it, so `from_storage` must not fail.
    """

    def __init__(
        self,
        store: Store,
        resource: Resource,
        fields_of: Callable[[Object], dict[str, str]],
        from_storage: Callable[[Object], Object] | None = None,
        stored_as: Cacher | None = None,
    ) -> None:
        self.resource = resource
        self.prefix = resource_prefix(resource)
        self.fields_of = fields_of
        self._from_storage = from_storage
        self._stored_as = stored_as
        by_node = (resource.group, resource.plural) == ("", "pods")
        self.revision = 0
        self._store = store
        self._objects = StoreIndexer(by_node=by_node)
        self._watchers = IndexedWatchers(by_node=by_node)
        self.window = EventWindow()
        self._written: dict[int, Cached] = {}
        self._on_their_way: dict[str, list[Writing]] = {}
        self._line: deque[Event] = deque()  # told, and not here yet
        self._early: dict[int, Cached | Exception] = {}  # of these, what is read
        self._settling = asyncio.Lock()
        self.freed: asyncio.Future[None] | None = None  # once stopped, of all this
        self._pump_task: asyncio.Task[None] | None = None
        self._watch: Watch | None = (
            None  # until everything has been read, which may fail
        )
        self.events_received = self.events_sent = self.consistent_reads = 0
        self._bells: list[Bell] = []
        self.unreadable = Unreadable(resource)

    # -- life --------------------------------------------------------------------------

    async def start(self) -> None:
        """Read everything once, then follow. Raises StoreError."""
        await self._read_everything()
        self._pump_task = asyncio.create_task(
            self._pump(), name=f"cacher {self.resource.plural}"
        )

    async def stop(self) -> None:
        """End the watch on the store and every watcher."""
        if self._pump_task is not None:
            self._pump_task.cancel()
            # it will remember where it was, and with that all that is cached here
            self._pump_task = None
        if self._watch is not None:
            await self._watch.close()
        self._end_watchers()
        held = [*self._objects.values(), *self.window.let_go()]
        self.freed = let_go(held, sum(cached.size for cached in held))

    def _end_watchers(self) -> None:
        for watcher in self._watchers.all():
            watcher.end()

    async def _read_everything(self) -> None:
        page = await self._store.range(self.prefix, prefix_end(self.prefix))
        size = sum(len(kv.value) for kv in page.kvs)
        read = await beside(size, self._read_all, page.kvs)
        self.revision = page.revision
        self.window.begin(page.revision)
        self._objects.clear()
        for told in (self._written, self._early, self._line):
            told.clear()
        self.unreadable.clear()
        for kv, result in zip(page.kvs, read, strict=True):
            cached = self._readable(kv, result)
            if cached is not None:
                self._objects.put(cached)
        watch = self._store.watch(
            self.prefix, prefix_end(self.prefix), revision=page.revision + 1
        )
        watch.bells = self._bells
        self._watch = watch
        for bell in self._bells:
            bell.ring()

    async def _pump(self) -> None:
        pauses = Pauses()
        while True:
            try:
                assert self._watch is not None
                async for batch in self._watch:
                    self._line.extend(batch)
                    # of one object there may be twenty versions, each with its cache
                    await pauses.pause()
                    await self.settle()
                    self.catch_up()
                return
            except (CompactedError, StoreError) as error:
                log.warning("watch of %s ended: %s", self.prefix, error)
            await self._start_over()

    async def _start_over(self) -> None:
        """The store has forgotten what would come next. Read it anew; whoever watches
        here comes back and lists as well.
        """
        while True:
            try:
                await self._read_everything()
            except StoreError:
                await asyncio.sleep(1)
            else:
                return self._end_watchers()

    async def read_again(self) -> None:
        """The keys for what lies in the store have changed: find out what can be read
        now. What could not be read so far is new here. Raises StoreError.
        """
        page = await self._store.range(self.prefix, prefix_end(self.prefix))
        self.catch_up()
        before = self.unreadable.keys()
        self.unreadable.clear()
        for kv in page.kvs:
            if kv.problem or (kv.key in before and kv.key not in self._objects):
                cached = self._readable(kv, self._read(kv))
                if cached is not None:
                    self._objects.put(cached)

    async def settle(self) -> None:
        """What is large of what the store has told is read beside the loop. Who does
        not wait for it can catch up all the same, and reads it here and now.
        """
        async with self._settling:
            self._take()
            for event in tuple(self._line):
                kv = event.kv
                if (
                    event.type == "PUT"
                    and len(kv.value) > LARGE
                    and kv.mod_revision not in self._written
                    and kv.mod_revision not in self._early
                    and self._on_its_way(kv) is None
                ):
                    read = await beside(len(kv.value), self._read, kv)
                    if kv.mod_revision > self.revision:
                        self._early[kv.mod_revision] = read

    def _take(self) -> None:
        if self._watch is not None:
            self._line.extend(self._watch.take())

    def catch_up(self) -> None:
        """Apply what the store has told already: after it, a read is as fresh as one
        from the store itself.
        """
        self._take()
        if self._line:
            batch, self._line = self._line, deque()
            self._apply(batch)
            self._early.clear()

    def add_bell(self, bell: Bell) -> None:
        """Ring it from now on whenever the store tells of a change, before anybody
        could read the change here.
        """
        self._bells.append(bell)

    # -- changes -----------------------------------------------------------------------

    def decode(self, value: bytes, revision: int) -> Object:
        """A stored value in the version of this resource."""
        obj = decode_value(value, revision)
        return self._from_storage(obj) if self._from_storage is not None else obj

    async def decode_past(self, kvs: Sequence[KeyValue]) -> list[Object]:
        """What was stored at an older revision, in the version of this resource."""
        self.unreadable.check_values(kvs)
        size = sum(len(kv.value) for kv in kvs)
        return await beside(size, self._decoded_past, kvs)

    def _decoded_past(self, kvs: Sequence[KeyValue]) -> list[Object]:
        return one_by_one(lambda kv: self.decode(kv.value, kv.mod_revision), kvs)

    def _read_all(self, kvs: Sequence[KeyValue]) -> list[Cached | Exception]:
        """The worker's, if it is much: what is under each key, or why nothing is."""
        return one_by_one(self._read, kvs)

    def _read(self, kv: KeyValue) -> Cached | Exception:
        try:
            if kv.problem:
                raise UnreadableError(kv.problem)
            size = len(kv.value)
            known = self._stored_as.known(kv) if self._stored_as is not None else None
            if known is not None and self._from_storage is not None:
                return Shown(known, self._from_storage, size)
            obj = self.decode(kv.value, kv.mod_revision)
            return Cached(kv.key, obj, kv.mod_revision, size=size)
        except (ValueError, KeyError, TypeError) as error:
            return error

    def _readable(self, kv: KeyValue, read: Cached | Exception) -> Cached | None:
        """What is under a key; None, and a line in the log, if somebody put there what
        is no object. What is encrypted is kept in mind.
        """
        if isinstance(read, Cached):
            return read
        log.error("%s cannot be read: %s", kv.key, read)
        if isinstance(read, UnreadableError):
            self.unreadable.add(kv.key, str(read))
        return None

    def known(self, kv: KeyValue) -> Cached | None:
        """What a revision wrote, if it is here already: its writer has handed it over,
        or it is still the newest under its key.
        """
        cached = (
            self._written.get(kv.mod_revision)
            or self._on_its_way(kv)
            or self._objects.get(kv.key)
        )
        if cached is None or cached.revision != kv.mod_revision:
            return None
        return cached

    def begin_write(self, writing: Writing) -> None:
        """The writer hands over what it writes, so that nobody has to decode it again.
        A store somewhere else may tell of the write before it answers the writer.
        """
        self._on_their_way.setdefault(writing.key, []).append(writing)

    def end_write(self, writing: Writing, revision: int | None) -> Cached | None:
        """The store has answered: what is in the cache from that revision on. None:
        nothing was written.
        """
        under_way = self._on_their_way[writing.key]
        under_way.remove(writing)
        if not under_way:
            del self._on_their_way[writing.key]
        if revision is None:
            return None
        cached = writing.at(revision)
        if revision > self.revision:
            self._written[revision] = cached
        return cached

    def _on_its_way(self, kv: KeyValue) -> Cached | None:
        """What the store tells of, if it is just being written here: whoever else wrote
        the very same bytes wrote the same object.
        """
        for writing in self._on_their_way.get(kv.key, ()):
            if writing.value == kv.value:
                return writing.at(kv.mod_revision)
        return None

    def _apply(self, batch: Iterable[Event]) -> None:
        now = asyncio.get_running_loop().time()
        for event in batch:
            kv = event.kv
            revision = kv.mod_revision
            self.events_received += 1
            previous = self._objects.get(kv.key)
            written = self._written.pop(revision, None) or self._on_its_way(kv)
            self.unreadable.discard(kv.key)
            current = (written or self._told(kv)) if event.type == "PUT" else None
            if previous is not None:
                previous.superseded()
            if current is not None:
                self._objects.put(current)
            elif previous is not None:
                self._objects.remove(previous)
                previous = Shown(
                    previous, partial(as_of, revision=revision), previous.size
                )
                previous.revision = revision
            self.revision = revision
            if current is previous is None:
                continue
            if kv.key in self.unreadable:
                # not gone: who watches comes back and is told
                self._end_watchers()
                continue
            size = max(each.size for each in (current, previous) if each is not None)
            change = Change(revision, current, previous, now, size)
            self.window.append(change)
            self._watchers.dispatch(change)

    def _told(self, kv: KeyValue) -> Cached | None:
        return self._readable(kv, self._early.get(kv.mod_revision) or self._read(kv))

    # -- reads -------------------------------------------------------------------------

    def get(self, key: str) -> Cached | None:
        """The newest version under a key."""
        return self._objects.get(key)

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def version(self) -> int:
        """Goes up with every change of what is read here."""
        return self._objects.version

    def ordered(self, namespace: str = "") -> list[Cached]:
        """All objects, or those of a namespace, in key order. Shared: do not change the
        list.
        """
        return self._objects.ordered(namespace)

    def first(self, count: int) -> list[Cached]:
        """So many of them, the first in key order."""
        return self._objects.first(count)

    def on_node(self, node: str) -> Iterable[Cached]:
        """The pods that are bound to a node, in no order. Valid until the next
        change.
        """
        return self._objects.on_node(node)

    def candidates(self, criteria: Criteria, *, indexed: bool = True) -> list[Cached]:
        """The objects that may match, in key order: all, those of the namespace, the
        single one that is named, or the pods of the node that is.

        `indexed`: whether the node counts. A page that ends at a limit is cut from all.
        """
        if criteria.node_name and indexed:
            return sorted(
                self.on_node(criteria.node_name), key=lambda cached: cached.key
            )
        if not criteria.name or (self.resource.namespaced and not criteria.namespace):
            return self.ordered(criteria.namespace)
        key = (
            f"{self.prefix}{criteria.namespace}/{criteria.name}"
            if criteria.namespace
            else self.prefix + criteria.name
        )
        cached = self._objects.get(key)
        return [cached] if cached is not None else []

    # -- watches -----------------------------------------------------------------------

    def watch(
        self,
        criteria: Criteria,
        revision: int | None,
        *,
        initial: bool,
        bookmarks: bool,
    ) -> CacheWatcher:
        """Follow from a revision; None means from now, with `initial` after ADDED
        events for all there is.

        Raises StatusError 410 if the window no longer reaches back to the revision.
        """
        self.catch_up()
        watcher = CacheWatcher(self, criteria, bookmarks=bookmarks, after=revision or 0)
        if revision is not None and revision < self.window.start:
            raise failure(
                410,
                "Expired",
                f"too old resource version: {revision} ({self.window.start})",
            )
        if initial:
            watcher.begin_with(self.candidates(criteria))
        elif revision is not None and revision < self.revision:
            for change in self.window.since(revision):
                # while thousands of nodes come, each asks for itself alone
                if not criteria.name or change.name == criteria.name:
                    watcher.feed(change, {})
        self._watchers.add(watcher)
        return watcher

    def interested(self, namespace: str, name: str) -> int:
        """How many watch everything, this namespace, or this name."""
        return self._watchers.interested(namespace, name)

    def watchers(self) -> list[CacheWatcher]:
        """Everybody who watches now."""
        return self._watchers.all()

    def forget(self, watcher: CacheWatcher) -> None:
        """A watcher went away."""
        self._watchers.remove(watcher)
