"""The key of a cluster that nobody else hears of: a keyed hash instead of a signature.

A service account token is signed with a private key, so that others can check it with
the public one. Inside a browser tab nobody else can ask, and there is no library that
could sign: the server that hashed a token with its secret is the only one who will ever
see it again.

Upstream has nothing like it: a token that others cannot check is none.
"""

from __future__ import annotations

import secrets
from functools import cache, cached_property
from typing import Any

from lifecycle.api.late_import import IN_A_TAB
from lifecycle.apiserver.authn.jwt import SigningKey

HS256 = "HS256"


class KeyedHash(SigningKey):
    """Tokens that only this very object accepts. It cannot be kept, nor published."""

    def __init__(self) -> None:
        self.algorithm = HS256
        self._secret = secrets.token_bytes(32)

    def pem(self) -> bytes:
        """Raises ValueError: it goes into no file."""
        raise ValueError("a keyed hash has no key that could be kept")

    def prepare(self) -> None:
        """It is made already."""

    @property
    def _private(self) -> Any:
        return self._secret

    @cached_property
    def _public(self) -> Any:
        return self._secret

    @cached_property
    def key_id(self) -> str:
        """A name that tells nothing about the secret."""
        return secrets.token_urlsafe(32)

    def jwk(self) -> dict[str, str]:
        """Which key it is, without the key."""
        return {"kty": "oct", "use": "sig", "kid": self.key_id, "alg": self.algorithm}


def new_key() -> SigningKey:
    """A key for one server: an RSA key; in a browser tab, a keyed hash."""
    return KeyedHash() if IN_A_TAB else SigningKey()


@cache
def shared_key() -> SigningKey:
    """One for all clusters of this process that nobody outside can reach: making an RSA
    key takes up to a quarter of a second.
    """
    return new_key()
