"""One client's view of a watch: what it asked for, and the frames waiting for it.

A watcher with selectors sees objects enter and leave its view: an object that starts to
match is ADDED for this watcher although it was merely changed, and one that no longer
matches is DELETED although it lives on.

A client that does not read is cut off rather than waited for: it will come back and
list again. What there is at the beginning is looked through when it is read: a
thousand clients may come at once, and there may be a hundred thousand objects.

Upstream: `apiserver/pkg/storage/cacher/cache_watcher.go` (`cacheWatcher`,
`convertToWatchEvent`), v1.36.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from lifecycle.api.fields import FieldSelector
from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.labels import Selector
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.resources import Resource
from lifecycle.apiserver.storage.cacher.cached_object import Cached, Change

MAX_PENDING = 100_000
"""Frames a client may leave unread before it is cut off, beside those that tell what
there was when it came: nobody can have read those already.
"""

AT_A_TIME = 64
"""Of the objects that there are when a watch begins, so many are looked at between two
pauses.
"""


@dataclass(slots=True)
class Criteria:
    """What a list or watch selects: a namespace, a single name, labels, fields, a node.
    None or empty selects everything.

    `name` and `node_name` are field selectors that pin one value. They stand apart,
    because a watcher with one of them is found by it: each of a thousand kubelets
    follows the pods of its own node, and a change must not ask all of them.
    """

    namespace: str = ""
    name: str = ""
    labels: Selector | None = None
    fields: FieldSelector | None = None
    node_name: str = ""
    size: int = field(default=0, compare=False)
    """Characters of the selectors: what it costs to ask one object."""

    @property
    def everything(self) -> bool:
        """Whether nothing but the namespace is asked for."""
        return (
            self.labels is None
            and self.fields is None
            and not self.name
            and not self.node_name
        )

    @property
    def filed_under(self) -> tuple[str, ...]:
        """The drawer in which the cacher keeps a watcher with these criteria. Upstream:
        `indexedTrigger`, `namespacedName`.
        """
        if self.node_name:
            return "node", self.node_name
        if self.name:
            return "name", self.name
        return ("namespace", self.namespace) if self.namespace else ()

    def matches(
        self, obj: Object, fields_of: Callable[[Object], dict[str, str]]
    ) -> bool:
        """Whether an object is selected."""
        metadata = obj["metadata"]
        if self.namespace and metadata.get("namespace") != self.namespace:
            return False
        if self.name and metadata["name"] != self.name:
            return False
        if self.node_name and obj["spec"].get("nodeName") != self.node_name:
            return False
        if self.labels is not None and not self.labels.matches(
            metadata.get("labels") or {}
        ):
            return False
        return self.fields is None or self.fields.matches(fields_of(obj))


class Watched(Protocol):
    """What a watcher asks of the cacher that feeds it."""

    resource: Resource
    revision: int
    events_sent: int
    fields_of: Callable[[Object], dict[str, str]]

    def forget(self, watcher: CacheWatcher) -> None:
        """Feed it no more."""


class CacheWatcher:
    """An async iterator of `WatchFrame`s. `end()` finishes it."""

    def __init__(
        self, cacher: Watched, criteria: Criteria, *, bookmarks: bool, after: int = 0
    ) -> None:
        self.criteria = criteria
        self.after = after  # a client may ask for a revision that has not happened yet
        self.bookmarks = bookmarks
        self._cacher = cacher
        self._at_first: Iterator[Cached] | None = None
        self._frames: deque[WatchFrame] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self.ended = False
        self.end_timer: asyncio.TimerHandle | None = None
        self.bookmark_timer: asyncio.TimerHandle | None = None

    @property
    def unread(self) -> int:
        """Frames that are waiting."""
        return len(self._frames)

    def begin_with(self, candidates: Iterable[Cached]) -> None:
        """Before anything else, ADDED events for those of them that are selected."""
        self._at_first = iter(candidates)

    def feed(self, change: Change, frames: dict[str, WatchFrame]) -> None:
        """Take note of a change; `frames` shares what several watchers see alike."""
        if change.revision <= self.after:
            return
        criteria, fields_of = self.criteria, self._cacher.fields_of
        current, previous = change.current, change.previous
        is_in = current is not None and criteria.matches(current.obj, fields_of)
        was_in = previous is not None and criteria.matches(previous.obj, fields_of)
        if is_in:
            kind = "MODIFIED" if was_in else "ADDED"
            assert current is not None
            self.push(
                frames.get(kind) or frames.setdefault(kind, frame_of(kind, current))
            )
        elif was_in:
            assert previous is not None
            frame = frames.get("DELETED")
            if frame is None:
                frame = frames["DELETED"] = WatchFrame(
                    "DELETED",
                    as_of(previous.obj, change.revision),
                    size=previous.size,
                )
            self.push(frame)

    def push(self, frame: WatchFrame) -> None:
        """Queue a frame for the client."""
        if len(self._frames) >= MAX_PENDING:
            self._frames.clear()
            self.end()
            return
        self._frames.append(frame)
        self._cacher.events_sent += 1
        self._wake()

    def push_bookmark(self, *, initial_events_end: bool = False) -> None:
        """Tell the client how far it has seen everything."""
        resource = self._cacher.resource
        metadata: Object = {"resourceVersion": str(self._cacher.revision)}
        if initial_events_end:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        self.push(
            WatchFrame(
                "BOOKMARK",
                {
                    "kind": resource.kind,
                    "apiVersion": resource.api_version,
                    "metadata": metadata,
                },
            )
        )

    def end(self) -> None:
        """No more frames; what is queued can still be read."""
        if self.ended:
            return
        self.ended = True
        # a timer knows the watcher, which knows the cacher and all that is in it
        for timer in (self.end_timer, self.bookmark_timer):
            if timer is not None:
                timer.cancel()
        self.end_timer = self.bookmark_timer = None
        self._cacher.forget(self)
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __aiter__(self) -> CacheWatcher:
        return self

    async def __anext__(self) -> WatchFrame:
        """The next frame; waits for it."""
        while self._at_first is not None:
            await Pauses().pause()
            for frame in self._look_through(1, AT_A_TIME):
                return frame
        while not self._frames:
            if self.ended:
                raise StopAsyncIteration
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._frames.popleft()

    def take(self, most: int = sys.maxsize) -> list[WatchFrame]:
        """Frames that are waiting, without waiting for more."""
        taken = self._look_through(most, most)
        frames = self._frames
        left = min(most - len(taken), len(frames)) if self._at_first is None else 0
        return taken + [frames.popleft() for _ in range(left)]

    def _look_through(self, most: int, candidates: int) -> list[WatchFrame]:
        """Of so many of what there was at first, what is selected, but not more than
        `most`.
        """
        found: list[WatchFrame] = []
        matches, fields_of = self.criteria.matches, self._cacher.fields_of
        while self._at_first is not None and candidates and len(found) < most:
            cached = next(self._at_first, None)
            if cached is None:
                self._at_first = None
            elif matches(cached.obj, fields_of):
                found.append(frame_of("ADDED", cached))
                self._cacher.events_sent += 1
            candidates -= 1
        return found

    async def aclose(self) -> None:
        """The client is gone."""
        self._at_first = None
        self._frames.clear()
        self.end()


class WatchOfAReader:
    """What a reader in this process holds of its watch. Readers over a connection hang
    up; one in here may just walk away, and nobody else holds this: then the watch ends,
    instead of collecting for ever what nobody will read.
    """

    __slots__ = ("_loop", "_watcher")

    def __init__(self, watcher: CacheWatcher) -> None:
        self._watcher = watcher
        self._loop = asyncio.get_running_loop()

    def __aiter__(self) -> WatchOfAReader:
        return self

    def __anext__(self) -> Awaitable[WatchFrame]:
        return self._watcher.__anext__()

    async def aclose(self) -> None:
        """The reader is done."""
        await self._watcher.aclose()

    def __del__(self) -> None:
        if not (self._watcher.ended or self._loop.is_closed()):
            self._loop.call_soon_threadsafe(self._watcher.end)


def frame_of(kind: str, cached: Cached) -> WatchFrame:
    """An object as it is now."""
    return WatchFrame(kind, cached.obj, cached, size=cached.size)


def as_of(obj: Object, revision: int) -> Object:
    """The object as last seen, stamped with the revision at which it left."""
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}
