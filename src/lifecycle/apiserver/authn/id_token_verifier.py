"""Is this ID token to be believed? Its issuer, its audience, its time, its signature –
in this order, which decides what a refusal says.

What is cheap comes first: only a token that could be good makes anybody look for keys.
Nothing of it counts until the last check.

Upstream: `coreos/go-oidc` v2.5 `oidc/verify.go` (`IDTokenVerifier.Verify`), and
`apiserver/plugin/pkg/authenticator/token/oidc/oidc.go`
(`idTokenVerifier.verifyAudience`, `untrustedIssuer`), v1.36.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.authn.provider_keys import ProviderKeys

if TYPE_CHECKING:
    import jwt
else:
    jwt = late_import("jwt")

ALGORITHMS = (
    "ES256",
    "ES384",
    "ES512",
    "PS256",
    "PS384",
    "PS512",
    "RS256",
    "RS384",
    "RS512",
)
NOT_BEFORE_LEEWAY = 60.0
GOOGLE, GOOGLE_WITHOUT_SCHEME = "https://accounts.google.com", "accounts.google.com"
CLAIM_NAMES, CLAIM_SOURCES = "_claim_names", "_claim_sources"
_KINDS: dict[str, tuple[type, ...]] = {
    "aud": (str, list),
    "exp": (int, float),
    "nbf": (int, float),
    CLAIM_NAMES: (dict,),
    CLAIM_SOURCES: (dict,),
}
_SIGNATURE_ONLY: Any = {
    f"verify_{claim}": False
    for claim in ("exp", "nbf", "iat", "aud", "sub", "jti", "iss")
}


class VerifyError(Exception):
    """A token that is not to be believed, and why."""


class IDTokenVerifier:
    """Verifies the tokens of one issuer, whose keys these are."""

    def __init__(
        self,
        keys: ProviderKeys,
        audiences: Sequence[str],
        clock: Clock,
        algorithms: Sequence[str] = ALGORITHMS,
    ) -> None:
        self.keys = keys
        self._audiences = tuple(sorted(set(audiences)))
        self._clock = clock
        self._algorithms = tuple(algorithms)

    async def verify(self, token: str) -> Object:
        """The claims of a good token. Raises VerifyError, AuthenticationError if there
        are no keys.
        """
        try:
            header, claims = await beside(len(token), _parts, token)
        except (jwt.InvalidTokenError, ValueError) as error:
            raise VerifyError(f"oidc: malformed jwt: {error}") from error
        _check_kinds(claims)
        self._check_sources(claims)
        issuer = claims.get("iss", "")
        if issuer != self.keys.issuer and (self.keys.issuer, issuer) != (
            GOOGLE,
            GOOGLE_WITHOUT_SCHEME,
        ):
            expected = (
                f"expected {go_quote(self.keys.issuer)} got {go_quote(str(issuer))}"
            )
            raise VerifyError(
                f"oidc: id token issued by a different provider, {expected}"
            )
        self._check_audience(claims)
        self._check_times(claims)
        algorithm = str(header.get("alg"))
        if algorithm not in self._algorithms:
            expected = (
                f"expected [{_quoted(self._algorithms)}] got {go_quote(algorithm)}"
            )
            raise VerifyError(
                f"oidc: id token signed with unsupported algorithm, {expected}"
            )
        for key in await self.keys.candidates(header.get("kid", "")):
            if await beside(len(token), _signed, token, key.key, algorithm):
                return claims
        raise VerifyError(
            "failed to verify signature: failed to verify id token signature"
        )

    def _check_sources(self, claims: Object) -> None:
        """Each claim that is said to be elsewhere must have a source, whether or not
        anybody wants it.
        """
        sources = claims.get(CLAIM_SOURCES) or {}
        for source in (claims.get(CLAIM_NAMES) or {}).values():
            if not source:
                raise VerifyError("oidc: failed to obtain source from claim name")
            if source not in sources:
                raise VerifyError("oidc: source does not exist")

    def _check_audience(self, claims: Object) -> None:
        aud = claims.get("aud") or []
        theirs: list[str] = [aud] if isinstance(aud, str) else list(aud)
        if not set(self._audiences).isdisjoint(theirs):
            return
        ours = (
            go_quote(self._audiences[0])
            if len(self._audiences) == 1
            else f"in [{_quoted(self._audiences)}]"
        )
        raise VerifyError(f"oidc: expected audience {ours} got [{_quoted(theirs)}]")

    def _check_times(self, claims: Object) -> None:
        now = self._clock.now()
        expires, not_before = claims.get("exp"), claims.get("nbf")
        if expires is None or now > expires:
            raise VerifyError(
                f"oidc: token is expired (Token Expiry: {_go_time(expires)})"
            )
        if not_before is not None and now + NOT_BEFORE_LEEWAY < not_before:
            times = (
                f"{_go_time(now)} before the nbf (not before) time:"
                f" {_go_time(not_before)}"
            )
            raise VerifyError(f"oidc: current time {times}")


def _parts(token: str) -> tuple[Object, Object]:
    """What stands in it. Raises ValueError, or the library's error."""
    return jwt.get_unverified_header(token), payload(token)


def _signed(token: str, key: Any, algorithm: str) -> bool:
    """Whether this key has signed it, and not another one or another kind of key."""
    try:
        jwt.decode(token, key, algorithms=[algorithm], options=_SIGNATURE_ONLY)
    except (jwt.InvalidTokenError, TypeError, ValueError):
        return False
    return True


def _check_kinds(claims: Object) -> None:
    """What is looked at below must be of a kind that can be."""
    for claim, kinds in _KINDS.items():
        value = claims.get(claim)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, kinds)
        ):
            raise VerifyError(
                "oidc: failed to unmarshal claims: json: cannot unmarshal claim"
                f" {go_quote(claim)}"
            )


def payload(token: str) -> Object:
    """What a token says, of which nothing is to be believed yet. Raises ValueError for
    what is no JWT.
    """
    parts = token.split(".")
    if token.lstrip().startswith("{"):
        raise ValueError("token is not compact JWT")
    if len(parts) != 3:
        raise ValueError("malformed token")
    try:
        data = base64.b64decode(
            parts[1] + "=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True
        )
    except binascii.Error as error:
        raise ValueError(f"error decoding token: {error}") from None
    try:
        claims = unmarshal(data)
    except ValueError as error:
        raise ValueError(f"while unmarshaling token: {error}") from None
    if not isinstance(claims, dict):
        raise ValueError("while unmarshaling token: not an object")
    if not isinstance(claims.get("iss") or "", str):
        raise ValueError("while unmarshaling token: iss is no string")
    return claims


def untrusted_issuer(token: str) -> str:
    """Whom a token claims to be from, before anything of it is believed. Raises
    ValueError for what is no JWT.
    """
    issuer = str(payload(token).get("iss") or "")
    return GOOGLE if issuer == GOOGLE_WITHOUT_SCHEME else issuer


def _quoted(texts: Sequence[str]) -> str:
    return " ".join(map(go_quote, texts))


def _go_time(seconds: float | None) -> str:
    """As Go prints a time; none at all is its zero time."""
    if seconds is None:
        return "0001-01-01 00:00:00 +0000 UTC"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S +0000 UTC")
