"""A request and its answer, as every stage of the API server sees them.

One shape serves both ways in: the HTTPS server builds a `Request` from a socket, the
in-process transport builds one from a Python call. Everything behind (the handler
chain) cannot tell the difference, which is the point: an in-process client passes
through authentication, authorization and admission exactly as kubectl does.

The only shortcut is the codec. An in-process request may carry its object as `obj`
instead of bytes, and an answer carries the object until somebody needs bytes.

Upstream: `net/http.Request` with its context;
`apiserver/pkg/endpoints/request/requestinfo.go` (`RequestInfo`),
`apiserver/pkg/authentication/user/user.go` (`Info`), v1.36.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

Object = dict[str, Any]
"""An API object: plain JSON, as on the wire. Read-only once stored or cached."""


@dataclass(slots=True, frozen=True)
class UserInfo:
    """Who is asking. Upstream: `user.Info`."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = UserInfo("system:anonymous", ("system:unauthenticated",))
MASTERS = "system:masters"


@dataclass(slots=True, frozen=True)
class RequestInfo:
    """What a URL and method mean. Upstream: `request.RequestInfo`.

    `verb` is the API verb (get, list, watch, create, update, patch, delete,
    deletecollection, proxy) for resource requests and the lower-case HTTP method
    otherwise.
    """

    is_resource_request: bool
    path: str
    verb: str
    api_prefix: str = ""
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()
    label_selector: str = ""
    field_selector: str = ""


@dataclass(slots=True)
class Request:
    """One request on its way through the handler chain.

    `query` maps each key to all its values; `headers` has lower-case keys; `body` is
    what came over the wire, empty when `obj` is given. Filters fill in `user`, `info`
    and `audit_id` on the way. `peer_certificate` is the client's DER, if it sent one.
    `accepts_object` says that the caller takes the answer as a Python object
    (in-process), so nothing is encoded. `target` is path and query as they came over
    the wire, `deadline` the loop's time at which the request is given up (None: never).
    `requested_version` is the group and version that the client named, where it was
    translated on the way (empty: the one in the path).
    """

    method: str
    path: str
    query: dict[str, list[str]] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    obj: Object | list[Any] | None = None
    accepts_object: bool = False
    peer_certificate: bytes | None = None
    remote_addr: str = "127.0.0.1"
    target: str = ""
    deadline: float | None = None
    requested_version: str = ""
    user: UserInfo | None = None
    info: RequestInfo | None = None
    audit_id: str = ""
    warnings: list[str] = field(default_factory=list)

    def param(self, key: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.query.get(key)
        return values[0] if values else default


class EncodedOnce(Protocol):
    """Something that keeps the JSON of its object, made when first asked for."""

    @property
    def json(self) -> bytes:
        """The object as JSON."""
        ...


@dataclass(slots=True)
class WatchFrame:
    """One watch event. All watchers of a change share the frame, and with it `source`'s
    JSON and `encoded`, the whole line. `size`: bytes of the object's JSON, about, if
    there may be many.

    Upstream: `apiserver/pkg/storage/cacher/caching_object.go`.
    """

    type: str
    object: Object
    source: EncodedOnce | None = None
    encoded: bytes | None = None
    size: int = 0


class Connection(Protocol):
    """Bytes in both directions: what is left of a request once it has been upgraded."""

    async def read(self) -> bytes:
        """The next bytes; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send. Raises ConnectionError when nobody listens any more."""
        ...

    def close(self) -> None:
        """No more in either direction; again does no harm."""
        ...


@dataclass(slots=True)
class Response:
    """An answer: exactly one of `obj` (to be encoded as negotiated), `body` (ready
    bytes) or `stream` (a watch).

    `encode_frame` turns a frame of the stream into the bytes that were negotiated;
    in-process callers take the frames as they are. With status 101, `upgrade` serves
    the connection once the head is written, and returns when it is done. `verbatim`:
    the body came from another server and goes on as it is. `size`: bytes of `obj`,
    about, which say whether its encoding is the worker's (`api.worker`).
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    obj: Object | None = None
    body: bytes | None = None
    stream: AsyncIterator[WatchFrame] | None = None
    encode_frame: Callable[[WatchFrame], bytes] | None = None
    verbatim: bool = False
    upgrade: Callable[[Connection], Awaitable[None]] | None = None
    size: int = 0


Handler = Callable[[Request], Awaitable[Response]]
"""A stage of the chain: takes a request, returns an answer. Filters wrap handlers; the
signature never changes.
"""
