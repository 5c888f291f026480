"""How we talk to a real etcd: its gRPC API as JSON over HTTP.

Beside gRPC, etcd serves the same calls through its *gateway*: a POST with the request
message in protobuf's JSON form – bytes in base64, 64-bit numbers as strings, zero
values left out. So the page of code below is a whole client. It costs etcd a
translation per call; Kubernetes itself speaks gRPC.

Upstream: etcd `api/etcdserverpb/rpc.proto` (the `google.api.http` options),
`server/embed/serve.go` (`registerGateway`), v3.4 and later. Left out: client
certificates, user names, several endpoints.
"""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from lifecycle.api import fast_json
from lifecycle.api.late_import import late_import
from lifecycle.etcd.calls import Calls
from lifecycle.etcd.store import (
    Event,
    KeyValue,
    LeaseNotFoundError,
    NoSpaceError,
    RequestTooLargeError,
    StoreError,
    UnavailableError,
)

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")

Message = dict[str, Any]

TIMEOUT = 30.0
"""Seconds for a call that is not a watch."""

CONNECTIONS = 128
"""Calls at the same time; more wait."""

COMPACTED = "etcdserver: mvcc: required revision has been compacted"
FUTURE = "etcdserver: mvcc: required revision is a future revision"
NO_LEASE = str(LeaseNotFoundError())
NO_SPACE = str(NoSpaceError())
TOO_LARGE = str(RequestTooLargeError())

OPEN_CODES = frozenset({1, 4, 14})
"""gRPC's Canceled, DeadlineExceeded and Unavailable. So etcd says that it has no leader
or waited too long for its members (`api/v3rpc/rpctypes/error.go`, `ErrGRPCTimeout` and
its kin): what was to be written may be written yet.
"""


class Gateway:
    """A connection to one etcd. `close()` when done."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._calls = Calls(self.url, CONNECTIONS)
        # of the answers that do not end
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def call(self, path: str, message: Message) -> Message:
        """One call. Raises StoreError with etcd's message, UnavailableError if there is
        no answer.
        """
        try:
            async with asyncio.timeout(TIMEOUT):
                status, body = await self._calls.post(path, fast_json.dumps(message))
        except OSError as error:
            raise self._unavailable(error) from None
        answer = _parsed(body)
        if "error" in answer or status != 200:
            raise error_of(answer)
        return answer

    async def version(self) -> str:
        """etcd's version. Raises UnavailableError; StoreError if it is something else
        that answers.
        """
        try:
            async with self._session.get(
                self.url + "/version", timeout=aiohttp.ClientTimeout(TIMEOUT)
            ) as response:
                version = _parsed(await response.read()).get("etcdserver")
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._unavailable(error) from None
        if not version:
            raise StoreError(f"{self.url} is not an etcd")
        return str(version)

    async def stream(
        self, path: str, message: Message
    ) -> AsyncGenerator[Message, None]:
        """A call that is answered by many messages, one a line. Raises as `call` does,
        also when the connection breaks.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT)
        try:
            async with self._session.post(
                self.url + path, data=fast_json.dumps(message), timeout=timeout
            ) as response:
                rest = b""
                async for chunk in response.content.iter_any():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        if line.strip():
                            answer = _parsed(line)
                            if "result" not in answer:
                                raise error_of(answer)
                            yield answer["result"]
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._unavailable(error) from None

    async def close(self) -> None:
        """Close all connections."""
        await self._calls.close()
        await self._session.close()

    def _unavailable(self, error: BaseException) -> UnavailableError:
        why = str(getattr(error, "os_error", None) or error) or type(error).__name__
        return UnavailableError(
            "rpc error: code = Unavailable desc = connection error: desc ="
            f' "{self.url}: {why}"'
        )


def _parsed(data: bytes) -> Message:
    try:
        answer = fast_json.loads(data)
    except fast_json.JSONDecodeError:
        raise StoreError(
            f"not an answer of etcd: {data[:80].decode(errors='replace')}"
        ) from None
    return answer if isinstance(answer, dict) else {}


def error_of(answer: Message) -> StoreError:
    """The exception for an answer that is an error; etcd's versions put message and
    code in different places.
    """
    error = answer.get("error") or answer.get("message") or "etcdserver: unknown error"
    inner = error if isinstance(error, dict) else {}
    code = answer.get("code") or inner.get("grpc_code") or inner.get("code")
    text = str(error.get("message", "") if isinstance(error, dict) else error)
    if NO_LEASE in text:
        return LeaseNotFoundError()
    if NO_SPACE in text:
        return NoSpaceError()
    if TOO_LARGE in text:
        return RequestTooLargeError()
    return UnavailableError(text) if code in OPEN_CODES else StoreError(text)


def encoded(key: str) -> str:
    """A key on the wire."""
    return b64encode(key.encode()).decode()


def encoded_bytes(value: bytes) -> str:
    """A value on the wire."""
    return b64encode(value).decode()


async def current_revision(gateway: Gateway) -> int:
    """As the leader knows it: a read is linearizable unless it asks not to be.
    Upstream: `GetCurrentResourceVersion`.
    """
    return revision_of(
        await gateway.call(
            "/v3/kv/range", {"key": encoded("/registry/"), "count_only": True}
        )
    )


def revision_of(answer: Message) -> int:
    """The store's revision when it answered."""
    return int(answer["header"].get("revision", 0))


def key_value(message: Message) -> KeyValue:
    """A `mvccpb.KeyValue`."""
    return KeyValue(
        b64decode(message["key"]).decode(),
        b64decode(message.get("value", "")),
        int(message.get("create_revision", 0)),
        int(message.get("mod_revision", 0)),
        int(message.get("version", 0)),
        int(message.get("lease", 0)),
    )


def event_of(message: Message) -> Event:
    """A `mvccpb.Event`."""
    previous = message.get("prev_kv")
    return Event(
        message.get("type", "PUT"),
        key_value(message["kv"]),
        key_value(previous) if previous else None,
    )
