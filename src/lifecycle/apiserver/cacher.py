"""The watch cache: one watch on the store, many readers.

For each resource the server keeps every object decoded, its JSON ready, and the last few thousand changes. Reads and lists are
answered from here, and any number of clients can watch while the store sees a single watch. An event is encoded once, however
many watchers it goes to.

Objects in the cache are shared with everybody and never change; a newer version is another object.

Upstream: `apiserver/pkg/storage/cacher/cacher.go` (`Cacher`), `watch_cache.go` (`watchCache`), `cache_watcher.go`,
`caching_object.go`, v1.36. Left out: decoding and dispatching in separate goroutines; snapshots for old
list revisions (the store answers those).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import orjson

from lifecycle.api.resources import Resource
from lifecycle.api.status import failure
from lifecycle.api.wire import Object, WatchFrame
from lifecycle.apiserver.cache_watcher import CacheWatcher, Criteria
from lifecycle.etcd.codec import decode_value
from lifecycle.etcd.keys import resource_prefix
from lifecycle.etcd.store import Event, Store, prefix_end

EVENT_WINDOW = 10_000
"""How many changes of a resource a watch can go back. Upstream adapts between 100 and 102,400."""


class Cached:
    """One object as the cache holds it. `json` is made when first asked for, then kept."""

    __slots__ = ("_json", "key", "obj", "revision")

    def __init__(self, key: str, obj: Object, revision: int) -> None:
        self.key, self.obj, self.revision = key, obj, revision
        self._json: bytes | None = None

    @property
    def json(self) -> bytes:
        """The object as JSON, with kind and apiVersion first."""
        if self._json is None:
            self._json = orjson.dumps(self.obj)
        return self._json


@dataclass(slots=True)
class Change:
    """One event of the window: what was and what is. `current` is None for a deletion, `previous` for a creation."""

    revision: int
    current: Cached | None
    previous: Cached | None


class Cacher:
    """The cache of one resource. `await start()` before use; `await stop()` ends its watch and all watchers."""

    def __init__(
        self,
        store: Store,
        resource: Resource,
        fields_of: Callable[[Object], dict[str, str]],
        from_storage: Callable[[Object], Object] | None = None,
    ) -> None:
        self.resource = resource
        self.prefix = resource_prefix(resource)
        self.fields_of = fields_of
        self._from_storage = from_storage
        self.revision = 0
        self._store = store
        self._objects: dict[str, Cached] = {}
        self._by_namespace: dict[str, dict[str, Cached]] = {}
        self._window: deque[Change] = deque(maxlen=EVENT_WINDOW)
        self._window_start = 0
        self._written: dict[int, Cached] = {}
        self._watchers: list[CacheWatcher] = []
        self._watchers_by_node: dict[str, list[CacheWatcher]] = {}
        self._ordered: dict[str, list[Cached]] = {}
        self._pump_task: asyncio.Task[None] | None = None
        self.version = 0

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Read everything once, then follow."""
        page = await self._store.range(self.prefix, prefix_end(self.prefix))
        self.revision = self._window_start = page.revision
        for kv in page.kvs:
            self._put(Cached(kv.key, self.decode(kv.value, kv.mod_revision), kv.mod_revision))
        self._watch = self._store.watch(self.prefix, prefix_end(self.prefix), revision=page.revision + 1)
        self._pump_task = asyncio.create_task(self._pump(), name=f"cacher {self.resource.plural}")

    async def stop(self) -> None:
        """End the watch on the store and every watcher."""
        if self._pump_task is not None:
            self._pump_task.cancel()
        await self._watch.close()
        for watcher in [*self._watchers, *(w for ws in self._watchers_by_node.values() for w in ws)]:
            watcher.end()

    async def _pump(self) -> None:
        async for batch in self._watch:
            self._apply(batch)

    def catch_up(self) -> None:
        """Apply what the store has told already: after it, a read is as fresh as one from the store itself."""
        batch = self._watch.take()
        if batch:
            self._apply(batch)

    # -- changes ------------------------------------------------------------------------------------------------------

    def decode(self, value: bytes, revision: int) -> Object:
        """A stored value in the version of this resource."""
        obj = decode_value(value, revision)
        return self._from_storage(obj) if self._from_storage is not None else obj

    def written(self, key: str, obj: Object, revision: int) -> Cached:
        """The writer hands over what it wrote at a revision, so that nobody has to decode it again."""
        cached = self._written[revision] = Cached(key, obj, revision)
        return cached

    def _apply(self, batch: Iterable[Event]) -> None:
        for event in batch:
            kv = event.kv
            revision = kv.mod_revision
            previous = self._objects.get(kv.key)
            written = self._written.pop(revision, None)
            current = None
            if event.type == "PUT":
                current = written or Cached(kv.key, self.decode(kv.value, revision), revision)
                self._put(current)
            elif previous is not None:
                self._remove(previous)
                gone = {**previous.obj, "metadata": {**previous.obj["metadata"], "resourceVersion": str(revision)}}
                previous = Cached(kv.key, gone, revision)
            self.revision = revision
            change = Change(revision, current, previous)
            if len(self._window) == EVENT_WINDOW:
                self._window_start = self._window[0].revision
            self._window.append(change)
            self._dispatch(change)

    def _put(self, cached: Cached) -> None:
        self.version += 1
        namespace = cached.obj["metadata"].get("namespace", "")
        held = self._by_namespace.setdefault(namespace, {})
        self._objects[cached.key] = held[cached.key] = cached
        self._ordered.pop(namespace, None)
        self._ordered.pop("", None)

    def _remove(self, cached: Cached) -> None:
        self.version += 1
        namespace = cached.obj["metadata"].get("namespace", "")
        del self._objects[cached.key]
        self._by_namespace[namespace].pop(cached.key, None)
        self._ordered.pop(namespace, None)
        self._ordered.pop("", None)

    def _dispatch(self, change: Change) -> None:
        frames: dict[str, WatchFrame] = {}
        for watcher in self._watchers:
            watcher.feed(change, frames)
        if self._watchers_by_node:
            nodes = {c.obj.get("spec", {}).get("nodeName", "") for c in (change.current, change.previous) if c}
            for node in nodes:
                for watcher in self._watchers_by_node.get(node, ()):
                    watcher.feed(change, frames)

    # -- reads --------------------------------------------------------------------------------------------------------

    def get(self, key: str) -> Cached | None:
        """The newest version under a key."""
        return self._objects.get(key)

    def __len__(self) -> int:
        return len(self._objects)

    def ordered(self, namespace: str = "") -> list[Cached]:
        """All objects, or those of a namespace, in key order. Shared: do not change the list."""
        rows = self._ordered.get(namespace)
        if rows is None:
            held = self._by_namespace.get(namespace, {}) if namespace else self._objects
            rows = self._ordered[namespace] = [held[key] for key in sorted(held)]
        return rows

    # -- watches ------------------------------------------------------------------------------------------------------

    def watch(self, criteria: Criteria, revision: int | None, *, initial: bool, bookmarks: bool) -> CacheWatcher:
        """Follow from a revision; None means from now, with `initial` after ADDED events for all there is.

        Raises StatusError 410 if the window no longer reaches back to the revision.
        """
        self.catch_up()
        watcher = CacheWatcher(self, criteria, bookmarks=bookmarks)
        if revision is not None and revision < self._window_start:
            raise failure(410, "Expired", f"too old resource version: {revision} ({self._window_start})")
        if initial:
            for cached in self.ordered(criteria.namespace):
                if criteria.matches(cached.obj, self.fields_of):
                    watcher.push(WatchFrame("ADDED", cached.obj, cached))
        elif revision is not None and revision < self.revision:
            for change in self._window:
                if change.revision > revision:
                    watcher.feed(change, {})
        if criteria.node_name:
            self._watchers_by_node.setdefault(criteria.node_name, []).append(watcher)
        else:
            self._watchers.append(watcher)
        return watcher

    def forget(self, watcher: CacheWatcher) -> None:
        """A watcher went away."""
        node = watcher.criteria.node_name
        watchers = self._watchers_by_node.get(node, []) if node else self._watchers
        if watcher in watchers:
            watchers.remove(watcher)
            if node and not watchers:
                del self._watchers_by_node[node]
