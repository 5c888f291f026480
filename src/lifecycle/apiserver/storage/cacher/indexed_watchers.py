"""Who watches, by what they watch: a change is told to those whom it may concern, and
the others are not asked.

Upstream: `apiserver/pkg/storage/cacher/cacher.go` (`indexedWatchers`,
`dispatchEvent`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import WatchFrame
from lifecycle.apiserver.storage.cacher.cache_watcher import CacheWatcher
from lifecycle.apiserver.storage.cacher.cached_object import Change
from lifecycle.apiserver.storage.cacher.store_indexer import node_of


class IndexedWatchers:
    """The watchers of one resource. `by_node`: whether it is that of pods."""

    def __init__(self, *, by_node: bool) -> None:
        self._by_node = by_node
        self._drawers: dict[tuple[str, ...], tuple[CacheWatcher, ...]] = {}

    def all(self) -> list[CacheWatcher]:
        """Everybody who watches now."""
        return [one for drawer in self._drawers.values() for one in drawer]

    def add(self, watcher: CacheWatcher) -> None:
        """One more, who hears of every change from now on."""
        # a new tuple each time: a watcher may come or go while a change is handed round
        drawer = watcher.criteria.filed_under
        self._drawers[drawer] = (*self._drawers.get(drawer, ()), watcher)

    def remove(self, watcher: CacheWatcher) -> None:
        """One less; again does no harm."""
        drawer = watcher.criteria.filed_under
        left = tuple(
            other for other in self._drawers.get(drawer, ()) if other is not watcher
        )
        if left:
            self._drawers[drawer] = left
        else:
            self._drawers.pop(drawer, None)

    def dispatch(self, change: Change) -> None:
        """Tell whom it may concern. What it looks like is made once for all of them."""
        if not self._drawers:
            return
        frames: dict[str, WatchFrame] = {}
        both = [
            cached.obj
            for cached in (change.current, change.previous)
            if cached is not None
        ]
        metadata = both[0]["metadata"]
        drawers: set[tuple[str, ...]] = {
            (),
            ("name", metadata["name"]),
            ("namespace", metadata.get("namespace", "")),
        }
        if self._by_node:
            drawers |= {("node", node_of(obj)) for obj in both}
        for drawer in drawers:
            for watcher in self._drawers.get(drawer, ()):
                watcher.feed(change, frames)

    def interested(self, namespace: str, name: str) -> int:
        """How many watch everything, this namespace, or this name."""
        drawers = self._drawers.get
        return (
            len(drawers((), ()))
            + len(drawers(("namespace", namespace), ()))
            + len(drawers(("name", name), ()))
        )
