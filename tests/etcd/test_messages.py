"""What etcd says over its gateway, and in which words its errors reach whoever asked."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from lifecycle.api import fast_json
from lifecycle.etcd.gateway import (
    Gateway,
    current_revision,
    encoded,
    encoded_bytes,
    error_of,
    event_of,
    key_value,
    revision_of,
)
from lifecycle.etcd.store import (
    MAX_REQUEST_BYTES,
    CompactedError,
    Event,
    FutureRevisionError,
    KeyValue,
    LeaseNotFoundError,
    NoSpaceError,
    RequestTooLargeError,
    StoreError,
    UnavailableError,
    check_request_size,
)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NoSpaceError(), "etcdserver: mvcc: database space exceeded"),
        (RequestTooLargeError(), "etcdserver: request is too large"),
        (LeaseNotFoundError(), "etcdserver: requested lease not found"),
        (CompactedError(3), "etcdserver: mvcc: required revision has been compacted"),
        (FutureRevisionError(7), "etcdserver: mvcc: required revision is a future revision"),
    ],
)
def test_errors_are_in_etcds_words(error: Exception, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        ({"error": "etcdserver: requested lease not found", "code": 5}, LeaseNotFoundError, None),
        ({"error": "x", "message": "y"}, StoreError, "x"),
        ({"message": "etcdserver: mvcc: database space exceeded"}, NoSpaceError, None),
        ({"error": {"message": "etcdserver: request is too large", "grpc_code": 3}}, RequestTooLargeError, None),
        ({"error": {"grpc_code": 3}}, StoreError, ""),
        ({}, StoreError, "etcdserver: unknown error"),
        ({"error": "etcdserver: request timed out", "code": 14}, UnavailableError, "etcdserver: request timed out"),
        ({"message": "etcdserver: leader changed", "code": 14}, UnavailableError, "etcdserver: leader changed"),
        (
            {"error": {"message": "context deadline exceeded", "grpc_code": 4}},
            UnavailableError,
            "context deadline exceeded",
        ),
        (
            {"error": "etcdserver: duplicate key given in txn request", "code": 3},
            StoreError,
            "etcdserver: duplicate key given in txn request",
        ),
    ],
)
def test_an_error_is_known_wherever_a_version_of_etcd_puts_its_message(
    answer: dict[str, Any], kind: type[StoreError], text: str | None
) -> None:
    error = error_of(answer)
    assert type(error) is kind
    assert str(error) == (str(kind()) if text is None else text)


def test_a_request_may_be_as_large_as_etcd_takes_and_not_a_byte_larger() -> None:
    assert MAX_REQUEST_BYTES == 1_572_864
    check_request_size("/a", b"x" * (MAX_REQUEST_BYTES - 2))
    with pytest.raises(RequestTooLargeError):
        check_request_size("/a", b"x" * (MAX_REQUEST_BYTES - 1))


def test_what_a_message_leaves_out_is_zero() -> None:
    assert key_value({"key": encoded("/a")}) == KeyValue("/a", b"", 0, 0, 0, 0)
    assert revision_of({"header": {}}) == 0
    assert revision_of({"header": {"revision": "12"}}) == 12


def test_numbers_come_as_text_and_keys_and_values_in_base64() -> None:
    message = {
        "key": "L2E=", "value": encoded_bytes(b"v"), "create_revision": "3", "mod_revision": "9", "version": "2",
        "lease": "77",
    }  # fmt: skip
    kv = KeyValue("/a", b"v", 3, 9, 2, 77)
    assert encoded("/a") == "L2E="
    assert key_value(message) == kv
    assert event_of({"kv": message}) == Event("PUT", kv, None)
    assert event_of({"type": "DELETE", "kv": message, "prev_kv": message}) == Event("DELETE", kv, kv)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def gateway(handler: Handler) -> AsyncIterator[Gateway]:
    app = web.Application(client_max_size=2**23)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    connection = Gateway(f"http://127.0.0.1:{runner.addresses[0][1]}/")
    try:
        yield connection
    finally:
        await connection.close()
        await runner.cleanup()


def answering(status: int, body: bytes, asked: list[Any] | None = None) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        if asked is not None:
            data = await request.read()
            asked.append((request.path, fast_json.loads(data) if data else None))
        return web.Response(status=status, body=body)

    return handler


def test_a_call_is_a_post_and_a_small_and_a_large_one_arrive_alike() -> None:
    async def main() -> None:
        asked: list[Any] = []
        async with gateway(answering(200, b'{"header": {"revision": "5"}}', asked)) as connection:
            for size in (1, 2**20, 2**21):
                message = {"value": "x" * size}
                assert await connection.call("/v3/kv/put", message) == {"header": {"revision": "5"}}
                assert asked.pop() == ("/v3/kv/put", message)
            assert await current_revision(connection) == 5
            key = b64encode(b"/registry/").decode()
            assert asked == [("/v3/kv/range", {"key": key, "count_only": True})]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (400, b'{"error": "etcdserver: no"}', "etcdserver: no"),
        (200, b'{"error": "etcdserver: no"}', "etcdserver: no"),
        (503, b'{"message": "etcdserver: no leader"}', "etcdserver: no leader"),
        (500, b"[]", "etcdserver: unknown error"),
        (200, b"<html>" + b"x" * 100, "not an answer of etcd: <html>" + "x" * 74),
    ],
)
def test_a_call_that_fails_raises_what_etcd_said(status: int, body: bytes, text: str) -> None:
    async def main() -> None:
        async with gateway(answering(status, body)) as connection:
            with pytest.raises(StoreError) as caught:
                await connection.call("/v3/kv/put", {})
            assert str(caught.value) == text
            assert not isinstance(caught.value, UnavailableError)

    asyncio.run(main())


def test_the_version_and_what_has_none() -> None:
    async def main() -> None:
        async with gateway(answering(200, b'{"etcdserver": "3.6.1", "etcdcluster": "3.6.0"}')) as connection:
            assert await connection.version() == "3.6.1"
        async with gateway(answering(200, b"{}")) as connection:
            with pytest.raises(StoreError) as caught:
                await connection.version()
            assert str(caught.value) == f"{connection.url} is not an etcd"
            assert not connection.url.endswith("/")

    asyncio.run(main())


def test_an_etcd_that_is_away_is_named_by_every_kind_of_call() -> None:
    async def main() -> None:
        async with gateway(answering(200, b"{}")) as connection:
            url = connection.url
        connection = Gateway(url)
        try:
            for call in (connection.call("/x", {}), connection.version(), anext(connection.stream("/x", {}))):
                with pytest.raises(UnavailableError) as caught:
                    await call
                assert str(caught.value).startswith(
                    f'rpc error: code = Unavailable desc = connection error: desc = "{url}: '
                )
                assert "refused" in str(caught.value) or "Connect" in str(caught.value)
        finally:
            await connection.close()

    asyncio.run(main())


def test_a_stream_is_one_message_a_line_however_it_is_cut() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in (b'{"result": {"a"', b": 1}}\n\n", b'{"result": {"a": 2}}\n{"result": {"a": 3}}\n', b'{"error": '):
            await response.write(piece)
            await asyncio.sleep(0)
        await response.write(b'{"message": "etcdserver: gone"}}\n')
        return response

    async def main() -> None:
        async with gateway(handler) as connection:
            answers = connection.stream("/v3/watch", {})
            assert [await anext(answers) for _ in range(3)] == [{"a": 1}, {"a": 2}, {"a": 3}]
            with pytest.raises(StoreError, match=r"^etcdserver: gone$"):
                await anext(answers)

    asyncio.run(main())
