"""Distributed claims: a token that says where its groups are instead of naming them.

Who is in very many groups would have a very long token. So a provider may leave the
claim out and point at an endpoint: `_claim_names` says which source has it,
`_claim_sources` where that is and what to show there. What comes back is another token,
with its own issuer and signature, and it is checked as carefully as the first.

Only the claim of the groups is looked for. A claim that is in the token itself wins;
one that is packed into it (aggregated) is overlooked.

Upstream: `apiserver/plugin/pkg/authenticator/token/oidc/oidc.go`
(`claimResolver.expand`, `resolve`, `getClaimJWT`), v1.36, which keeps no answers
either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.id_token_verifier import (
    CLAIM_NAMES,
    CLAIM_SOURCES,
    IDTokenVerifier,
    VerifyError,
    untrusted_issuer,
)
from lifecycle.apiserver.authn.provider_keys import ProviderError, provider_session

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")


class ClaimResolver:
    """Fetches one claim. `verifier_for` makes the verifier of another issuer's tokens;
    `ca` (PEM) is whom to trust.
    """

    def __init__(
        self, claim: str, ca: str, verifier_for: Callable[[str], IDTokenVerifier]
    ) -> None:
        self._claim = claim
        self._ca = ca
        self._verifier_for = verifier_for
        self._verifiers: dict[str, IDTokenVerifier] = {}

    async def expand(self, claims: Object) -> Object:
        """The claims, with the one that had to be fetched. Raises
        AuthenticationError.
        """
        if self._claim in claims or CLAIM_NAMES not in claims:
            return claims
        if CLAIM_SOURCES not in claims:
            raise _failed("oidc: no claim sources")
        source = (claims[CLAIM_NAMES] or {}).get(self._claim)
        if source is None:
            return claims
        endpoint = (claims[CLAIM_SOURCES] or {}).get(source) or {}
        if not isinstance(endpoint, dict):
            raise _failed(
                "oidc: could not parse claim sources: json: cannot unmarshal into Go"
                " value of type oidc.endpoint"
            )
        if not endpoint.get("endpoint"):
            return claims
        return {
            **claims,
            self._claim: await self._resolve(
                endpoint["endpoint"], endpoint.get("access_token") or ""
            ),
        }

    async def _resolve(self, url: str, access_token: str) -> Any:
        try:
            token = await self._fetch(url, access_token)
        except ProviderError as error:
            raise _failed(
                f"while getting distributed claim {go_quote(self._claim)}: {error}"
            ) from error
        try:
            issuer = await beside(len(token), untrusted_issuer, token)
        except ValueError as error:
            about = (
                f"getting untrusted issuer from endpoint {url} failed for claim"
                f" {go_quote(self._claim)}"
            )
            raise _failed(f"{about}: {error}") from error
        verifier = self._verifiers.get(issuer)
        if verifier is None:
            verifier = self._verifiers[issuer] = self._verifier_for(issuer)
        if not await verifier.keys.ready():
            raise _failed(
                f"verifying untrusted issuer {issuer} failed: verifier not initialized"
                f" for issuer: {go_quote(issuer)}"
            )
        try:
            claims = await verifier.verify(token)
        except VerifyError as error:
            raise _failed(f"verify distributed claim token: {error}") from error
        if self._claim not in claims:
            raise _failed(
                f"jwt returned by distributed claim endpoint {go_quote(url)} did not"
                f" contain claim: {self._claim}"
            )
        return claims[self._claim]

    async def _fetch(self, url: str, access_token: str) -> str:
        """The token that an endpoint shows. Raises ProviderError."""
        headers = {"Authorization": f"Bearer {access_token}"} if access_token else {}
        try:
            async with (
                provider_session(self._ca) as session,
                session.get(url, headers=headers) as answer,
            ):
                if not 200 <= answer.status <= 226:
                    status = f"{answer.status} {answer.reason}"
                    raise ProviderError(
                        f"error while getting distributed claim JWT: {status}"
                    )
                return await answer.text()
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise ProviderError(f'Get "{url}": {error}') from error


def _failed(why: str) -> AuthenticationError:
    return AuthenticationError(f"oidc: could not expand distributed claims: {why}")
