"""The last step: bytes over a socket, with a look at the clock at every stage of the
way.

Answers come back as bytes, exactly as they were sent, because the stages above keep
them on disk and print them; watches come as frames, logs in pieces, and what has been
upgraded as a connection.

Upstream: `net/http` and `net/http/httptrace` below
`client-go/transport/round_trippers.go` (`debuggingRoundTripper`), v1.36.2. Left out:
HTTP/2, proxies.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from lifecycle.api import fast_json
from lifecycle.api.http.auto_headers import AUTO_HEADERS
from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.api.late_import import late_import
from lifecycle.client.transport_https import ConnectionConfig, ssl_context
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.request.upgraded import Upgraded

if TYPE_CHECKING:
    import aiohttp
    import yarl
else:
    aiohttp = late_import("aiohttp")
    yarl = late_import("yarl")


@dataclass(slots=True)
class Timing:
    """Seconds spent on one request. `reused`: an open connection was taken, and there
    was no dialling.
    """

    reused: bool = True
    dns: float = 0.0
    dial: float = 0.0
    connection: float = 0.0
    server: float = 0.0
    address: str = ""
    started: dict[str, float] = field(default_factory=dict)


def body_of(request: Request) -> bytes:
    """What goes over the wire. Go's JSON encoder ends an object with a newline; a patch
    is sent as it was computed.
    """
    if request.obj is None:
        return request.body
    whole = (
        request.headers.get("content-type", "application/json") == "application/json"
    )
    return fast_json.dumps(request.obj) + (b"\n" if whole else b"")


class HTTPTransport:
    """A `Transport` to one server. Make it on the loop that uses it. `last` is the
    timing of the request that ended last.

    Raises ConnectionFailed, in Go's words as far as kubectl prints them, when the
    server cannot be reached or does not answer in time.
    """

    def __init__(self, config: ConnectionConfig, *, timeout: float = 0.0) -> None:
        self.base = config.server.rstrip("/")
        self.last = Timing()
        self._timeout = timeout
        self._server_name = config.server_name or None
        secure = ssl_context(config) if self.base.startswith("https:") else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=secure),
            trace_configs=[_tracing()],
            headers={"accept-encoding": "gzip"},
            skip_auto_headers=AUTO_HEADERS,
        )

    def url(self, request: Request) -> str:
        """The whole URL, the query sorted by name as Go does."""
        query = urlencode(
            [
                (name, value)
                for name, values in sorted(request.query.items())
                for value in values
            ]
        )
        return f"{self.base}{request.path}" + (f"?{query}" if query else "")

    async def round_trip(self, request: Request) -> Response:
        """Send; see `Transport`."""
        body = body_of(request)
        watching = request.param("watch") in ("true", "1")
        limit = aiohttp.ClientTimeout(total=self._timeout or None, sock_connect=30)
        timing = self.last = Timing()
        verb = f'{request.method.capitalize()} "{self.url(request)}"'
        try:
            answer = await self._session.request(
                request.method,
                yarl.URL(self.url(request), encoded=True),
                data=body or None,
                headers=[
                    (name, each)
                    for name, several in request.headers.items()
                    for each in several.split("\n")
                ],
                timeout=limit,
                server_hostname=self._server_name,
                allow_redirects=False,
                trace_request_ctx=timing,
            )
            headers: dict[str, str] = {}
            for name, value in answer.headers.items():  # warnings come one a header
                lower = name.lower()
                headers[lower] = (
                    f"{headers[lower]}, {value}" if lower in headers else value
                )
            if watching and answer.status == 200:
                return Response(answer.status, headers, stream=_frames(answer))
            if answer.status == 101:
                return Response(101, headers, upgrade=Upgraded(answer).serve)
            if request.path.endswith("/log") and answer.status == 200:
                return Response(
                    answer.status,
                    headers,
                    stream=_pieces(answer),
                    encode_frame=lambda piece: piece.encoded or b"",
                )
            async with answer:
                return Response(answer.status, headers, body=await answer.read())
        except TimeoutError:
            raise ConnectionFailed(
                f"{verb}: net/http: request canceled (Client.Timeout exceeded while"
                " awaiting headers)",
                "timeout",
                self._host,
            ) from None
        except aiohttp.ClientConnectorCertificateError as error:
            raise ConnectionFailed(
                f"{verb}: {_x509(error.certificate_error)}", "tls", self._host
            ) from None
        except aiohttp.ClientConnectorError as error:
            raise self._not_connected(verb, error) from None
        except aiohttp.ClientResponseError as error:
            raise ConnectionFailed(
                f"{verb}: net/http: HTTP/1.x transport connection broken: malformed"
                f" HTTP response: {error.message}",
                "malformed",
                self._host,
            ) from None
        except aiohttp.ClientError as error:
            raise ConnectionFailed(
                (
                    f"{verb}: EOF"
                    if "disconnected" in str(error).lower()
                    else f"{verb}: {error}"
                ),
                "eof",
                self._host,
            ) from None

    @property
    def _host(self) -> str:
        return urlsplit(self.base).netloc

    def _not_connected(
        self, verb: str, error: aiohttp.ClientConnectorError
    ) -> ConnectionFailed:
        parts = urlsplit(self.base)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            return ConnectionFailed(
                f"{verb}: dial tcp: lookup {parts.hostname}: no such host",
                "dns",
                self._host,
            )
        if (
            isinstance(error.os_error, ConnectionRefusedError)
            or "refused" in str(error)
            or "Connect call failed" in str(error)
        ):
            return ConnectionFailed(
                f"{verb}: dial tcp {parts.hostname}:{port}: connect: connection"
                " refused",
                "refused",
                self._host,
            )
        return ConnectionFailed(
            f"{verb}: dial tcp {parts.hostname}:{port}: {error.os_error}",
            "dial",
            self._host,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _x509(error: Exception) -> str:
    reason = (
        getattr(error, "verify_message", "")
        if isinstance(error, ssl.SSLCertVerificationError)
        else ""
    )
    known = {
        "self-signed certificate in certificate chain": (
            "certificate signed by unknown authority"
        ),
        "unable to get local issuer certificate": (
            "certificate signed by unknown authority"
        ),
        "self-signed certificate": "certificate signed by unknown authority",
        "certificate has expired": "certificate has expired or is not yet valid",
    }
    return (
        f"tls: failed to verify certificate: x509: {known.get(reason, reason or error)}"
    )


def _tracing() -> aiohttp.TraceConfig:
    """Note when the stages of a connection begin and end, into the `Timing` that came
    with the request.
    """
    trace = aiohttp.TraceConfig()

    def begin(stage: str) -> Any:
        async def noted(session: Any, context: SimpleNamespace, params: Any) -> None:
            context.trace_request_ctx.started[stage] = asyncio.get_running_loop().time()

        return noted

    def end(stage: str, into: str) -> Any:
        async def noted(session: Any, context: SimpleNamespace, params: Any) -> None:
            timing = context.trace_request_ctx
            setattr(
                timing,
                into,
                asyncio.get_running_loop().time()
                - timing.started.get(stage, asyncio.get_running_loop().time()),
            )
            if stage == "connect":
                timing.reused = False

        return noted

    trace.on_dns_resolvehost_start.append(begin("dns"))
    trace.on_dns_resolvehost_end.append(end("dns", "dns"))
    trace.on_connection_create_start.append(begin("connect"))
    trace.on_connection_create_end.append(end("connect", "connection"))
    trace.on_request_headers_sent.append(begin("server"))
    trace.on_request_end.append(end("server", "server"))
    return trace


async def _pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[WatchFrame]:
    """A log, as it comes."""
    try:
        while chunk := await answer.content.readany():
            yield WatchFrame("", {}, encoded=chunk)
    except aiohttp.ClientError as error:
        raise ConnectionFailed(str(error), "eof", "") from None
    finally:
        _hang_up(answer)


def _hang_up(answer: aiohttp.ClientResponse) -> None:
    """At once: a farewell in TLS would take longer than the loop may live."""
    connection = answer.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    answer.close()


async def _frames(answer: aiohttp.ClientResponse) -> AsyncIterator[WatchFrame]:
    rest = b""
    try:
        while chunk := await answer.content.readany():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line:
                    event = fast_json.loads(line)
                    yield WatchFrame(event["type"], event["object"])
    except (aiohttp.ClientError, TimeoutError):
        return
    finally:
        _hang_up(answer)
