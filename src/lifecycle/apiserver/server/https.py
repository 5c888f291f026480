"""The way in from outside: TLS, HTTP/1.1, and what a socket adds to a request.

A connection may show a client certificate; a request becomes a `wire.Request` and
passes the handler chain like any other; the answer is written back with its length, or,
for a watch, piece by piece until one side has had enough.

Clients can be hostile or just slow. A body has bounds (`incoming`), a connection that
never asks for anything is closed (`connection`), and a client that does not read its
watch blocks nobody but itself: its frames wait in its own queue, until it has not read
for a minute or the queue is too long.

aiohttp parses HTTP; the answer is written by hand, since that is half of the work of a
small request.

Upstream: `apiserver/pkg/server/secure_serving.go` (`SecureServingInfo.Serve`),
`endpoints/handlers/watch.go` (`WatchServer.HandleHTTP`), v1.36. Left out: HTTP/2.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import time
from email.utils import formatdate
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.httpstream.upgrade import hand_over
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside
from lifecycle.api.status import PanicError, request_entity_too_large
from lifecycle.apiserver.endpoints.negotiation import finish, is_pretty
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.filters.warning import warning_headers
from lifecycle.apiserver.http.frames import encoded_frame
from lifecycle.apiserver.server.accepting import Acceptor
from lifecycle.apiserver.server.compression import (
    THRESHOLD,
    Compressor,
)
from lifecycle.apiserver.server.connection import (
    CLOSE,
    KEEP_ALIVE,
    Connection,
    Written,
    status_text,
)
from lifecycle.apiserver.server.incoming import (
    MAX_BODY,
    BodyTooLargeError,
    answered_at_once,
    origin_form,
    read_body,
    split_target,
    to_request,
)
from lifecycle.apiserver.server.large_answers import PIECE, LargeAnswers

TLS_HANDSHAKE_TIMEOUT = 10.0
BACKLOG = 1024
"""Connections that wait to be taken in."""

RECEIVED = 64 << 10
"""Bytes of a connection that the system takes in before they are read, roughly. All of
them are decrypted in one go, and may be records of one byte each.
"""
PROBES = ("/livez", "/readyz", "/healthz")
"""Of a thousand requests that come in at once not all are answered in one round of the
loop. Who asks whether the server lives does not stand in line. Upstream: the FlowSchema
`probes`, which is exempt.
"""

_BAD_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")


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
        return Connection(self._connections, asyncio.get_running_loop())

    # -- one request -------------------------------------------------------------------

    async def _answer(self, incoming: web.BaseRequest) -> Written:
        target = origin_form(incoming._message.path)
        if not target.startswith(PROBES):
            await Pauses().pause()
        at_once = answered_at_once(incoming, target)
        path, query = await beside(len(target), split_target, target)
        request = to_request(incoming, target, path, query)
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
        except (BodyTooLargeError, TimeoutError) as error:
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
            return CLOSE
        try:
            if response.stream is not None:
                return await self._stream(incoming, request, response)
            if response.upgrade is not None:
                return await self._upgrade(incoming, request, response)
            return await self._write(
                incoming, request, response, keep_alive=incoming.keep_alive
            )
        except ConnectionError:  # the client went away while it was being answered
            return CLOSE

    async def _write(
        self,
        incoming: web.BaseRequest,
        request: Request,
        response: Response,
        *,
        keep_alive: bool,
    ) -> Written:
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
        return KEEP_ALIVE if keep_alive else CLOSE

    async def _stream(
        self, incoming: web.BaseRequest, request: Request, response: Response
    ) -> Written:
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
        return KEEP_ALIVE if incoming.keep_alive and chunked else CLOSE

    async def _upgrade(
        self, incoming: web.BaseRequest, request: Request, response: Response
    ) -> Written:
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
        return CLOSE

    def _head(
        self, request: Request, response: Response, framing: str, keep_alive: bool
    ) -> bytes:
        second = int(time.time())
        if self._date[0] != second:
            self._date = (second, formatdate(second, usegmt=True))
        lines = [f"HTTP/1.1 {status_text(response.status)}"]
        lines += [f"{name}: {value}" for name, value in response.headers.items()]
        if request.warnings:
            lines += [
                f"Warning: {value}" for value in warning_headers(request.warnings)
            ]
        lines.append(f"Date: {self._date[1]}\r\n{framing}")
        if not keep_alive:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()
