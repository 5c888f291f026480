"""The client over a real socket on loopback: requests, refusals, watches in awkward pieces."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, not_found
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import (
    MAX_CONNECTIONS,
    ConnectionConfig,
    HTTPSTransport,
    NoAnswerError,
    ssl_context,
)

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


@asynccontextmanager
async def serving(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]], context: ssl.SSLContext | None = None
) -> AsyncIterator[int]:
    """A server on loopback; its port."""
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    finally:
        await runner.cleanup()


def ask(
    handler: Callable[[web.Request], Awaitable[web.StreamResponse]], request: Request, **options: Any
) -> tuple[Response, list[WatchFrame]]:
    """One request; the answer, and the frames of its stream."""

    async def main() -> tuple[Response, list[WatchFrame]]:
        timeout = options.pop("timeout", 5.0)
        async with serving(handler) as port:
            transport = HTTPSTransport(ConnectionConfig(f"http://127.0.0.1:{port}/", **options), timeout=timeout)
            try:
                answer = await transport.round_trip(request)
                return answer, [frame async for frame in answer.stream] if answer.stream is not None else []
            finally:
                await transport.close()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("request_", "options", "headers", "body"),
    [
        (Request("GET", "/x"), {}, {"accept": "application/json"}, b""),
        (Request("GET", "/x"), {"token": "t"}, {"accept": "application/json", "authorization": "Bearer t"}, b""),
        (
            Request("GET", "/x", headers={"accept": "text/plain", "authorization": "Bearer mine"}), {"token": "t"},
            {"accept": "text/plain", "authorization": "Bearer mine"}, b"",
        ),
        (Request("POST", "/x", obj={"a": "é"}), {}, {"content-type": "application/json"}, '{"a":"é"}'.encode()),
        (Request("POST", "/x", obj={}), {}, {"content-type": "application/json"}, b"{}"),
        (
            Request("PATCH", "/x", headers={"content-type": "application/merge-patch+json"}, obj={"a": None}), {},
            {"content-type": "application/merge-patch+json"}, b'{"a":null}',
        ),
        (
            Request("POST", "/x", headers={"content-type": "application/yaml"}, body=b"a: b"), {},
            {"content-type": "application/yaml"}, b"a: b",
        ),
    ],
)  # fmt: skip
def test_headers_and_body(request_: Request, options: dict[str, str], headers: dict[str, str], body: bytes) -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append((request.method, request.headers.copy(), await request.read()))
        return web.Response()

    ask(handler, request_, **options)
    [(method, got, sent)] = seen
    assert (method, sent) == (request_.method, body)
    assert {key: got[key] for key in headers} == headers
    assert ("authorization" in got) == ("authorization" in headers)


@pytest.mark.parametrize(
    ("path", "query", "target"),
    [
        ("/a%2Fb/c d", {}, "/a%2Fb/c d"), ("/a", {"x": ["1", "2"], "y": ["a=b,c"]}, "/a?x=1&x=2&y=a%3Db%2Cc"),
        ("/%C3%A9", {"y": ["é"]}, "/%C3%A9?y=%C3%A9"),
    ],
)  # fmt: skip
def test_the_url_is_sent_as_it_is(path: str, query: dict[str, list[str]], target: str) -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request.raw_path)
        return web.Response()

    ask(handler, Request("GET", path.replace(" ", "%20"), query=query))
    assert seen == [target.replace(" ", "%20")]


@pytest.mark.parametrize(
    ("answer", "obj", "body"),
    [
        (lambda: web.json_response({"a": 1}), {"a": 1}, None),
        (lambda: web.json_response({"code": 404}, status=404), {"code": 404}, None),
        (lambda: web.Response(text="plain", status=503), None, b"plain"),
        (lambda: web.Response(body=b"", content_type="text/plain"), None, b""),
        (lambda: web.Response(status=302, headers={"Location": "/elsewhere"}), None, b""),
    ],
)  # fmt: skip
def test_an_answer_is_an_object_or_bytes_and_nobody_is_sent_elsewhere(
    answer: Callable[[], web.Response], obj: Any, body: bytes | None
) -> None:
    expected = answer()

    async def handler(request: web.Request) -> web.StreamResponse:
        return answer() if request.path == "/x" else web.Response(text="followed")

    got, frames = ask(handler, Request("GET", "/x"))
    assert (got.status, got.obj, got.body, got.stream, frames) == (expected.status, obj, body, None, [])
    assert got.headers["content-type" if expected.status != 302 else "location"]


def _watch(*chunks: bytes, cut: bool = False) -> Any:
    async def handler(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"content-type": "application/json"})
        await answer.prepare(request)
        for chunk in chunks:
            await answer.write(chunk)
            await asyncio.sleep(0)
        if cut:
            assert request.transport is not None
            request.transport.abort()
        return answer

    return handler


LONG = b'{"type":"ADDED","object":{"data":"' + b"x" * 300_000 + b'"}}\n'


@pytest.mark.parametrize(
    ("chunks", "types"),
    [
        ((), []), ((LINES,), ["ADDED", "MODIFIED"]), ((b"\n\n", LINES, b"\n"), ["ADDED", "MODIFIED"]), ((LONG,), ["ADDED"]),
        ((LINES, b'{"type":"ADD'), ["ADDED", "MODIFIED"]),
        (tuple(LINES[n : n + 1] for n in range(len(LINES))), ["ADDED", "MODIFIED"]),
    ],
    ids=["nothing", "lines", "empty lines", "long", "half a line", "bytes"],
)  # fmt: skip
def test_frames_are_lines_however_they_arrive(chunks: tuple[bytes, ...], types: list[str]) -> None:
    answer, frames = ask(_watch(*chunks), Request("GET", "/x", query={"watch": ["1"]}))
    assert (answer.status, answer.obj, answer.body) == (200, None, None)
    assert [frame.type for frame in frames] == types


@pytest.mark.parametrize(
    ("query", "watching"),
    [
        *(({"watch": [value]}, True) for value in ("true", "1", "", "yes")),
        *(({"watch": [value]}, False) for value in ("false", "0", "False")), ({}, False),
    ],
    ids=str,
)  # fmt: skip
def test_a_watch_may_be_silent_for_ever_and_any_other_request_for_half_a_minute(
    query: dict[str, list[str]], watching: bool
) -> None:
    """Upstream: 32 s are the `defaultTimeout` of client-go's discovery client; a watch has to be connected in that time."""
    given: list[Any] = []

    async def main() -> None:
        transport = HTTPSTransport(ConnectionConfig("http://127.0.0.1:1"))

        async def request(*_: Any, **options: Any) -> Any:
            given.append(options["timeout"])
            raise aiohttp.ClientError("no")

        for session in (transport._session, transport._watches):
            session._request = request  # type: ignore[method-assign]
        with pytest.raises(ConnectionError, match=r"no$"):
            await transport.round_trip(Request("GET", "/x", query=query))
        await transport.close()

    asyncio.run(main())
    assert (given[0].total, given[0].sock_connect) == ((None, 32.0) if watching else (32.0, None))


def test_no_answer_is_a_broken_connection_and_a_refusal() -> None:
    """So components that know only refusals go on trying, and those that tell the two apart can."""

    async def main() -> None:
        transport = HTTPSTransport(ConnectionConfig("http://127.0.0.1:1"))
        for kind in (ConnectionError, StatusError):
            with pytest.raises(kind, match="Cannot connect") as caught:
                await Client(transport, "test/v1").get(PODS, "x", "ns")
            assert isinstance(caught.value, NoAnswerError)
            assert (caught.value.code, caught.value.reason) == (503, "ServiceUnavailable")
            assert str(caught.value) == caught.value.message
        await transport.close()

    asyncio.run(main())


def test_who_takes_too_long_gave_no_answer() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        return web.Response()

    with pytest.raises(NoAnswerError, match=r"GET http://.*/x: no answer within 0 s$"):
        ask(handler, Request("GET", "/x"), timeout=0.05)


def test_watches_do_not_use_up_the_connections_of_others() -> None:
    """A component may watch more resources than it may have requests on their way."""

    async def main() -> None:
        transport = HTTPSTransport(ConnectionConfig("https://127.0.0.1:1"))
        connector = transport._watches.connector
        assert connector is not None
        assert connector is not transport._session.connector
        assert connector.limit == 0
        await transport.close()
        assert transport._watches.closed

    asyncio.run(main())


def test_a_refused_watch_is_an_answer() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return web.json_response({"code": 410}, status=410)

    answer, _ = ask(handler, Request("GET", "/x", query={"watch": ["1"]}))
    assert (answer.status, answer.obj, answer.stream) == (410, {"code": 410}, None)


def test_a_watch_that_is_cut_off_is_a_broken_connection() -> None:
    with pytest.raises(ConnectionError):
        ask(_watch(LINES, cut=True), Request("GET", "/x", query={"watch": ["1"]}))


def test_the_bounds_of_a_transport() -> None:
    async def main() -> None:
        transport = HTTPSTransport(ConnectionConfig("https://127.0.0.1:1"))
        assert transport._timeout.total == 32.0
        connector = transport._session.connector
        assert connector is not None
        assert connector.limit == MAX_CONNECTIONS == 100
        with pytest.raises(ConnectionError, match="Cannot connect"):
            await transport.round_trip(Request("GET", "/"))
        await transport.close()
        assert transport._session.closed

    asyncio.run(main())


AUTHORITY = CertificateAuthority()
"""Signs what both ends show."""


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"ca": AUTHORITY.ca_pem}, 200), ({}, 0), ({"ca": CertificateAuthority().ca_pem}, 0), ({"insecure": True}, 200),
        ({"ca": AUTHORITY.ca_pem, "server_name": "kubernetes.default"}, 200),
        ({"ca": AUTHORITY.ca_pem, "server_name": "other.example"}, 0),
        ({"insecure": True, "server_name": "other.example"}, 200),
    ],
)  # fmt: skip
def test_whom_a_client_believes(options: dict[str, Any], code: int) -> None:
    async def main() -> int:
        async def handler(request: web.Request) -> web.StreamResponse:
            return web.Response()

        async with serving(handler, AUTHORITY.server_context()) as port:
            transport = HTTPSTransport(ConnectionConfig(f"https://127.0.0.1:{port}", **options))
            try:
                return (await transport.round_trip(Request("GET", "/"))).status
            except ConnectionError:
                return 0
            finally:
                await transport.close()

    assert asyncio.run(main()) == code


def test_a_client_shows_its_certificate_and_leaves_no_key_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = AUTHORITY.client_certificate("me", ("group",))
    files: list[Path] = []
    load = ssl.SSLContext.load_cert_chain

    def watched(context: ssl.SSLContext, certfile: Path, keyfile: Path) -> None:
        assert (certfile.read_bytes(), keyfile.read_bytes()) == (certificate, key)
        assert keyfile.stat().st_mode & 0o777 == 0o600
        files.append(keyfile)
        load(context, certfile, keyfile)

    seen: list[Any] = []

    async def main() -> None:
        async def handler(request: web.Request) -> web.StreamResponse:
            assert request.transport is not None
            seen.append(request.transport.get_extra_info("peercert")["subject"])
            return web.Response()

        async with serving(handler, AUTHORITY.server_context()) as port:
            with monkeypatch.context() as patched:
                patched.setattr(ssl.SSLContext, "load_cert_chain", watched)
                config = ConnectionConfig(
                    f"https://127.0.0.1:{port}", ca=AUTHORITY.ca_pem, client_certificate=certificate, client_key=key
                )
                transport = HTTPSTransport(config)
            await transport.round_trip(Request("GET", "/"))
            await transport.close()

    asyncio.run(main())
    assert ("commonName", "me") in [pair for part in seen[0] for pair in part]
    assert len(files) == 1
    assert not files[0].exists()


def test_a_certificate_that_is_none_is_refused() -> None:
    with pytest.raises(ssl.SSLError):
        ssl_context(ConnectionConfig("https://x", ca=b"nonsense"))
    certificate, _ = AUTHORITY.client_certificate("me", ())
    with pytest.raises(ssl.SSLError):
        ssl_context(ConnectionConfig("https://x", client_certificate=certificate, client_key=b"nonsense"))
    assert ConnectionConfig("x") == ConnectionConfig("x", b"", b"", b"", "", False, "")
    with pytest.raises(FrozenInstanceError):
        ConnectionConfig("x").token = "t"  # type: ignore[misc]
