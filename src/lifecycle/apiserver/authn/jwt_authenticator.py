"""Tokens of an identity provider: OpenID Connect, one issuer at a time.

A token names its issuer. If that is ours, the token is verified; what is left are
claims, and the configuration says how they become a user. A token of another issuer is
none of our business.

Upstream: `apiserver/plugin/pkg/authenticator/token/oidc/oidc.go` (`New`,
`jwtAuthenticator.AuthenticateToken`, `hasCorrectIssuer`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.authn.claim_mappings import ClaimMapper
from lifecycle.apiserver.authn.distributed_claims import ClaimResolver
from lifecycle.apiserver.authn.id_token_verifier import (
    ALGORITHMS,
    IDTokenVerifier,
    VerifyError,
    untrusted_issuer,
)
from lifecycle.apiserver.authn.provider_keys import ProviderKeys


class JWTAuthenticator:
    """Recognises one issuer's tokens. `document` is one entry of
    `AuthenticationConfiguration.jwt`, and valid.
    """

    def __init__(
        self, document: Object, clock: Clock, algorithms: Sequence[str] = ALGORITHMS
    ) -> None:
        issuer = document["issuer"]
        self.issuer: str = issuer["url"]
        ca = issuer.get("certificateAuthority", "")
        self._mapper = ClaimMapper(document)
        self.keys = ProviderKeys(
            self.issuer, clock, ca=ca, discovery_url=issuer.get("discoveryURL", "")
        )

        def verifier(keys: ProviderKeys) -> IDTokenVerifier:
            return IDTokenVerifier(keys, issuer["audiences"], clock, algorithms)

        def verifier_for(url: str) -> IDTokenVerifier:
            return verifier(
                self.keys if url == self.issuer else ProviderKeys(url, clock, ca=ca)
            )

        self._verifier = verifier(self.keys)
        claim = ((document.get("claimMappings") or {}).get("groups") or {}).get(
            "claim", ""
        )
        self._resolver = ClaimResolver(claim, ca, verifier_for) if claim else None

    async def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """The user a token of this issuer stands for; None for other tokens. Raises
        AuthenticationError.
        """
        try:
            issuer = await beside(len(token), untrusted_issuer, token)
            if issuer != self.issuer:
                return None
            claims = await self._verifier.verify(token)
        except VerifyError as error:
            raise AuthenticationError(f"oidc: verify token: {error}") from error
        except ValueError:  # no JWT at all
            return None
        if self._resolver is not None:
            claims = await self._resolver.expand(claims)
        return Identity(self._mapper.user(claims), audiences)
