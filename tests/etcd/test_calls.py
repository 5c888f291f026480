"""Calls over connections that stay open: however an answer is cut, and whoever ends the connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lifecycle.etcd.calls import MAX_HEAD, AnswerReader, Calls

WITH_LENGTH = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}'
IN_CHUNKS = (
    b'HTTP/1.1 500 Internal Server Error\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n'
)
WITH_A_TRAILER = IN_CHUNKS[:-2] + b"Grpc-Status: 0\r\n\r\n"
UNTIL_THE_END = b'HTTP/1.0 200 OK\r\n\r\n{"a":1}'


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(("answer", "status"), [(WITH_LENGTH, 200), (IN_CHUNKS, 500), (WITH_A_TRAILER, 500)])
def test_an_answer_is_complete_with_its_last_byte_and_not_before(answer: bytes, status: int, piece: int) -> None:
    reader = AnswerReader()
    pieces = [answer[at : at + piece] for at in range(0, len(answer), piece)]
    assert [reader.feed(each) for each in pieces] == [False] * (len(pieces) - 1) + [True]
    assert (reader.status, reader.body, reader.keep_alive) == (status, b'{"a":1}', True)


def test_what_has_neither_length_nor_chunks_ends_with_the_connection() -> None:
    reader = AnswerReader()
    assert not reader.feed(UNTIL_THE_END)
    assert reader.ended()
    assert (reader.body, reader.keep_alive) == (b'{"a":1}', False)
    for answer in (WITH_LENGTH, IN_CHUNKS):
        reader = AnswerReader()
        assert not reader.feed(answer[:-1])
        assert not reader.ended()


@pytest.mark.parametrize(
    "sent",
    [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 many\r\n\r\n", IN_CHUNKS.replace(b"3;", b"x;"), b"HTTP/1.1 200 OK\r\n" + b"x" * MAX_HEAD],
)  # fmt: skip
def test_what_is_no_answer_is_refused(sent: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any kind: the call fails
        AnswerReader().feed(sent)


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[tuple[Calls, list[int]]]:
    """Calls of a server, and the ports from which connections came to it."""
    taken: list[int] = []

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer.get_extra_info("peername")[1])
        try:
            await serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(one, "127.0.0.1", 0)
    calls = Calls(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/prefix/", 2)
    try:
        yield calls, taken
    finally:
        await calls.close()
        listening.close()


async def asked(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    length = int(head.partition("Content-Length: ")[2].partition("\r\n")[0])
    return head.splitlines()[0], await reader.readexactly(length)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        line, body = await asked(reader)
        assert line.startswith("POST /prefix/v3/")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


def test_a_connection_is_used_again_and_only_as_many_are_opened_as_may_be() -> None:
    async def main() -> None:
        async with server(echo) as (calls, taken):
            for body in (b"a", b"b" * 3_000_000):
                assert await calls.post("/v3/kv/txn", body) == (200, body)
            assert len(taken) == 1
            bodies = [b"%d" % number for number in range(20)]
            answers = await asyncio.gather(*(calls.post("/v3/kv/range", body) for body in bodies))
            assert answers == [(200, body) for body in bodies]
            assert len(taken) == 2

    asyncio.run(main())


def test_a_connection_that_is_to_close_or_was_closed_is_not_used_again() -> None:
    ended = asyncio.Event()

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, body = await asked(reader)
        said = b"Connection: close\r\n" if body == b"said" else b""
        writer.write(b"HTTP/1.1 200 OK\r\n%bContent-Length: 0\r\n\r\n" % said)
        if body == b"not said":
            writer.close()
            await writer.wait_closed()
            ended.set()

    async def main() -> None:
        async with server(once) as (calls, taken):
            for body in (b"said", b"said", b"not said"):
                assert await calls.post("/v3/x", body) == (200, b"")
            await ended.wait()
            for _ in range(3):  # until this loop has looked at the socket
                await asyncio.sleep(0)
            assert await calls.post("/v3/x", b"") == (200, b"")
            assert len(taken) == 4

    asyncio.run(main())


def test_a_call_given_up_leaves_no_connection_on_which_its_answer_could_reach_another() -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            _, body = await asked(reader)
            if body == b"given up":
                begun.set()
                await reader.read()  # until it is closed
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%b" % body)
            await reader.read()

        async with server(slow) as (calls, taken):
            call = asyncio.ensure_future(calls.post("/v3/x", b"given up"))
            await begun.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert await calls.post("/v3/x", b"2") == (200, b"2")
            assert len(taken) == 2

    asyncio.run(main())


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", b"220 mail.example.com\r\n\r\n"]
)
def test_a_connection_that_ends_in_the_middle_or_speaks_something_else_is_an_error(sent: bytes) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(sent)

    async def main() -> None:
        async with server(cut) as (calls, _):
            with pytest.raises(ConnectionError):
                await calls.post("/v3/x", b"")
            assert not calls.open
            assert not calls.idle

    asyncio.run(main())


def test_closing_ends_the_calls_that_wait_and_lets_no_more_begin() -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            begun.set()
            await reader.read()
            await reader.read()

        async with server(silent) as (calls, _):
            call = asyncio.ensure_future(calls.post("/v3/x", b""))
            await begun.wait()
            await calls.close()
            with pytest.raises(ConnectionError):
                await call
            with pytest.raises(ConnectionError, match="closed"):
                await calls.post("/v3/x", b"")

    asyncio.run(main())
