"""Two ends of one connection in memory, for an upgrade that no socket carries.

What one end writes the other reads, in order. Who writes faster than the other reads
has to wait, as on a socket whose buffers are full.

Upstream: `net.Pipe` (Go's standard library), which waits in the same way.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from lifecycle.api.http.wire import Connection

LIMIT = 1 << 18
"""Bytes that may be on the way before a write waits."""


class _Direction:
    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._closed = False
        self._readable, self._writable = asyncio.Event(), asyncio.Event()

    async def read(self) -> bytes:
        while not self._pieces:
            if self._closed:
                return b""
            self._readable.clear()
            await self._readable.wait()
        piece = self._pieces.popleft()
        self._size -= len(piece)
        self._writable.set()
        return piece

    async def write(self, data: bytes) -> None:
        while self._size >= LIMIT and not self._closed:
            self._writable.clear()
            await self._writable.wait()
        if self._closed:
            raise ConnectionResetError("the other side is gone")
        if data:
            self._pieces.append(data)
            self._size += len(data)
            self._readable.set()

    def close(self) -> None:
        self._closed = True
        self._readable.set()
        self._writable.set()


class _End:
    """See `Connection`. What was written before the end was closed can still be
    read.
    """

    def __init__(self, incoming: _Direction, outgoing: _Direction) -> None:
        self._incoming, self._outgoing = incoming, outgoing

    async def read(self) -> bytes:
        return await self._incoming.read()

    async def write(self, data: bytes) -> None:
        await self._outgoing.write(data)

    def close(self) -> None:
        self._incoming.close()
        self._outgoing.close()


def connection_pair() -> tuple[Connection, Connection]:
    """Both ends."""
    there, back = _Direction(), _Direction()
    return _End(back, there), _End(there, back)


@asynccontextmanager
async def connected(
    upgrade: Callable[[Connection], Awaitable[None]],
) -> AsyncIterator[Connection]:
    """The client's end of a connection whose other end `upgrade` serves (see
    `Response`). Leaving hangs up.
    """
    near, far = connection_pair()

    async def serve() -> None:
        try:
            await upgrade(far)
        finally:
            far.close()

    serving = asyncio.create_task(serve())
    try:
        yield near
    finally:
        near.close()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
