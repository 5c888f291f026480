"""Connections to hollow servers from outside their network: whoever asks gets one end
of a pair of sockets, at the other end a hollow server answers.

So what goes over it is real: HTTP, and TLS with the certificate that the pod's program
was given. Within the network nothing has to be: see `network.py`.

Ours.
"""

from __future__ import annotations

import asyncio
import socket
import weakref
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.cri.apis.pod_network import HTTPRequest
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.network.conversation import http_answer
from lifecycle.cri.hollow.network.http_headers import body_of, headers_of
from lifecycle.cri.hollow.process.listening import Server

if TYPE_CHECKING:
    import ssl

    from aiohttp import web
else:
    web = late_import("aiohttp.web")

_Handler = Callable[["web.BaseRequest"], Awaitable["web.StreamResponse"]]


class HollowConnections:
    """Those that are open. Use it on the cluster's loop."""

    def __init__(self) -> None:
        self._beginning: set[asyncio.Task[None]] = set()
        self._servers: weakref.WeakSet[web.Server] = weakref.WeakSet()

    def open(
        self, container: HollowContainer, server: Server, ip: str, port: int
    ) -> socket.socket:
        """A connection to a server of a container; the caller's to close."""
        ours, theirs = socket.socketpair()
        task = asyncio.create_task(
            self._accept(theirs, partial(_answer, container, ip, port), server.tls)
        )
        self._beginning.add(task)
        task.add_done_callback(self._beginning.discard)
        return ours

    async def _accept(
        self, accepted: socket.socket, answer: _Handler, tls: ssl.SSLContext | None
    ) -> None:
        accepted.setblocking(False)
        server = web.Server(answer, handler_cancellation=True, access_log=None)
        self._servers.add(server)
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                server, accepted, ssl=tls
            )
        except OSError:  # it does not trust us, or has gone
            accepted.close()

    async def close(self) -> None:
        """All of them end."""
        for task in self._beginning:
            task.cancel()
        for server in list(self._servers):
            await server.shutdown()


async def _answer(
    container: HollowContainer, ip: str, port: int, request: web.BaseRequest
) -> web.StreamResponse:
    asked = HTTPRequest(
        ip,
        port,
        request.raw_path,
        "https" if request.secure else "http",
        tuple(request.headers.items()),
        request.method,
        await request.read(),
    )
    said = await http_answer(container, asked)
    if not said.status and request.transport is not None:
        request.transport.abort()
    return web.Response(
        status=said.status or 500, headers=headers_of(said), body=body_of(said)
    )
