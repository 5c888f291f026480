"""`exec` and `attach`: a process' streams over one connection.

The client says in the query which streams it wants, and in a header which protocols it
speaks. Over WebSocket each message begins with a byte: 0 is stdin, 1 stdout, 2 stderr,
3 the final status, 4 the terminal's size, and 255 (version
5) closes the stream named by the next byte – before, a client could not say that its
   stdin had ended. Over SPDY each of
the same five is a stream, named by its `streamType` header.

How the command ended is told last, as a `Status`: that is where kubectl has the exit
code from.

Upstream:
`cri-streaming/pkg/streaming/remotecommand/{httpstream,websocket,exec,attach}.go`,
`client-go/tools/remotecommand/v5.go`, v1.36. Left out: SPDY's protocols 1 to 3.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from lifecycle.api import fast_json
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Connection, Object, Request, Response
from lifecycle.api.httpstream.spdy import SpdyConnection, SpdyStream
from lifecycle.api.httpstream.unread import Unread
from lifecycle.api.httpstream.websocket import (
    WebSocket,
    choose,
    handshake,
    is_websocket,
    offered_protocols,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import Streams
from lifecycle.kubelet.server.plain_text import plain_text

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE_CHANNEL = 0, 1, 2, 3, 4, 255
WEBSOCKET_PROTOCOLS = (
    "v5.channel.k8s.io",
    "v4.channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "channel.k8s.io",
    "base64.channel.k8s.io",
)
"""Those of the last two names, and who names none, hear of the end only if it was a bad
one, and in plain words.
"""
SPDY_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
STREAM_CREATION_TIMEOUT = 30.0
LONGEST_SIZE = 1024
"""Bytes of a message about the terminal's size: more are about something else."""

T = TypeVar("T")
Run = Callable[[Streams], Awaitable[int | None]]
"""Runs the command, or attaches; the exit code, None if there is none."""


@dataclass(slots=True, frozen=True)
class Options:
    """Which streams the client wants."""

    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool


def new_options(request: Request) -> Options:
    """From the query. Raises ValueError if it asks for no stream at all.

    Upstream takes only `1` here, which is what an API server sends; whoever asks the
    kubelet itself may say more.
    """

    def flag(*names: str) -> bool:
        return any(bool_parameter(request.query, name) for name in names)

    tty = flag("tty")
    stdin, stdout, stderr = (
        flag("input", "stdin"),
        flag("output", "stdout"),
        flag("error", "stderr"),
    )
    if tty and stderr:
        # with a terminal there is one stream out, whatever the client asks for
        stderr = False
    if not (stdin or stdout or stderr):
        raise ValueError("you must specify at least 1 of stdin, stdout, stderr")
    return Options(stdin, stdout, stderr, tty)


def exit_status(code: int | None, command: tuple[str, ...]) -> Object:
    """How it ended, as a `Status`."""
    if not code:
        return {"metadata": {}, "status": "Success"}
    command_line = " ".join(command)
    return {
        "metadata": {},
        "status": "Failure",
        "message": (
            "command terminated with non-zero exit code: error executing command"
            f" [{command_line}], exit code {code}"
        ),
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }


def failed_status(message: str) -> Object:
    """It could not be run at all."""
    text = f"error executing command in container: {message}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"Internal error occurred: {text}",
        "reason": "InternalError",
        "details": {"causes": [{"message": text}]},
        "code": 500,
    }


def serve(
    request: Request, options: Options, command: tuple[str, ...], run: Run
) -> Response:
    """The answer to the request: 101 and the streams, or what is wrong with the
    request.
    """
    if is_websocket(request):
        protocol = choose(offered_protocols(request), WEBSOCKET_PROTOCOLS)
        if protocol is None:
            return plain_text(403, "")

        async def over_websocket(connection: Connection) -> None:
            websocket = WebSocket(connection)
            await _WebSocketCommand(websocket, options, protocol).serve(command, run)

        return Response(101, handshake(request, protocol), upgrade=over_websocket)
    if request.headers.get("upgrade", "").lower() != "spdy/3.1":
        return plain_text(500, "Upgrade request required\n")
    channels = [
        v.strip()
        for v in request.headers.get("x-stream-protocol-version", "").split(",")
    ]
    version = next((name for name in SPDY_PROTOCOLS if name in channels), None)
    if version is None:
        # said by the handshake, and once more by whoever asked for it
        return plain_text(403, 2 * no_common_protocol(channels, SPDY_PROTOCOLS))

    async def over_spdy(connection: Connection) -> None:
        await _serve_spdy(connection, options, command, run)

    headers = {
        "Connection": "Upgrade",
        "Upgrade": "SPDY/3.1",
        "X-Stream-Protocol-Version": version,
    }
    return Response(101, headers, upgrade=over_spdy)


def no_common_protocol(offered: Iterable[str], accepted: Iterable[str]) -> str:
    """Upstream: `httpstream.Handshake`."""
    return (
        "unable to upgrade: unable to negotiate protocol: client supports"
        f" [{' '.join(offered)}], server accepts [{' '.join(accepted)}]\n"
    )


async def _ended(command: tuple[str, ...], run: Run, streams: Streams) -> Object:
    try:
        return exit_status(await run(streams), command)
    except RuntimeServiceError as error:
        return failed_status(
            error.message
        )  # a streaming server does not speak in words of gRPC


async def _items(queue: asyncio.Queue[T | None]) -> AsyncIterator[T]:
    while (item := await queue.get()) is not None:
        yield item


class _WebSocketCommand:
    """One command over a websocket. `protocol`: as agreed; empty: none was named."""

    def __init__(self, websocket: WebSocket, options: Options, protocol: str) -> None:
        self._websocket = websocket
        self._options = options
        self._base64 = "base64" in protocol
        self._structured = protocol.startswith("v")
        self._stdin = Unread()
        self._sizes: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue(1)

    async def serve(self, command: tuple[str, ...], run: Run) -> None:
        """Until the command ends or the client goes."""
        options, websocket = self._options, self._websocket
        streams = Streams(
            stdin=aiter(self._stdin) if options.stdin else None,
            stdout=lambda data: self._send(STDOUT, data),
            stderr=lambda data: self._send(STDERR, data),
            resize=_items(self._sizes) if options.tty else None,
        )
        running = asyncio.create_task(_ended(command, run, streams))
        reading = asyncio.create_task(self._read())
        try:
            with contextlib.suppress(ConnectionError):
                if options.stdout:  # an empty message: the streams are there
                    await self._send(STDOUT, b"")
                await asyncio.wait(
                    [running, reading], return_when=asyncio.FIRST_COMPLETED
                )
                if running.done():
                    await self._send_status(running.result())
                    await websocket.close()
        finally:
            running.cancel()
            reading.cancel()
            await asyncio.gather(running, reading, return_exceptions=True)

    async def _send(self, channel: int, data: bytes) -> None:
        if self._base64:  # as text: the channel is a digit
            text = str(channel).encode() + base64.b64encode(data)
            await self._websocket.send(text, text=True)
        else:
            await self._websocket.send(bytes([channel]) + data)

    async def _send_status(self, status: Object) -> None:
        if self._structured:
            await self._send(ERROR, fast_json.dumps(status))
        elif status["status"] != "Success":
            await self._send(ERROR, status["message"].encode())

    def _received(self, message: bytes) -> tuple[int, bytes]:
        """Channel and data."""
        if not message:
            return STDIN, b""
        if not self._base64:
            return message[0], message[1:]
        try:
            return message[0] - ord("0"), base64.b64decode(message[1:])
        except ValueError:
            return STDIN, b""

    async def _read(self) -> None:
        async for message in self._websocket.messages():
            channel, data = self._received(message)
            if channel == STDIN and data and self._options.stdin:
                await self._stdin.feed(data)
            elif channel == RESIZE:
                size = terminal_size(data)
                if size:
                    if self._sizes.full():  # only the last one counts
                        self._sizes.get_nowait()
                    self._sizes.put_nowait(size)
            elif channel == CLOSE_CHANNEL and data == bytes([STDIN]):
                self._stdin.end()
        self._stdin.end()


def terminal_size(data: bytes) -> tuple[int, int] | None:
    """`{"Width":80,"Height":24}` as (80, 24); None for what is no size. Upstream:
    `remotecommand.TerminalSize`, whose numbers have 16 bits.
    """
    if len(data) > LONGEST_SIZE:
        return None
    try:
        size = fast_json.loads(data)
        width, height = size["Width"], size["Height"]
    except (fast_json.JSONDecodeError, KeyError, TypeError):
        return None
    if all(type(each) is int and 0 <= each < 1 << 16 for each in (width, height)):
        return width, height
    return None


async def _serve_spdy(
    connection: Connection, options: Options, command: tuple[str, ...], run: Run
) -> None:
    spdy = SpdyConnection(connection)
    reading = asyncio.create_task(spdy.run())
    expected = {"error"} | {
        name
        for name, there in {
            "stdin": options.stdin,
            "stdout": options.stdout,
            "stderr": options.stderr,
            "resize": options.tty,
        }.items()
        if there
    }
    read = expected & {"stdin", "resize"}
    opened: dict[str, SpdyStream] = {}
    try:
        async with asyncio.timeout(STREAM_CREATION_TIMEOUT):
            async for stream in spdy.streams():
                name = stream.headers.get("streamtype", "")
                for other in (opened.get(name), None if name in read else stream):
                    if other is not None:
                        other.stop_reading()
                opened[name] = stream
                if expected <= opened.keys():
                    break
        if not expected <= opened.keys():
            return
        streams = Streams(stdin=aiter(opened["stdin"]) if options.stdin else None)
        if options.stdout:
            streams.stdout = opened["stdout"].write
        if options.stderr:
            streams.stderr = opened["stderr"].write
        if options.tty:
            streams.resize = _sizes(opened["resize"])
        running = asyncio.create_task(_ended(command, run, streams))
        try:
            await asyncio.wait([running, reading], return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                for name in ("stdout", "stderr"):
                    if name in opened:
                        await opened[name].close()
                await opened["error"].write(fast_json.dumps(running.result()))
                await opened["error"].close()
                for name in ("stdin", "resize"):
                    if name in opened:
                        await opened[name].reset()
                await asyncio.wait([reading], timeout=1.0)  # let the client close first
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
    except (TimeoutError, ConnectionError):
        pass
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        connection.close()


async def _sizes(stream: SpdyStream) -> AsyncIterator[tuple[int, int]]:
    async for data in stream:
        for line in data.splitlines():
            size = terminal_size(line)
            if size:
                yield size
