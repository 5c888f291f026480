"""What a client may not make of its streams: sizes that are none, ports without a number, halves that are never whole."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.http.wire import Request
from lifecycle.api.httpstream.spdy import MAX_STREAMS
from lifecycle.api.httpstream.spdy_frames import RST_STREAM, SYN_REPLY, FrameDecoder, FrameEncoder
from lifecycle.api.httpstream.unread import UNREAD
from lifecycle.api.httpstream.websocket import frame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.errors import RuntimeServiceError
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


class Patient(Client):
    """Lets a minute go by between two pieces."""

    async def read(self) -> bytes:
        await asyncio.sleep(60)
        return await super().read()


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
    words = b'unable to parse "65536" as a port: strconv.ParseUint: parsing "65536": value out of range'
    assert answered_ports("65536") == (400, words)
    assert answered_ports("") == (400, b'query parameter "port" cannot be empty')


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


PORTS = 8
PART = UNREAD // 4


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("order", ["fin, rst", "rst", "uploading on", "talking to the errors"])
def test_what_a_port_does_not_read_any_more_takes_no_room_from_other_connections(order: str, failing: bool) -> None:
    """As a server does that answers 413 to a large body and closes; kubectl then ends its half, and resets it."""

    async def main() -> None:
        done: list[int] = []

        async def forward(port: int, streams: Streams) -> None:
            assert streams.stdin is not None
            await anext(streams.stdin)
            done.append(port)
            if failing:
                raise RuntimeServiceError("connection refused")

        response = port_forward.serve(Request("POST", "/portForward", {}, {"upgrade": "SPDY/3.1"}), forward, "p")
        assert response.upgrade is not None
        encoder, pieces = FrameEncoder(), list[bytes]()
        for number in range(PORTS):
            error, data = 4 * number + 1, 4 * number + 3
            headers = {"port": str(80 + number), "requestid": str(number)}
            talk = encoder.data(error, bytes(PART)) if order == "talking to the errors" else b""
            fin, rst = encoder.data(data, b"", fin=True), encoder.rst_stream(data)
            pieces.append(
                encoder.syn_stream(error, {**headers, "streamtype": "error"})
                + talk + encoder.data(error, b"", fin=True)
                + encoder.syn_stream(data, {**headers, "streamtype": "data"})
                + encoder.data(data, b"POST") + encoder.data(data, bytes(PART))
                + (fin if order == "fin, rst" else b"")
            )  # fmt: skip
            pieces += [encoder.ping(number)] * 20  # the server has its turn
            pieces.append(encoder.data(data, bytes(PART)) if order == "uploading on" else rst)
        async with asyncio.timeout(60):
            await response.upgrade(Client(*pieces))
        assert done == [*range(80, 80 + PORTS)]

    run_virtual(main())


def test_a_channel_that_is_not_read_any_more_takes_no_room_from_the_others() -> None:
    async def main() -> None:
        heard: list[int] = []

        async def forward(port: int, streams: Streams) -> None:
            assert streams.stdin is not None
            async for piece in streams.stdin:
                heard.append(len(piece))
                if port == 80:
                    return

        headers = {**UPGRADE, "upgrade": "websocket", "sec-websocket-protocol": "v4.channel.k8s.io"}
        response = port_forward.serve(Request("GET", "/portForward", {"port": ["80,81"]}, headers), forward, "p")
        assert response.upgrade is not None
        much = frame(2, b"\0" + bytes(PART), b"mask")
        async with asyncio.timeout(60):
            await response.upgrade(Client(*[much] * 20, frame(2, b"\2still heard", b"mask")))
        assert heard == [PART, len(b"still heard")]

    run_virtual(main())


def test_a_second_half_of_the_same_kind_is_reset() -> None:
    async def main() -> None:
        heard: list[bytes] = []

        async def forward(port: int, streams: Streams) -> None:
            assert streams.stdin is not None
            heard.extend([piece async for piece in streams.stdin])

        response = port_forward.serve(Request("POST", "/portForward", {}, {"upgrade": "SPDY/3.1"}), forward, "p")
        assert response.upgrade is not None
        encoder, headers = FrameEncoder(), {"port": "80", "requestid": "0"}
        opened = b"".join(
            encoder.syn_stream(number, {**headers, "streamtype": kind}) + encoder.data(number, data, fin=True)
            for number, kind, data in ((1, "data", b"one"), (3, "data", bytes(2 * UNREAD)), (5, "error", b""))
        )
        client = Client(opened)
        await response.upgrade(client)
        assert heard == [b"one"]
        assert [each.stream for each in FrameDecoder().feed(client.heard) if each.kind == RST_STREAM] == [3]

    run_virtual(main())


@pytest.mark.parametrize("kind", ["stdout", "error", "other"])
def test_what_is_sent_where_a_command_only_speaks_takes_no_room_from_its_input(kind: str) -> None:
    async def main() -> None:
        heard: list[bytes] = []

        async def run(streams: Streams) -> int:
            assert streams.stdin is not None
            heard.extend([piece async for piece in streams.stdin])
            return 0

        headers = {"upgrade": "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io"}
        options = remote_command.Options(stdin=True, stdout=True, stderr=False, tty=False)
        response = remote_command.serve(Request("POST", "/exec", {}, headers), options, ("cat",), run)
        assert response.upgrade is not None
        encoder = FrameEncoder()
        opened = b"".join(
            encoder.syn_stream(2 * n + 1, {"streamtype": name})
            + (encoder.data(2 * n + 1, bytes(2 * UNREAD)) if name == kind else b"")
            for n, name in enumerate(("other", "error", "stdout", "stdin"))
        )
        async with asyncio.timeout(60):
            await response.upgrade(Client(opened, encoder.data(7, b"key", fin=True)))
        assert heard == [b"key"]

    run_virtual(main())


@pytest.mark.parametrize("ended", ["reset by the client", "never ended", "full of what nobody reads"])
def test_halves_that_stay_alone_are_given_up_and_refuse_nobody(ended: str) -> None:
    async def main() -> None:
        ports: list[int] = []

        async def forward(port: int, streams: Streams) -> None:
            ports.append(port)

        response = port_forward.serve(Request("POST", "/portForward", {}, {"upgrade": "SPDY/3.1"}), forward, "p")
        assert response.upgrade is not None
        encoder, pieces = FrameEncoder(), list[bytes]()
        for number in range(1, 2 * MAX_STREAMS, 2):
            headers = {"streamtype": "data", "port": "80", "requestid": f"lone {number}"}
            pieces.append(encoder.syn_stream(number, headers))
            if ended == "reset by the client":
                pieces.append(encoder.rst_stream(number))
        if ended == "full of what nobody reads":
            pieces.append(encoder.data(1, bytes(2 * UNREAD)))
        last = 2 * MAX_STREAMS + 1
        whole = [
            encoder.syn_stream(last + 2 * i, {"streamtype": kind, "port": "81", "requestid": "whole"})
            for i, kind in enumerate(port_forward.KINDS)
        ]
        client = Patient(b"".join(pieces), b"".join(whole))
        await response.upgrade(client)
        assert ports == [81]
        lone = [each.stream for each in FrameDecoder().feed(client.heard) if each.kind == RST_STREAM]
        assert len(lone) == MAX_STREAMS

    run_virtual(main())
