"""WebSocket, as much of RFC 6455 as Kubernetes uses: frames, and the server's side of
the handshake.

After the handshake there are frames: masked when they come from the client, text or
binary, possibly in pieces, and pings that want pongs. What the messages mean is agreed
by name, in `Sec-WebSocket-Protocol`.

Upstream: `apimachinery/pkg/util/httpstream/wsstream/conn.go`, RFC 6455. Left out:
extensions (compression).
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
from collections.abc import AsyncIterator, Callable, Sequence

from lifecycle.api.http.wire import Connection, Request
from lifecycle.api.loop.pauses import Pauses

_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
MAX_MESSAGE = 1 << 24


def is_websocket(request: Request) -> bool:
    """Whether the client asks for one."""
    return (
        "upgrade" in request.headers.get("connection", "").lower()
        and request.headers.get("upgrade", "").lower() == "websocket"
    )


def offered_protocols(request: Request) -> list[str]:
    """What the client can speak, most wanted first."""
    return [
        name.strip()
        for name in request.headers.get("sec-websocket-protocol", "").split(",")
        if name.strip()
    ]


def choose(offered: Sequence[str], known: Sequence[str]) -> str | None:
    """The first offered one that is known. Empty: nothing was offered; None: nothing
    fits.
    """
    if not offered:
        return ""
    return next((name for name in offered if name in known), None)


def accept_key(key: str) -> str:
    """What only a server that speaks WebSocket answers to a client's key."""
    digest = hashlib.sha1(key.encode() + _MAGIC, usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def handshake(request: Request, protocol: str) -> dict[str, str]:
    """The headers of the 101 answer."""
    headers = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Accept": accept_key(
            request.headers.get("sec-websocket-key", "")
        ),
    }
    return {**headers, "Sec-WebSocket-Protocol": protocol} if protocol else headers


def frame(kind: int, payload: bytes, mask: bytes = b"") -> bytes:
    """One whole message. `mask`: four bytes of a client's choice; servers have none."""
    size, masked = len(payload), 0x80 if mask else 0
    if size < 126:
        head = bytes([0x80 | kind, masked | size])
    elif size < 1 << 16:
        head = bytes([0x80 | kind, masked | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | kind, masked | 127]) + size.to_bytes(8, "big")
    return head + mask + (unmasked(payload, mask) if mask else payload)


def unmasked(payload: bytes, mask: bytes) -> bytes:
    """XOR with the client's four bytes, over and over."""
    size = len(payload)
    repeated = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")).to_bytes(
        size, "big"
    )


class WebSocket:
    """Messages over a connection that has been upgraded. `new_mask` is what a client
    masks each frame with. `closed_by_peer`: the other side has said goodbye.
    """

    def __init__(
        self, connection: Connection, new_mask: Callable[[], bytes] = bytes
    ) -> None:
        self._connection = connection
        self._new_mask = new_mask
        self.closed_by_peer = False
        self._buffer = bytearray()
        self._closed = False

    async def messages(self) -> AsyncIterator[bytes]:
        """Messages, until either side closes. Pings are answered on the way."""
        whole = bytearray()
        pauses = Pauses()  # a hundred thousand frames may come in one piece
        while True:
            await pauses.pause()
            head = await self._take(2)
            if not head:
                return
            final, kind, size = head[0] & 0x80, head[0] & 0x0F, head[1] & 0x7F
            if size > 125:
                size = int.from_bytes(await self._take(2 if size == 126 else 8), "big")
            if size + len(whole) > MAX_MESSAGE:
                await self.close(1009)
                return
            mask = await self._take(4) if head[1] & 0x80 else b""
            payload = await self._take(size)
            if len(payload) < size:
                return
            if mask:
                payload = unmasked(payload, mask)
            if kind == CLOSE:
                self.closed_by_peer = True
                await self.close(int.from_bytes(payload[:2], "big") or 1000)
                return
            if kind == PING:
                await self._write(PONG, payload)
            elif kind in (CONTINUATION, TEXT, BINARY):
                whole += payload
                if final:
                    yield bytes(whole)
                    whole.clear()

    async def send(self, message: bytes, *, text: bool = False) -> None:
        """One message. Raises ConnectionError when nobody listens."""
        if self._closed:
            raise ConnectionResetError("the websocket is closed")
        await self._write(TEXT if text else BINARY, message)

    async def close(self, code: int = 1000) -> None:
        """Say goodbye; again does no harm."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(ConnectionError):
                await self._write(CLOSE, code.to_bytes(2, "big"))

    async def _write(self, kind: int, payload: bytes) -> None:
        await self._connection.write(frame(kind, payload, self._new_mask()))

    async def _take(self, count: int) -> bytes:
        buffer = self._buffer
        while len(buffer) < count:
            data = await self._connection.read()
            if not data:
                return b""
            buffer += data
        taken = bytes(buffer[:count])
        del buffer[:count]
        return taken


class WebSocketBytes:
    """A websocket as a plain connection: message borders mean nothing. What tunnels
    SPDY through it.
    """

    def __init__(self, websocket: WebSocket, connection: Connection) -> None:
        self._websocket, self._connection = websocket, connection
        self._messages = websocket.messages()

    async def read(self) -> bytes:
        """The next message's bytes; empty at the end."""
        async for message in self._messages:
            if message:
                return message
        return b""

    async def write(self, data: bytes) -> None:
        """As one binary message."""
        await self._websocket.send(data)

    def close(self) -> None:
        """Close what is below."""
        self._connection.close()
