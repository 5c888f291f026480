"""Exec and attach over SPDY, for runtimes whose WebSockets cannot say that the input
has ended.

That takes version 5 of the protocol, which containerd 1.6 does not speak: `kubectl exec
-i pod -- cat < file` would wait for ever there. Over SPDY each stream is closed by
itself, and every runtime understands it: until version 5 came, all kubelets talked to
them in this way.

Upstream: `client-go/tools/remotecommand/spdy.go` (`spdyStreamExecutor`), `v4.go`
(`streamProtocolV4.stream`), `apimachinery/pkg/util/httpstream/spdy/roundtripper.go`
(`NewConnection`), v1.36.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

from lifecycle.api.httpstream.spdy import SpdyConnection, SpdyStream
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.exit_code import exit_code
from lifecycle.cri.node_access import open_connection

PROTOCOL = "v4.channel.k8s.io"
READ_SIZE = 1 << 16


class _Dialled:
    """The connection after the upgrade. See `Connection`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(READ_SIZE)
        except OSError:
            return b""

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


async def _upgrade(url: str, host_netns: str) -> _Dialled:
    """Ask for SPDY at `url`. Raises RuntimeServiceError if that is refused."""
    parts = urlsplit(url)
    reader, writer = await open_connection(
        host_netns, parts.hostname or "", parts.port or 80
    )
    head = {
        "Host": parts.netloc,
        "Connection": "Upgrade",
        "Upgrade": "SPDY/3.1",
        "X-Stream-Protocol-Version": PROTOCOL,
        "Content-Length": "0",
    }
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    lines = [
        f"POST {target} HTTP/1.1",
        *(f"{name}: {value}" for name, value in head.items()),
    ]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    try:
        answer = (await reader.readuntil(b"\r\n\r\n")).decode(errors="replace")
    except (asyncio.IncompleteReadError, OSError) as error:
        writer.close()
        raise RuntimeServiceError(
            f"rpc error: code = Unknown desc = error sending request: {error}"
        ) from None
    status = answer.partition("\r\n")[0].partition(" ")[2]
    if not status.startswith("101"):
        writer.close()
        raise RuntimeServiceError(
            f"rpc error: code = Unknown desc = unable to upgrade connection: {status}"
        )
    return _Dialled(reader, writer)


async def run_streams_over_spdy(
    url: str, streams: Streams, tty: bool, host_netns: str = ""
) -> int:
    """Talk until the other side ends; the command's exit code. Raises
    RuntimeServiceError if the stream fails.

    The streams are those that the runtime was told of: stdin if there is one, stderr
    unless there is a terminal.
    """
    connection = await _upgrade(url, host_netns)
    spdy = SpdyConnection(connection)
    reading = asyncio.ensure_future(spdy.run())
    senders: list[asyncio.Future[None]] = []
    try:
        error = await spdy.open({"streamtype": "error"})
        if streams.stdin is not None:
            senders.append(
                asyncio.ensure_future(
                    _send(streams.stdin, await spdy.open({"streamtype": "stdin"}))
                )
            )
        receivers = [
            _receive(await spdy.open({"streamtype": "stdout"}), streams.stdout)
        ]
        if tty:
            sizes = await spdy.open({"streamtype": "resize"})
            if streams.resize is not None:
                senders.append(
                    asyncio.ensure_future(_send(_as_json(streams.resize), sizes))
                )
        else:
            receivers.append(
                _receive(await spdy.open({"streamtype": "stderr"}), streams.stderr)
            )
        await asyncio.gather(*receivers)
        status = b"".join([data async for data in error])
        return exit_code(status) if status else 0
    except ConnectionError as failure:
        raise RuntimeServiceError(
            f"rpc error: code = Unknown desc = {failure}"
        ) from None
    finally:
        for task in (reading, *senders):
            task.cancel()
        await asyncio.gather(reading, *senders, return_exceptions=True)
        connection.close()


async def _send(pieces: AsyncIterator[bytes], stream: SpdyStream) -> None:
    async for data in pieces:
        await stream.write(data)
    await stream.close()


async def _receive(
    stream: SpdyStream, take: Callable[[bytes], Awaitable[None]]
) -> None:
    async for data in stream:
        await take(data)


async def _as_json(sizes: AsyncIterator[tuple[int, int]]) -> AsyncIterator[bytes]:
    async for width, height in sizes:
        yield json.dumps({"Width": width, "Height": height}).encode() + b"\n"
