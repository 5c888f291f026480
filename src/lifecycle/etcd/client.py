"""How we talk to a real etcd: its gRPC API, as Kubernetes does.

All calls share one connection; when it breaks, whoever waits is told so, and the next
call opens another, soon at first and then once a second.

Upstream: etcd `client/v3/client.go`, `apiserver/pkg/storage/storagebackend/factory/
etcd3.go` (`newETCD3Client`: how often a quiet connection is asked whether it lives),
v1.36. Left out: client certificates, user names, several endpoints.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lifecycle.api.late_import import late_import
from lifecycle.etcd.messages import PACKAGE, Message, message_class, new
from lifecycle.etcd.store import (
    LeaseNotFoundError,
    NoSpaceError,
    RequestTooLargeError,
    StoreError,
    UnavailableError,
)

if TYPE_CHECKING:
    import grpc
    import grpc.aio
else:
    grpc = late_import("grpc")
    grpc.aio = late_import("grpc.aio")

TIMEOUT = 30.0
"""Seconds for a call that is not a watch."""

CALLS = {
    "Range": ("KV", "RangeRequest", "RangeResponse"),
    "Txn": ("KV", "TxnRequest", "TxnResponse"),
    "Compact": ("KV", "CompactionRequest", "CompactionResponse"),
    "LeaseGrant": ("Lease", "LeaseGrantRequest", "LeaseGrantResponse"),
    "LeaseRevoke": ("Lease", "LeaseRevokeRequest", "LeaseRevokeResponse"),
    "Status": ("Maintenance", "StatusRequest", "StatusResponse"),
}
"""Service, what is asked, what is answered: by the name of the call."""

OPTIONS = {
    "grpc.max_receive_message_length": -1,  # etcd itself sends what it was asked for
    "grpc.max_send_message_length": -1,  # and says what is too large for it
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.min_reconnect_backoff_ms": 1_000,
    "grpc.max_reconnect_backoff_ms": 1_000,
    "grpc.enable_retries": 0,  # who asked decides whether to ask again
    "grpc.enable_http_proxy": 0,
    "grpc.use_local_subchannel_pool": 1,
}

COMPACTED = "etcdserver: mvcc: required revision has been compacted"
FUTURE = "etcdserver: mvcc: required revision is a future revision"
NO_LEASE = str(LeaseNotFoundError())
NO_SPACE = str(NoSpaceError())
TOO_LARGE = str(RequestTooLargeError())

OPEN_CODES = frozenset({"CANCELLED", "DEADLINE_EXCEEDED", "UNAVAILABLE"})
"""So etcd says that it has no leader or waited too long for its members
(`api/v3rpc/rpctypes/error.go`, `ErrGRPCTimeout` and its kin): what was to be written
may be written yet.
"""

NOT_AN_ETCD = ("http1.x server", "Method not found", "unknown service")


class Client:
    """A connection to one etcd. `close()` when done."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        secure = parts.scheme == "https"
        address = f"{parts.netloc.rpartition('@')[2]}{parts.path}"
        target = address if parts.port else f"{address}:{443 if secure else 80}"
        options = list(OPTIONS.items())
        with _of_few_words():
            self._channel = (
                grpc.aio.secure_channel(target, _credentials(), options)
                if secure
                else grpc.aio.insecure_channel(target, options)
            )
        self._closed = False
        self._calls = {
            name: self._channel.unary_unary(
                f"/{PACKAGE}.{service}/{name}",
                request_serializer=message_class(request).SerializeToString,
                response_deserializer=message_class(response).FromString,
            )
            for name, (service, request, response) in CALLS.items()
        }
        self._watch = self._channel.stream_stream(
            f"/{PACKAGE}.Watch/Watch",
            request_serializer=message_class("WatchRequest").SerializeToString,
            response_deserializer=message_class("WatchResponse").FromString,
        )

    async def call(self, name: str, fields: Mapping[str, Any]) -> Message:
        """One of `CALLS`. Raises StoreError with etcd's message, UnavailableError if
        there is no answer.
        """
        request = new(CALLS[name][1], fields)
        try:
            return await self._calls[name](request, timeout=TIMEOUT)
        except grpc.aio.AioRpcError as error:
            raise self._error(error.code().name, error.details() or "") from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closed and not (task and task.cancelling()):
                raise self._error("UNAVAILABLE", "closed") from None
            raise

    async def version(self) -> str:
        """etcd's version. Raises UnavailableError; StoreError if it is something else
        that answers.
        """
        try:
            return str((await self.call("Status", {})).version)
        except StoreError as error:
            if any(words in str(error) for words in NOT_AN_ETCD):
                raise StoreError(f"{self.url} is not an etcd") from None
            raise

    async def watch(self, create: Mapping[str, Any]) -> AsyncGenerator[Message, None]:
        """Answers to a `WatchCreateRequest`, as they come; none while this member knows
        no leader. Raises as `call` does, also when the connection breaks.
        """
        call = self._watch(metadata=(("hasleader", "true"),))
        reading: asyncio.Future[Message] | None = None
        try:
            await call.write(new("WatchRequest", {"create_request": create}))
            while True:
                reading = asyncio.ensure_future(call.read())
                answer = await asyncio.shield(reading)
                if answer is grpc.aio.EOF:
                    return
                yield answer
        except grpc.aio.AioRpcError as error:
            raise self._error(error.code().name, error.details() or "") from None
        finally:
            call.cancel()
            if reading is not None:  # what is under way would end on a later loop
                await asyncio.gather(reading, return_exceptions=True)

    async def close(self) -> None:
        """Close the connection; who waits for an answer has none."""
        self._closed = True
        await self._channel.close()

    def _error(self, code: str, text: str) -> StoreError:
        if code == "UNAVAILABLE" and not text.startswith("etcdserver"):
            return UnavailableError(
                "rpc error: code = Unavailable desc = connection error: desc ="
                f' "{self.url}: {text}"'
            )
        return error_of(code, text)


@contextmanager
def _of_few_words() -> Iterator[None]:
    """gRPC, which asks its environment when it begins, tells the terminal of errors
    only: what becomes of a connection is said by who called.
    """
    if "GRPC_VERBOSITY" in os.environ:
        yield
        return
    os.environ["GRPC_VERBOSITY"] = "ERROR"
    try:
        yield
    finally:
        del os.environ["GRPC_VERBOSITY"]


def _credentials() -> Any:
    trusted = ssl.get_default_verify_paths().cafile
    roots = Path(trusted).read_bytes() if trusted else None
    return grpc.ssl_channel_credentials(roots)


def error_of(code: str, text: str) -> StoreError:
    """The exception for gRPC's code, in Python's spelling, and etcd's message."""
    if NO_LEASE in text:
        return LeaseNotFoundError()
    if NO_SPACE in text:
        return NoSpaceError()
    if TOO_LARGE in text:
        return RequestTooLargeError()
    return UnavailableError(text) if code in OPEN_CODES else StoreError(text)


async def current_revision(client: Client) -> int:
    """As the leader knows it: a read is linearizable unless it asks not to be.
    Upstream: `GetCurrentResourceVersion`.
    """
    answer = await client.call("Range", {"key": b"/registry/", "count_only": True})
    return int(answer.header.revision)
