"""Exec, attach and port forward as a runtime serves them: an HTTP server beside the
gRPC one.

gRPC calls `Exec`, `Attach` and `PortForward` only answer with an address that holds a
token, good for one connection within a minute; whoever holds it may connect. That is
why a runtime's streaming server listens on loopback only.

Upstream: `kubelet/pkg/cri/streaming/server.go` (`GetExec`, `serveExec`),
`request_cache.go` (tokens: 8 characters, one minute, used once). Left out: SPDY.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import WSMsgType, web

from lifecycle.api.httpstream.unread import Unread
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.services import RuntimeService
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.streaming_client import (
    CLOSE,
    ERROR,
    PROTOCOLS,
    RESIZE,
    STDERR,
    STDIN,
    STDOUT,
)

TOKEN_LIFE = 60.0
"""Seconds."""


class StreamingServer:
    """Serves the streams of one runtime on a loopback port."""

    def __init__(self, runtime: RuntimeService) -> None:
        self._runtime = runtime
        self._requests: dict[str, dict[str, Any]] = {}
        self._runner: web.AppRunner | None = None
        self.address = ""

    async def start(self) -> None:
        """Choose a port and listen."""
        app = web.Application()
        app.router.add_route(
            "*", "/{kind:exec|attach|portforward}/{token}", self._serve
        )
        self._runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.address = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    def url_for(self, kind: str, request: dict[str, Any]) -> str:
        """An address good for one connection."""
        token = secrets.token_urlsafe(6)
        self._requests[token] = request
        asyncio.get_running_loop().call_later(
            TOKEN_LIFE, self._requests.pop, token, None
        )
        return f"{self.address}/{kind}/{token}"

    async def _serve(self, http: web.Request) -> web.StreamResponse:
        request = self._requests.pop(http.match_info["token"], None)
        if request is None:
            return web.Response(status=404, text="404 page not found\n")
        socket = web.WebSocketResponse(protocols=PROTOCOLS, max_msg_size=0)
        if not socket.can_prepare(http).ok:
            return web.Response(
                status=400, text="unable to upgrade: only WebSocket is spoken here\n"
            )
        await socket.prepare(http)
        if http.match_info["kind"] == "portforward":
            await self._serve_port(socket, request)
        else:
            await self._serve_command(http.match_info["kind"], socket, request)
        await socket.close()
        return socket

    async def _serve_command(
        self, kind: str, socket: web.WebSocketResponse, request: dict[str, Any]
    ) -> None:
        stdin = Unread()
        sizes: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()

        async def stdout(data: bytes) -> None:
            await socket.send_bytes(bytes([STDOUT]) + data)

        async def stderr(data: bytes) -> None:
            await socket.send_bytes(bytes([STDERR]) + data)

        streams = Streams(
            aiter(stdin) if request.get("stdin") else None,
            stdout,
            stderr,
            until_none(sizes),
        )
        container_id, tty = request.get("container_id", ""), request.get("tty", False)
        if kind == "exec":
            call = self._runtime.exec(
                container_id, tuple(request.get("cmd") or ()), streams, tty
            )
        else:
            call = self._attach(container_id, streams, tty)
        work = asyncio.ensure_future(call)
        reader = asyncio.ensure_future(_read(socket, stdin, sizes))
        await asyncio.wait([work, reader], return_when=asyncio.FIRST_COMPLETED)
        # the client went away: so does an attachment; a command is left to end by
        # itself
        if not work.done():
            work.cancel()
        reader.cancel()
        await asyncio.gather(work, reader, return_exceptions=True)
        if work.cancelled() or socket.closed:
            return
        await socket.send_bytes(bytes([ERROR]) + json.dumps(_status(work)).encode())

    async def _attach(self, container_id: str, streams: Streams, tty: bool) -> int:
        await self._runtime.attach(container_id, streams, tty)
        return 0

    async def _serve_port(
        self, socket: web.WebSocketResponse, request: dict[str, Any]
    ) -> None:
        port = (request.get("port") or [0])[0]
        stdin = Unread()
        name = int(port).to_bytes(2, "little")
        await socket.send_bytes(b"\x00" + name)
        await socket.send_bytes(b"\x01" + name)

        async def stdout(data: bytes) -> None:
            await socket.send_bytes(b"\x00" + data)

        call = self._runtime.port_forward(
            request.get("pod_sandbox_id", ""), port, Streams(aiter(stdin), stdout)
        )
        work = asyncio.ensure_future(call)
        reader = asyncio.ensure_future(_read(socket, stdin, asyncio.Queue()))
        await asyncio.wait([work, reader], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
        reader.cancel()
        await asyncio.gather(work, reader, return_exceptions=True)
        if not work.cancelled() and work.exception() is not None and not socket.closed:
            await socket.send_bytes(b"\x01" + _description(work.exception()).encode())


async def until_none(queue: asyncio.Queue[Any]) -> AsyncIterator[Any]:
    """What is put into a queue, up to the first None."""
    while (item := await queue.get()) is not None:
        yield item


async def _read(
    socket: web.WebSocketResponse,
    stdin: Unread,
    sizes: asyncio.Queue[tuple[int, int] | None],
) -> None:
    async for message in socket:
        if message.type is not WSMsgType.BINARY or not message.data:
            continue
        channel, data = message.data[0], message.data[1:]
        if channel == STDIN and data:
            await stdin.feed(data)
        elif channel == CLOSE and data[:1] == bytes([STDIN]):
            stdin.end()
        elif channel == RESIZE:
            size = json.loads(data)
            sizes.put_nowait((size.get("Width", 0), size.get("Height", 0)))
    stdin.end()


def _description(error: BaseException | None) -> str:
    return str(error).partition(" desc = ")[2] or str(error)


def _status(work: asyncio.Future[int]) -> dict[str, Any]:
    """The `Status` that ends a command."""
    error = work.exception()
    if error is not None:
        message = (
            _description(error)
            if isinstance(error, RuntimeServiceError)
            else str(error)
        )
        return {
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": "InternalError",
            "code": 500,
        }
    code = work.result()
    if not code:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
