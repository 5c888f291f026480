"""The way from the API server to a pod on a real network: everything goes through, both ways."""

from __future__ import annotations

import asyncio
import types
from typing import Any

import pytest
from aiohttp import web

from lifecycle.api.wire import Request, Response
from lifecycle.cluster import kubelet_connections
from lifecycle.cluster.kubelet_connections import KubeletConnection
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
        with pytest.raises(OSError, match="tls: first record does not look like a TLS handshake"):
            await ask("GET", "/", scheme="https")
        connection = KubeletConnection(types.SimpleNamespace(runtime=NodeAccess()))  # type: ignore[arg-type]
        with pytest.raises(OSError, match=r"^dial tcp 127.0.0.1:1: connect: connection refused$"):
            await connection.reach_pod("127.0.0.1", 1, Request("GET", "/", target="/"))

    with_server(scene)
