"""A server that serves discovery and remembers what it was asked, so that one can look
at a kubectl from the other side of the wire.

Discovery is a recorded server's, or the published documents of the pinned version.
Whatever is created or patched comes back as it was sent; whatever is read is what was
put into `objects`, or is not there.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lifecycle.api import protobuf
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.published import published, published_names
from lifecycle.client.rest import Client
from lifecycle.cluster.command_line import Typed
from lifecycle.inspector import Recording
from lifecycle.kubectl.command import run_kubectl

T = TypeVar("T")


class RememberingServer:
    """A transport. `requests` are all that came, in order; `asked` says them in words,
    without discovery.
    """

    def __init__(
        self,
        recording: Recording | None = None,
        objects: dict[str, Object] | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.objects = dict(objects or {})
        self.refuse: tuple[int, Object] | None = None
        self._documents: dict[tuple[bool, str], Any] = {}
        if recording is None:
            for form in ("aggregated", "legacy"):
                prefix = f"discovery/{form}"
                for name in published_names(prefix):
                    self._documents[
                        form == "aggregated",
                        name.removeprefix(prefix).removesuffix(".json"),
                    ] = published(name)
            return
        for exchange in recording.exchanges("discovery"):
            if exchange.method == "GET" and exchange.status == 200:
                self._documents["apidiscovery" in exchange.accept, exchange.path] = (
                    exchange.response
                )

    @property
    def discovered(self) -> list[str]:
        """The paths of discovery that were asked, in order."""
        return [request.path for request in self.requests if self.is_discovery(request)]

    @property
    def asked(self) -> list[str]:
        """`METHOD path` of all other requests."""
        return [
            f"{r.method} {r.path}" for r in self.requests if not self.is_discovery(r)
        ]

    def is_discovery(self, request: Request) -> bool:
        """Whether a request asks what is served."""
        return request.method == "GET" and (False, request.path) in self._documents

    def drop(self, resource: str) -> None:
        """Serve a resource no longer: it goes from every form of discovery."""
        self._documents = {
            key: _without(document, resource)
            for key, document in self._documents.items()
        }

    def keep(self, groups: set[str]) -> None:
        """Serve these groups and no others ("": the core one)."""
        for (aggregated, path), document in self._documents.items():
            if path == "/apis":
                rows = "items" if aggregated else "groups"
                named = [
                    row
                    for row in document[rows]
                    if (row["metadata"] if aggregated else row)["name"] in groups
                ]
                self._documents[aggregated, path] = {**document, rows: named}

    async def round_trip(self, request: Request) -> Response:
        """Answer, and remember."""
        self.requests.append(request)
        if self.is_discovery(request):
            aggregated = "apidiscovery" in request.headers.get("accept", "")
            document = (
                self._documents.get((aggregated, request.path))
                or self._documents[False, request.path]
            )
            return Response(obj=document)
        if self.refuse is not None:
            return Response(self.refuse[0], obj=self.refuse[1])
        obj = (
            protobuf.decode(request.body)
            if protobuf.is_protobuf(request.body)
            else request.obj
        )
        if request.method == "POST" and isinstance(obj, dict):
            return Response(
                201,
                obj={
                    **obj,
                    "metadata": {**obj["metadata"], "uid": "made-by-the-server"},
                },
            )
        if request.method in ("PATCH", "PUT") and isinstance(obj, dict):
            return Response(
                obj={"metadata": {"name": request.path.rpartition("/")[2]}, **obj}
            )
        existing = self.objects.get(request.path)
        if existing is not None:
            return Response(obj=existing)
        resource, name = request.path.split("/")[-2:]
        message = f'{resource} "{name}" not found'
        return Response(
            404,
            obj={
                "kind": "Status",
                "code": 404,
                "reason": "NotFound",
                "message": message,
            },
        )

    async def close(self) -> None:
        """See `Transport`."""


def _without(document: Any, resource: str) -> Any:
    if isinstance(document, dict):
        return {key: _without(value, resource) for key, value in document.items()}
    if isinstance(document, list):
        gone = (resource, f"{resource}/")
        return [
            _without(item, resource)
            for item in document
            if not (
                isinstance(item, dict)
                and str(item.get("resource", item.get("name", ""))).startswith(gone[1:])
            )
            and not (
                isinstance(item, dict)
                and resource in (item.get("resource"), item.get("name"))
            )
        ]
    return document


def now(work: Coroutine[Any, Any, T]) -> T:
    """Run something to its end, also where a loop is running already (a notebook)."""
    with ThreadPoolExecutor(1, "kubectl") as pool:
        return pool.submit(asyncio.run, work).result()


def typed_at(server: RememberingServer, argv: Sequence[str]) -> Typed:
    """Run one kubectl line against the server."""
    out, err = io.StringIO(), io.StringIO()
    before = len(server.requests)
    code = now(run_kubectl(argv, Client(server, "kubectl"), out=out, err=err))
    heard = tuple((request, 0) for request in server.requests[before:])
    return Typed(tuple(argv), code, out.getvalue(), err.getvalue(), heard)
