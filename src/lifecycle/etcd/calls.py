"""Calls over connections that stay open: a request, and its whole answer.

Each write of the API server is one call of etcd's gateway, and its answer is a hundred
bytes. A client that can do all of HTTP takes longer for such a call than all that the
API server does beside; so what goes over the wire is written by hand here, as the
server's own answers are, and no more of HTTP/1.1 is read than Go's server writes: a
length, chunks, or all until the end.

A connection carries one call at a time. When it is over, the next call takes it; the
one that was used last is the first to be used again.

Upstream: Go's `net/http` (`transport.go`, `persistConn`).
"""

from __future__ import annotations

import asyncio
import ssl
from urllib.parse import urlsplit

HEAD_END = b"\r\n\r\n"
MAX_HEAD = 1 << 20


class AnswerReader:
    """Takes an answer as it comes: `feed` says whether it is complete, and then
    `status`, `body` and `keep_alive` are there. Raises ValueError for what is none.
    """

    def __init__(self) -> None:
        self.status, self.body, self.keep_alive = 0, b"", True
        self._received = bytearray()
        self._searched = 0  # so far no end of the head
        self._needed = 0  # bytes; before that nothing can be said
        self._body_at = 0
        self._length: int | None = None
        self._chunk_at = 0  # 0: it does not come in chunks
        self._chunks: list[bytes] = []

    def feed(self, data: bytes) -> bool:
        """More of it."""
        self._received += data
        if len(self._received) < self._needed:
            return False
        if not self.status and not self._read_head():
            return False
        if self._chunk_at:
            return self._read_chunks()
        if self._length is None:
            return False  # it ends with the connection
        self._needed = self._body_at + self._length
        if len(self._received) < self._needed:
            return False
        self.body = bytes(self._received[self._body_at : self._needed])
        return True

    def ended(self) -> bool:
        """The connection is closed: whether that is the end of the answer."""
        if not self.status or self._chunk_at or self._length is not None:
            return False
        self.body = bytes(self._received[self._body_at :])
        return True

    def _read_head(self) -> bool:
        received = self._received
        end = received.find(HEAD_END, self._searched)
        if end < 0:
            if len(received) > MAX_HEAD:
                raise ValueError("the head of the answer does not end")
            self._searched = max(len(received) - len(HEAD_END) + 1, 0)
            return False
        head = bytes(received[:end]).decode("latin-1").split("\r\n")
        if not head[0].startswith("HTTP/1."):
            raise ValueError("this is not HTTP")
        version, code = head[0].split(" ", 2)[:2]
        self.status, self.keep_alive = int(code), version != "HTTP/1.0"
        self._body_at = end + len(HEAD_END)
        for line in head[1:]:
            name, _, value = line.partition(":")
            name, value = name.lower(), value.strip()
            if name == "content-length":
                self._length = int(value)
            elif name == "transfer-encoding" and value.lower() == "chunked":
                self._chunk_at = self._body_at
            elif name == "connection" and value.lower() == "close":
                self.keep_alive = False
        if not self._chunk_at and self._length is None:
            self.keep_alive = False
        return True

    def _read_chunks(self) -> bool:
        received = self._received
        while True:
            line_end = received.find(b"\r\n", self._chunk_at)
            if line_end < 0:
                return False
            size = int(
                bytes(received[self._chunk_at : line_end]).partition(b";")[0], 16
            )
            begin = line_end + 2
            if not size:  # what may follow, with a line of its own, is of no use here
                trailer_end = received.find(HEAD_END, line_end)
                if trailer_end < 0:
                    return False
                self.body = b"".join(self._chunks)
                return True
            self._needed = begin + size + 2
            if len(received) < self._needed:
                return False
            self._chunks.append(bytes(received[begin : begin + size]))
            self._chunk_at = self._needed


class _Connection(asyncio.Protocol):
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._transport: asyncio.Transport
        self._reader = AnswerReader()
        self._answered: asyncio.Future[AnswerReader] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]
        self._calls.open.add(self)

    def ask(self, request: bytes) -> asyncio.Future[AnswerReader]:
        self._reader = AnswerReader()
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answered

    def data_received(self, data: bytes) -> None:
        answered = self._answered
        if answered is None or answered.done():  # nobody has asked
            return self.abort()
        try:
            if self._reader.feed(data):
                answered.set_result(self._reader)
        except ValueError as error:
            answered.set_exception(ConnectionError(str(error)))

    def connection_lost(self, exc: Exception | None) -> None:
        self._calls.forget(self)
        answered = self._answered
        if answered is None or answered.done():
            return
        if exc is None and self._reader.ended():
            answered.set_result(self._reader)
        else:
            answered.set_exception(exc or ConnectionResetError("Server disconnected"))

    def abort(self) -> None:
        self._calls.forget(self)
        self._transport.abort()


class Calls:
    """Connections to one server, `limit` at most; more calls wait. `close()` when
    done.
    """

    def __init__(self, url: str, limit: int) -> None:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        self.limit = limit
        self.open: set[_Connection] = set()
        self.idle: list[_Connection] = []
        self._tls = ssl.create_default_context() if secure else None
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if secure else 80)
        self._path = parts.path.rstrip("/")
        self._headers = (
            f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )
        self._room = asyncio.Semaphore(limit)
        self._closed = False

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer. Raises OSError if there is none."""
        head = f"POST {self._path}{path} HTTP/1.1\r\n{self._headers}{len(body)}\r\n\r\n"
        async with self._room:
            connection = self.idle.pop() if self.idle else await self._connect()
            try:
                answer = await connection.ask(head.encode() + body)
            except BaseException:  # what it may still answer is nobody's
                connection.abort()
                raise
            if answer.keep_alive and connection in self.open:
                self.idle.append(connection)
            else:
                connection.abort()
        return answer.status, answer.body

    async def _connect(self) -> _Connection:
        if self._closed:
            raise ConnectionError("the connections are closed")
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: _Connection(self), self._host, self._port, ssl=self._tls
        )
        return connection

    def forget(self, connection: _Connection) -> None:
        """It is of no more use."""
        self.open.discard(connection)
        if connection in self.idle:
            self.idle.remove(connection)

    async def close(self) -> None:
        """Close all; who waits for an answer has none."""
        self._closed = True
        for connection in tuple(self.open):
            connection.abort()
        await asyncio.sleep(0)
