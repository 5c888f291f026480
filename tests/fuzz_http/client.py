"""Sends bytes over TLS, and reads what comes of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import ssl
from dataclasses import dataclass

from tests.fuzz_http.sent import Sent

PATIENCE = 1.0
"""Seconds for an answer to what is a whole request; what is none may rightly wait for the rest, and gets a fifth of that."""

HANDSHAKES = 5

LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` 0: the connection was closed without one, or nothing came in time."""

    status: int
    body: bytes = b""


class Connection:
    """One connection after another to a server on the loopback interface."""

    def __init__(self, port: int, tls: ssl.SSLContext) -> None:
        self._port, self._tls = port, tls
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def _streams_to_use(self, fresh: bool) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A handshake that takes too long, because the machine is busy, is tried again."""
        if fresh:
            await self.close()
        for attempt in range(HANDSHAKES):
            if self._streams is None:
                with contextlib.suppress(*([OSError] if attempt < HANDSHAKES - 1 else [])):
                    self._streams = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._tls, limit=1 << 24)
        assert self._streams is not None
        return self._streams

    async def ask(self, sent: Sent) -> Answer:
        """The first answer. Raises OSError if the server does not even take the connection."""
        reader, writer = await self._streams_to_use(fresh=not sent.framed)
        answer, reusable = Answer(0), False
        with contextlib.suppress(OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError):
            async with asyncio.timeout(10 * PATIENCE if sent.framed else PATIENCE / 5):
                writer.write(sent.data)
                await writer.drain()
                if sent.half_closed:
                    self._half_close(writer)
                head = await reader.readuntil(b"\r\n\r\n")
                answer = Answer(int(head.split(b" ", 2)[1]))
                length = LENGTH.search(head)
                if length is not None and not sent.data.startswith(b"HEAD"):
                    answer = Answer(answer.status, await reader.readexactly(int(length[1])))
                reusable = length is not None and b"\r\nconnection: close" not in head.lower()
        if not (sent.framed and reusable):
            await self.close()
        return answer

    @staticmethod
    def _half_close(writer: asyncio.StreamWriter) -> None:
        """TLS has no half-closed connection, TCP below it does: the server reads the end, and may still write."""
        descriptor = writer.get_extra_info("socket").fileno()
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as again:
            again.shutdown(socket.SHUT_WR)

    async def close(self) -> None:
        """Break the connection, if there is one."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None
            await asyncio.sleep(0)
