"""The kubelet's port: TLS and HTTP/1.1 in front of its handler.

In an embedded cluster the API server reaches kubelets without a socket; the port is for
those who come from outside, as metrics collectors do with a real node's 10250.

Upstream: `pkg/kubelet/server/server.go` (`ListenAndServeKubeletServer`), v1.36. Left
out: HTTP/2, the read-only port 10255.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.httpstream.upgrade import hand_over
from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    from aiohttp import web
else:
    web = late_import("aiohttp.web")

KUBELET_PORT = 10250


@dataclass(slots=True, frozen=True)
class Listen:
    """Where a kubelet's API is to be had. `tls`: None for plain HTTP. `sock`: bound
    already, in some other network namespace.
    """

    tls: ssl.SSLContext | None = None
    address: str = "127.0.0.1"
    port: int = KUBELET_PORT
    sock: socket.socket | None = None


class NoListener:
    """No socket: the kubelet's API is only to be had in this process."""

    async def start(self) -> int:
        """The port that the node names all the same."""
        return KUBELET_PORT

    async def stop(self) -> None:
        pass


class KubeletListener:
    """Serves a handler on a socket. `listen.tls` asks for client certificates of the
    cluster's authority, and takes none as well.
    """

    def __init__(self, handler: Handler, listen: Listen) -> None:
        self._handler = handler
        self._listen = listen
        self._connections: web.Server | None = None
        self._listener: asyncio.Server | None = None

    async def start(self) -> int:
        """Listen; the port. Raises OSError if it is taken."""
        self._connections = web.Server(
            self._answer, access_log=None, handler_cancellation=True
        )
        listen = self._listen
        where: dict[str, Any] = (
            {"sock": listen.sock}
            if listen.sock is not None
            else {"host": listen.address, "port": listen.port}
        )
        self._listener = await asyncio.get_running_loop().create_server(
            self._connections, ssl=listen.tls, **where
        )
        bound: int = self._listener.sockets[0].getsockname()[1]
        return bound

    async def stop(self) -> None:
        """Stop listening and close every connection."""
        if self._listener is not None:
            self._listener.close()
        if self._connections is not None:
            await self._connections.shutdown(timeout=0.2)

    async def _answer(self, incoming: web.BaseRequest) -> web.StreamResponse:
        transport: Any = incoming.transport
        tls = transport.get_extra_info("ssl_object")
        path, _, query = (
            incoming.raw_path.partition("?")
            if hasattr(incoming, "raw_path")
            else (incoming.path, "", "")
        )
        request = Request(
            incoming.method,
            unquote(path),
            parse_qs(query, keep_blank_values=True),
            {key.lower(): value for key, value in incoming.headers.items()},
            body=await incoming.read(),
            peer_certificate=tls.getpeercert(binary_form=True)
            if tls is not None
            else None,
        )
        response = await self._handler(request)
        if response.upgrade is not None:
            return await self._upgrade(incoming, transport, response)
        if response.stream is not None:
            answer = web.StreamResponse(
                status=response.status, headers=response.headers
            )
            await answer.prepare(incoming)
            async for piece in response.stream:
                encode: Callable[[Any], bytes] = response.encode_frame or bytes
                await answer.write(encode(piece))
            await answer.write_eof()
            return answer
        return web.Response(
            status=response.status, headers=response.headers, body=response.body or b""
        )

    @staticmethod
    async def _upgrade(
        incoming: web.BaseRequest, transport: Any, response: Response
    ) -> web.StreamResponse:
        head = "".join(
            f"{name}: {value}\r\n" for name, value in response.headers.items()
        )
        transport.write(f"HTTP/1.1 101 Switching Protocols\r\n{head}\r\n".encode())
        assert response.upgrade is not None
        protocol = incoming.protocol
        try:
            await hand_over(transport, response.upgrade)
        finally:
            asyncio.get_running_loop().call_soon(protocol.connection_lost, None)
        raise asyncio.CancelledError  # nothing is left to be answered
