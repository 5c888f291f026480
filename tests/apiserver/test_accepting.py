"""Connections are taken in when they have said hello, and a few at a time."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator

import pytest

from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server import accepting
from lifecycle.apiserver.server.accepting import AT_ONCE, Acceptor

AUTHORITY = CertificateAuthority()
SERVER = AUTHORITY.server_context()
CLIENT = ssl.create_default_context(cadata=AUTHORITY.ca_pem.decode())


class Hello(asyncio.Protocol):
    """Says so to whoever has come in."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"hello\n")


@contextlib.asynccontextmanager
async def listening(handshake: float = 20.0) -> AsyncIterator[tuple[Acceptor, int]]:
    sock = socket.create_server(("127.0.0.1", 0))
    acceptor = Acceptor(sock, Hello, SERVER, handshake)
    try:
        yield acceptor, sock.getsockname()[1]
    finally:
        await acceptor.stop()


def first_words() -> bytes:
    """What a client says to begin with."""
    outgoing = ssl.MemoryBIO()
    client = CLIENT.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="127.0.0.1")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


async def greeted(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=CLIENT)
    line = await reader.readline()
    writer.transport.abort()
    return line


def test_who_says_nothing_keeps_nobody_waiting_and_is_let_go() -> None:
    async def main() -> None:
        async with listening(handshake=0.3) as (acceptor, port):
            silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3 * AT_ONCE)]
            assert await greeted(port) == b"hello\n"
            for reader, writer in silent:
                assert await reader.read() == b""
                writer.close()
            assert not acceptor._welcoming

    asyncio.run(asyncio.wait_for(main(), 60))


def test_hellos_that_come_at_once_are_answered_a_few_in_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        rounds, of_each = 0, list[int]()
        greet = Acceptor._greet

        def next_round() -> None:
            nonlocal rounds
            rounds += 1
            loop.call_soon(next_round)

        async def noted(self: Acceptor, connected: socket.socket) -> None:
            of_each.append(rounds)
            await greet(self, connected)

        monkeypatch.setattr(Acceptor, "_greet", noted)
        async with listening() as (_, port):
            clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(10 * AT_ONCE)]
            await asyncio.sleep(0.1)
            assert of_each == []
            loop.call_soon(next_round)
            hello = first_words()
            for client in clients:
                client.sendall(hello)
            while len(of_each) < len(clients):  # noqa: ASYNC110 - each round counts
                await asyncio.sleep(0)
            for client in clients:
                client.close()
        assert max(map(of_each.count, of_each)) <= AT_ONCE

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("words", [b"GET / HTTP/1.1\r\n\r\n", b""])
def test_who_speaks_another_language_or_hangs_up_is_no_trouble(words: bytes) -> None:
    async def main() -> None:
        troubles = list[str]()
        asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(str(context)))
        async with listening() as (_, port):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(words)
            writer.close()
            assert await greeted(port) == b"hello\n"
        assert troubles == []

    asyncio.run(asyncio.wait_for(main(), 60))


def test_when_there_is_no_room_the_next_is_taken_in_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        monkeypatch.setattr(accepting, "AGAIN", 0.01)
        loop = asyncio.get_running_loop()
        accept, refused = loop.sock_accept, list[int]()

        async def full(sock: socket.socket) -> tuple[socket.socket, object]:
            if len(refused) < 3:
                refused.append(1)
                raise OSError(24, "Too many open files")
            return await accept(sock)

        monkeypatch.setattr(loop, "sock_accept", full)
        async with listening() as (_, port):
            assert await greeted(port) == b"hello\n"
        assert len(refused) == 3

    asyncio.run(asyncio.wait_for(main(), 60))


def test_who_has_not_said_hello_when_it_stops_is_hung_up_on() -> None:
    async def main() -> None:
        async with listening() as (acceptor, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            while not acceptor._welcoming:  # noqa: ASYNC110 - a moment at the most
                await asyncio.sleep(0)
        assert await reader.read() == b""
        writer.close()

    asyncio.run(asyncio.wait_for(main(), 60))
