"""How long a message of a WebSocket may be."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.httpstream import websocket
from lifecycle.api.httpstream.connection_pair import connection_pair
from lifecycle.api.httpstream.websocket import BINARY, WebSocket


@pytest.mark.parametrize(("size", "read"), [(websocket.MAX_MESSAGE, True), (websocket.MAX_MESSAGE + 1, False)])
def test_a_message_of_more_than_sixteen_mebibytes_is_not_read(size: int, read: bool) -> None:
    assert websocket.MAX_MESSAGE == 16 * 1024 * 1024

    async def main() -> list[int]:
        ours, theirs = connection_pair()
        frame = bytes([0x80 | BINARY, 127]) + size.to_bytes(8, "big") + b"x" * size + bytes([0x88, 0])
        sending = asyncio.create_task(theirs.write(frame))
        found = [len(message) async for message in WebSocket(ours).messages()]
        sending.cancel()
        return found

    assert asyncio.run(main()) == ([size] if read else [])
