"""The line between a component and the API server, which can be cut.

While it is cut, watches end and nothing new gets through: what a component sees when a
switch dies. When it is whole again, its reflectors carry on where they were.

Upstream: `client-go/rest/request.go` (what `Watch` and `Do` make of a lost connection).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from lifecycle.api.wire import Request, Response, WatchFrame
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
        return response

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()
