"""Secrets: `stringData`, and keys that should fit their certificates."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.core.secret.strategy import STRATEGY


def secret(**more: Any) -> dict[str, Any]:
    obj, _ = decode({"metadata": {"name": "x", "namespace": "n"}, **more}, "v1", "Secret")
    STRATEGY.set_defaults(obj)
    return obj


def test_string_data_of_a_secret_becomes_data() -> None:
    obj = secret(data={"a": "Yg=="}, stringData={"c": "d"})
    assert obj["data"] == {"a": "Yg==", "c": "ZA=="}
    assert "stringData" not in obj


def pem_pair(key: Any) -> tuple[bytes, bytes]:
    """A certificate that is signed by its own key, and the key."""
    name, day = x509.Name([]), datetime(2026, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, day, day)
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), key.private_bytes(*form)


def test_the_key_of_a_tls_secret_should_fit() -> None:
    first, second = (pem_pair(ec.generate_private_key(ec.SECP256R1())) for _ in range(2))
    other = pem_pair(rsa.generate_private_key(65537, 1024))
    for certificate, key, expected in (
        (*first, []),
        (first[0], second[1], ["tls: private key does not match public key"]),
        (first[0], other[1], ["tls: private key type does not match public key type"]),
        (b"x", b"y", ["tls: failed to find any PEM data in certificate input"]),
        (first[0], b"y", ["tls: failed to find any PEM data in key input"]),
        (first[0], first[0], ["tls: found a certificate rather than a key in the PEM for the private key"]),
        (first[0], first[1].replace(b"M", b"N"), ["tls: failed to parse private key"]),
    ):
        data = {"tls.crt": b64encode(certificate).decode(), "tls.key": b64encode(key).decode()}
        obj = secret(data=data, type="kubernetes.io/tls")
        assert STRATEGY.validate(obj) == []
        assert STRATEGY.warnings_on_create(obj) == expected
    swapped = secret(data={"tls.crt": b64encode(first[1]).decode(), "tls.key": ""}, type="kubernetes.io/tls")
    assert STRATEGY.warnings_on_create(swapped)[0].endswith("PEM inputs may have been switched")
