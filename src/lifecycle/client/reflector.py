"""List once, then watch: how a component keeps a picture of the server's objects.

The reflector lists a resource, writes the list into a queue, and watches from the list's revision on. Each
event moves `last_sync_resource_version` forward; bookmarks do too, which is what they are for. A watch that
ends (the server ends each one after a few minutes) is resumed from there, so nothing is listed twice. Only a
`410 Gone`, the server having forgotten that revision, costs a new list. Failures are retried with growing,
jittered pauses, so that a server coming back is not trampled.

With `use_watch_list` the list is streamed: a watch with `sendInitialEvents` delivers what exists as ADDED
events and a marked bookmark ends it. A server that does not know the mode is asked in the old way.

Upstream: `client-go/tools/cache/reflector.go` (`Reflector`, `ListAndWatchWithContext`, `watchList`,
`handleAnyWatch`), v1.36. Left out: paging, resync, consistency checks of the cache against a list.
"""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Protocol

from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object, WatchFrame
from lifecycle.client.rest import Client
from lifecycle.client.store import meta_namespace_key

log = logging.getLogger(__name__)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
MIN_WATCH_TIMEOUT = 300
VERY_SHORT_WATCH = 1.0


class ReflectorStore(Protocol):
    """Where a reflector writes."""

    def add(self, obj: Object) -> None:
        """The server said ADDED."""
        ...

    def update(self, obj: Object) -> None:
        """The server said MODIFIED."""
        ...

    def delete(self, obj: Object) -> None:
        """The server said DELETED."""
        ...

    def replace(self, objects: list[Object]) -> None:
        """The server listed these and nothing else."""
        ...


class ExpiredError(Exception):
    """The server no longer has the revision: list again."""


class WatchListUnsupportedError(Exception):
    """The server does not stream lists."""


class Backoff:
    """Pauses of 0.8 s doubling up to 30 s, each with up to as much again in jitter; back to the start after two good minutes."""

    def __init__(
        self, rng: random.Random, *, initial: float = 0.8, maximum: float = 30.0, reset_after: float = 120.0
    ) -> None:
        self._rng = rng
        self._initial = initial
        self._maximum = maximum
        self._reset_after = reset_after
        self._next = initial
        self._last = 0.0

    def delay(self) -> float:
        """Seconds to wait now."""
        now = asyncio.get_running_loop().time()
        if now - self._last > self._reset_after:
            self._next = self._initial
        self._last = now
        pause = self._next * (1.0 + self._rng.random())
        self._next = min(self._next * 2, self._maximum)
        return pause


class Reflector:
    """Keeps `store` at what the server has, for one resource and selection.

    `last_sync_resource_version` is the revision the store is at. The jitter is seeded by the resource's name: a virtual run repeats.
    """

    def __init__(
        self,
        client: Client,
        resource: Resource,
        store: ReflectorStore,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        use_watch_list: bool = False,
    ) -> None:
        self._client = client
        self._resource = resource
        self._store = store
        self._namespace = namespace
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._watch_list = use_watch_list
        self._rng = random.Random(f"{resource.plural}.{resource.group}/{namespace}/{label_selector}/{field_selector}")
        self._backoff = Backoff(self._rng)
        self._expired = False
        self._listed = False
        self.last_sync_resource_version = ""

    async def run(self) -> None:
        """List and watch until cancelled; every failure is a pause and another try."""
        while True:
            try:
                await self.list_and_watch()
            except ExpiredError:
                self._expired = True
                self._listed = False
            except StatusError as error:
                log.debug("%s: %s", self._resource.plural, error.message)
            except (TimeoutError, OSError, EOFError) as error:
                log.debug("%s: %r", self._resource.plural, error)
            except Exception:
                log.exception("%s: list and watch failed", self._resource.plural)
            await asyncio.sleep(self._backoff.delay())

    async def list_and_watch(self) -> None:
        """One list, if none is held, and watches after it. Raises ExpiredError, and whatever the transport or server says."""
        if not self._listed:
            try:
                stream_done = self._watch_list and await self._stream_list()
            except WatchListUnsupportedError:
                self._watch_list = stream_done = False
            if not stream_done:
                await self._list()
            self._expired = False
            self._listed = True
        while True:
            await self._watch()

    async def _list(self) -> None:
        # Revision 0 means "whatever your cache has", a cheap read. After a 410 or a list that was too old, ask for the newest.
        revision = "" if self._expired else self.last_sync_resource_version or "0"
        try:
            answer = await self._get_list(revision)
        except StatusError as error:
            too_new = error.code == 504 and "Too large resource version" in error.message
            if not revision or not (error.code == 410 or too_new):
                raise
            answer = await self._get_list("")
        self._store.replace(self._complete(answer))
        self.last_sync_resource_version = answer["metadata"].get("resourceVersion", "")

    async def _get_list(self, revision: str) -> Object:
        return await self._client.list(
            self._resource,
            self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=revision,
        )

    def _complete(self, answer: Object) -> list[Object]:
        """Items of a list carry no kind of their own; everybody behind an informer may rely on it."""
        items = answer.get("items") or []
        kind, api_version = self._resource.kind, self._resource.api_version
        return [obj if "kind" in obj else {"kind": kind, "apiVersion": api_version, **obj} for obj in items]

    async def _stream_list(self) -> bool:
        """The list as a watch. False if the stream ended before the marked bookmark; the plain list is next then."""
        try:
            stream = await self._client.watch(
                self._resource,
                self._namespace,
                label_selector=self._label_selector,
                field_selector=self._field_selector,
                resource_version="" if self._expired else self.last_sync_resource_version,
                timeout_seconds=self._timeout(),
                send_initial_events=True,
            )
        except StatusError as error:
            if error.code in (400, 422):
                raise WatchListUnsupportedError from error
            raise
        objects: dict[str, Object] = {}
        try:
            async for frame in stream:
                if frame.type == "ERROR":
                    raise StatusError(frame.object)
                meta = frame.object["metadata"]
                if frame.type == "BOOKMARK":
                    if (meta.get("annotations") or {}).get(INITIAL_EVENTS_END) != "true":
                        continue
                    self._store.replace(list(objects.values()))
                    self.last_sync_resource_version = meta["resourceVersion"]
                    return True
                key = meta_namespace_key(frame.object)
                if frame.type == "DELETED":
                    objects.pop(key, None)
                else:
                    objects[key] = frame.object
        finally:
            await _close(stream)
        return False

    async def _watch(self) -> None:
        """One watch, to its end."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        seen = 0
        try:
            stream = await self._client.watch(
                self._resource,
                self._namespace,
                label_selector=self._label_selector,
                field_selector=self._field_selector,
                resource_version=self.last_sync_resource_version,
                timeout_seconds=self._timeout(),
            )
        except StatusError as error:
            if error.code == 410:
                raise ExpiredError(error.message) from error
            raise
        try:
            async for frame in stream:
                self._handle(frame)
                seen += 1
        finally:
            await _close(stream)
        if not seen and loop.time() - started < VERY_SHORT_WATCH:
            raise EOFError("very short watch: no event within a second")

    def _handle(self, frame: WatchFrame) -> None:
        obj, kind = frame.object, frame.type
        if kind == "ERROR":
            if obj.get("code") == 410:
                raise ExpiredError(obj.get("message", ""))
            raise StatusError(obj)
        if kind == "ADDED":
            self._store.add(obj)
        elif kind == "MODIFIED":
            self._store.update(obj)
        elif kind == "DELETED":
            self._store.delete(obj)
        self.last_sync_resource_version = obj["metadata"]["resourceVersion"]

    def _timeout(self) -> int:
        """Five to ten minutes, so that the watches of many clients do not all end together."""
        return int(MIN_WATCH_TIMEOUT * (1.0 + self._rng.random()))


async def _close(stream: object) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
