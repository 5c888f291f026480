"""What has arrived for somebody who may be slow to read it.

Whoever types for a program that does not listen fills nobody's memory: beyond `UNREAD`
bytes the next piece waits, and whoever brings it reads no more of the connection that
it comes from, so that at last the sender waits.

Upstream: Go has it from `io.Pipe` and from unbuffered channels, which hold nothing at
all (`moby/spdystream/stream.go`, `dataChan`; `wsstream/conn.go`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

UNREAD = 1 << 20
"""Bytes."""


class Unread:
    """Pieces in order, until their end. Read by one, with `async for`."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._waiting = 0
        self._room = asyncio.Event()

    async def feed(self, data: bytes) -> None:
        """One more piece. Returns when no more than `UNREAD` bytes wait."""
        self._pieces.put_nowait(data)
        self._waiting += len(data)
        while self._waiting > UNREAD:
            self._room.clear()
            await self._room.wait()

    def end(self) -> None:
        """There will be no more; again does no harm."""
        self._pieces.put_nowait(b"")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := await self._pieces.get():
            self._waiting -= len(data)
            self._room.set()
            yield data
