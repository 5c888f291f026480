"""Does the key of a TLS secret fit its certificate? The server stores it either way,
and says what it thinks.

Upstream: `pkg/registry/core/secret/strategy.go` (`warningsForSecret`), Go's
`crypto/tls` (`X509KeyPair`), v1.36. What Go says of a certificate that is broken inside
its PEM block is said in the words of our own library.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    from cryptography import exceptions, x509
    from cryptography.hazmat.primitives import serialization
else:
    x509 = late_import("cryptography.x509")
    exceptions = late_import("cryptography.exceptions")
    serialization = late_import("cryptography.hazmat.primitives.serialization")


_BLOCK = re.compile(rb"-----BEGIN ([^\n-]+)-----\n.*?\n?-----END \1-----", re.DOTALL)
_CERTIFICATE, _PRIVATE = "CERTIFICATE", "PRIVATE KEY"


def _blocks(pem: bytes) -> list[tuple[str, bytes]]:
    return [
        (match[1].decode(errors="replace"), match[0])
        for match in _BLOCK.finditer(pem.replace(b"\r\n", b"\n"))
    ]


def _certificate_error(types: list[str]) -> str:
    if _CERTIFICATE in types:
        return ""
    if not types:
        return "tls: failed to find any PEM data in certificate input"
    if len(types) == 1 and types[0].endswith(_PRIVATE):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did"
            " find a private key; PEM inputs may have been switched"
        )
    after = "in certificate input after skipping PEM blocks of the following types"
    return f'tls: failed to find "CERTIFICATE" PEM block {after}: [{" ".join(types)}]'


def _key_error(types: list[str]) -> str:
    if any(_is_private(type_) for type_ in types):
        return ""
    if not types:
        return "tls: failed to find any PEM data in key input"
    if types == [_CERTIFICATE]:
        return (
            "tls: found a certificate rather than a key in the PEM for the private key"
        )
    after = "in key input after skipping PEM blocks of the following types"
    return (
        f'tls: failed to find PEM block with type ending in "PRIVATE KEY" {after}:'
        f" [{' '.join(types)}]"
    )


def _is_private(type_: str) -> bool:
    return type_ == _PRIVATE or type_.endswith(f" {_PRIVATE}")


def key_pair_error(certificate: str, key: str) -> str:
    """What is wrong with a pair, both PEM in base64; empty if they fit."""
    try:
        certificates, keys = (
            _blocks(base64.b64decode(certificate or "")),
            _blocks(base64.b64decode(key or "")),
        )
    except binascii.Error:
        return ""
    complaint = _certificate_error([t for t, _ in certificates]) or _key_error(
        [t for t, _ in keys]
    )
    if complaint:
        return complaint
    try:
        leaf = x509.load_pem_x509_certificate(
            next(block for type_, block in certificates if type_ == _CERTIFICATE)
        )
        public = leaf.public_key()
    except ValueError:
        return "x509: malformed certificate"
    except exceptions.UnsupportedAlgorithm as error:
        return f"x509: {error}"
    try:
        private = serialization.load_pem_private_key(
            next(block for type_, block in keys if _is_private(type_)), None
        )
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        return "tls: failed to parse private key"
    mine = private.public_key()
    if type(mine) is not type(public):
        return "tls: private key type does not match public key type"
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return (
        ""
        if mine.public_bytes(*form) == public.public_bytes(*form)
        else "tls: private key does not match public key"
    )
