"""What the kubelet does on a real node without asking a runtime: connect to pods for
probes, and read log files.

Upstream: `pkg/probe/tcp`, `pkg/probe/http`, `cri-client/pkg/logs/logs.go` (which is
woken by inotify).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.auto_headers import AUTO_HEADERS
from lifecycle.api.late_import import late_import
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")

MAX_BODY = 10 * 1024
"""Bytes of an answer that anybody looks at. Upstream: `maxRespBodyLength`."""
LOG_POLL = 0.1
"""Seconds between looks at a growing log: files on a real node do not call back."""


def connector_in(host_netns: str) -> aiohttp.TCPConnector | None:
    """Makes a client's sockets in a network namespace; None, the default, if the path
    is empty.
    """
    if not host_netns:
        return None

    def make(info: Any) -> socket.socket:
        from lifecycle.cri.sandbox.network import in_network  # Linux only

        with in_network(host_netns):
            return socket.socket(*info[:3])

    return aiohttp.TCPConnector(socket_factory=make)


async def open_connection(
    host_netns: str, host: str, port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A TCP connection out of a network namespace; ours, if the path is empty. Raises
    OSError.
    """
    if not host_netns:
        return await asyncio.open_connection(host, port)
    from lifecycle.cri.sandbox.network import in_network

    with in_network(host_netns):
        sock = socket.socket()
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, (host, port))
    except BaseException:
        sock.close()
        raise
    return await asyncio.open_connection(sock=sock)


@contextlib.asynccontextmanager
async def reachable_from_here(
    host_netns: str, host: str, port: int
) -> AsyncIterator[str]:
    """The address of a port of a network namespace for a library that makes its
    sockets itself, and so would make them in ours: of a Unix socket that passes on
    what comes. Our own namespace's ports are reached as they are.
    """
    if not host_netns:
        yield join_host_port(host, port)
        return

    async def pass_on(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            answers, there = await open_connection(host_netns, host, port)
        except OSError:
            writer.close()
            return
        try:
            copies = [_copy(reader, there), _copy(answers, writer)]
            await asyncio.gather(*copies)
        finally:
            there.close()
            writer.close()

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/s"
        relays: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            relays.add(asyncio.create_task(pass_on(reader, writer)))

        server = await asyncio.start_unix_server(accept, path)
        try:
            yield f"unix:{path}"
        finally:
            server.close()
            for relay in relays:
                relay.cancel()
            await asyncio.gather(*relays, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()


async def read_at_most(content: aiohttp.StreamReader, size: int) -> bytes:
    """The beginning of a body."""
    data = b""
    while len(data) < size and (piece := await content.read(size - len(data))):
        data += piece
    return data


class NodeAccess:
    """Implements `PodNetwork` and `LogFiles` with the machine's own files and network,
    or that of `host_netns`.
    """

    host_netns = ""
    """The path of the node's network namespace, where that is not ours."""

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """By connecting."""
        try:
            _, writer = await asyncio.wait_for(
                open_connection(self.host_netns, ip, port), timeout or None
            )
        except TimeoutError:
            return f"dial tcp {ip}:{port}: i/o timeout"
        except OSError as error:
            why = (
                os.strerror(error.errno) if error.errno else str(error)
            )  # an event loop may have its own words
            return f"dial tcp {ip}:{port}: connect: {why.lower()}"
        writer.close()
        return ""

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        """By asking. Whose certificate it is nobody looks at, nor what comes after the
        first ten kilobytes.
        """
        url = request.url
        try:
            limit = aiohttp.ClientTimeout(total=timeout or None)
            connector = connector_in(self.host_netns)
            async with (
                aiohttp.ClientSession(
                    timeout=limit, connector=connector, skip_auto_headers=AUTO_HEADERS
                ) as session,
                session.request(
                    request.method,
                    url,
                    headers=request.headers,
                    data=request.body or None,
                    ssl=False,
                    allow_redirects=False,
                ) as answer,
            ):
                body = await read_at_most(answer.content, MAX_BODY)
                return HTTPAnswer(
                    answer.status,
                    body.decode(errors="replace"),
                    answer.headers.get("Location", ""),
                )
        except TimeoutError:
            why = (
                "context deadline exceeded (Client.Timeout exceeded while awaiting"
                " headers)"
            )
            return HTTPAnswer(0, f'Get "{url}": {why}')
        except aiohttp.ClientConnectorSSLError:
            return HTTPAnswer(0, f'Get "{url}": {NO_TLS}')
        except (aiohttp.ClientError, OSError):
            why = await self.tcp_connect(request.host, request.port, timeout) or "EOF"
            return HTTPAnswer(0, f'Get "{url}": {why}')

    def read_log(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        """The file."""
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(size)

    def log_size(self, path: str) -> int:
        """As the file system says."""
        return os.stat(path).st_size

    async def log_grown(self, path: str, size: int) -> None:
        """Looks now and then."""
        while True:
            file = Path(path)
            if file.exists() and file.stat().st_size > size:  # noqa: ASYNC240 - a stat does not block
                return
            await asyncio.sleep(LOG_POLL)
