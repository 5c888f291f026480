"""The line between a component and the API server, which can be cut.

While it is cut, watches end and nothing new gets through: what a component sees when a
switch dies. When it is whole again, its reflectors carry on where they were.

Upstream: `client-go/rest/request.go` (what `Watch` and `Do` make of a lost connection).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from lifecycle.api.http.wire import Connection, Request, Response, WatchFrame
from lifecycle.apiserver.endpoints.connect import NodeTransport
from lifecycle.client.rest import Transport


class Link:
    """One component's line; all its clients' transports go through it."""

    def __init__(self) -> None:
        self._down = asyncio.Event()

    @property
    def is_cut(self) -> bool:
        """Whether nothing gets through."""
        return self._down.is_set()

    def cut(self) -> None:
        """Nothing gets through from now on."""
        self._down.set()

    def mend(self) -> None:
        """It is whole again."""
        self._down.clear()

    def through(self, transport: Transport) -> Transport:
        """The same transport, over this line."""
        return _OverLink(transport, self)

    def to_node(self, transport: NodeTransport) -> NodeTransport:
        """The server's way to a kubelet, over this line."""
        return _NodeOverLink(transport, self)

    def until_cut(
        self, upgrade: Callable[[Connection], Awaitable[None]]
    ) -> Callable[[Connection], Awaitable[None]]:
        """The same upgraded connection, which ends when the line is cut."""

        async def serve(connection: Connection) -> None:
            serving = asyncio.ensure_future(upgrade(connection))
            down = asyncio.ensure_future(self._down.wait())
            try:
                await asyncio.wait((serving, down), return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in (serving, down):
                    each.cancel()
                await asyncio.gather(serving, down, return_exceptions=True)
                connection.close()

        return serve

    async def frames(
        self, stream: AsyncIterator[WatchFrame]
    ) -> AsyncIterator[WatchFrame]:
        """What comes over the line until it is cut. Raises ConnectionError then."""
        down = asyncio.ensure_future(self._down.wait())
        try:
            while True:
                coming = asyncio.ensure_future(anext(stream, None))
                try:
                    await asyncio.wait(
                        (coming, down), return_when=asyncio.FIRST_COMPLETED
                    )
                    if not coming.done():
                        raise ConnectionError("the connection is lost")
                finally:
                    coming.cancel()
                frame = await coming
                if frame is None:
                    return
                yield frame
        finally:
            down.cancel()


class _OverLink:
    """A transport whose requests and watches need the line."""

    def __init__(self, inner: Transport, link: Link) -> None:
        self._inner = inner
        self._link = link

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`. Raises ConnectionError while the line is cut."""
        if self._link.is_cut:
            raise ConnectionError(f"{request.method} {request.path}: no route to host")
        response = await self._inner.round_trip(request)
        if response.stream is not None:
            response.stream = self._link.frames(response.stream)
        if response.upgrade is not None:
            response.upgrade = self._link.until_cut(response.upgrade)
        return response

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


class _NodeOverLink:
    """A way to a kubelet, and to what listens on its node."""

    def __init__(self, inner: NodeTransport, link: Link) -> None:
        self._inner = inner
        self._link = link

    def _dial(self) -> None:
        if self._link.is_cut:
            raise ConnectionError("dial tcp: connect: no route to host")

    async def round_trip(self, request: Request) -> Response:
        """See `NodeTransport`. Raises ConnectionError while the line is cut."""
        self._dial()
        response = await self._inner.round_trip(request)
        if response.stream is not None:
            response.stream = self._link.frames(response.stream)
        if response.upgrade is not None:
            response.upgrade = self._link.until_cut(response.upgrade)
        return response

    async def reach_pod(
        self, ip: str, port: int, request: Request, scheme: str = "http"
    ) -> Response:
        """See `NodeTransport`. Raises ConnectionError while the line is cut."""
        self._dial()
        return await self._inner.reach_pod(ip, port, request, scheme)
