"""The certificates of a cluster, made when it starts, and forgotten when it ends unless
somebody keeps them (`authority.py`).

One certificate authority signs what the server shows (for `127.0.0.1`, `localhost` and
the Service's own names) and what clients show. For a client certificate the common name
is the user and each organisation a group: that is all the authenticator reads.

Keys are elliptic (P-256): a fraction of a millisecond to make, where RSA would take
most of the start-up time.

Upstream: kubeadm `app/phases/certs/certlist.go`, `client-go/util/cert/cert.go`, v1.36.
Left out: separate authorities for etcd and the front proxy, and renewal.
"""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa, types
    from cryptography.x509 import oid
else:
    x509 = late_import("cryptography.x509")
    hashes = late_import("cryptography.hazmat.primitives.hashes")
    serialization = late_import("cryptography.hazmat.primitives.serialization")
    ec = late_import("cryptography.hazmat.primitives.asymmetric.ec")
    rsa = late_import("cryptography.hazmat.primitives.asymmetric.rsa")
    oid = late_import("cryptography.x509.oid")


SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "lifecycle-control-plane",
)
SERVER_ADDRESSES = ("127.0.0.1", "10.96.0.1")
LIFETIME = timedelta(days=365)


class CertificateAuthority:
    """Signs server and client certificates. Everything is PEM bytes."""

    def __init__(self) -> None:
        self._key: types.CertificateIssuerPrivateKeyTypes = ec.generate_private_key(
            ec.SECP256R1()
        )
        name = _name("kubernetes", ())
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        usage = _usage(key_cert_sign=True, crl_sign=True)
        builder = _builder(name, name, self._key.public_key()).add_extension(
            constraints, critical=True
        )
        self._certificate = builder.add_extension(usage, critical=True).sign(
            self._key, hashes.SHA256()
        )
        self.ca_pem = self._certificate.public_bytes(serialization.Encoding.PEM)

    @classmethod
    def from_pem(cls, certificate: bytes, key: bytes) -> CertificateAuthority:
        """One that was kept. Raises ValueError if it cannot sign: not readable, not a
        pair, expired.
        """
        authority = cls.__new__(cls)
        authority._certificate = x509.load_pem_x509_certificate(certificate)
        authority._key = _private_key(key)
        authority.ca_pem = certificate
        if authority._key.public_key() != authority._certificate.public_key():
            raise ValueError("the key beside it is not its own")
        if authority._certificate.not_valid_after_utc <= datetime.now(UTC):
            raise ValueError(
                "it has expired; without it and its key the next start makes new ones"
            )
        return authority

    @property
    def key_pem(self) -> bytes:
        """The authority's private key."""
        return private_key_pem(self._key)

    def server_certificate(self) -> tuple[bytes, bytes]:
        """Certificate and key of the API server."""
        names: list[x509.GeneralName] = [x509.DNSName(name) for name in SERVER_NAMES]
        names += [x509.IPAddress(IPv4Address(address)) for address in SERVER_ADDRESSES]
        alternatives = x509.SubjectAlternativeName(names)
        return self._issue(
            _name("kube-apiserver", ()),
            oid.ExtendedKeyUsageOID.SERVER_AUTH,
            alternatives,
        )

    def serving_certificate(
        self, names: Sequence[str], addresses: Sequence[str] = ()
    ) -> tuple[bytes, bytes]:
        """Certificate and key of some other server, such as a webhook, that answers
        under names and IPv4 addresses.
        """
        alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in names]
        alternatives += [x509.IPAddress(IPv4Address(address)) for address in addresses]
        subject = _name((*names, *addresses)[0], ())
        return self._issue(
            subject,
            oid.ExtendedKeyUsageOID.SERVER_AUTH,
            x509.SubjectAlternativeName(alternatives),
        )

    def client_certificate(
        self, user: str, groups: Sequence[str] = ()
    ) -> tuple[bytes, bytes]:
        """Certificate and key of a user who belongs to groups."""
        return self._issue(
            _name(user, groups), oid.ExtendedKeyUsageOID.CLIENT_AUTH, None
        )

    def server_context(
        self, names: Sequence[str] = (), addresses: Sequence[str] = ()
    ) -> ssl.SSLContext:
        """TLS for the server: asks for a client certificate, takes none as well,
        refuses one signed by others.

        With names or addresses, for another server that answers under them.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(cadata=self.ca_pem.decode())
        certificate, key = (
            self.serving_certificate(names, addresses)
            if names or addresses
            else self.server_certificate()
        )
        with (
            tempfile.TemporaryDirectory() as folder
        ):  # the ssl module reads chains from files only
            chain = Path(folder) / "chain.pem"
            chain.touch(mode=0o600)
            chain.write_bytes(certificate + key)
            context.load_cert_chain(chain)
        return context

    def _issue(
        self,
        subject: x509.Name,
        use: x509.ObjectIdentifier,
        alternatives: x509.SubjectAlternativeName | None,
    ) -> tuple[bytes, bytes]:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, self._certificate.subject, key.public_key())
            .add_extension(
                x509.BasicConstraints(ca=False, path_length=None), critical=True
            )
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([use]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(
                    self._key.public_key()
                ),
                critical=False,
            )
        )
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM), private_key_pem(
            key
        )


def private_key_pem(key: types.CertificateIssuerPrivateKeyTypes) -> bytes:
    """A private key as it stands in a file."""
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(
        serialization.Encoding.PEM, form, serialization.NoEncryption()
    )


def _private_key(pem: bytes) -> types.CertificateIssuerPrivateKeyTypes:
    try:
        key = serialization.load_pem_private_key(pem, None)
    except TypeError:
        raise ValueError("its key wants a password") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise ValueError("its key is of a kind that signs no certificates here")
    return key


def _name(common: str, organisations: Sequence[str]) -> x509.Name:
    parts = [
        x509.NameAttribute(oid.NameOID.ORGANIZATION_NAME, each)
        for each in organisations
    ]
    return x509.Name([*parts, x509.NameAttribute(oid.NameOID.COMMON_NAME, common)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(
    *,
    digital_signature: bool = False,
    key_cert_sign: bool = False,
    crl_sign: bool = False,
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
