"""What a client may not make of its streams: sizes that are none, ports without a number, halves that are never whole."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.clock import run_virtual
from lifecycle.api.spdy_frames import RST_STREAM, SYN_REPLY, FrameDecoder, FrameEncoder
from lifecycle.api.websocket import frame
from lifecycle.api.wire import Request
from lifecycle.cri.apis.streams import Streams
from lifecycle.kubelet.server import port_forward, remote_command
from lifecycle.kubelet.server.remote_command import terminal_size

UPGRADE = {"connection": "Upgrade", "sec-websocket-key": "x"}


class Client:
    """Sends what it was given, then stays; keeps what it hears."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces, self.heard = list(pieces), b""

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        return self._pieces.pop(0) if self._pieces else await asyncio.sleep(1, b"")

    async def write(self, data: bytes) -> None:
        self.heard += data

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (b'{"Width":80,"Height":24}', (80, 24)), (b'{"Width":0,"Height":65535}', (0, 65535)),
        (b'{"Width":80,"Height":65536}', None), (b'{"Width":-1,"Height":24}', None), (b'{"Width":80}', None),
        (b'{"Width":1e999,"Height":24}', None), (b'{"Width":8.5,"Height":24}', None), (b"[]", None), (b"80", None),
        (b'{"Width":true,"Height":24}', None), (b'{"Width":"80","Height":24}', None),
        (b'{"Width":80,"Height":24}' + b" " * 1024, None), (b"[" * 1000, None),
    ],
)  # fmt: skip
def test_a_size_is_two_numbers_of_16_bits(text: bytes, size: tuple[int, int] | None) -> None:
    assert terminal_size(text) == size


def test_of_a_thousand_sizes_that_nobody_looks_at_the_last_one_counts() -> None:
    async def main() -> None:
        seen: list[tuple[int, int]] = []

        async def run(streams: Streams) -> int:
            await asyncio.sleep(0.5)
            assert streams.resize is not None
            seen.append(await anext(streams.resize))
            return 0

        request = Request("GET", "/exec", {}, {**UPGRADE, "upgrade": "websocket"})
        options = remote_command.Options(stdin=False, stdout=True, stderr=False, tty=True)
        response = remote_command.serve(request, options, ("sh",), run)
        assert response.upgrade is not None
        sizes = [frame(2, b"\4" + b'{"Width":%d,"Height":24}' % width, b"mask") for width in range(1000)]
        await response.upgrade(Client(b"".join(sizes)))
        assert seen == [(999, 24)]

    run_virtual(main())


def answered_ports(query: str) -> tuple[int, bytes | None]:
    headers = {**UPGRADE, "upgrade": "websocket", "sec-websocket-protocol": "v4.channel.k8s.io"}

    async def forward(port: int, streams: Streams) -> None: ...

    response = port_forward.serve(Request("GET", "/portForward", {"port": [query]}, headers), forward, "p")
    return response.status, response.body


def test_there_are_channels_for_128_ports() -> None:
    assert answered_ports(",".join(["80"] * 128)) == (101, None)
    assert answered_ports(",".join(["80"] * 129)) == (400, b"there are channels for 128 ports")
    assert answered_ports("65536") == (400, b"port must be between 1 and 65535")
    assert answered_ports("") == (400, b'query parameter "port" is required')


@pytest.mark.parametrize(
    ("headers", "accepted"),
    [
        ({"streamtype": "data", "port": "80", "requestid": "0"}, True),
        ({"streamtype": "other", "port": "80", "requestid": "0"}, False),
        ({"streamtype": "data", "port": "65536", "requestid": "0"}, False),
        ({"streamtype": "data", "port": "0", "requestid": "0"}, False),
        ({"streamtype": "data", "port": "x", "requestid": "0"}, False),
        ({"streamtype": "data", "port": "9" * 5000, "requestid": "0"}, False),
        ({"streamtype": "data", "requestid": "0"}, False),
    ],
)
def test_a_stream_without_a_kind_or_a_port_is_reset(headers: dict[str, str], accepted: bool) -> None:
    async def main() -> None:
        ports: list[int] = []

        async def forward(port: int, streams: Streams) -> None:
            ports.append(port)

        request = Request("POST", "/portForward", {}, {"upgrade": "SPDY/3.1"})
        response = port_forward.serve(request, forward, "p")
        assert response.upgrade is not None
        encoder = FrameEncoder()
        error = encoder.syn_stream(1, {"streamtype": "error", "port": "80", "requestid": "0"})
        client = Client(error + encoder.syn_stream(3, headers))
        await response.upgrade(client)
        kinds = [each.kind for each in FrameDecoder().feed(client.heard) if each.kind]
        assert kinds == [SYN_REPLY, SYN_REPLY] + ([] if accepted else [RST_STREAM])
        assert ports == ([80] if accepted else [])

    run_virtual(main())
