"""An added server that means no good, or is broken: it harms nobody but those who want something of it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS, Object, Request, RequestInfo, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.aggregation import discovery, openapi, proxy_handler
from lifecycle.apiserver.aggregation.api_services import set_available_condition
from lifecycle.apiserver.aggregation.backend import MOST_ANNOUNCEMENTS, Backend, Trust
from lifecycle.apiserver.aggregation.discovery import Discovered, discover, merged_discovery
from lifecycle.apiserver.aggregation.openapi import fetch_index, fetch_v2, merged_index, merged_v2
from lifecycle.apiserver.aggregation.proxy_handler import ProxyHandler
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver

ROOT = UserInfo("root", (MASTERS,))
Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]
SERVICE: Object = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1.example.org"},
    "spec": {
        "group": "example.org",
        "version": "v1",
        "groupPriorityMinimum": 1000,
        "versionPriority": 15,
        "service": {"namespace": "n", "name": "s", "port": 443},
    },
}
AVAILABLE = set_available_condition(SERVICE, "True", "Passed", "all checks passed", "2026-01-01T00:00:00Z")
PATH = "/apis/example.org/v1/things"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class At(ServiceResolver):
    """Every Service is at one address."""

    def __init__(self, port: int) -> None:
        self._port = port

    def resolve_endpoint(self, namespace: str, name: str, port: int) -> tuple[str, int]:
        return "127.0.0.1", self._port


@asynccontextmanager
async def proxied(serve: Serve) -> AsyncIterator[ProxyHandler]:
    """The proxy to a server that answers each request so."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await serve(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    certificates = CertificateAuthority()
    backend = Backend(Trust("s.n.svc", b"", insecure=True), certificates.client_certificate("aggregator", []))
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=certificates.server_context()) as server:
        port = server.sockets[0].getsockname()[1]
        try:
            yield ProxyHandler(AVAILABLE, At(port), backend)
        finally:
            await backend.close()


def asked(path: str = PATH, *, resource: bool = True, **more: Any) -> Request:
    request = Request("GET", path, user=ROOT, **more)
    request.info = RequestInfo(resource, path, "list" if resource else "get")
    return request


async def without_end(writer: asyncio.StreamWriter) -> None:
    """JSON that never ends."""
    writer.write(OK + b"Connection: close\r\n\r\n[")
    while True:
        writer.write(b"0," * 32_768)
        await writer.drain()


def test_an_answer_without_an_end_is_passed_on_as_it_comes_and_no_faster_than_it_is_read() -> None:
    async def main() -> None:
        sent = 0

        async def counted(writer: asyncio.StreamWriter) -> None:
            nonlocal sent
            writer.write(OK + b"Connection: close\r\n\r\n")
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
                sent += 65_536

        async with proxied(counted) as proxy:
            response = await proxy(asked())
            assert response.body is None
            assert response.stream is not None
            got = 0
            async for frame in response.stream:
                got += len(frame.encoded or b"")
                if got > 2 << 20:
                    break
            await response.stream.aclose()  # type: ignore[attr-defined]
            assert sent < got + (16 << 20), "what nobody has read waits in the sockets"

    asyncio.run(main())


def test_a_component_of_this_process_reads_no_more_than_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_handler, "MOST", 1 << 20)

    async def main() -> Response:
        async with proxied(without_end) as proxy:
            return await proxy(asked(accepts_object=True))

    response = asyncio.run(main())
    assert response.status == 503
    assert response.body == b"error trying to reach service: the answer is longer than 1048576 bytes\n"


def test_discovery_that_does_not_come_is_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_handler, "DISCOVERY_TIMEOUT", 0.05)

    async def main() -> Response:
        async def half(writer: asyncio.StreamWriter) -> None:
            writer.write(OK + b"Content-Length: 100\r\n\r\n{")
            await writer.drain()
            await asyncio.Event().wait()

        async with proxied(half) as proxy:
            return await proxy(asked("/apis/example.org/v1", resource=False))

    response = asyncio.run(main())
    assert (response.status, response.body) == (
        503,
        b"error trying to reach service: context deadline exceeded\n",
    )


ODD = [
    [],
    {"items": 1},
    {"items": [1]},
    {"items": [{}]},
    {"items": [{"metadata": {"name": "example.org"}, "versions": [{}]}]},
    {"items": [{"metadata": {"name": "example.org"}, "versions": [{"version": "v1", "resources": [1]}]}]},
    {"items": [{"metadata": {"name": "example.org"}, "versions": [{"version": "v1", "resources": [{"resource": 1}]}]}]},
    {
        "items": [
            {
                "metadata": {"name": "example.org"},
                "versions": [{"version": "v1", "resources": [{"resource": "things", "verbs": "get"}]}],
            }
        ]
    },
]


@pytest.mark.parametrize("odd", ODD)
def test_discovery_that_is_none_is_as_none_and_what_was_known_is_kept(
    odd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    known = Discovered({"version": "v1", "resources": [{"resource": "things", "verbs": ["get"]}]}, True)

    async def fetch(path: str, accept: str) -> Response:
        if path != "/apis":
            return Response(200, body=b'{"resources": [{"name": 1}]}')
        document = {"kind": "APIGroupDiscoveryList", **odd} if isinstance(odd, dict) else odd
        return Response(200, body=json.dumps(document).encode())

    with caplog.at_level(logging.ERROR):
        found = run_virtual(discover(SERVICE, fetch, known))
    assert found == Discovered(known.entry, False)
    assert "discovery of v1.example.org is none" in caplog.text
    merged = merged_discovery({"items": []}, [SERVICE], {"v1.example.org": found})
    assert merged["items"][0]["versions"] == [{**known.entry, "freshness": "Stale"}]


@pytest.mark.parametrize(
    "odd", [b"[]", b"1", b"{", b'{"paths": []}', b'{"paths": {}, "definitions": "x"}', b'{"paths": 7}']
)
def test_schemas_that_are_none_are_left_out(odd: bytes) -> None:
    async def fetch(path: str, accept: str) -> Response:
        return Response(200, body=odd)

    async def main() -> None:
        index, schemas = await fetch_index(fetch), await fetch_v2(fetch)
        local = {"paths": {"/a": {}}, "definitions": {"b": {}}}
        assert merged_index(local, [("apis/example.org/v1", index)])["paths"] == {"/a": {}}
        assert merged_v2(local, [("apis/example.org/v1", schemas)]) == local

    run_virtual(main())


def test_what_an_added_server_says_of_itself_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may say sixty megabytes, and be asked all the time."""
    given = list[int]()

    async def beside(size: int, work: Callable[..., Any], *args: Any) -> Any:
        given.append(size)
        return work(*args)

    for module in (discovery, openapi):
        monkeypatch.setattr(module, "beside", beside)
    listed = {"kind": "APIGroupDiscoveryList", "items": []}
    legacy = {"kind": "APIResourceList", "resources": []}
    for document, reads in ((listed, 2), (legacy, 3)):
        body = json.dumps(document).encode()

        async def fetch(path: str, accept: str, body: bytes = body) -> Response:
            return Response(200, body=body)

        async def main(fetch: Any = fetch) -> None:
            assert (await discover(SERVICE, fetch, None)).fresh

        given.clear()
        run_virtual(main())
        assert given == [len(body)] * reads

    async def documents() -> None:
        given.clear()
        assert await fetch_index(fetch) == {}
        assert await fetch_v2(fetch) == legacy
        assert given == [len(body)] * 2

    run_virtual(documents())


@pytest.mark.parametrize("announcements", [3, MOST_ANNOUNCEMENTS + 1])
def test_an_answer_that_is_announced_for_ever_is_none(announcements: int) -> None:
    async def serve(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * announcements)
        writer.write(OK + b"Content-Length: 2\r\n\r\n{}")
        await writer.drain()
        await asyncio.sleep(1)

    async def main() -> None:
        async with proxied(serve) as proxy:
            response = await proxy(asked())
        if announcements == 3:
            assert (response.status, response.body) == (200, b"{}")
        else:
            assert response.status == 503
            assert b"server response headers exceeded" in (response.body or b"")

    asyncio.run(main())
