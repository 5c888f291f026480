"""A log over a WebSocket: for browsers, which have no other way to be told more.

A client that asks to upgrade gets what it asked for in messages, as it comes, and a
goodbye at its end. It may name how: `binary.k8s.io`, or `base64.binary.k8s.io` for
those that can only take text; who names none gets bytes.

Upstream: `apimachinery/pkg/util/httpstream/wsstream/stream.go` (`Reader`,
`NewDefaultReaderProtocols`), `apiserver/pkg/endpoints/handlers/responsewriters`
(`StreamObject`), v1.36. Left out: the timeout of an idle reader, which upstream leaves
unset, too.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator

from lifecycle.api.http.wire import Connection, Request, Response
from lifecycle.api.httpstream.websocket import (
    WebSocket,
    choose,
    handshake,
    is_websocket,
    offered_protocols,
)
from lifecycle.apiserver.http.frames import encoded_frame

BINARY_PROTOCOL, BASE64_PROTOCOL = "binary.k8s.io", "base64.binary.k8s.io"


async def _pieces(response: Response) -> AsyncIterator[bytes]:
    if response.stream is None:
        if response.body:
            yield response.body
        return
    async for frame in response.stream:
        yield (
            await encoded_frame(response.encode_frame, frame)
            if response.encode_frame is not None
            else frame.encoded or b""
        )


def over_websocket(request: Request, response: Response) -> Response:
    """The same answer over a WebSocket, if that was asked for; else as it is. 403 if
    none of the named protocols is known.
    """
    if response.status != 200 or not is_websocket(request):
        return response
    protocol = choose(offered_protocols(request), (BINARY_PROTOCOL, BASE64_PROTOCOL))
    if protocol is None:
        return Response(403, {"Content-Type": "text/plain"}, body=b"")

    async def upgrade(connection: Connection) -> None:
        websocket = WebSocket(connection)
        copying = asyncio.create_task(_copy(websocket, response, protocol))
        listening = asyncio.create_task(_until_closed(websocket))
        try:
            await asyncio.wait(
                [copying, listening], return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            copying.cancel()
            listening.cancel()
            await asyncio.gather(copying, listening, return_exceptions=True)

    return Response(101, handshake(request, protocol), upgrade=upgrade)


async def _copy(websocket: WebSocket, response: Response, protocol: str) -> None:
    with contextlib.suppress(ConnectionError):
        await websocket.send(b"")  # it is there, however long nothing is written
        async for piece in _pieces(response):
            if protocol == BASE64_PROTOCOL:
                await websocket.send(base64.b64encode(piece), text=True)
            else:
                await websocket.send(piece)
        await websocket.close()


async def _until_closed(websocket: WebSocket) -> None:
    async for _ in websocket.messages():
        pass
