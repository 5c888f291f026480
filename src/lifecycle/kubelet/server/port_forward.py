"""`port-forward`: connections to a pod's ports, many over one connection.

Over SPDY the client opens two streams for each connection it has accepted: `error`, for
a sentence if it goes wrong, and `data`. Both carry the port and a request number that
says which belong together. Since 1.31 kubectl puts the same SPDY frames into WebSocket
messages (`SPDY/3.1+portforward.k8s.io`), because some proxies let nothing else through.
The older WebSocket form (`v4.channel.k8s.io`, used by the Python client) has two
channels for each port of the query.

Upstream: `cri-streaming/pkg/streaming/portforward/{httpstream,websocket}.go`,
`apimachinery/pkg/util/proxy/../portforward/tunneling_connection.go`, v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.strconv import parse_uint
from lifecycle.api.http.wire import Connection, Request, Response
from lifecycle.api.httpstream.spdy import MAX_STREAMS, SpdyConnection, SpdyStream
from lifecycle.api.httpstream.unread import Room, Unread
from lifecycle.api.httpstream.websocket import (
    WebSocket,
    WebSocketBytes,
    choose,
    handshake,
    is_websocket,
    offered_protocols,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import Streams
from lifecycle.kubelet.server.plain_text import plain_text
from lifecycle.kubelet.server.remote_command import (
    STREAM_CREATION_TIMEOUT,
    no_common_protocol,
)

PROTOCOL_V1 = "portforward.k8s.io"
TUNNELED = "SPDY/3.1+portforward.k8s.io"
CHANNELS = "v4.channel.k8s.io"

KINDS = ("data", "error")
"""The two streams of a connection."""

MOST_PORTS = 128
"""A channel's number is one byte, and each port has two channels."""

Forward = Callable[[int, Streams], Awaitable[None]]
"""Carries one connection to a port of the pod."""


def serve(request: Request, forward: Forward, where: str) -> Response:
    """The answer to the request. `where` names the pod in what goes wrong."""
    if is_websocket(request):
        protocol = choose(offered_protocols(request), (TUNNELED, CHANNELS))
        if protocol is None:
            return plain_text(403, "")
        if protocol == TUNNELED:

            async def tunneled(connection: Connection) -> None:
                await _serve_spdy(
                    WebSocketBytes(WebSocket(connection), connection), forward, where
                )

            return Response(101, handshake(request, protocol), upgrade=tunneled)
        try:
            ports = _ports(request)
        except ValueError as error:
            return plain_text(400, str(error))

        async def channels(connection: Connection) -> None:
            await _serve_channels(WebSocket(connection), ports, forward, where)

        return Response(101, handshake(request, protocol), upgrade=channels)
    if request.headers.get("upgrade", "").lower() != "spdy/3.1":
        return plain_text(500, "Upgrade request required\n")
    offered = request.headers.get("x-stream-protocol-version", PROTOCOL_V1)
    spoken = [each.strip() for each in offered.split(",")]
    if PROTOCOL_V1 not in spoken:
        return plain_text(403, no_common_protocol(spoken, [PROTOCOL_V1]))

    async def plain(connection: Connection) -> None:
        await _serve_spdy(connection, forward, where)

    headers = {
        "Connection": "Upgrade",
        "Upgrade": "SPDY/3.1",
        "X-Stream-Protocol-Version": PROTOCOL_V1,
    }
    return Response(101, headers, upgrade=plain)


def _ports(request: Request) -> list[int]:
    """Those of the query. Raises ValueError. Upstream: `portforward.BuildV4Options`."""
    texts = [*request.query.get("port", ()), *request.query.get("ports", ())]
    if not texts:
        raise ValueError('query parameter "port" is required')
    ports = []
    for text in texts:
        if not text:
            raise ValueError('query parameter "port" cannot be empty')
        for part in text.split(","):
            try:
                port = parse_uint(part, 16)
            except ValueError as error:
                raise ValueError(
                    f"unable to parse {go_quote(text)} as a port: {error}"
                ) from None
            if port == 0:
                raise ValueError(f"port {go_quote(text)} must be > 0")
            ports.append(port)
    if len(ports) > MOST_PORTS:
        raise ValueError(f"there are channels for {MOST_PORTS} ports")
    return ports


async def _serve_spdy(connection: Connection, forward: Forward, where: str) -> None:
    spdy = SpdyConnection(connection)
    reading = asyncio.create_task(spdy.run())
    pairs: dict[str, _Pair] = {}
    tasks: set[asyncio.Task[None]] = set()

    def begin(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    try:
        async for stream in spdy.streams():
            number, kind = stream.headers.get("requestid", ""), _kind(stream)
            if number not in pairs and kind and len(pairs) < MAX_STREAMS:
                pairs[number] = _Pair(begin(_give_up(pairs, number)))
            if not kind or number not in pairs or kind in pairs[number].streams:
                await stream.reset()  # nobody would read it
                continue
            pair = pairs[number]
            pair.streams[kind] = stream
            if len(pair.streams) == len(KINDS):
                del pairs[number]
                pair.giving_up.cancel()
                data, error = (pair.streams[kind] for kind in KINDS)
                begin(_carry(data, error, forward, where))
    finally:
        for task in (reading, *tasks):
            task.cancel()
        await asyncio.gather(reading, *tasks, return_exceptions=True)
        connection.close()


@dataclass(frozen=True, slots=True)
class _Pair:
    """The streams of one connection, as far as they are there. `giving_up`: who waits
    for the rest of them.
    """

    giving_up: asyncio.Task[None]
    streams: dict[str, SpdyStream] = field(default_factory=dict)


async def _give_up(pairs: dict[str, _Pair], number: str) -> None:
    """A stream that stays alone goes: what it was sent may fill the room of the others.
    Upstream: `monitorStreamPair`, which only forgets it.
    """
    await asyncio.sleep(STREAM_CREATION_TIMEOUT)
    with contextlib.suppress(ConnectionError):
        for stream in pairs.pop(number).streams.values():
            await stream.reset()


def _kind(stream: SpdyStream) -> str:
    """Which of a connection's streams it is; empty for what is none. Upstream:
    `httpStreamReceived`.
    """
    kind = stream.headers.get("streamtype", "")
    return kind if kind in KINDS and _port(stream) else ""


def _port(stream: SpdyStream) -> int:
    """The port that a stream is for; 0 if it does not say one."""
    text = stream.headers.get("port", "")
    if not (text.isascii() and text.isdigit() and len(text) <= len("65535")):
        return 0
    return port if (port := int(text)) < 1 << 16 else 0


async def _carry(
    data: SpdyStream, error: SpdyStream, forward: Forward, where: str
) -> None:
    port = _port(data)
    error.stop_reading()  # it is the client that listens there
    with contextlib.suppress(ConnectionError):
        try:
            await forward(port, Streams(stdin=aiter(data), stdout=data.write))
        except RuntimeServiceError as failure:
            await error.write(
                (
                    f"error forwarding port {port} to pod {where}: {failure.message}"
                ).encode()
            )
        finally:
            data.stop_reading()
        await data.close()
        await error.close()


async def _serve_channels(
    websocket: WebSocket, ports: list[int], forward: Forward, where: str
) -> None:
    """Channel 2·i carries port i, channel 2·i+1 its errors; each begins with the port's
    number, low byte first.
    """
    room = Room()
    inputs = [Unread(room) for _ in ports]

    async def carry(index: int, port: int) -> None:
        try:
            await forward(
                port,
                Streams(
                    aiter(inputs[index]),
                    lambda data: websocket.send(bytes([2 * index]) + data),
                ),
            )
        except RuntimeServiceError as failure:
            text = f"error forwarding port {port} to pod {where}: {failure.message}"
            await websocket.send(bytes([2 * index + 1]) + text.encode())
        finally:
            inputs[index].discard()

    tasks: list[asyncio.Task[None]] = []
    try:
        for index, port in enumerate(ports):
            for channel in (2 * index, 2 * index + 1):
                await websocket.send(bytes([channel]) + port.to_bytes(2, "little"))
            tasks.append(asyncio.create_task(carry(index, port)))
        async for message in websocket.messages():
            if (
                message
                and message[0] % 2 == 0
                and message[0] // 2 < len(ports)
                and message[1:]
            ):
                await inputs[message[0] // 2].feed(message[1:])
    except ConnectionError:
        pass
    finally:
        for queue in inputs:
            queue.end()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await websocket.close()
