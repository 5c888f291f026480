"""From a kubeconfig to something that can be asked: all stages of a request, one around
the other.

Outermost first: wait for a token and retry; print bodies; add who we are and which
command this is; print the request; and then the socket. Discovery has a client of its
own, with a larger allowance, and with the HTTP cache just above the socket. What the
cache and the `Kubectl-*` headers do happens below the printing, so `-v=9` does not show
it.

Upstream: `client-go/rest/transport.go` (`HTTPWrappersForConfig`),
`cli-runtime/pkg/genericclioptions/config_flags.go` (`ToDiscoveryClient`),
`command_headers.go` (`CommandHeaderRoundTripper`), v1.36.2. Left out: one bucket for
each group and version.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Request, Response
from lifecycle.api.version import user_agent
from lifecycle.client.rest import Client, Transport
from lifecycle.client.transport_https import ConnectionConfig
from lifecycle.kubectl.discovery.cached_discovery import (
    CachedDiscoveryClient,
    compute_discover_cache_dir,
)
from lifecycle.kubectl.discovery.discovery_client import Discovery, DiscoveryClient
from lifecycle.kubectl.discovery.http_cache import CacheTransport
from lifecycle.kubectl.request.debugging import BodyLog, DebuggingTransport, Log
from lifecycle.kubectl.request.http_transport import HTTPTransport
from lifecycle.kubectl.request.throttling import (
    DEFAULT_BURST,
    DEFAULT_QPS,
    DISCOVERY_BURST,
    DISCOVERY_QPS,
    RetryTransport,
    TokenBucket,
)

USER_AGENT = user_agent("kubectl")


class HeaderTransport:
    """Adds headers to each request; what the request says itself wins."""

    def __init__(self, inner: Transport, headers: Mapping[str, str]) -> None:
        self._inner = inner
        self._headers = dict(headers)

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`."""
        return await self._inner.round_trip(
            replace(request, headers={**self._headers, **request.headers})
        )

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


class TimeoutParameter:
    """`--request-timeout` is told to the server as well, as `timeout=3s`."""

    def __init__(self, inner: Transport, text: str) -> None:
        self._inner = inner
        self._text = text

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`."""
        return await self._inner.round_trip(
            replace(request, query={**request.query, "timeout": [self._text]})
        )

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


class Decoding:
    """JSON answers become objects. Everything below sees bytes, everything above sees
    what they mean.
    """

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`."""
        answer = await self._inner.round_trip(request)
        if answer.body and answer.headers.get("content-type", "").startswith(
            "application/json"
        ):
            answer = Response(
                answer.status, answer.headers, obj=fast_json.loads(answer.body)
            )
        return answer

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


def command_headers(command: str) -> dict[str, str]:
    """Which command this is, and one identifier for all requests of one run: for the
    server's logs.
    """
    return {
        "kubectl-command": f"kubectl {command}".rstrip(),
        "kubectl-session": str(uuid.uuid4()),
    }


@dataclass(slots=True, frozen=True)
class Wire:
    """A way to one server: for objects, for discovery, and how to hang up. `base` is
    the server's address.
    """

    client: Client
    discovery: Discovery
    base: str
    http: HTTPTransport

    async def close(self) -> None:
        """Close all connections."""
        await self.http.close()


def connect(
    config: ConnectionConfig,
    *,
    log: Log,
    level: int = 0,
    command: str = "",
    sign: Callable[[Transport], Transport] | None = None,
    cache: Path | None = None,
    timeout: float = 0.0,
    timeout_text: str = "",
    qps: float = DEFAULT_QPS,
    burst: int = DEFAULT_BURST,
) -> Wire:
    """The stages of one server. Call it on the loop that will use them.

    `sign` puts credentials on what passes. `cache`: the folder for both caches; None
    for none. `timeout`: seconds for each request, 0 for as long as it takes;
    `timeout_text` is how that was written. `level`: the `-v`.
    """
    http = HTTPTransport(config, timeout=timeout)

    def stages(bottom: Transport, limit: TokenBucket) -> Transport:
        stage: Transport = (
            HeaderTransport(bottom, command_headers(command)) if command else bottom
        )
        if level >= 6:
            stage = DebuggingTransport(stage, level, log, http)
        if sign is not None:
            stage = sign(stage)
        if level >= 8:
            stage = BodyLog(stage, level, log)
        stage = RetryTransport(stage, limit, level=level, log=log)
        return stage

    requests = stages(http, TokenBucket(qps, burst))
    lookups = stages(
        CacheTransport(http, cache / "http", http.base) if cache is not None else http,
        TokenBucket(DISCOVERY_QPS, DISCOVERY_BURST),
    )
    if timeout_text and timeout:
        requests, lookups = (
            TimeoutParameter(stage, timeout_text) for stage in (requests, lookups)
        )
    discovery: Discovery = DiscoveryClient(Client(Decoding(lookups), USER_AGENT))
    if cache is not None:
        discovery = CachedDiscoveryClient(
            discovery, compute_discover_cache_dir(cache / "discovery", http.base)
        )
    return Wire(Client(Decoding(requests), USER_AGENT), discovery, http.base, http)
