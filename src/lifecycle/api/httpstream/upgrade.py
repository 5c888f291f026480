"""A connection that stops being HTTP.

With the answer *101 Switching Protocols*, what follows on the connection is no request
any more. The socket is taken away from the HTTP parser and handed to whoever answered,
as plain bytes in both directions.

Upstream: `net/http.Hijacker`, as used by
`apimachinery/pkg/util/httpstream/spdy/upgrade.go`, v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from lifecycle.api.http.wire import Connection

LIMIT = 1 << 18


class UpgradedConnection:
    """Both directions of a transport that was taken over."""

    def __init__(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader(limit=LIMIT, loop=loop)
        self._protocol = asyncio.StreamReaderProtocol(self._reader, loop=loop)
        self._previous = transport.get_protocol()
        transport.set_protocol(self._protocol)
        self._protocol.connection_made(transport)
        self._transport = transport
        self._writer = asyncio.StreamWriter(
            transport, self._protocol, self._reader, loop
        )

    async def read(self) -> bytes:
        """See `Connection`."""
        try:
            return await self._reader.read(LIMIT)
        except (ConnectionError, OSError):
            return b""

    async def write(self, data: bytes) -> None:
        """See `Connection`."""
        if self._transport.is_closing():
            raise ConnectionResetError("the other side is gone")
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        """See `Connection`."""
        self._transport.close()


async def hand_over(
    transport: asyncio.Transport, serve: Callable[[Connection], Awaitable[None]]
) -> None:
    """Let `serve` have the connection until it returns, then close it."""
    connection = UpgradedConnection(transport)
    try:
        with contextlib.suppress(ConnectionError):
            await serve(connection)
    finally:
        connection.close()
