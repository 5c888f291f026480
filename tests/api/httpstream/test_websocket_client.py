"""The client's side of a WebSocket, with the server's side at the other end of a connection in memory."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Connection, Request, Response
from lifecycle.api.httpstream.connection_pair import LIMIT, connected, connection_pair
from lifecycle.api.httpstream.websocket import WebSocket, handshake
from lifecycle.api.httpstream.websocket_client import agreed_protocol, client_websocket, opening_headers


async def echo(connection: Connection) -> None:
    websocket = WebSocket(connection)
    async for message in websocket.messages():
        await websocket.send(message)


@given(st.lists(st.binary(max_size=70_000), min_size=1, max_size=4))
def test_messages_come_back_as_they_were_sent(messages: list[bytes]) -> None:
    async def scene() -> list[bytes]:
        async with connected(echo) as connection:
            websocket = client_websocket(connection)
            answers = aiter(websocket.messages())
            heard = []
            for message in messages:
                await websocket.send(message)
                heard.append(await anext(answers))
            return heard

    assert asyncio.run(scene()) == messages


def test_a_client_masks_each_frame_anew() -> None:
    async def scene() -> list[bytes]:
        near, far = connection_pair()
        websocket = client_websocket(near)
        await websocket.send(b"secret")
        await websocket.send(b"secret")
        return [await far.read(), await far.read()]

    first, second = asyncio.run(scene())
    assert first[1] & 0x80
    assert second[1] & 0x80
    assert b"secret" not in first
    assert first != second


def answer(protocol: str, **headers: str) -> tuple[dict[str, str], Response]:
    sent = opening_headers(["v5", "v4"])
    request = Request("GET", "/", headers=sent)
    return sent, Response(101, handshake(request, protocol) | headers, upgrade=echo)


def test_the_server_chooses_the_protocol() -> None:
    assert agreed_protocol(*answer("v4")) == "v4"
    assert agreed_protocol(*answer("")) == ""


@pytest.mark.parametrize(
    "headers",
    [{"Sec-WebSocket-Accept": "of another key"}, {"Upgrade": "SPDY/3.1"}, {"Connection": "keep-alive"}],
)
def test_what_does_not_answer_the_key_is_no_websocket(headers: dict[str, str]) -> None:
    assert agreed_protocol(*answer("v5", **headers)) is None


def test_a_refusal_is_no_websocket() -> None:
    assert agreed_protocol(opening_headers(["v5"]), Response(403, {})) is None


def test_who_writes_too_much_waits_until_it_is_read() -> None:
    async def scene() -> tuple[bool, bool]:
        near, far = connection_pair()
        await near.write(b"x" * LIMIT)
        writing = asyncio.ensure_future(near.write(b"y"))
        await asyncio.sleep(0)
        before = writing.done()
        await far.read()
        await writing
        return before, writing.done()

    assert asyncio.run(scene()) == (False, True)


def test_what_was_written_before_the_end_can_still_be_read_but_nothing_be_written() -> None:
    async def scene() -> list[bytes]:
        near, far = connection_pair()
        await near.write(b"last words")
        near.close()
        with pytest.raises(ConnectionResetError):
            await far.write(b"too late")
        return [await far.read(), await far.read()]

    assert asyncio.run(scene()) == [b"last words", b""]
