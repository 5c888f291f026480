"""The socket side: lengths, limits, slow and vanishing clients."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.apiserver.http.frames import json_frame
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server import connection, incoming
from lifecycle.apiserver.server.https import RECEIVED, HTTPSServer
from lifecycle.apiserver.server.incoming import MAX_BODY

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]]
LARGE = b"0123456789" * 20_000


class Stream:
    """A watch that notes when its reader has gone."""

    def __init__(self, frames: int, forever: bool = False) -> None:
        self.frames, self.forever = frames, forever
        self.closed = asyncio.Event()

    def __aiter__(self) -> AsyncIterator[WatchFrame]:
        return self

    async def __anext__(self) -> WatchFrame:
        if self.frames:
            self.frames -= 1
            return WatchFrame("ADDED", {"number": self.frames})
        if self.forever:
            await asyncio.Event().wait()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed.set()


class Echo:
    """A handler that answers by path and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.stream = Stream(3)

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if request.path == "/large":
            return Response(headers={"Content-Type": "application/json"}, body=LARGE)
        if request.path == "/watch":
            return Response(headers={"Content-Type": "application/json"}, stream=self.stream, encode_frame=json_frame)
        request.warnings += ["careful", "careful", "now"]
        return Response(obj={"kind": "Echo", "size": len(request.body)})


def conversation(
    talk: Talk, echo: Echo | None = None, certificate: tuple[str, list[str]] | None = None, tls: bool = True
) -> Any:
    """Run `talk` with a connection to a server; what it returns."""

    async def main() -> Any:
        authority = CertificateAuthority()
        server = HTTPSServer(echo or Echo(), authority.server_context() if tls else None)
        port = await server.start("127.0.0.1")
        client = ssl.create_default_context(cadata=authority.ca_pem.decode()) if tls else None
        if certificate is not None and client is not None:
            load(client, *authority.client_certificate(*certificate))
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
        try:
            async with asyncio.timeout(60):
                return await talk(reader, writer)
        finally:
            writer.close()
            await server.stop()

    return asyncio.run(main())


def load(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate + key)
        file.flush()
        context.load_cert_chain(file.name)


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers: dict[str, str] = {}
    for line in head[1:-2]:
        name, _, value = line.partition(": ")
        headers[name.lower()] = f"{headers[name.lower()]}\n{value}" if name.lower() in headers else value
    return int(head[0].split()[1]), headers, await reader.readexactly(int(headers.get("content-length", 0)))


def test_a_connection_serves_one_request_after_the_other() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        bodies = []
        for size in (0, 5, 70_000):
            length = f"Content-Length: {size}\r\n" if size else ""
            writer.write(f"POST /x HTTP/1.1\r\nHost: x\r\n{length}\r\n".encode() + b"y" * size)
            status, _, body = await answer(reader)
            assert status == 200
            bodies.append(body)
        return bodies

    assert conversation(talk) == [b'{"kind":"Echo","size":%d}\n' % size for size in (0, 5, 70_000)]


def test_path_query_and_headers_arrive_decoded() -> None:
    echo = Echo()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET /a%20b?x=1&x=%3D&empty HTTP/1.1\r\nHost: x\r\nX-Thing: Y\r\n\r\n")
        await answer(reader)

    conversation(talk, echo, ("jane", ["editors"]))
    request = echo.asked[0]
    assert (request.path, request.query, request.headers["x-thing"]) == ("/a b", {"x": ["1", "="], "empty": [""]}, "Y")
    assert request.remote_addr == "127.0.0.1"
    assert b"jane" in (request.peer_certificate or b"")


def test_who_shows_no_certificate_has_none() -> None:
    echo = Echo()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await answer(reader)

    conversation(talk, echo)
    assert echo.asked[0].peer_certificate is None


def test_each_warning_is_a_header_of_its_own() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> dict[str, str]:
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return (await answer(reader))[1]

    assert conversation(talk)["warning"] == '299 - "careful"\n299 - "now"'


def test_large_answers_are_compressed_for_those_who_take_it() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[tuple[str | None, bytes]]:
        found = []
        for accept in (b"", b"Accept-Encoding: gzip, deflate\r\n"):
            writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\n" + accept + b"\r\n")
            _, headers, body = await answer(reader)
            found.append((headers.get("content-encoding"), body))
        return found

    (plain, first), (encoding, second) = conversation(talk)
    assert (plain, first) == (None, LARGE)
    assert encoding == "gzip"
    assert gzip.decompress(second) == LARGE


@pytest.mark.parametrize("announce", [True, False])
def test_a_body_over_the_limit_is_refused_before_it_is_read(announce: bool) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[int, dict[str, str], bytes]:
        if announce:
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        else:
            writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunk = b"10000\r\n" + b"z" * 0x10000 + b"\r\n"
            for _ in range(MAX_BODY // 0x10000 + 1):
                writer.write(chunk)
        return await answer(reader)

    status, headers, body = conversation(talk)
    assert status == 413
    assert headers["connection"] == "close"
    assert b"Request entity too large: limit is 3145728" in body


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BODY_TIMEOUT", 0.05)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
        return (await answer(reader))[0]

    assert conversation(talk) == 408


def test_of_a_connection_little_is_taken_in_before_it_is_read() -> None:
    """What has come in is decrypted in one go, and may be records of one byte each."""

    async def main() -> None:
        async def answer(request: Request) -> Response:
            return Response(200)

        server = HTTPSServer(answer, None)
        await server.start("127.0.0.1")
        assert server._listener is not None
        (listening,) = server._listener.sockets
        taken_in = listening.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        await server.stop()
        assert taken_in <= 2 * RECEIVED  # the system counts its own needs, too

    asyncio.run(main())


def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_TIMEOUT", 0.05)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET / HT")
        return await reader.read()

    assert conversation(talk) == b""


def test_who_waits_for_permission_to_send_gets_it() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"abc")
        return (await answer(reader))[2]

    assert b'"size":3' in conversation(talk)


@pytest.mark.parametrize("nonsense", [b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nHost x\r\n\r\n", b"GET  HTTP/9\r\n\r\n"])
def test_nonsense_is_a_bad_request_and_the_server_stays_up(nonsense: bytes) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        writer.write(nonsense)
        return (await answer(reader))[0]

    assert conversation(talk) == 400


def test_a_head_request_gets_the_length_and_no_body() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"HEAD /large HTTP/1.1\r\nHost: x\r\n\r\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Content-Length: %d" % len(LARGE) in head
        return await reader.readuntil(b"\r\n")

    assert conversation(talk) == b"HTTP/1.1 200 OK\r\n"


def test_a_watch_is_written_frame_by_frame_and_ends() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Transfer-Encoding: chunked" in head
        return await reader.readuntil(b"0\r\n\r\n")

    body = conversation(talk)
    assert [body.count(b'{"type":"ADDED","object":{"number":%d}}\n' % n) for n in (2, 1, 0)] == [1, 1, 1]


def test_a_watch_ends_when_its_client_goes_away() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        echo.stream = Stream(1, forever=True)
        writer.write(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"ADDED")
        assert not echo.stream.closed.is_set()
        writer.transport.abort()
        await echo.stream.closed.wait()
        return True

    echo = Echo()
    assert conversation(talk, echo)


def test_stop_does_not_wait_for_a_client_that_says_no_goodbye(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = asyncio.Event()
    monkeypatch.setattr(connection.Connection, "connection_lost", lambda _, error: lost.set())

    def ask(context: ssl.SSLContext, port: int) -> ssl.SSLSocket:
        client = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1")
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
        return client

    async def main() -> None:
        authority = CertificateAuthority()
        server = HTTPSServer(Echo(), authority.server_context())
        port = await server.start("127.0.0.1")
        context = ssl.create_default_context(cadata=authority.ca_pem.decode())
        with await asyncio.to_thread(ask, context, port):
            await server.stop()
            async with asyncio.timeout(60):
                await lost.wait()

    asyncio.run(main())


def test_stop_ends_also_what_has_been_closed_before() -> None:
    """Twice, even: on a busy machine a timer and the client's goodbye both do so."""

    async def main() -> None:
        authority = CertificateAuthority()
        server = HTTPSServer(Echo(), authority.server_context())
        port = await server.start("127.0.0.1")
        client = ssl.create_default_context(cadata=authority.ca_pem.decode())
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=client)
        writer.write(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await answer(reader))[0] == 200
        assert server._connections is not None
        [connection] = server._connections.connections
        transport = connection.transport
        assert transport is not None
        for _ in range(2):
            transport.close()
        await server.stop()
        writer.close()

    asyncio.run(main())
