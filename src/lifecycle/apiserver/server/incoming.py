"""A request as it comes out of a socket: its target, its headers, and its body, which
has to fit into 3 MiB and to arrive within a minute.

Upstream: `apiserver/pkg/endpoints/handlers/rest.go` (`limitedReadBody`), v1.36;
`net/http/server.go`, `net/http/transfer.go`, Go 1.25.
"""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, unquote

import yarl._url
from aiohttp import web

from lifecycle.api.bounded_cache import is_short
from lifecycle.api.http.wire import Request, Response
from lifecycle.apiserver.http.headers import joined_headers
from lifecycle.apiserver.server.connection import Connection

MAX_BODY = 3 * 1024 * 1024
BODY_TIMEOUT = 60.0

_URL_CACHES = [
    each for each in vars(yarl._url).values() if hasattr(each, "cache_clear")
]
"""Of the library that splits addresses for aiohttp: each keeps the last 128 of any
length.
"""


class BodyTooLargeError(Exception):
    """The client sends more than `MAX_BODY` bytes."""


def split_target(target: str) -> tuple[str, dict[str, list[str]]]:
    """Path and query, which may have a megabyte."""
    path, _, query = target.partition("?")
    return (
        unquote(path) if "%" in path else path,
        parse_qs(query, keep_blank_values=True) if query else {},
    )


def origin_form(target: str) -> str:
    """Path and query of a target that names the server as well, as proxies are sent."""
    if not target.startswith(("http://", "https://")):
        return target
    authority, slash, path = target.partition("://")[2].partition("/")
    if slash:
        return slash + path
    _, mark, query = authority.partition("?")
    return f"/{mark}{query}"


def answered_at_once(incoming: web.BaseRequest, target: str) -> Response | None:
    """What Go's HTTP server answers before any handler hears of a request; None: all
    others.

    A body in an encoding that is not known ends where nobody can tell. Upstream:
    `net/http/server.go` (`globalOptionsHandler`, `sendExpectationFailed`),
    `net/http/transfer.go` (`unsupportedTEError`), Go 1.25.
    """
    plain = {"Content-Type": "text/plain; charset=utf-8"}
    encoding = incoming.headers.get("Transfer-Encoding")
    if encoding is not None and encoding.strip().lower() != "chunked":
        return Response(501, plain, body=b"Unsupported transfer encoding")
    if incoming.headers.get("Expect", "100-continue").lower() != "100-continue":
        return Response(417, {})
    if target == "*" and incoming.method == "OPTIONS":
        return Response(200, {})
    return None


def to_request(
    incoming: web.BaseRequest, target: str, path: str, query: dict[str, list[str]]
) -> Request:
    """A `wire.Request`, its body still empty. Headers have lower-case names."""
    if not is_short(target):
        for cache in _URL_CACHES:
            cache.cache_clear()
    connection = incoming.protocol
    assert isinstance(connection, Connection)
    address, certificate = connection.peer
    return Request(
        method=incoming.method,
        path=path,
        query=query,
        headers=joined_headers(incoming.headers.items()),
        peer_certificate=certificate,
        remote_addr=address,
        target=target,
    )


async def read_body(incoming: web.BaseRequest) -> bytes:
    """All of the body. Raises `BodyTooLargeError` as soon as that is clear,
    TimeoutError when it takes too long.
    """
    content = incoming.content
    if not incoming.body_exists:
        return b""
    announced = incoming.content_length
    if announced is not None and announced > MAX_BODY:
        raise BodyTooLargeError
    if (
        incoming.headers.get("Expect", "").lower() == "100-continue"
        and incoming.transport is not None
    ):
        incoming.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if content.is_eof():
        return content.read_nowait()
    pieces: list[bytes] = []
    size = 0
    async with asyncio.timeout(BODY_TIMEOUT):
        while piece := await content.readany():
            size += len(piece)
            if size > MAX_BODY:
                raise BodyTooLargeError
            pieces.append(piece)
    return b"".join(pieces)
