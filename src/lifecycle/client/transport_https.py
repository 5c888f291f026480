"""Requests over a socket: TLS, client certificates or a token, and watches as they
stream in.

Everything above speaks objects; this is where they become JSON on the wire, one line
per watch event.

Upstream: `client-go/transport/transport.go` (`TLSConfigFor`, `HTTPWrappersForConfig`),
`client-go/rest/request.go` (`Watch`), `apimachinery/pkg/runtime/serializer/streaming`,
v1.36. Left out: HTTP/2, proxies, protobuf, credential plugins (see the kubectl room).
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from lifecycle.api import fast_json
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.late_import import late_import
from lifecycle.api.status import StatusError

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")

MAX_CONNECTIONS = 100
"""At once, for everything but watches: each of those keeps a connection to itself, and
they must not use up those that writes need.
"""


class NoAnswerError(StatusError, ConnectionError):
    """The server was not reached, or did not answer in time.

    Both: an `OSError`, for those who try again only then, and a refusal for everybody
    else. For a component nothing is left to do but what it does after a 503.
    """

    def __init__(self, message: str) -> None:
        super().__init__(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "message": message,
                "reason": "ServiceUnavailable",
                "code": 503,
            }
        )


@dataclass(slots=True, frozen=True)
class ConnectionConfig:
    """Where the server is and who we are; the fields of a kubeconfig's cluster and
    user.

    Certificates and keys are PEM. `ca` empty: the system's certificate authorities;
    `insecure`: no verification at all.
    """

    server: str
    ca: bytes = b""
    client_certificate: bytes = b""
    client_key: bytes = b""
    token: str = ""
    insecure: bool = False
    server_name: str = ""


def ssl_context(config: ConnectionConfig) -> ssl.SSLContext:
    """The TLS settings of a configuration. Raises ssl.SSLError for certificates that
    cannot be read.
    """
    context = ssl.create_default_context(
        cadata=config.ca.decode() if config.ca else None
    )
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.client_certificate:
        with (
            tempfile.TemporaryDirectory() as directory
        ):  # Python's ssl reads certificates from files only
            certificate, key = Path(directory, "tls.crt"), Path(directory, "tls.key")
            certificate.write_bytes(config.client_certificate)
            key.touch(mode=0o600)
            key.write_bytes(config.client_key)
            context.load_cert_chain(certificate, key)
    return context


class HTTPSTransport:
    """A `Transport` over HTTPS. Make it on the loop that uses it; `close` it at the
    end. A header's value with newlines is sent as several headers.

    Raises NoAnswerError when the server cannot be reached.
    """

    def __init__(self, config: ConnectionConfig, *, timeout: float = 32.0) -> None:
        self._base = config.server.rstrip("/")
        self._headers = (
            {"authorization": f"Bearer {config.token}"} if config.token else {}
        )
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._server_name = config.server_name or None
        ssl_setting = ssl_context(config) if self._base.startswith("https:") else True

        def session(limit: int) -> aiohttp.ClientSession:
            connector = aiohttp.TCPConnector(ssl=ssl_setting, limit=limit)
            return aiohttp.ClientSession(connector=connector, auto_decompress=True)

        self._session, self._watches = session(MAX_CONNECTIONS), session(0)

    async def round_trip(self, request: Request) -> Response:
        """Send, and read the answer; a successful watch's answer comes as a stream of
        frames.
        """
        url = self._base + request.path
        if request.query:
            url += "?" + urlencode(request.query, doseq=True)
        headers = {"accept": "application/json", **self._headers, **request.headers}
        body = request.body
        if request.obj is not None:
            body = fast_json.dumps(request.obj)
            headers.setdefault("content-type", "application/json")
        watching = bool_parameter(request.query, "watch")
        timeout = (
            aiohttp.ClientTimeout(total=None, sock_connect=self._timeout.total)
            if watching
            else self._timeout
        )
        session = self._watches if watching else self._session
        try:
            answer = await session.request(
                request.method,
                _exact(url),
                data=body or None,
                headers=[
                    (name, each)
                    for name, several in headers.items()
                    for each in several.split("\n")
                ],
                timeout=timeout,
                server_hostname=self._server_name,
                allow_redirects=False,
            )
            answer_headers = {
                key.lower(): value for key, value in answer.headers.items()
            }
            if watching and answer.status == 200:
                return Response(answer.status, answer_headers, stream=_frames(answer))
            async with answer:
                data = await answer.read()
        except aiohttp.ClientError as error:
            raise NoAnswerError(str(error)) from error
        except TimeoutError as error:
            seconds = f"{self._timeout.total:.0f} s"
            raise NoAnswerError(
                f"{request.method} {url}: no answer within {seconds}"
            ) from error
        obj: Object | None = None
        if answer_headers.get("content-type", "").startswith("application/json"):
            obj = fast_json.loads(data)
        return Response(
            answer.status,
            answer_headers,
            obj=obj,
            body=None if obj is not None else data,
        )

    async def close(self) -> None:
        """Close all connections; open watches end."""
        await self._session.close()
        await self._watches.close()


def _exact(url: str) -> aiohttp.typedefs.StrOrURL:
    """The URL as it is: yarl would decode and encode it again."""
    from yarl import URL

    return URL(url, encoded=True)


async def _frames(answer: aiohttp.ClientResponse) -> AsyncIterator[WatchFrame]:
    """One frame per line. A line may arrive in pieces and may be longer than any
    buffer.
    """
    rest = b""
    try:
        while True:
            chunk = await answer.content.readany()
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line:
                    event = fast_json.loads(line)
                    yield WatchFrame(event["type"], event["object"])
    except aiohttp.ClientError as error:
        raise NoAnswerError(str(error)) from error
    finally:
        connection = answer.connection
        if connection is not None and connection.transport is not None:
            # nothing is to be said any more: no waiting for the other side's farewell
            connection.transport.abort()
        answer.close()
