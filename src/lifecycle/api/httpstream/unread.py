"""What has arrived for somebody who may be slow to read it.

Whoever types for a program that does not listen fills nobody's memory: beyond `UNREAD`
bytes the next piece waits, and whoever brings it reads no more of the connection that
it comes from, so that at last the sender waits. Streams that share a connection share
the room, too: of four thousand streams, each of which is a little unread, only the sum
counts.

Upstream: Go has it from `io.Pipe` and from unbuffered channels, which hold nothing at
all (`moby/spdystream/stream.go`, `dataChan`; `wsstream/conn.go`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

UNREAD = 1 << 20
"""Bytes."""

PIECE = 64
"""Bytes that a piece takes beside its own: two bytes are not kept in two bytes."""


class Room:
    """Where what is unread waits."""

    def __init__(self) -> None:
        self.taken = 0
        """Bytes."""
        self._left = asyncio.Event()

    def take(self, size: int) -> None:
        """So many bytes more; there may be fewer than none left then."""
        self.taken += size

    def give_back(self, size: int) -> None:
        """They are read, or never will be."""
        self.taken -= size
        self._left.set()

    async def left(self) -> None:
        """Return when no more than `UNREAD` bytes are taken."""
        while self.taken > UNREAD:
            self._left.clear()
            await self._left.wait()


class Unread:
    """Pieces in order, until their end. Read by one, with `async for`. `room`: where
    they wait, if they have none of their own.
    """

    def __init__(self, room: Room | None = None) -> None:
        self._room = room or Room()
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._discarded = False

    async def feed(self, data: bytes) -> None:
        """One more piece. Returns when there is room for another; of a piece that
        nobody will read, at once.
        """
        if self._discarded:
            return
        self._pieces.put_nowait(data)
        self._room.take(len(data) + PIECE)
        await self._room.left()

    def end(self) -> None:
        """There will be no more; again does no harm."""
        self._pieces.put_nowait(b"")

    def discard(self) -> None:
        """What is not read yet nobody will read, nor what is still to come."""
        self._discarded = True
        while not self._pieces.empty():
            self._taken_out(self._pieces.get_nowait())
        self.end()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while data := self._taken_out(await self._pieces.get()):
            yield data

    def _taken_out(self, data: bytes) -> bytes:
        if data:
            self._room.give_back(len(data) + PIECE)
        return data
