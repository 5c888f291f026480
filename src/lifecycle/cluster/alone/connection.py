"""The way from a component to any API server: a kubeconfig, and requests that are
counted.

Credentials of every kind that a kubeconfig may have work here as they do for kubectl,
impersonation included. What goes wrong with them later (a plugin that is gone, a token
file that was emptied) is told as a server that does not answer: a component tries
again.

Upstream: `component-base/config/options`, `cmd/kube-scheduler/app/options/options.go`
(`createKubeConfig`), `cmd/kube-controller-manager/app/options/options.go`
(`genericcontrollermanager.WaitForAPIServer`), v1.36.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.version import user_agent
from lifecycle.client.rest import Client, Transport
from lifecycle.client.transport_https import (
    ConnectionConfig,
    HTTPSTransport,
    NoAnswerError,
)
from lifecycle.kubectl.credentials.transport import AuthenticatingTransport, Credentials
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.global_flags import global_flags
from lifecycle.kubectl.kubeconfig.client_config import DEFAULT_SERVER
from lifecycle.kubectl.main import chosen

WAIT = 10.0
"""Seconds that a server is waited for which does not answer yet."""

ASK_AGAIN = 0.25


@dataclass(slots=True, frozen=True)
class Target:
    """Which server, and as whom: what stands in kubectl's flags of these names. Empty:
    as KUBECONFIG or `~/.kube/config` say.
    """

    kubeconfig: str = ""
    context: str = ""
    impersonate: str = ""
    impersonate_groups: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """As they would be typed."""
        words = {
            "kubeconfig": self.kubeconfig,
            "context": self.context,
            "as": self.impersonate,
        }
        flags = [f"--{name}={value}" for name, value in words.items() if value]
        return [*flags, *(f"--as-group={group}" for group in self.impersonate_groups)]


class CountingTransport:
    """Counts requests by method and status code (`<error>`: none came), as
    `rest_client_requests_total` does.
    """

    def __init__(self, inner: Transport, counts: Counter[tuple[str, str]]) -> None:
        self._inner = inner
        self._counts = counts

    async def round_trip(self, request: Request) -> Response:
        """Send. Raises NoAnswerError also for credentials that cannot be had now."""
        code = "<error>"
        try:
            response = await self._inner.round_trip(request)
            code = str(response.status)
        except CommandError as error:
            raise NoAnswerError(str(error)) from None
        finally:
            self._counts[request.method, code] += 1
        return response

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()


class Connection:
    """One API server, and who we are there. Made by `open`, on the loop that uses
    it.
    """

    def __init__(self, config: ConnectionConfig, credentials: Credentials) -> None:
        self.config = config
        self.requests: Counter[tuple[str, str]] = Counter()
        self._transport = CountingTransport(
            AuthenticatingTransport(HTTPSTransport(config), credentials), self.requests
        )
        self._anonymous: CountingTransport | None = None

    @classmethod
    async def open(cls, target: Target, environ: Mapping[str, str]) -> Connection:
        """Read the kubeconfig. Raises ValueError, in one line."""
        try:
            settings = chosen(global_flags(target.arguments()), environ)
            if not target.kubeconfig and settings.server == DEFAULT_SERVER:
                raise CommandError(
                    "no kubeconfig: name one with --kubeconfig or KUBECONFIG"
                )
            credentials = Credentials(settings)
            return cls(await credentials.connection(), credentials)
        except CommandError as error:
            raise ValueError(str(error).removeprefix("error: ")) from None
        except ssl.SSLError as error:
            raise ValueError(f"unable to use the certificates: {error}") from None

    @property
    def host(self) -> str:
        """`HOST:PORT` of the server."""
        return urlsplit(self.config.server).netloc

    def client(self, component: str, role: str = "") -> Client:
        """A client that speaks for whom the kubeconfig names."""
        return Client(self._transport, user_agent(component, role))

    def anonymous(self) -> Transport:
        """To the same server without any credentials, for those who bring their own.
        Upstream: `rest.AnonymousClientConfig`.
        """
        if self._anonymous is None:
            nobody = replace(self.config, client_certificate=b"", client_key=b"")
            self._anonymous = CountingTransport(HTTPSTransport(nobody), self.requests)
        return self._anonymous

    async def wait_for_api_server(self, client: Client) -> None:
        """Until the server answers. Raises NoAnswerError if it does not in time,
        StatusError if it knows us not.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT
        while True:
            try:
                await client.request("GET", "/version")
                return
            except NoAnswerError as error:
                if loop.time() >= until:
                    raise NoAnswerError(
                        f"{self.config.server} does not answer: {error}"
                    ) from None
            await asyncio.sleep(ASK_AGAIN)

    async def close(self) -> None:
        """Hang up."""
        await self._transport.close()
        if self._anonymous is not None:
            await self._anonymous.close()
