"""Passing a request on to an added API server, and its answer back.

The request has been through the whole chain by now: the user is known, may do this, and
has a seat. What is left is to find the server, to ask it in the user's name and to hand
back what it says, byte for byte; a watch piece by piece.

Two failures are told apart. If the APIService is known to be unavailable nobody is
asked: `service unavailable`. If it seemed fine and then is not there: `error trying to
reach service: …`. Both are plain text with a 503.

Upstream: `kube-aggregator/pkg/apiserver/handler_proxy.go` (`proxyHandler.ServeHTTP`),
`apiserver/pkg/util/proxy/proxy.go` (`NewRequestForProxy`), v1.36. Left out: upgraded
connections (exec in an added server), rejecting redirects.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.aggregation.api_services import is_available, service_reference
from lifecycle.apiserver.aggregation.backend import (
    HOP_BY_HOP,
    Backend,
    BackendError,
    forwarded_headers,
)
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.filters.request_info import is_long_running
from lifecycle.apiserver.webhook.service_resolver import (
    ResolveError,
    ServiceResolver,
)

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")

DISCOVERY_TIMEOUT = 5.0
"""Seconds for `/apis/<group>/<version>`: every client asks for it."""
IN_ONE_PIECE = 1 << 20
"""Bytes of an answer of known length up to which it is read before it is passed on."""
MOST = 64 << 20
"""Bytes of an answer that somebody in this process wants as a whole. Upstream's
components read whatever comes.
"""

log = logging.getLogger(__name__)


class ProxyHandler:
    """Serves one APIService. `backend` is None if its settings make no transport;
    `trouble` then says why.
    """

    def __init__(
        self,
        api_service: Object,
        resolver: ServiceResolver,
        backend: Backend | None,
        trouble: str = "",
    ) -> None:
        self.api_service = api_service
        self._resolver = resolver
        self._backend = backend
        self._trouble = trouble

    async def __call__(self, request: Request) -> Response:
        """Pass it on."""
        if not is_available(self.api_service):
            return _proxy_error("service unavailable", 503)
        if self._backend is None:
            return _proxy_error(self._trouble, 500)
        if request.user is None:
            return _proxy_error("missing user", 500)
        reference = service_reference(self.api_service)
        assert reference is not None, "a proxy is made for APIServices with a Service"
        try:
            host, port = self._resolver.resolve_endpoint(*reference)
        except ResolveError as error:
            log.error("error resolving %s/%s: %s", *reference[:2], error)
            return _proxy_error("service unavailable", 503)
        body = request.body or (
            fast_json.dumps(request.obj) if request.obj is not None else b""
        )
        headers = forwarded_headers(request.headers)
        if request.obj is not None and not any(
            name == "content-type" for name, _ in headers
        ):
            headers.append(("content-type", "application/json"))
        headers = [(name, value) for name, value in headers if name != "audit-id"]
        headers += [
            ("Audit-ID", request.audit_id),
            ("X-Forwarded-For", request.remote_addr),
            ("X-Forwarded-Uri", request.path),
            ("X-Forwarded-Host", f"{host}:{port}"),
            ("X-Forwarded-Proto", "https"),
        ]
        info = request.info
        discovery = (
            info is not None
            and not info.is_resource_request
            and request.path.strip("/").count("/") == 2
        )
        try:
            answer = await self._backend.send(
                request.method,
                host,
                port,
                request.path,
                user=request.user,
                query=request.query,
                headers=headers,
                body=body,
                timeout=DISCOVERY_TIMEOUT if discovery else None,
            )
            kept = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() not in HOP_BY_HOP
            }
            kept = {
                name: value
                for name, value in kept.items()
                if name.lower() not in ("audit-id", "date")
            }
            watched = info is not None and is_long_running(info)
            if watched and answer.status == 200:
                return _streamed(request, answer, kept)
            length = answer.content_length
            short = length is not None and length <= IN_ONE_PIECE
            if not (request.accepts_object or discovery or short):
                return _streamed(request, answer, kept)
            data = await _whole(answer)
        except (BackendError, aiohttp.ClientError) as error:
            return _proxy_error(f"error trying to reach service: {error}", 503)
        except TimeoutError:
            why = "context deadline exceeded"
            return _proxy_error(f"error trying to reach service: {why}", 503)
        if request.accepts_object and data[:1] == b"{":
            obj = await beside(len(data), fast_json.loads, data)
            return Response(answer.status, kept, obj=obj, size=len(data))
        return Response(answer.status, kept, body=data, verbatim=True)


async def _whole(answer: aiohttp.ClientResponse) -> bytes:
    """The body. Raises BackendError for one that has no end, or nearly so."""
    pieces, size = [], 0
    async with answer:
        async for piece in answer.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > MOST:
                answer.close()
                raise BackendError(f"the answer is longer than {MOST} bytes")
    return b"".join(pieces)


def _proxy_error(message: str, code: int) -> Response:
    return text(f"{message}\n", code)


def _streamed(
    request: Request, answer: aiohttp.ClientResponse, headers: dict[str, str]
) -> Response:
    """A watch, or an answer that may be long. Clients of this process get the frames,
    all others the bytes as they come, no faster than they read.
    """
    frames = _frames(answer) if request.accepts_object else _pieces(answer)
    return Response(
        answer.status,
        headers,
        stream=frames,
        encode_frame=lambda frame: frame.encoded or b"",
    )


async def _pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[WatchFrame]:
    try:
        async for piece in answer.content.iter_any():
            yield WatchFrame("", {}, encoded=piece)
    except aiohttp.ClientError:  # the other side has gone: the watch ends
        return
    finally:
        answer.close()


async def _frames(answer: aiohttp.ClientResponse) -> AsyncIterator[WatchFrame]:
    try:
        async for line in answer.content:
            if line.strip():
                event = await beside(len(line), fast_json.loads, line)
                yield WatchFrame(event["type"], event["object"], encoded=line)
    except aiohttp.ClientError:
        return
    finally:
        answer.close()
