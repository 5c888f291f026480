"""The way in from outside: TLS, HTTP/1.1, and what a socket adds to a request.

A connection may show a client certificate; a request becomes a `wire.Request` and
passes the handler chain like any other; the answer is written back with its length, or,
for a watch, piece by piece until one side has had enough.

Clients can be hostile or just slow. A body has to fit into 3 MiB and to arrive within a
minute, a connection that never asks for anything is closed, and a client that does not
read its watch blocks nobody but itself: its frames wait in its own queue, until it has
not read for a minute or the queue is too long.

aiohttp parses HTTP; the answer is written by hand, since that is half of the work of a
small request.

Upstream: `apiserver/pkg/server/secure_serving.go` (`SecureServingInfo.Serve`, its
timeouts), `endpoints/handlers/rest.go` (`limitedReadBody`),
`endpoints/handlers/watch.go` (`WatchServer.HandleHTTP`), v1.36. Left out: HTTP/2.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import time
import weakref
from email.utils import formatdate
from http import HTTPStatus
from itertools import count
from typing import Any
from urllib.parse import parse_qs, unquote

import yarl._url
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from lifecycle.api.bounded_cache import is_short
from lifecycle.api.freed_memory import give_back_soon
from lifecycle.api.pauses import Pauses
from lifecycle.api.status import PanicError, request_entity_too_large
from lifecycle.api.upgrade import hand_over
from lifecycle.api.wire import Handler, Request, Response
from lifecycle.api.worker import beside
from lifecycle.apiserver.endpoints.negotiation import finish, is_pretty
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.filters.warning import warning_headers
from lifecycle.apiserver.http.frames import encoded_frame
from lifecycle.apiserver.http.headers import joined_headers
from lifecycle.apiserver.server.accepting import Acceptor
from lifecycle.apiserver.server.compression import (
    THRESHOLD,
    Compressor,
)
from lifecycle.apiserver.server.large_answers import PIECE, LargeAnswers

MAX_BODY = 3 * 1024 * 1024
BODY_TIMEOUT = 60.0
FIRST_REQUEST_TIMEOUT = 32.0
IDLE_TIMEOUT = 90.0
TLS_HANDSHAKE_TIMEOUT = 10.0
MAX_HEADER = 1 << 20
BACKLOG = 1024
"""Connections that wait to be taken in."""

RECEIVED = 64 << 10
"""Bytes of a connection that the system takes in before they are read, roughly. All of
them are decrypted in one go, and may be records of one byte each.
"""
_SETTINGS: dict[str, Any] = {
    "access_log": None,
    "keepalive_timeout": IDLE_TIMEOUT,
    "auto_decompress": False,
    "max_line_size": MAX_HEADER,
    "max_field_size": MAX_HEADER,
    "lingering_time": 1.0,
}
PROBES = ("/livez", "/readyz", "/healthz")
"""Of a thousand requests that come in at once not all are answered in one round of the
loop. Who asks whether the server lives does not stand in line. Upstream: the FlowSchema
`probes`, which is exempt.
"""

_BAD_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")
_REASONS = {status.value: status.phrase for status in HTTPStatus}

MANY_CLOSED = 64
"""Connections after whose end memory is given back."""

_closed = count(1)

_URL_CACHES = [
    each for each in vars(yarl._url).values() if hasattr(each, "cache_clear")
]
"""Of the library that splits addresses for aiohttp: each keeps the last 128 of any
length.
"""


class _BodyTooLargeError(Exception):
    """The client sends more than `MAX_BODY` bytes."""


class _Written:
    """What aiohttp gets to see of an answer that is on its way already: nothing is left
    to do.
    """

    def __init__(self, keep_alive: bool) -> None:
        self.keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """See above."""

    async def write_eof(self) -> None:
        """See above."""


_KEEP_ALIVE, _CLOSE = _Written(True), _Written(False)


class _Connection(RequestHandler):
    """A connection that remembers who is at the other end: the address and the
    certificate cannot change.
    """

    __slots__ = ("__weakref__", "peer")

    def __init__(self, server: web.Server, **settings: Any) -> None:
        super().__init__(server, **settings)
        self.peer: tuple[str, bytes | None] | None = None

    def connection_lost(self, exc: BaseException | None) -> None:
        """See `RequestHandler`. TLS had half a megabyte for each."""
        super().connection_lost(exc)
        if next(_closed) % MANY_CLOSED == 0:
            give_back_soon()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> Any:
        """What is not HTTP is answered as Go does, and is not worth a word in the log:
        everybody can send anything.
        """
        if status >= 500:
            return super().handle_error(request, status, exc, message)
        if self.transport is not None:
            text = f"{status} {_REASONS.get(status, 'Unknown')}"
            head = (
                f"HTTP/1.1 {text}\r\nContent-Type: text/plain;"
                " charset=utf-8\r\nConnection: close\r\n"
            )
            self.transport.write(
                f"{head}Content-Length: {len(text)}\r\n\r\n{text}".encode()
            )
        return _CLOSE


class HTTPSServer:
    """Serves a handler on a socket. `tls=None` serves plain HTTP (for measurements)."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None) -> None:
        self._handler = handler
        self._tls = tls
        self._compressor = Compressor()
        self._large_answers = LargeAnswers()
        self._connections: web.Server | None = None
        self._listener: asyncio.Server | None = None
        self._acceptor: Acceptor | None = None
        self._date = (0, "")

    async def start(
        self, host: str, port: int = 0, sock: socket.socket | None = None
    ) -> int:
        """Listen; the port (a free one for 0). Raises OSError if it is taken. `sock`:
        one that is bound already, instead.
        """
        self._connections = web.Server(self._answer, handler_cancellation=True)  # type: ignore[arg-type]
        listening = sock or socket.create_server((host, port), backlog=BACKLOG)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED)
        bound: int = listening.getsockname()[1]
        if self._tls is not None:
            listening.listen(BACKLOG)
            self._acceptor = Acceptor(
                listening, self._connection, self._tls, TLS_HANDSHAKE_TIMEOUT
            )
        else:
            self._listener = await asyncio.get_running_loop().create_server(
                self._connection, sock=listening, backlog=BACKLOG
            )
        return bound

    async def stop(self) -> None:
        """Stop listening and close every connection; open watches end."""
        if self._listener is not None:
            self._listener.close()
        if self._acceptor is not None:
            await self._acceptor.stop()
        if self._connections is not None:
            transports = [
                connection.transport for connection in self._connections.connections
            ]
            await self._connections.shutdown(timeout=0.2)
            for transport in (
                transports
            ):  # TLS would wait half a minute for the other side's goodbye
                if transport is not None:
                    # closed twice, asyncio's has let go of its connection (3.11)
                    with contextlib.suppress(AttributeError):
                        transport.abort()
            await asyncio.sleep(0)
        if self._listener is not None:
            await self._listener.wait_closed()

    def _connection(self) -> RequestHandler:
        assert self._connections is not None
        loop = asyncio.get_running_loop()
        connection = _Connection(self._connections, loop=loop, **_SETTINGS)

        reference = weakref.ref(
            connection
        )  # the timer must not keep alive what a closed connection last read

        def close_if_silent() -> None:
            silent = reference()
            if (
                silent is not None
                and not silent._request_count
                and silent.transport is not None
            ):
                silent.force_close()

        loop.call_later(FIRST_REQUEST_TIMEOUT, close_if_silent)
        return connection

    # -- one request -------------------------------------------------------------------

    async def _answer(self, incoming: web.BaseRequest) -> _Written:
        target = origin_form(incoming._message.path)
        if not target.startswith(PROBES):
            await Pauses().pause()
        at_once = answered_at_once(incoming, target)
        decoded = await beside(len(target), _decoded, target)
        request = to_request(incoming, target, *decoded)
        if at_once is not None:
            keep_alive = incoming.keep_alive and at_once.status == HTTPStatus.OK
            return await self._write(incoming, request, at_once, keep_alive=keep_alive)
        if "%" in target and _BAD_ESCAPE.search(target.partition("?")[0]):
            response = Response(
                400,
                {"Content-Type": "text/plain; charset=utf-8"},
                body=b"400 Bad Request",
            )
            return await self._write(incoming, request, response, keep_alive=False)
        try:
            request.body = await read_body(incoming)
        except (_BodyTooLargeError, TimeoutError) as error:
            response = refuse(request_entity_too_large(MAX_BODY))
            if isinstance(error, TimeoutError):
                response = Response(
                    408,
                    {"Content-Type": "text/plain; charset=utf-8"},
                    body=b"Request Timeout\n",
                )
            return await self._write(incoming, request, response, keep_alive=False)
        try:
            response = await self._handler(request)
        except PanicError:
            return _CLOSE
        try:
            if response.stream is not None:
                return await self._stream(incoming, request, response)
            if response.upgrade is not None:
                return await self._upgrade(incoming, request, response)
            return await self._write(
                incoming, request, response, keep_alive=incoming.keep_alive
            )
        except ConnectionError:  # the client went away while it was being answered
            return _CLOSE

    async def _write(
        self,
        incoming: web.BaseRequest,
        request: Request,
        response: Response,
        *,
        keep_alive: bool,
    ) -> _Written:
        size = len(response.body or b"") or response.size
        if not response.verbatim and (response.obj is not None or is_pretty(request)):
            response = await beside(size, finish, request, response)
        body = response.body or b""
        encoded = "Content-Encoding" in response.headers
        if (
            len(body) > THRESHOLD
            and not encoded
            and "gzip" in request.headers.get("accept-encoding", "")
        ):
            body = await beside(len(body), self._compressor.compress, body)
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Vary"] = "Accept-Encoding"
        head = self._head(request, response, f"Content-Length: {len(body)}", keep_alive)
        if request.method == "HEAD" or response.status == HTTPStatus.NOT_MODIFIED:
            body = b""
        transport = incoming.transport
        if transport is None:
            pass  # nobody is there any more
        elif len(body) <= PIECE:
            transport.write(head + body)
        else:
            transport.write(head)
            await self._large_answers.write(incoming, body)
        return _KEEP_ALIVE if keep_alive else _CLOSE

    async def _stream(
        self, incoming: web.BaseRequest, request: Request, response: Response
    ) -> _Written:
        """Write frames as they come, several in one piece when they come fast.
        Cancelled when the client goes away.
        """
        stream, encode = response.stream, response.encode_frame
        assert stream is not None
        assert encode is not None
        take = getattr(stream, "take", None)
        pauses = Pauses()  # a thousand may watch the same
        chunked = incoming.version >= (
            1,
            1,
        )  # before that, only the end of the connection ends an answer
        try:
            if incoming.transport is not None:
                framing = (
                    "Transfer-Encoding: chunked"
                    if chunked
                    else "Cache-Control: no-store"
                )
                incoming.transport.write(
                    self._head(request, response, framing, chunked)
                )
            async for frame in stream:
                piece = await encoded_frame(encode, frame)
                while take is not None and len(piece) < PIECE and (more := take(16)):
                    pieces = [await encoded_frame(encode, each) for each in more]
                    piece = b"".join((piece, *pieces))
                if incoming.transport is None or incoming.transport.is_closing():
                    break
                if chunked:
                    piece = b"%x\r\n%b\r\n" % (len(piece), piece)
                await self._large_answers.write(incoming, piece)
                await pauses.pause()
            if incoming.transport is not None and chunked:
                incoming.transport.write(b"0\r\n\r\n")
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
        return _KEEP_ALIVE if incoming.keep_alive and chunked else _CLOSE

    async def _upgrade(
        self, incoming: web.BaseRequest, request: Request, response: Response
    ) -> _Written:
        """Write the head, then let go of the connection. aiohttp has to be told that it
        is over: it cannot see it any more.
        """
        transport, protocol = incoming.transport, incoming.protocol
        assert response.upgrade is not None
        if transport is not None:
            transport.write(
                self._head(request, response, "Cache-Control: no-cache", True)
            )
            try:
                await hand_over(transport, response.upgrade)
            finally:
                asyncio.get_running_loop().call_soon(protocol.connection_lost, None)
        return _CLOSE

    def _head(
        self, request: Request, response: Response, framing: str, keep_alive: bool
    ) -> bytes:
        second = int(time.time())
        if self._date[0] != second:
            self._date = (second, formatdate(second, usegmt=True))
        lines = [
            f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Unknown')}"
        ]
        lines += [f"{name}: {value}" for name, value in response.headers.items()]
        if request.warnings:
            lines += [
                f"Warning: {value}" for value in warning_headers(request.warnings)
            ]
        lines.append(f"Date: {self._date[1]}\r\n{framing}")
        if not keep_alive:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _decoded(target: str) -> tuple[str, dict[str, list[str]]]:
    """Path and query, which may have a megabyte."""
    path, _, query = target.partition("?")
    return (
        unquote(path) if "%" in path else path,
        parse_qs(query, keep_blank_values=True) if query else {},
    )


def origin_form(target: str) -> str:
    """Path and query of a target that names the server as well, as proxies are sent."""
    if not target.startswith(("http://", "https://")):
        return target
    authority, slash, path = target.partition("://")[2].partition("/")
    if slash:
        return slash + path
    _, mark, query = authority.partition("?")
    return f"/{mark}{query}"


def answered_at_once(incoming: web.BaseRequest, target: str) -> Response | None:
    """What Go's HTTP server answers before any handler hears of a request; None: all
    others.

    A body in an encoding that is not known ends where nobody can tell. Upstream:
    `net/http/server.go` (`globalOptionsHandler`, `sendExpectationFailed`),
    `net/http/transfer.go` (`unsupportedTEError`), Go 1.25.
    """
    plain = {"Content-Type": "text/plain; charset=utf-8"}
    encoding = incoming.headers.get("Transfer-Encoding")
    if encoding is not None and encoding.strip().lower() != "chunked":
        return Response(501, plain, body=b"Unsupported transfer encoding")
    if incoming.headers.get("Expect", "100-continue").lower() != "100-continue":
        return Response(417, {})
    if target == "*" and incoming.method == "OPTIONS":
        return Response(200, {})
    return None


def to_request(
    incoming: web.BaseRequest, target: str, path: str, query: dict[str, list[str]]
) -> Request:
    """A `wire.Request`, its body still empty. Headers have lower-case names."""
    if not is_short(target):
        for cache in _URL_CACHES:
            cache.cache_clear()
    connection = incoming.protocol
    peer = connection.peer if isinstance(connection, _Connection) else None
    if peer is None:
        peer = _peer(incoming.transport)
        if isinstance(connection, _Connection):
            connection.peer = peer
    return Request(
        method=incoming.method,
        path=path,
        query=query,
        headers=joined_headers(incoming.headers.items()),
        peer_certificate=peer[1],
        remote_addr=peer[0],
        target=target,
    )


def _peer(transport: asyncio.Transport | None) -> tuple[str, bytes | None]:
    if transport is None:
        return "", None
    address = transport.get_extra_info("peername")
    tls = transport.get_extra_info("ssl_object")
    return address[0] if address else "", (
        tls.getpeercert(binary_form=True) if tls is not None else None
    )


async def read_body(incoming: web.BaseRequest) -> bytes:
    """All of the body. Raises `_BodyTooLargeError` as soon as that is clear,
    TimeoutError when it takes too long.
    """
    content = incoming.content
    if not incoming.body_exists:
        return b""
    announced = incoming.content_length
    if announced is not None and announced > MAX_BODY:
        raise _BodyTooLargeError
    if (
        incoming.headers.get("Expect", "").lower() == "100-continue"
        and incoming.transport is not None
    ):
        incoming.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if content.is_eof():
        return content.read_nowait()
    pieces: list[bytes] = []
    size = 0
    async with asyncio.timeout(BODY_TIMEOUT):
        while piece := await content.readany():
            size += len(piece)
            if size > MAX_BODY:
                raise _BodyTooLargeError
            pieces.append(piece)
    return b"".join(pieces)
