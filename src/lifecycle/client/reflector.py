"""List once, then watch: how a component keeps a picture of the server's objects.

The reflector lists a resource, writes the list into a queue, and watches from the
list's revision on. Each event moves `last_sync_resource_version` forward; bookmarks do
too, which is what they are for. A watch that ends (the server ends each one after a few
minutes, a connection breaks) is resumed from there, so nothing is listed twice. A
server that cannot be reached, or is too busy, is asked again for the watch after a
pause. What else the server says costs a new list, above all `410 Gone`: it has
forgotten that revision. The new list need only be *as fresh as* what was seen last, so
that a cache may serve it. Pauses grow and are jittered, so that a server coming back is
not trampled.

With `use_watch_list` the list is streamed: a watch with `sendInitialEvents` delivers
what exists as ADDED events, a marked bookmark ends it, and the same stream goes on as
the watch. If that fails, the list is asked for in the old way.

Upstream: `client-go/tools/cache/reflector.go` (`Reflector`, `ListAndWatchWithContext`,
`watchList`, `handleAnyWatch`), v1.36. Left out: paging, resync, consistency checks of
the cache against a list.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from typing import Protocol

from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.client.store import meta_namespace_key

log = logging.getLogger(__name__)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
PAGE_SIZE = 500
"""Objects that are asked for at once."""
MIN_WATCH_TIMEOUT = 300
VERY_SHORT_WATCH = 1.0
UNAUTHORIZED, FORBIDDEN = 401, 403
GONE, TOO_MANY_REQUESTS, TIMEOUT = 410, 429, 504


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


class BackoffManager:
    """Pauses of 0.8 s doubling up to 30 s, each with up to as much again in jitter;
    back to the start after two good minutes. Upstream: `wait.BackoffManager`.
    """

    def __init__(
        self,
        rng: random.Random,
        *,
        initial: float = 0.8,
        maximum: float = 30.0,
        reset_after: float = 120.0,
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

    `last_sync_resource_version` is the revision the store is at. The jitter is seeded
    by the resource's name: a virtual run repeats.
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
        self._rng = random.Random(
            f"{resource.plural}.{resource.group}/{namespace}/{label_selector}/{field_selector}"
        )
        self._backoff = BackoffManager(self._rng)
        self._unavailable = False
        """Whether the server refused the revision we are at even for a list: then only
        the newest will do.
        """
        self._complained = False
        self.last_sync_resource_version = ""

    async def run(self) -> None:
        """List and watch until cancelled; every failure is a pause and another try."""
        while True:
            try:
                await self.list_and_watch()
            except ExpiredError as error:
                log.debug("%s: %s", self._resource.plural, error)
            except StatusError as error:
                self._complain(error)
            except (TimeoutError, OSError, EOFError) as error:
                log.debug("%s: %r", self._resource.plural, error)
            except Exception:
                log.exception("%s: list and watch failed", self._resource.plural)
            await asyncio.sleep(self._backoff.delay())

    def _complain(self, error: StatusError) -> None:
        """That we may not look does not heal by itself: somebody has to hear of it, but
        not with each attempt.
        """
        level = logging.DEBUG
        if error.code in (UNAUTHORIZED, FORBIDDEN) and not self._complained:
            level, self._complained = logging.ERROR, True
        log.log(level, "failed to list %s: %s", self._resource.plural, error.message)

    async def list_and_watch(self) -> None:
        """One list and watches after it. Raises ExpiredError, and whatever the
        transport or server says.
        """
        stream = None
        if self._watch_list:
            try:
                stream = await self._stream_list()
            except (
                ExpiredError,
                StatusError,
                TimeoutError,
                OSError,
                EOFError,
            ) as error:
                log.debug(
                    "%s: the list is not streamed: %s", self._resource.plural, error
                )
        if stream is None:
            await self._list()
        while True:
            await self._watch(stream)
            stream = None

    async def _list(self) -> None:
        # Revision 0 means "whatever your cache has", a cheap read.
        revision = "" if self._unavailable else self.last_sync_resource_version or "0"
        try:
            answer = await self._get_list(revision)
        except StatusError as error:
            if not _revision_unavailable(error):
                raise
            self._unavailable = True
            answer = await self._get_list("")
        self._unavailable = False
        self._store.replace(self._complete(answer))
        self.last_sync_resource_version = answer["metadata"].get("resourceVersion", "")

    async def _get_list(self, revision: str) -> Object:
        """In pages, where any state will do or only the newest: what a server has in
        its cache it gives at once all the same. If the state that the pages are of is
        forgotten in between, all at once. Upstream: `ListPager`.
        """
        limit = PAGE_SIZE if revision in ("", "0") else 0
        answer = await self._get_page(revision, limit)
        items: list[Object] = list(answer.get("items") or ())
        while cont := answer["metadata"].get("continue"):
            try:
                answer = await self._get_page("", limit, cont)
            except StatusError as error:
                if error.code != GONE:
                    raise
                return await self._get_page(revision, 0)
            items += answer.get("items") or ()
        return {**answer, "items": items}

    async def _get_page(self, revision: str, limit: int, cont: str = "") -> Object:
        return await self._client.list(
            self._resource,
            self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            limit=limit,
            cont=cont,
            resource_version=revision,
        )

    def _complete(self, answer: Object) -> list[Object]:
        """Items of a list carry no kind of their own; everybody behind an informer may
        rely on it.
        """
        items = answer.get("items") or []
        kind, api_version = self._resource.kind, self._resource.api_version
        return [
            obj if "kind" in obj else {"kind": kind, "apiVersion": api_version, **obj}
            for obj in items
        ]

    async def _open_watch(
        self, revision: str, *, send_initial_events: bool = False
    ) -> AsyncIterator[WatchFrame]:
        return await self._client.watch(
            self._resource,
            self._namespace,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            resource_version=revision,
            timeout_seconds=self._timeout(),
            send_initial_events=send_initial_events,
        )

    async def _stream_list(self) -> AsyncIterator[WatchFrame]:
        """The list as a watch, which goes on as a watch: the stream, past the marked
        bookmark.
        """
        while True:
            started = asyncio.get_running_loop().time()
            try:
                revision = "" if self._unavailable else self.last_sync_resource_version
                stream = await self._open_watch(revision, send_initial_events=True)
                if await self._take_list(stream):
                    self._unavailable = False
                    return stream
            except StatusError as error:
                if not _revision_unavailable(error) or self._unavailable:
                    raise
                self._unavailable = True
                continue
            if asyncio.get_running_loop().time() - started < VERY_SHORT_WATCH:
                raise EOFError("the streamed list ended at once")

    async def _take_list(self, stream: AsyncIterator[WatchFrame]) -> bool:
        objects: dict[str, Object] = {}
        done = False
        try:
            async for frame in stream:
                if frame.type == "ERROR":
                    raise StatusError(frame.object)
                meta = frame.object["metadata"]
                if frame.type == "BOOKMARK":
                    done = (meta.get("annotations") or {}).get(
                        INITIAL_EVENTS_END
                    ) == "true"
                    if not done:
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
            if not done:
                await _close(stream)
        return False

    async def _watch(self, stream: AsyncIterator[WatchFrame] | None = None) -> None:
        """One watch, to its end: a new one, or what a streamed list goes on with."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        seen = 0
        if stream is None:
            stream = await self._watch_patiently()
        try:
            async for frame in stream:
                seen += 1
                self._handle(frame)
        except (OSError, EOFError) as error:  # the connection broke: as if it had ended
            log.debug("%s: watch closed: %r", self._resource.plural, error)
        except StatusError as error:
            if error.code != TOO_MANY_REQUESTS:
                raise
            await asyncio.sleep(self._backoff.delay())
            return
        finally:
            await _close(stream)
        if not seen and loop.time() - started < VERY_SHORT_WATCH:
            raise EOFError("very short watch: no event within a second")

    async def _watch_patiently(self) -> AsyncIterator[WatchFrame]:
        """Open a watch, again and again where nobody listens or the server is too busy.
        Upstream: `isWatchErrorRetriable`.
        """
        while True:
            try:
                return await self._open_watch(self.last_sync_resource_version)
            except ConnectionError as error:
                log.debug("%s: %r", self._resource.plural, error)
            except StatusError as error:
                if error.code == GONE:
                    raise ExpiredError(error.message) from error
                if error.code != TOO_MANY_REQUESTS:
                    raise
            await asyncio.sleep(self._backoff.delay())

    def _handle(self, frame: WatchFrame) -> None:
        obj, kind = frame.object, frame.type
        if kind == "ERROR":
            if obj.get("code") == GONE:
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
        """Five to ten minutes, so that the watches of many clients do not all end
        together.
        """
        return int(MIN_WATCH_TIMEOUT * (1.0 + self._rng.random()))


def _revision_unavailable(error: StatusError) -> bool:
    """The server has forgotten that revision, or does not know it yet."""
    return error.code == GONE or (
        error.code == TIMEOUT and "Too large resource version" in error.message
    )


async def _close(stream: object) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
