"""The way from the API server to a pod on a real network: everything goes through, both ways."""

from __future__ import annotations

import asyncio
import types
from typing import Any

import pytest
from aiohttp import web

from lifecycle.api.http.wire import Request, Response
from lifecycle.cluster import kubelet_connections
from lifecycle.cluster.kubelet_connections import KubeletConnection
from lifecycle.cri.apis.pod_network import HTTPAnswer
from lifecycle.cri.node_access import NodeAccess

LARGE = b"0123456789" * 200_000


async def echo(request: web.Request) -> web.StreamResponse:
    if request.path == "/large":
        return web.Response(body=LARGE)
    if request.path == "/moved":
        return web.Response(status=302, headers={"Location": "/x"})
    if request.path == "/gone":
        return web.Response(status=204)
    said = f"{request.method} {request.raw_path} {request.headers.get('x-a')} {sorted(request.headers)}".encode()
    return web.Response(body=said + b" " + await request.read(), headers={"X-B": "c"}, content_type="application/json")


async def body_of(response: Response) -> bytes:
    if response.stream is None:
        return response.body or b""
    body = b"".join([frame.encoded or b"" async for frame in response.stream])
    await response.stream.aclose()  # type: ignore[attr-defined]
    return body


def with_server(scene: Any) -> None:
    async def main() -> None:
        server = web.ServerRunner(web.Server(echo))  # type: ignore[arg-type]
        await server.setup()
        site = web.TCPSite(server, "127.0.0.1", 0)
        await site.start()
        port = server.addresses[0][1]
        connection = KubeletConnection(types.SimpleNamespace(runtime=NodeAccess()))  # type: ignore[arg-type]

        async def ask(method: str, target: str, body: bytes = b"", scheme: str = "http") -> Response:
            request = Request(method, "/", headers={"host": "h", "x-a": "b"}, body=body, target=target)
            return await connection.reach_pod("127.0.0.1", port, request, scheme)

        try:
            await scene(ask)
        finally:
            await server.cleanup()

    asyncio.run(main())


def test_a_pod_hears_what_was_asked_and_nothing_else() -> None:
    async def scene(ask: Any) -> None:
        response = await ask("PUT", "/a%2Fb/c%20d/?q=%20x&r", b"data")
        assert (response.status, response.headers["X-B"]) == (200, "c")
        assert await body_of(response) == b"PUT /a%2Fb/c%20d/?q=%20x&r b ['Content-Length', 'Host', 'x-a'] data"
        assert (await body_of(await ask("GET", "/"))) == b"GET / b ['Host', 'x-a'] "
        head = await ask("HEAD", "/large")
        assert (head.status, head.body) == (200, b"")
        assert (await ask("GET", "/moved")).headers["Location"] == "/x"
        assert (await ask("DELETE", "/gone")).status == 204

    with_server(scene)


@pytest.mark.parametrize("limit", [1, 1 << 30])
def test_large_answers_come_in_pieces_small_ones_with_their_length(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubelet_connections, "IN_ONE_PIECE", limit)

    async def scene(ask: Any) -> None:
        response = await ask("GET", "/large")
        assert (response.stream is None) is (limit > 1)
        assert await body_of(response) == LARGE

    with_server(scene)


def test_nobody_there_and_no_tls_have_their_words() -> None:
    async def scene(ask: Any) -> None:
        with pytest.raises(OSError, match=r"tls: first record does not look like a TLS handshake$"):
            await ask("GET", "/", scheme="https")
        connection = KubeletConnection(types.SimpleNamespace(runtime=NodeAccess()))  # type: ignore[arg-type]
        with pytest.raises(OSError, match=r"^dial tcp 127.0.0.1:1: connect: connection refused$"):
            await connection.reach_pod("127.0.0.1", 1, Request("GET", "/", target="/"))

    with_server(scene)


def answered(raw: bytes) -> Response | OSError:
    """What comes of these bytes from a pod, which then hangs up."""

    async def main() -> Response | OSError:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(raw)
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        connection = KubeletConnection(types.SimpleNamespace(runtime=NodeAccess()))  # type: ignore[arg-type]
        try:
            response = await connection.reach_pod("127.0.0.1", port, Request("GET", "/", target="/"))
            return Response(response.status, response.headers, body=await body_of(response))
        except OSError as error:
            return error
        finally:
            server.close()

    return asyncio.run(main())


def test_what_concerns_one_connection_only_is_not_passed_on() -> None:
    headers = (
        b"Connection: keep-alive\r\nKeep-Alive: timeout=5\r\nDate: now\r\nTrailer: X-C\r\nUpgrade: h2c\r\nX-B: c\r\n"
    )
    for length, body in ((b"Content-Length: 2", b"ok"), (b"Transfer-Encoding: chunked", b"2\r\nok\r\n0\r\n\r\n")):
        response = answered(b"HTTP/1.1 200 OK\r\n" + headers + length + b"\r\n\r\n" + body)
        assert isinstance(response, Response)
        assert (response.status, dict(response.headers), response.body) == (200, {"X-B": "c"}, b"ok")


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_that_has_no_body_is_not_waited_for(status: int) -> None:
    response = answered(f"HTTP/1.1 {status} X\r\nContent-Length: 9\r\n\r\n".encode())
    assert isinstance(response, Response)
    assert (response.status, response.body) == (status, b"")


def test_who_hangs_up_without_a_word_is_at_its_end() -> None:
    error = answered(b"")
    assert isinstance(error, ConnectionError)
    assert str(error) == "Server disconnected"


def test_a_piece_that_never_comes_is_the_end() -> None:
    response = answered(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n9\r\n")
    assert isinstance(response, Response)
    assert response.body == b"hello"


class Paper:
    """A runtime without a network; `answer` is what a pod says, `asked` what it was asked."""

    def __init__(self, answer: HTTPAnswer) -> None:
        self.answer, self.asked = answer, list[Any]()

    async def http_get(self, request: Any, timeout: float) -> HTTPAnswer:
        self.asked.append((request, timeout))
        return self.answer


def on_paper(answer: HTTPAnswer, scheme: str = "http") -> tuple[Response, Any]:
    runtime = Paper(answer)
    connection = KubeletConnection(types.SimpleNamespace(runtime=runtime))  # type: ignore[arg-type]
    request = Request("POST", "/path", target="/path?q=1")
    return asyncio.run(connection.reach_pod("10.1.0.5", 8080, request, scheme)), runtime.asked


def test_a_hollow_pod_is_asked_for_the_target_with_half_a_minutes_patience() -> None:
    response, ((request, timeout),) = on_paper(HTTPAnswer(201, "made"), "https")
    assert (response.status, response.body) == (201, b"made")
    assert (request.method, request.url, timeout) == ("POST", "https://10.1.0.5:8080/path?q=1", 30.0)


@pytest.mark.parametrize(
    ("scheme", "said", "told"),
    [
        (
            "http",
            "dial tcp 10.1.0.5:8080: connect: connection refused",
            "dial tcp 10.1.0.5:8080: connect: connection refused",
        ),
        (
            "https",
            "dial tcp 10.1.0.5:8080: connect: connection refused",
            "dial tcp 10.1.0.5:8080: connect: connection refused",
        ),
        ("https", "EOF", "tls: first record does not look like a TLS handshake"),
        ("http", "EOF", "EOF"),
    ],
)
def test_a_hollow_pod_that_does_not_answer_is_refused_in_the_same_words(scheme: str, said: str, told: str) -> None:
    with pytest.raises(ConnectionRefusedError) as refused:
        on_paper(HTTPAnswer(0, f'Get "{scheme}://10.1.0.5:8080/path?q=1": {said}'), scheme)
    assert str(refused.value) == told
