"""The certificate that lies in the image, at its root, with its key: for `localhost`,
signed by itself.

The real image carries the one of Go's own tests; ours is made when somebody reads it.

Upstream: `test/images/agnhost/porter/localhost.{crt,key}`, v1.36.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from ipaddress import ip_address


@cache
def _pair() -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "Acme Co")])
    subjects = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(1970, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2084, 1, 29, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName(subjects), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return (
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def localhost_crt() -> bytes:
    """In PEM."""
    return _pair()[0]


def localhost_key() -> bytes:
    """In PEM."""
    return _pair()[1]
