"""Service account tokens: who issued what for which pod, and whether it still counts.

A token carries its own facts, signed: the account, and the pod, node or secret it was
made for. That saves a look-up of the token, but not of the facts: an account deleted
and made anew has another uid, and a token of the old one is worth nothing; a token
bound to a pod dies with it.

Verifying a signature costs more than everything else on the way in, so a token that was
good a moment ago is not verified again.

Upstream: `pkg/serviceaccount/{claims,jwt}.go` (`Claims`, `validator.Validate`),
`apiserver/pkg/authentication/token/cache`, v1.36. Tokens kept in secrets are in
`legacy_service_account.py`. Left out: events for stale tokens.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.apiserver.authn.authenticator import (
    CREDENTIAL_ID,
    AuthenticationError,
    Identity,
    wrong_audiences,
)
from lifecycle.apiserver.authn.jwt import SigningKey
from lifecycle.apiserver.authn.keyed_hash import new_key
from lifecycle.apiserver.storage.object_reader import ObjectReader

ISSUER = "https://kubernetes.default.svc.cluster.local"
USERNAME_PREFIX = "system:serviceaccount:"
GROUP = "system:serviceaccounts"
PREFIX = "authentication.kubernetes.io/"

LEEWAY = 60.0
"""Seconds that clocks may differ, and that a deleted object's tokens live on."""

CACHE_SECONDS = 10.0
CACHE_SIZE, LONGEST_TOKEN = 4096, 4096
"""Tokens that are remembered, and the characters of one with the audiences that were
asked for.
"""


def make_username(namespace: str, name: str) -> str:
    """The user that an account is."""
    return f"{USERNAME_PREFIX}{namespace}:{name}"


def make_group_names(namespace: str) -> tuple[str, str]:
    """The groups that every account of a namespace is in."""
    return GROUP, f"{GROUP}:{namespace}"


def split_username(username: str) -> tuple[str, str] | None:
    """Namespace and name of an account from its user name; None for other users.
    Upstream: `serviceaccount.SplitUsername`.
    """
    if not username.startswith(USERNAME_PREFIX):
        return None
    namespace, colon, name = username.removeprefix(USERNAME_PREFIX).partition(":")
    return (
        (namespace, name) if colon and namespace and name and ":" not in name else None
    )


class ServiceAccountTokens:
    """Issues tokens and recognises them again."""

    def __init__(
        self,
        reader: ObjectReader,
        clock: Clock,
        names: NameSource,
        *,
        key: SigningKey | None = None,
        issuer: str = ISSUER,
        audiences: tuple[str, ...] = (ISSUER,),
    ) -> None:
        self.key = key or new_key()
        self.issuer = issuer
        self.audiences = audiences
        self.reader = reader
        self.clock = clock
        self._names = names
        self._accounts = resource("serviceaccounts")
        self._bound = {
            "pod": resource("pods"),
            "secret": resource("secrets"),
            "node": resource("nodes"),
        }
        self._recent: BoundedCache[
            tuple[str, tuple[str, ...]], tuple[float, Identity]
        ] = BoundedCache(CACHE_SIZE, LONGEST_TOKEN)

    def new_identity(self) -> str:
        """What tells a token from all others (`jti`)."""
        return self._names.uid()

    def issue(
        self,
        account: Object,
        audiences: tuple[str, ...],
        seconds: int,
        *,
        bound: dict[str, Object] | None = None,
        warn_after: int = 0,
        identity: str = "",
    ) -> str:
        """A token for an account that lasts `seconds`. `bound` maps `pod`, `node` or
        `secret` to the object it dies with. `identity`: the token's own, if it is to be
        told (`new_identity`).
        """
        now = int(self.clock.now())
        meta = account["metadata"]
        private: dict[str, Any] = {
            "namespace": meta["namespace"],
            "serviceaccount": _reference(account),
        }
        for kind, obj in (bound or {}).items():
            private[kind] = _reference(obj)
        if warn_after:
            private["warnafter"] = now + warn_after
        return self.key.sign(
            {
                "aud": list(audiences),
                "exp": now + seconds,
                "iat": now,
                "iss": self.issuer,
                "jti": identity or self.new_identity(),
                "kubernetes.io": private,
                "nbf": now,
                "sub": make_username(meta["namespace"], meta["name"]),
            }
        )

    async def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """The account a token of ours stands for; None for other tokens. Raises
        AuthenticationError.
        """
        now = self.clock.now()
        recent = self._recent.get((token, audiences))
        if recent is not None and now < recent[0]:
            return recent[1]
        claims = await self.key.claims_from(self.issuer, token)
        if claims is None:
            return None
        identity = self._identity(claims, audiences or self.audiences, now)
        until = min(now + CACHE_SECONDS, float(claims["exp"]))
        self._recent.put((token, audiences), (until, identity))
        return identity

    def _identity(
        self, claims: dict[str, Any], requested_audiences: tuple[str, ...], now: float
    ) -> Identity:
        meant = set(claims.get("aud", ()))  # of either there may be any number
        audiences = tuple(filter(meant.__contains__, requested_audiences))
        if not audiences:
            raise wrong_audiences(claims.get("aud", ()), requested_audiences)
        if now > claims["exp"] + LEEWAY:
            raise AuthenticationError("service account token has expired")
        if now < claims["nbf"] - LEEWAY:
            raise AuthenticationError("service account token is not valid yet")
        private = claims["kubernetes.io"]
        namespace, reference = private["namespace"], private["serviceaccount"]
        account = self.reader.get(self._accounts, namespace, reference["name"])
        if account is None:
            raise AuthenticationError(
                f'serviceaccounts "{reference["name"]}" not found'
            )
        if self._is_gone(account, reference, now):
            raise AuthenticationError(
                "service account UID does not match claim, or account has been deleted"
            )
        extra = {CREDENTIAL_ID: (f"JTI={claims['jti']}",)}
        for kind, row in self._bound.items():
            bound = private.get(kind)
            if not bound:
                continue
            obj = self.reader.get(
                row, namespace if row.namespaced else "", bound["name"]
            )
            # A node in the claims of a pod's token is information: such a token is
            # bound to the pod alone.
            binding = kind != "node" or "pod" not in private
            if binding and (obj is None or self._is_gone(obj, bound, now)):
                raise AuthenticationError("service account token has been invalidated")
            if kind != "secret":
                extra[f"{PREFIX}{kind}-name"] = (bound["name"],)
                extra[f"{PREFIX}{kind}-uid"] = (bound["uid"],)
        user = UserInfo(
            make_username(namespace, reference["name"]),
            make_group_names(namespace),
            reference["uid"],
            extra,
        )
        return Identity(user, audiences)

    def _is_gone(self, obj: Object, reference: dict[str, str], now: float) -> bool:
        meta = obj["metadata"]
        if meta.get("uid", "") != reference.get("uid", ""):
            return True
        deleted = meta.get("deletionTimestamp")
        return bool(deleted) and parse_time(deleted) < now - LEEWAY


def _reference(obj: Object) -> dict[str, str]:
    return {"name": obj["metadata"]["name"], "uid": obj["metadata"].get("uid", "")}
