"""What etcd says over gRPC, and in which words its errors reach whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.etcd import client
from lifecycle.etcd.client import Client, current_revision, error_of
from lifecycle.etcd.messages import event_of, key_value, message_class, new
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
    ("code", "said", "kind", "text"),
    [
        ("NOT_FOUND", "etcdserver: requested lease not found", LeaseNotFoundError, None),
        ("RESOURCE_EXHAUSTED", "etcdserver: mvcc: database space exceeded", NoSpaceError, None),
        ("INVALID_ARGUMENT", "etcdserver: request is too large", RequestTooLargeError, None),
        ("UNAVAILABLE", "etcdserver: request timed out", UnavailableError, "etcdserver: request timed out"),
        ("UNAVAILABLE", "etcdserver: leader changed", UnavailableError, "etcdserver: leader changed"),
        ("DEADLINE_EXCEEDED", "context deadline exceeded", UnavailableError, "context deadline exceeded"),
        ("CANCELLED", "context canceled", UnavailableError, "context canceled"),
        (
            "INVALID_ARGUMENT",
            "etcdserver: duplicate key given in txn request",
            StoreError,
            "etcdserver: duplicate key given in txn request",
        ),
    ],
)
def test_an_error_is_known_by_its_code_and_its_message(
    code: str, said: str, kind: type[StoreError], text: str | None
) -> None:
    error = error_of(code, said)
    assert type(error) is kind
    assert str(error) == (str(kind()) if text is None else text)


def test_a_request_may_be_as_large_as_etcd_takes_and_not_a_byte_larger() -> None:
    assert MAX_REQUEST_BYTES == 1_572_864
    check_request_size("/a", b"x" * (MAX_REQUEST_BYTES - 2))
    with pytest.raises(RequestTooLargeError):
        check_request_size("/a", b"x" * (MAX_REQUEST_BYTES - 1))


def test_what_a_message_leaves_out_is_zero() -> None:
    assert key_value(new("KeyValue", {"key": b"/a"})) == KeyValue("/a", b"", 0, 0, 0, 0)
    assert new("RangeResponse", {}).header.revision == 0
    with pytest.raises(ValueError, match="foo"):
        new("RangeRequest", {"foo": 1})


def test_a_key_with_its_value_and_an_event_are_read() -> None:
    fields = {
        "key": b"/a", "value": b"v", "create_revision": 3, "mod_revision": 9, "version": 2, "lease": 77,
    }  # fmt: skip
    kv = KeyValue("/a", b"v", 3, 9, 2, 77)
    assert key_value(new("KeyValue", fields)) == kv
    assert event_of(new("Event", {"kv": fields})) == Event("PUT", kv, None)
    assert event_of(new("Event", {"type": "DELETE", "kv": fields, "prev_kv": fields})) == Event("DELETE", kv, kv)


Handler = Callable[[str, Any, Any], Awaitable[Any]]
"""Name of the call, the message, gRPC's context: the fields of the answer."""


class _Served(grpc.GenericRpcHandler):  # type: ignore[misc]
    def __init__(self, handler: Handler, watch: Any) -> None:
        self._handler, self._watch = handler, watch

    def service(self, details: Any) -> Any:
        name = details.method.rpartition("/")[2]
        if name == "Watch":
            return grpc.stream_stream_rpc_method_handler(
                self._watch, message_class("WatchRequest").FromString, message_class("WatchResponse").SerializeToString
            )
        if details.method != f"/etcdserverpb.{client.CALLS[name][0]}/{name}":
            return None
        _, asked, answered = client.CALLS[name]

        async def call(request: Any, context: Any) -> Any:
            return new(answered, await self._handler(name, request, context))

        return grpc.unary_unary_rpc_method_handler(
            call, message_class(asked).FromString, message_class(answered).SerializeToString
        )


@asynccontextmanager
async def connected(
    handler: Handler, watch: Any = None, certificate: tuple[bytes, bytes] | None = None
) -> AsyncIterator[Client]:
    """`certificate`, of the server, and its key: it is asked over TLS."""
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_Served(handler, watch),))
    if certificate is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        chain, key = certificate
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, chain)]))
    await server.start()
    connection = Client(f"http{'s' if certificate else ''}://127.0.0.1:{port}/")
    try:
        yield connection
    finally:
        await connection.close()
        await server.stop(None)


async def nothing(name: str, request: Any, context: Any) -> dict[str, Any]:
    return {}


def test_a_small_and_a_large_call_arrive_alike() -> None:
    async def main() -> None:
        asked: list[Any] = []

        async def handler(name: str, request: Any, context: Any) -> dict[str, Any]:
            asked.append((name, request))
            return {"header": {"revision": 5}}

        async with connected(handler) as connection:
            for size in (1, 2**20, 2**21):
                fields = {"success": [{"request_put": {"key": b"/a", "value": b"x" * size}}]}
                assert (await connection.call("Txn", fields)).header.revision == 5
                assert asked.pop() == ("Txn", new("TxnRequest", fields))
            assert await current_revision(connection) == 5
            assert asked == [("Range", new("RangeRequest", {"key": b"/registry/", "count_only": True}))]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("code", "kind"), [("INTERNAL", StoreError), ("UNAVAILABLE", UnavailableError), ("UNKNOWN", StoreError)]
)
def test_a_call_that_fails_raises_what_etcd_said(code: str, kind: type[StoreError]) -> None:
    async def main() -> None:
        async def handler(name: str, request: Any, context: Any) -> Any:
            await context.abort(grpc.StatusCode[code], "etcdserver: no")

        async with connected(handler) as connection:
            with pytest.raises(StoreError) as caught:
                await connection.call("Range", {})
            assert (type(caught.value), str(caught.value)) == (kind, "etcdserver: no")

    asyncio.run(main())


def test_the_version_and_what_has_none() -> None:
    async def main() -> None:
        async def handler(name: str, request: Any, context: Any) -> Any:
            return {"version": "3.6.1"}

        async with connected(handler) as connection:
            assert await connection.version() == "3.6.1"
            assert not connection.url.endswith("/")

        async def unknown(name: str, request: Any, context: Any) -> Any:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "unknown service etcdserverpb.Maintenance")

        async with connected(unknown) as connection:
            with pytest.raises(StoreError) as caught:
                await connection.version()
            assert str(caught.value) == f"{connection.url} is not an etcd"

    asyncio.run(main())


def test_an_etcd_that_is_away_is_named_by_every_kind_of_call() -> None:
    async def main() -> None:
        async with connected(nothing) as connection:
            url = connection.url
        connection = Client(url)
        try:
            for call in (connection.call("Range", {}), connection.version(), anext(connection.watch({}))):
                with pytest.raises(UnavailableError) as caught:
                    await call
                assert str(caught.value).startswith(
                    f'rpc error: code = Unavailable desc = connection error: desc = "{url}: '
                )
                assert "refused" in str(caught.value)
        finally:
            await connection.close()

    asyncio.run(main())


def test_over_tls_whom_this_machine_trusts_is_asked_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted, stranger = CertificateAuthority(), CertificateAuthority()
    (file := tmp_path / "trusted.crt").write_bytes(trusted.ca_pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))

    async def handler(name: str, request: Any, context: Any) -> dict[str, Any]:
        return {"header": {"revision": 5}}

    async def main() -> None:
        async with connected(handler, certificate=trusted.server_certificate()) as connection:
            assert (await connection.call("Range", {})).header.revision == 5
        async with connected(handler, certificate=stranger.server_certificate()) as connection:
            with pytest.raises(UnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
                await connection.call("Range", {})

    asyncio.run(main())


def test_a_watch_asks_for_a_leader_and_tells_message_by_message_until_it_breaks() -> None:
    async def watch(requests: Any, context: Any) -> Any:
        assert dict(context.invocation_metadata())["hasleader"] == "true"
        async for request in requests:
            for revision in (1, 2):
                header = {"revision": request.create_request.start_revision + revision}
                yield new("WatchResponse", {"header": header})
            await context.abort(grpc.StatusCode.UNAVAILABLE, "etcdserver: no leader")

    async def main() -> None:
        async with connected(nothing, watch) as connection:
            answers = connection.watch({"start_revision": 5})
            assert [(await anext(answers)).header.revision for _ in range(2)] == [6, 7]
            with pytest.raises(UnavailableError, match=r"^etcdserver: no leader$"):
                await anext(answers)

    asyncio.run(main())


def test_a_watch_that_ends_ends() -> None:
    async def watch(requests: Any, context: Any) -> Any:
        async for _ in requests:
            yield new("WatchResponse", {"created": True})
            return

    async def main() -> None:
        async with connected(nothing, watch) as connection:
            assert [answer.created async for answer in connection.watch({})] == [True]

    asyncio.run(main())


def test_who_waits_when_the_connection_is_closed_is_told_and_who_is_cancelled_is() -> None:
    async def main() -> None:
        arrived = asyncio.Semaphore(0)

        async def never(name: str, request: Any, context: Any) -> Any:
            arrived.release()
            await asyncio.Event().wait()

        async with connected(never) as connection:
            cancelled = asyncio.ensure_future(connection.call("Range", {}))
            waiting = asyncio.ensure_future(connection.call("Range", {}))
            for _ in range(2):
                await arrived.acquire()
            cancelled.cancel()
            await connection.close()
            with pytest.raises(UnavailableError, match=f' desc = "{connection.url}: closed"$'):
                await waiting
            with pytest.raises(asyncio.CancelledError):
                await cancelled

    asyncio.run(main())


def test_the_bounds_of_a_connection() -> None:
    assert client.TIMEOUT == 30.0
    assert client.OPTIONS["grpc.keepalive_time_ms"] == 30_000
    assert client.OPTIONS["grpc.max_reconnect_backoff_ms"] == 1_000
