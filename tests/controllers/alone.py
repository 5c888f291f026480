"""One controller and an API server that may refuse what it is asked: nobody else is there, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object, Request
from lifecycle.api.names import NameSource
from lifecycle.api.resources import Resource, resource
from lifecycle.api.status import StatusError, failure
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory

NO_MORE = failure(403, "Forbidden", "no more", {})
TERMINATING = failure(403, "Forbidden", "going away", {"causes": [{"reason": "NamespaceTerminating"}]})


@dataclass
class Alone:
    """`client` is somebody else's."""

    api: FakeAPI
    client: Client
    controller: Any

    def items(self, name: str) -> list[Object]:
        """All objects of a resource."""
        return self.api.items(resource(name))

    def told(self) -> list[tuple[str, str, str]]:
        """The events: type, reason, message."""
        return [(e["type"], e["reason"], e["message"]) for e in self.items("events")]

    def writes(self, *methods: str) -> list[tuple[str, str]]:
        """What was asked with these methods, but for events: method, path."""
        return [(method, path) for _, method, path, _ in self.api.log if method in methods and "/events" not in path]


def refusing(method: str, end: str, error: StatusError = NO_MORE) -> Callable[[Request], StatusError | None]:
    """Requests of this method whose path ends so."""
    return lambda request: error if request.method == method and request.path.endswith(end) else None


@asynccontextmanager
async def alone(
    make: Any,
    *objects: tuple[str, Object],
    refuse: Callable[[Request], StatusError | None] | None = None,
    graceful: bool = False,
) -> AsyncIterator[Alone]:
    """`objects` (resource, object) are there before the controller comes, as they are, with a uid and a time."""
    api = FakeAPI(graceful=graceful)
    for name, obj in objects:
        row: Resource = resource(name)
        meta = {"creationTimestamp": api.clock.timestamp(), "uid": obj["metadata"]["name"], **obj["metadata"]}
        api.write("ADDED", row, {"kind": row.kind, "apiVersion": row.api_version, **obj, "metadata": meta})
    if refuse is not None:
        api.refuse = refuse
    client = Client(api, "controller/1")
    informers = SharedInformerFactory(client)
    controller = make(client, informers, clock=api.clock, names=NameSource(2))
    informers.start()
    running = asyncio.create_task(controller.run())
    try:
        await asyncio.sleep(0.1)
        yield Alone(api, Client(api, "test/1"), controller)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await informers.stop()
