"""A process' streams over one WebSocket: the client's half of `exec`.

Each message begins with the number of a channel: 0 is stdin, 1 stdout, 2 stderr, 3 the
final status; 255 closes the channel named by the byte after it. How the command ended
is told last, as a `Status`.

A server that does not open a WebSocket is asked once more in the way that was usual
before, with POST and SPDY: what it refuses then is what is printed.

Upstream: `client-go/tools/remotecommand/{websocket,fallback,v4,v5,errorstream}.go`,
`apimachinery/pkg/util/httpstream/spdy/roundtripper.go` (`NewConnection`), v1.36. Left
out: SPDY itself, which servers since 1.30 need no more; pings.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, Response
from lifecycle.api.httpstream.connection_pair import connected
from lifecycle.api.httpstream.websocket import WebSocket
from lifecycle.api.httpstream.websocket_client import (
    agreed_protocol,
    client_websocket,
    opening_headers,
)
from lifecycle.kubectl.failures import CodeExitError, CommandError
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session

PROTOCOL = "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, ERROR, CLOSE_CHANNEL = 0, 1, 2, 3, 255
SPDY_HEADERS = {
    "connection": "Upgrade",
    "upgrade": "SPDY/3.1",
    "x-stream-protocol-version": ", ".join(
        [f"v{version}.channel.k8s.io" for version in (5, 4, 3, 2)]
    ),
}
_BROKEN = "error stream protocol error: "


@dataclass(slots=True, frozen=True)
class LocalStreams:
    """This side of the streams. `stdin` None: the command has none."""

    stdin: AsyncIterator[bytes] | None
    stdout: Callable[[bytes], object]
    stderr: Callable[[bytes], object]


async def run_remote_command(
    session: Session, path: str, query: Mapping[str, str | list[str]], io: LocalStreams
) -> None:
    """Run what `query` says at `path`, until it ends. Raises CodeExitError if it ends
    badly, CommandError if it cannot be run.
    """
    headers = opening_headers([PROTOCOL])
    response = await _ask(session, "GET", path, query, headers)
    if agreed_protocol(headers, response) != PROTOCOL or response.upgrade is None:
        raise await _refusal(session, path, query)
    async with connected(response.upgrade) as connection:
        status = await _stream(client_websocket(connection), io)
    error = decoded(status)
    if error is not None:
        raise error


async def _ask(
    session: Session,
    method: str,
    path: str,
    query: Mapping[str, str | list[str]],
    headers: Mapping[str, str],
) -> Response:
    request = session.client.new_request(
        method, path, query=query, accept=JSON_OR_ANYTHING, accepts_object=False
    )
    request.headers = {**request.headers, **headers}
    return await session.client.transport.round_trip(request)


async def _refusal(
    session: Session, path: str, query: Mapping[str, str | list[str]]
) -> CommandError:
    response = await _ask(session, "POST", path, query, SPDY_HEADERS)
    if response.upgrade is not None:
        async with connected(response.upgrade):
            return CommandError("unable to upgrade connection: the server speaks SPDY")
    document = response.obj
    if document is None:
        with contextlib.suppress(fast_json.JSONDecodeError):
            document = fast_json.loads(response.body or b"")
    text = (response.body or b"").decode(errors="replace").strip()
    if isinstance(document, dict) and document.get("kind") == "Status":
        text = str(document.get("message", ""))
    return CommandError(f"unable to upgrade connection: {text}")


async def _stream(websocket: WebSocket, io: LocalStreams) -> bytes:
    """What came on the error channel. Raises CommandError if the connection breaks."""
    sending = asyncio.create_task(_send(websocket, io.stdin))
    status = b""
    try:
        async for message in websocket.messages():
            channel, data = message[:1], message[1:]
            if not data:
                continue
            if channel[0] == STDOUT:
                io.stdout(data)
            elif channel[0] == STDERR:
                io.stderr(data)
            elif channel[0] == ERROR:
                status += data
    except ConnectionError as error:
        raise CommandError(f"error reading from error stream: {error}") from None
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    if not status and not websocket.closed_by_peer:
        raise CommandError(
            "error reading from error stream: next reader: websocket: close 1006"
            " (abnormal closure): unexpected EOF"
        )
    return status


async def _send(websocket: WebSocket, stdin: AsyncIterator[bytes] | None) -> None:
    if stdin is None:
        return
    with contextlib.suppress(ConnectionError):
        async for piece in stdin:
            await websocket.send(bytes([STDIN]) + piece)
        await websocket.send(bytes([CLOSE_CHANNEL, STDIN]))


def decoded(message: bytes) -> CommandError | None:
    """What the final status means; None if all went well."""
    if not message:
        return None
    try:
        status: Object = fast_json.loads(message)
        how = status.get("status", "")
    except (fast_json.JSONDecodeError, AttributeError) as error:
        text = message.decode(errors="replace")
        return CommandError(f"{_BROKEN}{error} in {go_quote(text)}")
    if how == "Success":
        return None
    if how != "Failure":
        return CommandError(f"{_BROKEN}unknown error")
    if status.get("reason") != "NonZeroExitCode":
        return CommandError(str(status.get("message", "")))
    if status.get("details") is None:
        return CommandError(f"{_BROKEN}details must be set")
    for cause in status["details"].get("causes") or ():
        if cause.get("reason") == "ExitCode":
            text = str(cause.get("message", ""))
            if not (text.isascii() and text.isdigit() and int(text) < 256):
                return CommandError(
                    f"{_BROKEN}invalid exit code value {go_quote(text)}"
                )
            return CodeExitError(int(text))
    return CommandError(f"{_BROKEN}no ExitCode cause given")
