"""What our transport says of a server that does not answer as HTTP has it: only what might be well next time is tried again."""

from __future__ import annotations

import asyncio
import socket
import struct

import pytest

from lifecycle.api.http.wire import Request
from lifecycle.client.transport_https import ConnectionConfig
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.request.http_transport import HTTPTransport


def failure_of(answer: bytes | None) -> ConnectionFailed:
    """A server that says just this; None: it resets the connection."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        if answer is None:
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            writer.write(answer)
        writer.close()

    async def main() -> ConnectionFailed:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport = HTTPTransport(ConnectionConfig(f"http://127.0.0.1:{port}"))
        try:
            with pytest.raises(ConnectionFailed) as failed:
                await transport.round_trip(Request("GET", "/version", {}, {}, b""))
            return failed.value
        finally:
            await transport.close()
            server.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "kind"),
    [(b"", "eof"), (None, "eof"), (b"good morning\r\n\r\n", "malformed")],
    ids=["hangs up", "resets", "talks nonsense"],
)
def test_a_connection_that_broke_is_another_thing_than_an_answer_that_is_none(answer: bytes | None, kind: str) -> None:
    assert failure_of(answer).kind == kind
