"""Secretbox: XSalsa20 and Poly1305, as NaCl puts them together.

It seals as `aesgcm` does, and its nonces are so long that random ones never meet. What
it does not do is bind a value to its key in the store.

Upstream: `apiserver/pkg/storage/value/encrypt/secretbox/secretbox.go`, v1.36.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.apiserver.storage.value.transformer import TransformError

if TYPE_CHECKING:
    from nacl import exceptions, secret
else:
    exceptions = late_import("nacl.exceptions")
    secret = late_import("nacl.secret")

NONCE, OVERHEAD = 24, 16
KEY_SIZES = (32,)


class SecretboxTransformer:
    """Implements `Transformer`: a nonce of 24 bytes, then the sealed value. `key` has
    32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._box = secret.SecretBox(key)

    def from_storage(self, data: bytes, context: bytes) -> tuple[bytes, bool]:
        """See `Transformer`."""
        if len(data) < NONCE + OVERHEAD:
            raise TransformError("the stored data was shorter than the required size")
        try:
            return self._box.decrypt(data[NONCE:], data[:NONCE]), False
        except exceptions.CryptoError:
            raise TransformError(
                "output array was not large enough for encryption"
            ) from None

    def to_storage(self, data: bytes, context: bytes) -> bytes:
        """See `Transformer`."""
        return bytes(self._box.encrypt(data, os.urandom(NONCE)))
