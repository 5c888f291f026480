"""The client over a real socket on loopback: requests, refusals, watches in awkward pieces."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, not_found
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport

PODS = resource("pods")
LINES = b'{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":"MODIFIED","object":{"metadata":{"name":"b"}}}\n'


async def serve(request: web.Request) -> web.StreamResponse:
    if request.query.get("watch"):
        answer = web.StreamResponse(headers={"content-type": "application/json"})
        await answer.prepare(request)
        for start in range(0, len(LINES), 7):  # lines come in pieces
            await answer.write(LINES[start : start + 7])
            await asyncio.sleep(0)
        return answer
    if request.method == "GET" and request.path.endswith("/missing"):
        error = not_found("pods", "missing")
        return web.json_response(error.status, status=404)
    body = await request.json() if request.can_read_body else None
    seen = {
        "path": request.path,
        "query": dict(request.query),
        "auth": request.headers.get("authorization"),
        "body": body,
    }
    return web.json_response({"metadata": {"name": "x"}, "seen": {**seen, "agent": request.headers["user-agent"]}})


def test_requests_refusals_and_watches() -> None:
    async def main() -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", serve)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        transport = HTTPSTransport(ConnectionConfig(f"http://127.0.0.1:{port}", token="secret"))
        client = Client(transport, "test/v1")
        created = await client.create(PODS, {"metadata": {"name": "x"}}, "ns", field_manager="me")
        assert created["seen"] == {
            "path": "/api/v1/namespaces/ns/pods",
            "query": {"fieldManager": "me"},
            "auth": "Bearer secret",
            "body": {"metadata": {"name": "x"}},
            "agent": "test/v1",
        }
        listed = await client.list(PODS, "ns", label_selector="app=nginx,tier in (a, b)")
        assert listed["seen"]["query"]["labelSelector"] == "app=nginx,tier in (a, b)"
        with pytest.raises(StatusError) as refused:
            await client.get(PODS, "missing", "ns")
        assert refused.value.message == 'pods "missing" not found'
        frames = [frame async for frame in await client.watch(PODS, "ns")]
        assert [(f.type, f.object["metadata"]["name"]) for f in frames] == [("ADDED", "a"), ("MODIFIED", "b")]
        await runner.cleanup()
        with pytest.raises(OSError, match="Cannot connect"):
            await client.get(PODS, "x", "ns")
        await transport.close()

    asyncio.run(main())
