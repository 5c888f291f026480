"""The `oidc` auth provider: an ID token in the kubeconfig, renewed with a refresh
token.

The login – a browser, a password – happened before, by hand; its result stands in the
file. The ID token is sent as a bearer token like any other. When it is about to end,
the provider's token endpoint gives another for the refresh token, and both go back into
the file.

Upstream: `client-go/plugin/pkg/client/auth/oidc/oidc.go` (`oidcAuthProvider.idToken`,
`idTokenExpired`, `tokenEndpoint`), v1.36.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as percent

from lifecycle.api.go.format import go_quote
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.clock import Clock
from lifecycle.kubectl.failures import CommandError

if TYPE_CHECKING:
    import aiohttp
    import jwt
else:
    aiohttp = late_import("aiohttp")
    jwt = late_import("jwt")

EXPIRY_DELTA = 10.0
"""Seconds before its end from which a token counts as ended: it has to survive the way
to the server.
"""

NO_ID_TOKEN = (
    'token response did not contain an id_token, either the scope "openid" wasn\'t'
    " requested upon login, or the provider doesn't support id_tokens as part of the"
    " refresh response"
)


class OIDCProvider:
    """ID tokens of one user. `settings` is the provider's `config` in the kubeconfig;
    `persist` gets the new one after a refresh.

    Raises CommandError for settings without an issuer or a client id.
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        persist: Callable[[dict[str, str]], None] = lambda settings: None,
        *,
        clock: Clock | None = None,
    ) -> None:
        for key in ("idp-issuer-url", "client-id"):
            if not settings.get(key):
                raise CommandError(f"Must provide {key}")
        self.settings = dict(settings)
        self._persist = persist
        self._clock = clock or Clock()
        self._lock = asyncio.Lock()

    async def id_token(self) -> str:
        """A token that is good for the next request. Raises CommandError."""
        async with self._lock:
            token = self.settings.get("id-token", "")
            if token and self._lasts(token):
                return token
            refresh = self.settings.get("refresh-token", "")
            if not refresh:
                raise CommandError(
                    "No valid id-token, and cannot refresh without refresh-token"
                )
            return await self._renew(refresh)

    def _lasts(self, token: str) -> bool:
        if token.count(".") != 2:
            raise CommandError("ID Token is not a valid JWT")
        try:
            claims = jwt.decode(token, options={"verify_signature": False})
        except jwt.InvalidTokenError as error:
            raise CommandError(f"parsing claims: {error}") from error
        return self._clock.now() + EXPIRY_DELTA < float(claims.get("exp", 0))

    async def _renew(self, refresh: str) -> str:
        tls = ssl.create_default_context(cadata=self._authority() or None)
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls)
        ) as session:
            try:
                endpoint = await self._token_endpoint(session)
                answer = await self._ask(session, endpoint, refresh)
            except (aiohttp.ClientError, OSError) as error:
                raise CommandError(f"failed to refresh token: {error}") from error
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise CommandError(NO_ID_TOKEN)
        changed = {**self.settings, "id-token": token}
        if answer.get("refresh_token"):
            changed["refresh-token"] = answer["refresh_token"]
        try:
            self._persist(changed)
        except (OSError, CommandError) as error:
            raise CommandError(f"could not persist new tokens: {error}") from error
        self.settings = changed
        return token

    def _authority(self) -> str:
        if self.settings.get("idp-certificate-authority-data"):
            return base64.b64decode(
                self.settings["idp-certificate-authority-data"]
            ).decode()
        path = self.settings.get("idp-certificate-authority")
        return Path(path).read_text() if path else ""

    async def _token_endpoint(self, session: aiohttp.ClientSession) -> str:
        url = (
            self.settings["idp-issuer-url"].rstrip("/")
            + "/.well-known/openid-configuration"
        )
        async with session.get(url) as answer:
            if answer.status != 200:
                body = await answer.text()
                status = f"{answer.status} {answer.reason}"
                raise CommandError(
                    f"oidc: failed to query metadata endpoint {status}:"
                    f" {go_quote(body)}"
                )
            document = await answer.json(content_type=None)
        if not document.get("token_endpoint"):
            raise CommandError(
                "oidc: discovery object doesn't contain a token_endpoint"
            )
        return str(document["token_endpoint"])

    async def _ask(
        self, session: aiohttp.ClientSession, endpoint: str, refresh: str
    ) -> dict[str, Any]:
        """RFC 6749, section 6; who asks is said in the header, as the library that
        upstream uses tries first.
        """
        pair = ":".join(
            percent(self.settings.get(key, ""), safe="")
            for key in ("client-id", "client-secret")
        )
        headers = {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
        form = {"grant_type": "refresh_token", "refresh_token": refresh}
        async with session.post(endpoint, data=form, headers=headers) as answer:
            document = await answer.json(content_type=None)
            if answer.status >= 300:
                code = (
                    go_quote(str(document.get("error", "")))
                    if isinstance(document, dict)
                    else '""'
                )
                raise CommandError(f"failed to refresh token: oauth2: {code}")
        return document if isinstance(document, dict) else {}
