"""What a hollow process reads, and the pipe between two of them.

Nobody can be made to wait in the middle of a write (see `output`). So whoever has
filled a pipe reads no more input until somebody has taken something out, and what waits
in one has a bound.

Ours. Upstream: Linux, `pipe(7)`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from lifecycle.api.httpstream.unread import PIECE
from lifecycle.api.loop.pauses import Pauses
from lifecycle.cri.hollow.process.not_modelled import NotModelled

MOST_INPUT = 16 * 1024 * 1024
"""Bytes that a program takes in at once."""

FILLED = 64 * 1024
"""Bytes in a pipe from which on its writer reads no more. A write of any length is
taken all the same, up to `MOST_INPUT`. Upstream: Linux' `pipe(7)`, which holds so many.
"""


class BrokenPipe(Exception):
    """Nobody reads any more what is written."""


class Input:
    """A process's standard input. Whoever gets it next goes on where the last one
    stopped reading. None: it has ended before it began.

    `towards`: the pipe that the process writes to. Who has filled it reads no more,
    until the next one has taken something out.
    """

    __slots__ = ("_at", "_buffer", "_pauses", "_pieces", "towards")

    def __init__(
        self, pieces: AsyncIterator[bytes] | None = None, towards: Pipe | None = None
    ) -> None:
        self._pieces, self.towards = pieces, towards
        self._buffer = b""
        self._at = 0
        """Where in the buffer the next one goes on."""
        self._pauses: Pauses | None = None

    async def _more(self) -> bool:
        """Whether there is anything to be read, once it is there."""
        self._pauses = self._pauses or Pauses()
        await self._pauses.pause()  # a piece may be of a hundred thousand lines
        while self._at >= len(self._buffer):
            if self._pieces is None:
                return False
            if self.towards is not None:
                await self.towards.room()
            try:
                self._buffer, self._at = await anext(self._pieces), 0
            except StopAsyncIteration:
                self._pieces = None
        return True

    async def read(self) -> bytes:
        """The next piece, as it comes; nothing at the end."""
        await self._more()
        data = self._buffer[self._at :]
        self._buffer, self._at = b"", 0
        return data

    async def read_all(self) -> bytes:
        """To the end. Raises NotModelled beyond `MOST_INPUT`."""
        data = bytearray()
        while piece := await self.read():
            data += piece
            if len(data) > MOST_INPUT:
                raise NotModelled(f"more than {MOST_INPUT} bytes of input")
        return bytes(data)

    async def readline(self) -> bytes:
        """A line with its end; nothing at the end of it all. Raises NotModelled for one
        that is longer than `MOST_INPUT`.
        """
        line, end = bytearray(), 0
        while not end and await self._more():
            end = self._buffer.find(b"\n", self._at) + 1
            begin, self._at = self._at, end or len(self._buffer)
            line += self._buffer[begin : self._at]
            if len(line) > MOST_INPUT:
                raise NotModelled(f"a line of more than {MOST_INPUT} bytes")
        return bytes(line)


class Pipe:
    """Between two processes: one writes, the other iterates."""

    __slots__ = ("_broken", "_left", "_queue", "_waiting")

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        self._broken = False
        self._waiting = 0
        self._left = asyncio.Event()

    async def room(self) -> None:
        """Until hardly anything waits, or nobody reads any more."""
        while self._waiting > FILLED and not self._broken:
            self._left.clear()
            await self._left.wait()

    def write(self, data: bytes) -> None:
        """Raises BrokenPipe, and NotModelled when `MOST_INPUT` bytes wait: nobody can
        be made to wait here.
        """
        if self._broken:
            raise BrokenPipe
        if self._waiting > MOST_INPUT:
            raise NotModelled(f"more than {MOST_INPUT} bytes in a pipe")
        if data:
            self._waiting += len(data) + PIECE
            self._queue.put_nowait(data)

    def close(self) -> None:
        """The writer has ended."""
        self._queue.put_nowait(b"")

    def abandon(self) -> None:
        """The reader has ended."""
        self._broken = True
        self._left.set()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        data = await self._queue.get()
        if not data:
            raise StopAsyncIteration
        self._waiting -= len(data) + PIECE
        self._left.set()
        return data
