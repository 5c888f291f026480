"""Tokens of an identity provider: OpenID Connect, one issuer at a time.

A token names its issuer. If that is ours, its signature is checked with the provider's keys, then its time and its audience; what
is left are claims, and the configuration says how they become a user. A token of another issuer is none of our business.

Upstream: `apiserver/plugin/pkg/authenticator/token/oidc/oidc.go` (`jwtAuthenticator.AuthenticateToken`, `hasCorrectIssuer`,
`idTokenVerifier.verifyAudience`), `coreos/go-oidc` `oidc/verify.go`, v1.36. Left out: distributed claims.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jwt

from lifecycle.api.clock import Clock
from lifecycle.api.field_errors import quote
from lifecycle.api.wire import Object
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity
from lifecycle.apiserver.authn.claim_mappings import ClaimMapper
from lifecycle.apiserver.authn.provider_keys import ProviderKeys

ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
NOT_BEFORE_LEEWAY = 300.0
_UNCHECKED: Any = {
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
    "verify_aud": False,
    "verify_sub": False,
    "verify_jti": False,
}


class JWTAuthenticator:
    """Recognises one issuer's tokens. `document` is one entry of `AuthenticationConfiguration.jwt`, and valid."""

    def __init__(self, document: Object, clock: Clock) -> None:
        issuer = document["issuer"]
        self.issuer: str = issuer["url"]
        self._audiences = frozenset(issuer["audiences"])
        self._clock = clock
        self._mapper = ClaimMapper(document)
        self.keys = ProviderKeys(
            self.issuer, clock, ca=issuer.get("certificateAuthority", ""), discovery_url=issuer.get("discoveryURL", "")
        )

    def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> Identity | None:
        """The user a token of this issuer stands for; None for other tokens. Raises AuthenticationError, and MustAsk if the provider's
        keys are needed first."""
        if untrusted_issuer(token) != self.issuer:
            return None
        claims = self._verify(token)
        user = self._mapper.user(claims)
        return Identity(user, audiences)

    def _verify(self, token: str) -> Object:
        """The claims of a token that is signed, in time, and meant for us. Raises AuthenticationError."""
        try:
            header = jwt.get_unverified_header(token)
            claims: Object = jwt.decode(token, options={"verify_signature": False})
        except jwt.InvalidTokenError as error:
            raise AuthenticationError(f"oidc: verify token: oidc: malformed jwt: {error}") from error
        self._check_times(claims)
        if header.get("alg") not in ALGORITHMS:
            supported = " ".join(map(quote, ALGORITHMS))
            said = quote(str(header.get("alg")))
            raise AuthenticationError(
                f"oidc: verify token: oidc: malformed jwt: unexpected signature algorithm {said}; expected [{supported}]"
            )
        for key in self.keys.candidates(header.get("kid", "")):
            try:
                verified: Object = jwt.decode(token, key.key, algorithms=[header["alg"]], options=_UNCHECKED)
            except (jwt.InvalidTokenError, TypeError, ValueError):  # another key's signature, or another kind of key
                continue
            self._check_audience(verified)
            return verified
        raise AuthenticationError("oidc: verify token: failed to verify signature: failed to verify id token signature")

    def _check_times(self, claims: Object) -> None:
        now = self._clock.now()
        expires, not_before = claims.get("exp"), claims.get("nbf")
        expires = float(expires) if isinstance(expires, (int, float)) else 0.0
        if now > expires:
            raise AuthenticationError(f"oidc: verify token: oidc: token is expired (Token Expiry: {_go_time(expires)})")
        if isinstance(not_before, (int, float)) and now + NOT_BEFORE_LEEWAY < not_before:
            times = f"{_go_time(now)} before the nbf (not before) time: {_go_time(float(not_before))}"
            raise AuthenticationError(f"oidc: verify token: oidc: current time {times}")

    def _check_audience(self, claims: Object) -> None:
        found = claims.get("aud") or []
        theirs: list[str] = [found] if isinstance(found, str) else list(found)
        if self._audiences.isdisjoint(theirs):
            ours, shown = (" ".join(map(quote, names)) for names in (sorted(self._audiences), theirs))
            raise AuthenticationError(f"oidc: verify token: oidc: expected audience in [{ours}] got [{shown}]")


def untrusted_issuer(token: str) -> str | None:
    """Whom a token claims to be from, before anything of it is believed; None if it is no JWT."""
    try:
        claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return None
    issuer = claims.get("iss")
    return issuer if isinstance(issuer, str) else None


def _go_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S +0000 UTC")
