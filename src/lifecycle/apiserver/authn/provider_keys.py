"""An identity provider's public keys: where they are, and fetching them.

An issuer's URL is all that is configured. Below it, at
`/.well-known/openid-configuration`, the provider says where its keys are; the document
must name the very issuer that was asked. Keys are kept, and fetched again when a token
names one that is not among them – which is how a provider changes its keys without
telling anybody.

Upstream: `apiserver/plugin/pkg/authenticator/token/oidc/oidc.go` (`initVerifier`,
`New`), `coreos/go-oidc` `oidc/oidc.go` (`NewProvider`), `oidc/jwks.go`
(`RemoteKeySet`), v1.36. Left out: asking before the first token comes (upstream asks in
the background from its start on), egress selectors, expiry of the keys by cache
headers.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authn.authenticator import AuthenticationError

if TYPE_CHECKING:
    import aiohttp
    import jwt
else:
    aiohttp = late_import("aiohttp")
    jwt = late_import("jwt")

WELL_KNOWN = "/.well-known/openid-configuration"
RETRY_SECONDS = 10.0
"""How long a provider is left in peace after it could not be asked."""

TIMEOUT = 30.0


class ProviderError(Exception):
    """The provider could not be asked, or said something else than it should."""


class ProviderKeys:
    """The keys of one issuer. `ca` (PEM) is whom to trust for its certificate; empty:
    the system's authorities.
    """

    def __init__(
        self, issuer: str, clock: Clock, *, ca: str = "", discovery_url: str = ""
    ) -> None:
        self.issuer = issuer
        self._clock = clock
        self._discovery = discovery_url or issuer.rstrip("/") + WELL_KNOWN
        self._ca = ca
        self._jwks_uri = ""
        self._keys: list[jwt.PyJWK] | None = None
        self._failed_at = float("-inf")
        self.fetches = 0
        """How often keys have been fetched."""

    async def candidates(self, key_id: str) -> list[jwt.PyJWK]:
        """The keys a token may have been signed with: those with its id, or all if it
        names none. Raises AuthenticationError if there are no keys.
        """
        if self._keys is not None and (keys := self._with_id(key_id)):
            return keys
        if self._keys is None and self._clock.now() < self._failed_at + RETRY_SECONDS:
            raise AuthenticationError("oidc: authenticator not initialized")
        problem = await self._try_to_fetch()
        if self._keys is None:
            raise AuthenticationError("oidc: authenticator not initialized")
        if problem is not None:
            raise AuthenticationError(
                "oidc: verify token: failed to verify signature: fetching keys"
                f" {problem}"
            )
        return self._with_id(key_id)

    async def ready(self) -> bool:
        """Whether there are keys to look among. A provider that failed is left in
        peace.
        """
        if self._keys is None and self._clock.now() >= self._failed_at + RETRY_SECONDS:
            await self._try_to_fetch()
        return self._keys is not None

    def _with_id(self, key_id: str) -> list[jwt.PyJWK]:
        return [key for key in self._keys or () if not key_id or key.key_id == key_id]

    async def _try_to_fetch(self) -> ProviderError | None:
        try:
            await self._fetch()
        except ProviderError as error:
            self._failed_at = self._clock.now()
            return error
        return None

    async def _fetch(self) -> None:
        self.fetches += 1
        async with provider_session(self._ca) as session:
            if not self._jwks_uri:
                document = await _get(session, self._discovery)
                if document.get("issuer") != self.issuer:
                    issuer, expected_issuer = document.get("issuer", ""), self.issuer
                    raise ProviderError(
                        f'oidc: issuer URL provided to client ("{expected_issuer}")'
                        f" did not match the issuer URL returned by provider"
                        f' ("{issuer}")'
                    )
                if not document.get("jwks_uri"):
                    raise ProviderError("provider did not return JWKS URL")
                self._jwks_uri = document["jwks_uri"]
            keys = []
            for entry in (await _get(session, self._jwks_uri)).get("keys") or ():
                try:
                    keys.append(jwt.PyJWK(entry))
                except (
                    jwt.PyJWKError
                ):  # a kind of key that we do not know signs none of our tokens
                    continue
            self._keys = keys


def provider_session(ca: str) -> aiohttp.ClientSession:
    """A session that trusts an authority (PEM; empty: the system's), for a few requests
    to a provider.
    """
    tls = ssl.create_default_context(cadata=ca or None)
    timeout = aiohttp.ClientTimeout(total=TIMEOUT)
    return aiohttp.ClientSession(
        timeout=timeout, connector=aiohttp.TCPConnector(ssl=tls)
    )


async def _get(session: aiohttp.ClientSession, url: str) -> Object:
    try:
        async with session.get(url) as answer:
            if answer.status != 200:
                raise ProviderError(
                    f"oidc: get keys failed: {answer.status} {answer.reason}"
                    f" {await answer.text()}"
                )
            document = await answer.json(content_type=None)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        raise ProviderError(f'Get "{url}": {error}') from error
    if not isinstance(document, dict):
        raise ProviderError(f"oidc: failed to decode provider discovery object: {url}")
    return document
