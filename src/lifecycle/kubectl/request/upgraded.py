"""A socket that has stopped to speak HTTP, taken over from the HTTP client.

aiohttp hands on what comes after a *101* to whatever parser it is given; ours passes
the bytes on as they are.

Upstream: `client-go/transport/websocket/roundtripper.go` (`Connection`), v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from lifecycle.api.http.wire import Connection

if TYPE_CHECKING:
    import aiohttp

READ_SIZE = 1 << 16


class _Raw:
    """A parser, for aiohttp, of bytes that mean nothing to HTTP."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """(whether they break the protocol: never, what is left: nothing)."""
        self._reader.feed_data(data)
        return False, b""

    def feed_eof(self) -> None:
        """The other side has hung up."""
        self._reader.feed_eof()


class Upgraded:
    """The connection of an answer with status 101. Raises ConnectionResetError if it
    is gone already.
    """

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        connection = answer.connection
        if connection is None or connection.transport is None:
            raise ConnectionResetError("the connection is lost")
        loop = asyncio.get_running_loop()
        self._answer = answer
        self._transport = connection.transport
        self._reader = asyncio.StreamReader(loop=loop)
        self._reader.set_transport(self._transport)
        protocol = connection.protocol
        assert protocol is not None
        protocol.set_parser(_Raw(self._reader), self._reader)
        self._writer = asyncio.StreamWriter(self._transport, protocol, None, loop)

    async def serve(self, other: Connection) -> None:
        """Pass on bytes, both ways, until either side is done; see `Response`."""
        ways = [
            asyncio.ensure_future(self._from(other)),
            asyncio.ensure_future(self._to(other)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            # at once: a farewell in TLS would take longer than the loop may live
            self._transport.abort()
            self._answer.close()

    async def _from(self, other: Connection) -> None:
        with contextlib.suppress(OSError):
            while data := await other.read():
                self._writer.write(data)
                await self._writer.drain()

    async def _to(self, other: Connection) -> None:
        with contextlib.suppress(OSError):
            while data := await self._reader.read(READ_SIZE):
                await other.write(data)
