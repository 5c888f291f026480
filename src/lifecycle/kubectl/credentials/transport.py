"""Credentials onto requests: the last thing that happens to a request before it leaves.

Where several are at hand, upstream has an order. A password and a token together are an
error. A token's file wins over the token beside it, as long as it can be read. A plugin
and a provider only fill in what no header says yet. A certificate is none of these: it
is shown in the TLS handshake, when the connection is made, and no request mentions it.
Over plain HTTP nothing is sent at all.

Upstream: `client-go/transport/round_trippers.go` (`HTTPWrappersForConfig`,
`impersonatingRoundTripper`), `token_source.go` (`NewCachedFileTokenSource`), v1.36.
Left out: closing open connections when a plugin returns another certificate.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote as percent

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Transport
from lifecycle.client.transport_https import ConnectionConfig
from lifecycle.kubectl.credentials.exec_plugin import ExecPlugin, PluginCredentials
from lifecycle.kubectl.credentials.oidc_provider import OIDCProvider
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.kubeconfig.client_config import ClientConfig

REREAD_SECONDS = 60.0
LEEWAY_SECONDS = 10.0
_TOKEN_CHARACTERS = "!#$&'*+-.^_`|~"
SEPARATOR = "\n"
"""Between the values of a header that is sent several times."""


class FileToken:
    """A token in a file that somebody renews: the kubelet, every hour, for each pod.
    Read again once a minute.
    """

    def __init__(self, path: str, clock: Clock) -> None:
        self._path = Path(path)
        self._clock = clock
        self._token = ""
        self._until = float("-inf")

    def token(self) -> str:
        """The token. A file that has become unreadable leaves the last one in use.
        Raises CommandError if there never was one.
        """
        now = self._clock.now()
        if now < self._until - LEEWAY_SECONDS:
            return self._token
        try:
            token = self._path.read_text().strip()
        except OSError as error:
            if self._token:
                return self._token
            raise CommandError(
                f'failed to read token file "{self._path}":'
                f" {(error.strerror or '').lower()}"
            ) from None
        if not token:
            raise CommandError(f"read empty token from file {str(self._path)!r}")
        self._token, self._until = token, now + REREAD_SECONDS
        return token


class Credentials:
    """All that one user entry offers. `persist` gets a provider's new settings."""

    def __init__(
        self,
        config: ClientConfig,
        *,
        clock: Clock | None = None,
        persist: Callable[[dict[str, str]], None] = lambda settings: None,
        plugin: ExecPlugin | None = None,
    ) -> None:
        if config.username and (config.token or config.token_file):
            raise CommandError(
                "username/password or bearer token may be set, but not both"
            )
        self._config = config
        clock = clock or Clock()
        self._file = FileToken(config.token_file, clock) if config.token_file else None
        self.plugin = plugin
        if plugin is None and config.exec is not None:
            self.plugin = ExecPlugin(config.exec, config.exec_cluster, clock=clock)
        self.provider: OIDCProvider | None = None
        if config.auth_provider is not None:
            name = config.auth_provider.get("name", "")
            if name != "oidc":
                raise CommandError(f'no Auth Provider found for name "{name}"')
            self.provider = OIDCProvider(
                config.auth_provider.get("config") or {}, persist, clock=clock
            )

    async def connection(self) -> ConnectionConfig:
        """What the connection needs: where, whom to trust, and which certificate to
        show. Raises CommandError.
        """
        config = self._config
        certificate, key = config.client_certificate, config.client_key
        if self.plugin is not None and not certificate:
            creds = await self.plugin.credentials()
            certificate, key = creds.certificate, creds.key
        return ConnectionConfig(
            server=config.server,
            ca=config.ca,
            client_certificate=certificate,
            client_key=key,
            insecure=config.insecure,
            server_name=config.server_name,
        )

    async def authorization(self) -> tuple[str, PluginCredentials | None]:
        """The `Authorization` header for the next request, empty for none; and the
        plugin's credentials, if it is theirs. Raises CommandError.
        """
        config = self._config
        if not config.server.startswith("https:"):
            return "", None
        if config.username:
            pair = f"{config.username}:{config.password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}", None
        if self._file is not None:
            try:
                return f"Bearer {self._file.token()}", None
            except CommandError:
                if not config.token:
                    raise
        if config.token:
            return f"Bearer {config.token}", None
        if self.plugin is not None:
            creds = await self.plugin.credentials()
            return (f"Bearer {creds.token}" if creds.token else ""), creds
        if self.provider is not None:
            return f"Bearer {await self.provider.id_token()}", None
        return "", None

    def impersonation(self) -> dict[str, str]:
        """The headers that ask to be somebody else; several values of one header are
        joined by `SEPARATOR`.
        """
        config = self._config
        headers = {}
        if config.impersonate:
            headers["impersonate-user"] = config.impersonate
            if config.impersonate_uid:
                headers["impersonate-uid"] = config.impersonate_uid
            if config.impersonate_groups:
                headers["impersonate-group"] = SEPARATOR.join(config.impersonate_groups)
            for key, values in config.impersonate_extra.items():
                headers[
                    f"impersonate-extra-{percent(key, safe=_TOKEN_CHARACTERS)}".lower()
                ] = SEPARATOR.join(values)
        return headers


class AuthenticatingTransport:
    """A transport that says who we are. What a request says itself wins."""

    def __init__(self, inner: Transport, credentials: Credentials) -> None:
        self._inner = inner
        self._credentials = credentials

    async def round_trip(self, request: Request) -> Response:
        """Send with credentials. After a 401 a plugin is asked anew, for the next
        request.
        """
        headers = {**self._credentials.impersonation(), **request.headers}
        used: PluginCredentials | None = None
        if not headers.get("authorization"):
            header, used = await self._credentials.authorization()
            if header:
                headers["authorization"] = header
        answer = await self._inner.round_trip(replace(request, headers=headers))
        if (
            answer.status == 401
            and used is not None
            and self._credentials.plugin is not None
        ):
            await self._credentials.plugin.refused(used)
        return answer

    async def close(self) -> None:
        """Close the inner transport."""
        await self._inner.close()
