"""Service account tokens of the old kind: without an end, kept in a secret, and good as
long as that secret holds them.

Nobody gets one unasked any more. Who needs a token that lasts makes a secret of the
type `kubernetes.io/service-account-token`, and the token controller writes one into it.

Upstream: `pkg/serviceaccount/legacy.go` (`LegacyClaims`, `legacyValidator`), v1.36.
Left out: the label and the warnings that tell when such a token was last used.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.resources import resource
from lifecycle.apiserver.authn.authenticator import (
    AuthenticationError,
    Identity,
    wrong_audiences,
)
from lifecycle.apiserver.authn.service_account import (
    ServiceAccountTokens,
    make_group_names,
    make_username,
)
from lifecycle.apiserver.storage.object_reader import ObjectReader

LEGACY_ISSUER = "kubernetes/serviceaccount"
_PREFIX = "kubernetes.io/serviceaccount/"
_NAMESPACE, _SECRET = f"{_PREFIX}namespace", f"{_PREFIX}secret.name"
_NAME, _UID = f"{_PREFIX}service-account.name", f"{_PREFIX}service-account.uid"


def legacy_claims(account: Object, secret: Object) -> dict[str, Any]:
    """What such a token says. Upstream: `LegacyClaims`."""
    meta = account["metadata"]
    return {
        "iss": LEGACY_ISSUER,
        "sub": make_username(meta["namespace"], meta["name"]),
        _NAMESPACE: meta["namespace"],
        _NAME: meta["name"],
        _UID: meta["uid"],
        _SECRET: secret["metadata"]["name"],
    }


class LegacyServiceAccountTokens:
    """Signs such tokens with the key of the new ones, and recognises them again."""

    def __init__(self, tokens: ServiceAccountTokens) -> None:
        self._key, self._audiences, self._reader = (
            tokens.key,
            tokens.audiences,
            tokens.reader,
        )

    def issue(self, account: Object, secret: Object) -> str:
        """A token for an account, to be kept in a secret."""
        return self._key.sign(legacy_claims(account, secret))

    async def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """The account a token stands for; None for tokens of another kind. Raises
        AuthenticationError.
        """
        claims = await self._key.claims_from(LEGACY_ISSUER, token)
        if claims is None:
            return None
        # It names no audience, so it is for the server itself.
        meant = tuple(
            audience
            for audience in audiences or self._audiences
            if audience in self._audiences
        )
        if not meant:
            raise wrong_audiences(self._audiences, audiences)
        return Identity(_validate(token, claims, self._reader), meant)


def _validate(token: str, claims: dict[str, Any], reader: ObjectReader) -> UserInfo:
    """Who a token with these (verified) claims stands for. Raises
    AuthenticationError.
    """
    for key, name in (
        ("sub", "sub"),
        (_NAMESPACE, "namespace"),
        (_SECRET, "secretName"),
        (_NAME, "serviceAccountName"),
        (_UID, "serviceAccountUID"),
    ):
        if not claims.get(key):
            raise AuthenticationError(f"{name} claim is missing")
    namespace, name, uid = claims[_NAMESPACE], claims[_NAME], claims[_UID]
    if claims["sub"] != make_username(namespace, name):
        raise AuthenticationError("sub claim is invalid")
    secret = reader.get(resource("secrets"), namespace, claims[_SECRET])
    if secret is None or "deletionTimestamp" in secret["metadata"]:
        raise AuthenticationError("service account token has been invalidated")
    if _kept(secret) != token:
        raise AuthenticationError("service account token does not match server's copy")
    account = reader.get(resource("serviceaccounts"), namespace, name)
    if account is None:
        raise AuthenticationError(f'serviceaccounts "{name}" not found')
    if "deletionTimestamp" in account["metadata"]:
        raise AuthenticationError(
            f"service account {namespace}/{name} has been deleted"
        )
    if account["metadata"]["uid"] != uid:
        actual = account["metadata"]["uid"]
        raise AuthenticationError(
            f"service account UID ({actual}) does not match claim ({uid})"
        )
    return UserInfo(claims["sub"], make_group_names(namespace), uid)


def _kept(secret: Object) -> str:
    try:
        return base64.b64decode((secret.get("data") or {}).get("token") or "").decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
