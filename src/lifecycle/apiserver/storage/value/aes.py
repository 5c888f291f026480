"""AES, in two modes.

`aesgcm` seals: a value that was changed, or moved to another key of the store, is
noticed. It must not see too many values under one key, since its nonces are random and
short. `aescbc` only hides: whoever may write to the store can change what he cannot
read.

Upstream: `apiserver/pkg/storage/value/encrypt/aes/aes.go` (`NewGCMTransformer`,
`NewCBCTransformer`), v1.36. Left out: what KMS needs (nonces that count, derived keys).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.apiserver.storage.value.transformer import TransformError

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives import ciphers
    from cryptography.hazmat.primitives.ciphers import aead, algorithms, modes
else:
    exceptions = late_import("cryptography.exceptions")
    ciphers = late_import("cryptography.hazmat.primitives.ciphers")
    aead = late_import("cryptography.hazmat.primitives.ciphers.aead")
    algorithms = late_import("cryptography.hazmat.primitives.ciphers.algorithms")
    modes = late_import("cryptography.hazmat.primitives.ciphers.modes")

BLOCK = 16
NONCE = 12
KEY_SIZES = (16, 24, 32)
TOO_SHORT = "the stored data was shorter than the required size"


class GCMTransformer:
    """Implements `Transformer`: a nonce of 12 bytes, then the sealed value. `key` has
    16, 24 or 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._aead = aead.AESGCM(key)

    def from_storage(self, data: bytes, context: bytes) -> tuple[bytes, bool]:
        """See `Transformer`."""
        if len(data) < NONCE:
            raise TransformError(TOO_SHORT)
        try:
            return self._aead.decrypt(data[:NONCE], data[NONCE:], context), False
        except exceptions.InvalidTag:
            raise TransformError("cipher: message authentication failed") from None

    def to_storage(self, data: bytes, context: bytes) -> bytes:
        """See `Transformer`."""
        nonce = os.urandom(NONCE)
        return nonce + self._aead.encrypt(nonce, data, context)


class CBCTransformer:
    """Implements `Transformer`: a block to start from, then the value, padded as PKCS#7
    says. `key` has 16, 24 or 32 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._algorithm = algorithms.AES(key)

    def from_storage(self, data: bytes, context: bytes) -> tuple[bytes, bool]:
        """See `Transformer`. A value of no blocks at all counts as one without padding;
        upstream's server panics.
        """
        if len(data) < BLOCK:
            raise TransformError(TOO_SHORT)
        start, data = data[:BLOCK], data[BLOCK:]
        if len(data) % BLOCK:
            raise TransformError("the stored data is not a multiple of the block size")
        decryptor = ciphers.Cipher(self._algorithm, modes.CBC(start)).decryptor()
        padded = decryptor.update(data) + decryptor.finalize()
        padding = padded[-1] if padded else 0
        if padding == 0 or padding > len(padded):
            raise TransformError("invalid PKCS7 data (empty or not padded)")
        if padded[-padding:] != bytes([padding]) * padding:
            raise TransformError("invalid padding on input")
        return padded[:-padding], False

    def to_storage(self, data: bytes, context: bytes) -> bytes:
        """See `Transformer`."""
        start, padding = os.urandom(BLOCK), BLOCK - len(data) % BLOCK
        encryptor = ciphers.Cipher(self._algorithm, modes.CBC(start)).encryptor()
        padded = data + bytes([padding]) * padding
        return start + encryptor.update(padded) + encryptor.finalize()
