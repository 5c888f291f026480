"""One connection of a client: who is at the other end, and when it is given up.

aiohttp keeps it and parses what comes; what is not HTTP is answered here, in the words
of Go's server.

Upstream: `apiserver/pkg/server/secure_serving.go` (`SecureServingInfo.Serve`, its
timeouts), v1.36; `net/http/server.go` (`conn.serve`), Go 1.25.
"""

from __future__ import annotations

import asyncio
import weakref
from http import HTTPStatus
from itertools import count
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from lifecycle.api.freed_memory import give_back_soon

FIRST_REQUEST_TIMEOUT = 32.0
IDLE_TIMEOUT = 90.0
MAX_HEADER = 1 << 20
_SETTINGS: dict[str, Any] = {
    "access_log": None,
    "keepalive_timeout": IDLE_TIMEOUT,
    "auto_decompress": False,
    "max_line_size": MAX_HEADER,
    "max_field_size": MAX_HEADER,
    "lingering_time": 1.0,
}
MANY_CLOSED = 64
"""Connections after whose end memory is given back."""

_closed = count(1)
_REASONS = {status.value: status.phrase for status in HTTPStatus}


def status_text(status: int) -> str:
    """A status with its reason, as the first line of an answer has it."""
    return f"{status} {_REASONS.get(status, 'Unknown')}"


class Written:
    """What aiohttp gets to see of an answer that is on its way already: nothing is left
    to do.
    """

    def __init__(self, keep_alive: bool) -> None:
        self.keep_alive = keep_alive

    async def prepare(self, request: web.BaseRequest) -> None:
        """See above."""

    async def write_eof(self) -> None:
        """See above."""


KEEP_ALIVE, CLOSE = Written(True), Written(False)


class Connection(RequestHandler):
    """A connection that remembers who is at the other end: the address and the
    certificate cannot change.
    """

    __slots__ = ("__weakref__", "_peer")

    def __init__(self, server: web.Server, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(server, loop=loop, **_SETTINGS)
        self._peer: tuple[str, bytes | None] | None = None
        # the timer must not keep alive what a closed connection last read
        reference = weakref.ref(self)

        def close_if_silent() -> None:
            silent = reference()
            if silent is None or silent._request_count:
                return
            if silent.transport is not None:
                silent.force_close()
            else:  # it never shook hands: nobody tells it that it has ended
                silent._parser = None

        loop.call_later(FIRST_REQUEST_TIMEOUT, close_if_silent)

    @property
    def peer(self) -> tuple[str, bytes | None]:
        """The address and the certificate (DER) of whoever is at the other end; of
        nobody, once the connection is gone.
        """
        if self._peer is None:
            if self.transport is None:
                return "", None
            address = self.transport.get_extra_info("peername")
            tls = self.transport.get_extra_info("ssl_object")
            self._peer = (
                address[0] if address else "",
                tls.getpeercert(binary_form=True) if tls is not None else None,
            )
        return self._peer

    def connection_lost(self, exc: BaseException | None) -> None:
        """See `RequestHandler`. TLS had half a megabyte for each; and who leaves in the
        middle of an answer leaves what was not read of it.
        """
        in_the_middle = self._current_request is not None
        super().connection_lost(exc)
        if in_the_middle or next(_closed) % MANY_CLOSED == 0:
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
            text = status_text(status)
            head = (
                f"HTTP/1.1 {text}\r\nContent-Type: text/plain;"
                " charset=utf-8\r\nConnection: close\r\n"
            )
            self.transport.write(
                f"{head}Content-Length: {len(text)}\r\n\r\n{text}".encode()
            )
        return CLOSE
