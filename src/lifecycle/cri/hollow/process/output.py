"""What a hollow process says, on its way to somebody who may be slow to read it.

A real process waits when nobody reads: its pipe is full. One that is played cannot be
made to wait in the middle of a line. So it is given its input in small pieces, the next
of them when what it said about the last is read; and one that goes on without any input
finds its pipe broken, once it is far ahead.

Ours. Upstream: Linux, `fs/pipe.c` (`pipe_write`), where the writer waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from lifecycle.api.httpstream.unread import PIECE, Room
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.hollow.process.pipes import MOST_INPUT, BrokenPipe

CHUNK = 32 * 1024
"""Bytes of input that a process is given at a time."""


class Output:
    """Pieces for one reader. `tty`: a terminal has one output, and begins each line at
    its left edge.
    """

    def __init__(self, tty: bool) -> None:
        self._tty = tty
        self._pieces: asyncio.Queue[tuple[str, bytes] | None] = asyncio.Queue()
        self._room = Room()
        self._ended = False

    def write(self, stream: str, data: bytes) -> None:
        """One more piece. Raises BrokenPipe when `MOST_INPUT` bytes wait."""
        if self._room.taken > MOST_INPUT:
            raise BrokenPipe
        if self._tty:
            stream, data = "stdout", data.replace(b"\n", b"\r\n")
        self._room.take(len(data) + PIECE)
        self._pieces.put_nowait((stream, data))

    def overhear(self, stream: str, data: bytes) -> None:
        """The same, of somebody who says it anyhow: a reader who is too far behind
        hears no more of it.
        """
        if self._ended:
            return
        try:
            self.write(stream, data)
        except BrokenPipe:
            self.end()

    def end(self) -> None:
        """There will be no more; again does no harm."""
        if not self._ended:
            self._ended = True
            self._pieces.put_nowait(None)

    async def send(self, streams: Streams) -> None:
        """To the end."""
        while (piece := await self._pieces.get()) is not None:
            await (streams.stderr if piece[0] == "stderr" else streams.stdout)(piece[1])
            self._room.give_back(len(piece[1]) + PIECE)

    async def paced(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """An input, in small pieces, as long as what is said is read: who types and
        does not look finds that the terminal takes no more.
        """
        async for data in pieces:
            for start in range(0, len(data), CHUNK):
                await self._room.left()
                yield data[start : start + CHUNK]
