"""Large answers go out in pieces, and take turns.

Three hundred clients may ask for a megabyte each at the same moment. All of it has to
be encrypted, here, by the loop that everybody waits for; so it is done a piece at a
time, a few pieces in each round of the loop, and whoever asks for something small has
its answer in between.

A client that does not read has one piece waiting for it, not all; and one that reads
nothing at all for a minute loses its connection.

Upstream: Go's `net/http` (`server.go`, `bufferBeforeChunkingSize`), where each
connection has a goroutine, and the runtime shares out the processor.
"""

from __future__ import annotations

import asyncio

from aiohttp import web

from lifecycle.api.loop.until import until

PIECE = 128 * 1024
"""Bytes that are encrypted and handed to the kernel at once."""

IN_A_ROUND = 8
"""Pieces of large answers that go out in one round of the loop: a few milliseconds."""

WRITE_TIMEOUT = 60.0
"""Seconds for which a client may read nothing at all."""


class LargeAnswers:
    """Those of one server."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(IN_A_ROUND)

    async def write(self, incoming: web.BaseRequest, data: bytes) -> None:
        """Write data of any length. Raises ConnectionError."""
        if len(data) <= PIECE:
            _write(incoming, data)
            return await _drained(incoming)
        rest = memoryview(data)
        while rest:
            async with self._turns:
                _write(incoming, rest[:PIECE])
                rest = rest[PIECE:]
                await asyncio.sleep(0)
            await _drained(incoming)


def _write(incoming: web.BaseRequest, piece: bytes | memoryview) -> None:
    transport = incoming.transport
    if transport is None or transport.is_closing():
        raise ConnectionAbortedError("the client has gone")
    transport.write(piece)


async def _drained(incoming: web.BaseRequest) -> None:
    """Wait until the client has read enough; mostly it has."""
    deadline = asyncio.get_running_loop().time() + WRITE_TIMEOUT
    try:
        await until(deadline, incoming.writer.drain())
    except TimeoutError:
        if incoming.transport is not None:
            incoming.transport.abort()
        raise ConnectionAbortedError("the client does not read") from None
