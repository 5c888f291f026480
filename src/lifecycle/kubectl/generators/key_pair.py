"""Whether a certificate and a private key belong together, in Go's words if not.

Upstream: Go's `crypto/tls/tls.go` (`X509KeyPair`). Left out: how exactly the two
parsers fail on damaged DER.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.kubectl.failures import CommandError

if TYPE_CHECKING:
    from cryptography import exceptions, x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import types
else:
    x509 = late_import("cryptography.x509")
    exceptions = late_import("cryptography.exceptions")
    serialization = late_import("cryptography.hazmat.primitives.serialization")

_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\s.*?-----END \1-----", re.DOTALL)


def check_key_pair(certificate: bytes, private: bytes) -> None:
    """Raises CommandError unless the first certificate in PEM is the key's."""
    kinds = [match[1].decode() for match in _BLOCK.finditer(certificate)]
    if "CERTIFICATE" not in kinds:
        if not kinds:
            raise CommandError("tls: failed to find any PEM data in certificate input")
        if len(kinds) == 1 and kinds[0].endswith("PRIVATE KEY"):
            raise CommandError(
                "tls: failed to find certificate PEM data in certificate input, but did"
                " find a private key; PEM inputs may have been switched"
            )
        raise CommandError(
            f'tls: failed to find "CERTIFICATE" PEM block in certificate input after'
            f" skipping PEM blocks of the "
            f"following types: [{' '.join(kinds)}]"
        )
    first = next(
        match[0] for match in _BLOCK.finditer(certificate) if match[1] == b"CERTIFICATE"
    )
    key = _private_key(private)
    try:
        public = x509.load_pem_x509_certificate(first).public_key()
    except (ValueError, exceptions.UnsupportedAlgorithm) as error:
        raise CommandError(f"x509: malformed certificate: {error}") from None
    own = key.public_key()
    if type(own).__mro__[0] is not type(public).__mro__[0]:
        raise CommandError("tls: private key type does not match public key type")
    written = (
        each.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        for each in (own, public)
    )
    if len(set(written)) > 1:
        raise CommandError("tls: private key does not match public key")


def _private_key(private: bytes) -> types.PrivateKeyTypes:
    skipped_block_types = [match[1].decode() for match in _BLOCK.finditer(private)]
    key_blocks = [
        match[0]
        for match in _BLOCK.finditer(private)
        if match[1] == b"PRIVATE KEY" or match[1].endswith(b" PRIVATE KEY")
    ]
    if not key_blocks:
        if not skipped_block_types:
            raise CommandError("tls: failed to find any PEM data in key input")
        if skipped_block_types == ["CERTIFICATE"]:
            raise CommandError(
                "tls: found a certificate rather than a key in the PEM for the"
                " private key"
            )
        raise CommandError(
            'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key'
            " input after skipping PEM blocks of the "
            f"following types: [{' '.join(skipped_block_types)}]"
        )
    try:
        return serialization.load_pem_private_key(key_blocks[0], None)
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        raise CommandError("tls: failed to parse private key") from None
