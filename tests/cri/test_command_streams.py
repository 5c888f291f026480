"""What is said over a WebSocket while a command runs: each message on its stream, and how it ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiohttp import WSMessage, WSMsgType, web

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.exit_code import exit_code
from lifecycle.cri.streaming_client import ProtocolNotSpoken, run_streams

SUCCESS = b'{"status":"Success"}'
SEVEN = b'{"status":"Failure","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}}'


async def spoken(
    sent: Sequence[bytes | str], streams: Streams, protocols: Sequence[str] = ("v5.channel.k8s.io",), until: int = 0
) -> tuple[int, list[bytes]]:
    """The exit code, and what the other side heard; it ends when it has heard `until` messages, and said its own."""
    heard: list[bytes] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=protocols)
        await socket.prepare(request)
        while len(heard) < until:
            message: WSMessage = await socket.receive()
            assert message.type is WSMsgType.BINARY
            heard.append(message.data)
        for each in sent:
            await (socket.send_str(each) if isinstance(each, str) else socket.send_bytes(each))
        await socket.close()
        return socket

    app = web.Application()
    app.router.add_get("/exec", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        return await run_streams(f"http://{host}:{port}/exec", streams), heard
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("sent", "out", "err", "code"),
    [
        ([], b"", b"", 0),
        ([b"\1a", b"\2b", b"\1c", b"\3" + SUCCESS], b"ac", b"b", 0),
        ([b"\1a", b"\3" + SEVEN], b"a", b"", 7),
        ([b"\0back", b"\1a", b"\2b", b"\4size", b"\xff\1"], b"a", b"b", 0),  # only three streams come this way
        ([b"\1", b"\2", b"\3", b"", b"\1a"], b"a", b"", 0),  # empty messages only open a stream
        (["\1text", b"\2b"], b"", b"b", 0),  # what is no bytes is nobody's
        ([b"\1\0\1\2", b"\2\2\3"], b"\0\1\2", b"\2\3", 0),
    ],
)
def test_each_message_goes_where_its_first_byte_says(sent: list[Any], out: bytes, err: bytes, code: int) -> None:
    collected: dict[str, list[bytes]] = {"out": [], "err": []}

    def to(name: str) -> Any:
        async def collect(data: bytes) -> None:
            collected[name].append(data)

        return collect

    found, _ = asyncio.run(spoken(sent, Streams(stdout=to("out"), stderr=to("err"))))
    assert ({name: b"".join(parts) for name, parts in collected.items()}, found) == ({"out": out, "err": err}, code)
    assert all(collected["out"] + collected["err"]), "nobody is told of nothing"


def test_input_sizes_and_the_end_of_the_input_are_told() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b"ab", b"c"):
            yield piece

    async def sizes() -> AsyncIterator[tuple[int, int]]:
        for size in ((80, 24), (100, 30)):
            yield size

    _, heard = asyncio.run(spoken([b"\3" + SUCCESS], Streams(stdin=pieces(), resize=sizes()), until=5))
    assert [each for each in heard if each[0] != 4] == [b"\0ab", b"\0c", b"\xff\0"]
    assert [json.loads(each[1:]) for each in heard if each[0] == 4] == [
        {"Width": 80, "Height": 24},
        {"Width": 100, "Height": 30},
    ]


def test_who_does_not_speak_the_newest_version_is_not_spoken_to() -> None:
    with pytest.raises(ProtocolNotSpoken, match=r"None$"):
        asyncio.run(spoken([], Streams(), protocols=("v4.channel.k8s.io",)))

    async def refused() -> None:
        app = web.Application()
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            await run_streams(f"http://127.0.0.1:{runner.addresses[0][1]}/nothing", Streams())
        finally:
            await runner.cleanup()

    with pytest.raises(ProtocolNotSpoken, match=r"Invalid response status$"):
        asyncio.run(refused())


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ({"status": "Success"}, 0),
        ({"status": "Success", "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}}, 0),
        ({"details": {"causes": [{"reason": "Other", "message": "3"}, {"reason": "ExitCode", "message": "130"}]}}, 130),
        ({"status": "Failure", "message": "no such container"}, "rpc error: code = Unknown desc = no such container"),
        ({"status": "Failure", "details": None}, "rpc error: code = Unknown desc = "),
        ({"status": "Failure", "details": {"causes": None}, "message": "m"}, "rpc error: code = Unknown desc = m"),
    ],
)
def test_the_last_status_says_how_it_ended(status: dict[str, Any], code: int | str) -> None:
    if isinstance(code, int):
        assert exit_code(json.dumps(status).encode()) == code
        return
    with pytest.raises(RuntimeServiceError) as failed:
        exit_code(json.dumps(status).encode())
    assert str(failed.value) == code
