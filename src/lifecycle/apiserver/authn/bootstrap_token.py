"""Bootstrap tokens: how a node that is not yet one may ask to become one.

A token of the form `abcdef.0123456789abcdef` is looked up as the secret
`bootstrap-token-abcdef` in `kube-system`. Whoever has it is `system:bootstrap:abcdef`,
a user who may do little more than request a certificate.

Upstream: `plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go`
(`TokenAuthenticator`), v1.36.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import re

from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.resources import resource
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.storage.object_reader import ObjectReader

SECRET_TYPE = "bootstrap.kubernetes.io/token"
DEFAULT_GROUP = "system:bootstrappers"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


class BootstrapTokenAuthenticator:
    """Recognises the tokens whose secrets exist now."""

    def __init__(self, reader: ObjectReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock
        self._secrets = resource("secrets")

    def authenticate_token(
        self, token: str, audiences: tuple[str, ...] = ()
    ) -> Identity | None:
        """The bootstrapping user, or None: what is wrong with a secret is never
        told.
        """
        match = _TOKEN.fullmatch(token)
        if match is None:
            return None
        token_id, token_secret = match.groups()
        secret = self._reader.get(
            self._secrets, "kube-system", f"bootstrap-token-{token_id}"
        )
        if (
            secret is None
            or secret.get("type") != SECRET_TYPE
            or secret["metadata"].get("deletionTimestamp")
        ):
            return None
        if (
            not hmac.compare_digest(_data(secret, "token-secret"), token_secret)
            or _data(secret, "token-id") != token_id
        ):
            return None
        if (
            self._expired(secret)
            or _data(secret, "usage-bootstrap-authentication") != "true"
        ):
            return None
        extra_groups = [
            group for group in _data(secret, "auth-extra-groups").split(",") if group
        ]
        if not all(_GROUP.fullmatch(group) for group in extra_groups):
            return None
        groups = tuple(sorted({DEFAULT_GROUP, *extra_groups}))
        return Identity(UserInfo(f"system:bootstrap:{token_id}", groups))

    def _expired(self, secret: Object) -> bool:
        expiration = _data(secret, "expiration")
        if not expiration:
            return False
        try:
            return parse_time(expiration) <= self._clock.now()
        except ValueError:
            return True


def _data(secret: Object, key: str) -> str:
    try:
        return base64.b64decode((secret.get("data") or {}).get(key, "")).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
