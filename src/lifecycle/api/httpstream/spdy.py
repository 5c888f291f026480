"""A SPDY connection: streams that either side opens, and bytes on them.

Upstream: `apimachinery/pkg/util/httpstream/spdy/connection.go`,
`github.com/moby/spdystream/connection.go`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from lifecycle.api.http.wire import Connection
from lifecycle.api.httpstream.spdy_frames import (
    GOAWAY,
    PING,
    RST_STREAM,
    SYN_STREAM,
    Frame,
    FrameDecoder,
    FrameEncoder,
    FrameError,
)
from lifecycle.api.httpstream.unread import Room, Unread
from lifecycle.api.loop.pauses import Pauses

CHUNK = 32 * 1024
MAX_STREAMS = 4096
"""Streams of one connection that are open at a time, or that nobody has looked at yet.
Ours: Go's library has no limit; `kubectl port-forward` needs two for each of its
connections.
"""


class SpdyStream:
    """One stream. Reading it yields what the other side sends, until it closes its
    half.
    """

    def __init__(
        self, connection: SpdyConnection, number: int, headers: Mapping[str, str]
    ) -> None:
        self.number = number
        self.headers = headers
        self._connection = connection
        self._received = Unread(connection.room)
        self._closed = self._ended = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._received)

    @property
    def over(self) -> bool:
        """Whether neither side has anything to say any more."""
        return self._closed and self._ended

    async def write(self, data: bytes) -> None:
        """Send bytes."""
        for start in range(0, len(data), CHUNK):
            await self._connection.send(
                self._connection.encoder.data(self.number, data[start : start + CHUNK])
            )

    async def close(self) -> None:
        """Our half is done; the other may still send."""
        if not self._closed:
            self._closed = True
            await self._connection.send(
                self._connection.encoder.data(self.number, b"", fin=True)
            )
            self._connection.forget(self)

    async def reset(self) -> None:
        """Both halves are done, and what was not read by now will not be."""
        await self._connection.send(self._connection.encoder.rst_stream(self.number))
        self._received.discard()
        self.was_reset()

    def was_reset(self) -> None:
        """The other side is done with both halves. What it sent before is still to be
        read: Go's servers reset all streams once they have said everything.
        """
        self._closed = True
        self.end()
        self._connection.forget(self)

    def stop_reading(self) -> None:
        """Nobody will read what the other side has sent or goes on sending: it takes no
        room from other streams. Who only closes our half may go on reading.
        """
        self._received.discard()

    async def feed(self, data: bytes) -> None:
        """What has arrived. Waits while much of it is not read yet."""
        await self._received.feed(data)

    def end(self) -> None:
        """Nothing more will arrive."""
        if not self._ended:
            self._ended = True
            self._received.end()
            self._connection.forget(self)


class SpdyConnection:
    """Over `connection`: `await run()` in the background, take streams from `streams()`
    as they are opened, or `open` some.
    """

    def __init__(self, connection: Connection) -> None:
        self.encoder = FrameEncoder()
        self.room = Room()
        self._connection = connection
        self._decoder = FrameDecoder()
        self._streams: dict[int, SpdyStream] = {}
        self._opened: asyncio.Queue[SpdyStream | None] = asyncio.Queue()
        self._next = 1

    async def open(self, headers: Mapping[str, str]) -> SpdyStream:
        """Open a stream, as a client does: its streams have the odd numbers."""
        number, self._next = self._next, self._next + 2
        stream = self._streams[number] = SpdyStream(self, number, dict(headers))
        await self.send(self.encoder.syn_stream(number, headers))
        return stream

    async def send(self, data: bytes) -> None:
        """Bytes of whole frames. One call writes at once, so frames never mix."""
        await self._connection.write(data)

    async def streams(self) -> AsyncIterator[SpdyStream]:
        """Streams in the order in which they were opened, until the connection ends."""
        while (stream := await self._opened.get()) is not None:
            yield stream

    async def run(self) -> None:
        """Read until the other side ends the connection."""
        pauses = Pauses()  # thousands of frames may come in one piece
        try:
            while data := await self._connection.read():
                for frame in self._decoder.feed(data):
                    await self._frame(frame)
                    await pauses.pause()
        except (FrameError, ConnectionError):
            pass  # nothing that could be told to the other side
        finally:
            for stream in list(self._streams.values()):
                stream.end()
            self._opened.put_nowait(None)

    async def _frame(self, frame: Frame) -> None:
        stream = self._streams.get(frame.stream)
        if frame.kind == SYN_STREAM:
            if max(len(self._streams), self._opened.qsize()) >= MAX_STREAMS:
                raise FrameError(f"more than {MAX_STREAMS} streams")
            stream = self._streams[frame.stream] = SpdyStream(
                self, frame.stream, dict(frame.headers)
            )
            await self.send(self.encoder.syn_reply(frame.stream))
            self._opened.put_nowait(stream)
        elif frame.kind == PING:
            await self.send(self.encoder.ping(frame.number))
        elif frame.kind == GOAWAY:
            self._opened.put_nowait(None)
        elif frame.kind == RST_STREAM and stream is not None:
            stream.was_reset()
        elif frame.kind == 0 and stream is not None and frame.data:
            await stream.feed(frame.data)
        if frame.fin and stream is not None:
            stream.end()

    def forget(self, stream: SpdyStream) -> None:
        """Its number will not be heard of again, if both sides are done."""
        if stream.over:
            self._streams.pop(stream.number, None)
