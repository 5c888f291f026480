"""The pattern of every initializer: watch what nobody else can see, do your work when
it is your turn, take your name off the list.

It is a controller like any other: informer, queue, sync. Only its client is special, as
it asks for `includeUninitialized`. And it keeps quiet until its own name is the first
of the pending ones, so initializers work one after the other.

Upstream: none in the tree; client-go's `tools/cache` with `IncludeUninitialized` set in
its `ListOptions`, v1.13.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import Client, Transport
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.object_copy import mutable_copy

Work = Callable[[Object], None]
"""Changes an object in place; raises `Refused` to stop it from coming into being."""


class Refused(Exception):
    """An initializer's reason against an object."""


class IncludeUninitialized:
    """A transport that asks for what is hidden, too."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def round_trip(self, request: Request) -> Response:
        """Send, with the parameter added."""
        request.query = {**request.query, "includeUninitialized": ["true"]}
        return await self._inner.round_trip(request)

    async def close(self) -> None:
        """Close the inner one."""
        await self._inner.close()


class InitializerController:
    """One initializer. `name` is how the InitializerConfiguration calls it."""

    def __init__(
        self, client: Client, name: str, resource: Resource, work: Work
    ) -> None:
        self.name, self._resource, self._work = name, resource, work
        self._client = Client(
            IncludeUninitialized(client.transport), client.headers["user-agent"]
        )
        self._informers = SharedInformerFactory(self._client)
        self._informer = self._informers.informer(resource)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._informer.add_event_handler(
            add=self._enqueue_if_next,
            update=lambda old, new: self._enqueue_if_next(new),
        )

    async def run(self) -> None:
        """Work until cancelled."""
        self._informers.start()
        try:
            await self._informers.wait_for_cache_sync()
            await run_workers(self._queue, self._sync, workers=1, name=self.name)
        finally:
            await self._informers.stop()

    def _enqueue_if_next(self, obj: Object) -> None:
        if self._is_next(obj):
            self._queue.add(meta_namespace_key(obj))

    def _is_next(self, obj: Object) -> bool:
        state = obj["metadata"].get("initializers") or {}
        pending = state.get("pending") or []
        return (
            not state.get("result")
            and bool(pending)
            and pending[0]["name"] == self.name
        )

    async def _sync(self, key: str) -> None:
        obj = self._informer.indexer.get_by_key(key)
        if obj is None or not self._is_next(obj):
            return
        new = mutable_copy(obj)
        state = dict(new["metadata"]["initializers"])
        try:
            self._work(new)
            state["pending"] = state["pending"][1:]
        except Refused as refused:
            state["result"] = {
                "status": "Failure",
                "message": str(refused),
                "reason": "Forbidden",
                "code": 403,
            }
        new["metadata"] = {
            **new["metadata"],
            "initializers": state if state.get("result") or state["pending"] else None,
        }
        try:
            await self._client.update(self._resource, new)
        except StatusError as error:
            if error.code != 404:
                raise
