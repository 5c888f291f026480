"""A connection to an added API server: the aggregator's client certificate, and headers
that say for whom it asks.

The server is checked against the APIService's `caBundle`, for the name
`<service>.<namespace>.svc`, whatever address it was found at. The user's own
credentials never get here: authentication took them off. What goes along are the name,
uid, groups and extras in `X-Remote-*` headers, which the other side believes because of
the certificate.

Upstream: `kube-aggregator/pkg/controllers/status/remote/remote_available_controller.go`
(`BuildTransportConfig`), `client-go/transport/round_trippers.go`
(`SetAuthProxyHeaders`), `apimachinery/pkg/util/proxy/transport.go`, v1.36. Left out:
HTTP/2, upgraded connections, following redirects.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import quote as escape
from urllib.parse import urlencode

from lifecycle.api.http.auto_headers import AUTO_HEADERS
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.aggregation.api_services import service_reference
from lifecycle.apiserver.http.headers import SEPARATOR
from lifecycle.apiserver.webhook.egress_selector import EgressSelector
from lifecycle.client.transport_https import ConnectionConfig, ssl_context

if TYPE_CHECKING:
    import aiohttp
    import multidict
    import yarl
else:
    aiohttp = late_import("aiohttp")
    multidict = late_import("multidict")
    yarl = late_import("yarl")

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "content-length",
        "host",
        # answers are compressed on the last part of the way, by our own server
        "accept-encoding",
    }
)
REMOTE = "x-remote-"
MOST_ANNOUNCEMENTS = 100
"""Of one answer. Go takes ten megabytes of them, and has other threads for others."""


class BackendError(Exception):
    """It could not be reached, or showed the wrong certificate. The message is Go's, as
    far as Python tells why.
    """


@dataclass(slots=True, frozen=True)
class Trust:
    """Whom to believe at the other end, and under which name; together with our own
    certificate that makes a transport.
    """

    server_name: str
    ca: bytes
    insecure: bool

    @classmethod
    def of(cls, api_service: Object) -> Trust:
        """What an APIService says."""
        reference = service_reference(api_service)
        assert reference is not None, "only for APIServices with a Service"
        namespace, name, _ = reference
        spec = api_service["spec"]
        ca = base64.b64decode(spec.get("caBundle") or "")
        return cls(
            f"{name}.{namespace}.svc", ca, bool(spec.get("insecureSkipTLSVerify"))
        )


def auth_proxy_headers(user: UserInfo) -> list[tuple[str, str]]:
    """Who asks, as headers. Keys of extras are escaped: a header's name knows fewer
    characters.
    """
    headers = [("X-Remote-User", user.name)]
    if user.uid:
        headers.append(("X-Remote-Uid", user.uid))
    headers += [("X-Remote-Group", group) for group in user.groups]
    for key, values in user.extra.items():
        headers += [
            ("X-Remote-Extra-" + escape(key, safe="!#$&'*+-.^_`|~"), value)
            for value in values
        ]
    return headers


def forwarded_headers(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """A request's own headers, without what belongs to one connection and without
    forged identities.
    """
    kept = []
    for name, value in headers.items():
        if name not in HOP_BY_HOP and not name.startswith(REMOTE):
            kept += [(name, each) for each in value.split(SEPARATOR)]
    return kept


class Backend:
    """Connections to one added server, by way of `egress`. Make it on the loop
    that uses it; `close` it at the end.

    Raises ValueError if the CA bundle cannot be read.
    """

    def __init__(
        self,
        trust: Trust,
        certificate: tuple[bytes, bytes],
        egress: EgressSelector | None = None,
    ) -> None:
        self._trust = trust
        try:
            context = ssl_context(
                ConnectionConfig("", trust.ca, *certificate, insecure=trust.insecure)
            )
        except (ssl.SSLError, UnicodeDecodeError):
            raise ValueError(
                "unable to load root certificates: unable to parse bytes as PEM block"
            ) from None
        way = egress or EgressSelector()
        connector = aiohttp.TCPConnector(
            ssl=context,
            limit=0,
            socket_factory=lambda info: way.cluster_socket(*info[:3]),
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            skip_auto_headers=AUTO_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_answer_class(),
        )

    async def send(
        self,
        method: str,
        host: str,
        port: int,
        path: str,
        *,
        user: UserInfo,
        query: Mapping[str, list[str]] | None = None,
        headers: list[tuple[str, str]] | None = None,
        body: bytes = b"",
        timeout: float | None = None,
    ) -> aiohttp.ClientResponse:
        """The answer, its body still unread. `timeout` in seconds is for all of it;
        None for what may last. Raises BackendError.
        """
        target = f"https://{host}:{port}{escape(path, safe='/:@!$&()*+,;=~-._')}"
        url = target + (
            "?" + urlencode(sorted((query or {}).items()), doseq=True) if query else ""
        )
        sent: multidict.CIMultiDict[str] = multidict.CIMultiDict(headers or [])
        for name, value in auth_proxy_headers(user):
            sent.add(name, value)
        try:
            return await self._session.request(
                method,
                yarl.URL(url, encoded=True),
                data=body or None,
                headers=sent,
                timeout=aiohttp.ClientTimeout(total=timeout),
                server_hostname=self._trust.server_name,
                allow_redirects=False,
            )
        except TimeoutError:
            raise BackendError(
                f"{_verb(method)} {_quoted(url)}: context deadline exceeded"
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            raise BackendError(why(error, host, port)) from error

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


@cache
def _answer_class() -> type[aiohttp.ClientResponse]:
    class Answer(aiohttp.ClientResponse):
        """One that is not announced for ever: the library looks here each time whether
        somebody waits for *100 Continue*, which nobody does.
        """

        announced = 0

        @property
        def _continue(self) -> None:
            self.announced += 1
            if self.announced > MOST_ANNOUNCEMENTS:
                raise aiohttp.ClientConnectionError(
                    "net/http: HTTP/1.x transport connection broken: net/http: server"
                    f" response headers exceeded {10 << 20} bytes; aborted"
                )

        @_continue.setter
        def _continue(self, waiter: object) -> None:
            pass

    return Answer


def why(error: BaseException, host: str, port: int) -> str:
    """A failed connection in Go's words."""
    cause = (
        getattr(error, "certificate_error", None)
        or getattr(error, "os_error", None)
        or error
    )
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {_x509(cause)}"
    if isinstance(cause, ConnectionRefusedError) or "Connect call failed" in str(cause):
        return f"dial tcp {host}:{port}: connect: connection refused"
    if isinstance(cause, asyncio.TimeoutError):
        return f"dial tcp {host}:{port}: i/o timeout"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "EOF"
    return str(error) or type(error).__name__


def _x509(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in (
        18,
        19,
        20,
        21,
    ):  # self signed, or an issuer that nobody here knows
        return "certificate signed by unknown authority"
    if error.verify_code == 10:
        return "certificate has expired or is not yet valid"
    return error.verify_message


def _verb(method: str) -> str:
    return method.capitalize()


def _quoted(url: str) -> str:
    return f'"{url}"'
