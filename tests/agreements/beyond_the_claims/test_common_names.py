"""Who a certificate is about that gives several names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lifecycle.apiserver.authn.x509 import common_name_user_conversion

COMMON, ORGANIZATION = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME


def named(*names: tuple[x509.ObjectIdentifier, str]) -> tuple[str, tuple[str, ...]] | None:
    """Name and groups of who shows a certificate with these names, in this order."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(oid, value, _validate=bool(value)) for oid, value in names])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2026, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2027, 1, 1, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    identity, _, _ = common_name_user_conversion(certificate.public_bytes(serialization.Encoding.DER))
    return (identity.user.name, identity.user.groups) if identity is not None else None


@pytest.mark.filterwarnings("ignore:Attribute's length must be")
@pytest.mark.parametrize(
    ("names", "user"),
    [
        ([(COMMON, "jane")], ("jane", ("system:authenticated",))),
        ([(COMMON, "first"), (COMMON, "last")], ("last", ("system:authenticated",))),
        (
            [(ORGANIZATION, "devs"), (COMMON, "jane"), (ORGANIZATION, "ops")],
            ("jane", ("devs", "ops", "system:authenticated")),
        ),
        ([(ORGANIZATION, "devs")], None),
        ([(COMMON, "first"), (COMMON, "")], None),  # the last one counts, and says nothing
        ([(COMMON, ""), (COMMON, "last")], ("last", ("system:authenticated",))),
    ],
)
def test_the_last_common_name_is_the_user_and_all_organizations_are_groups(
    names: list[tuple[x509.ObjectIdentifier, str]], user: tuple[str, tuple[str, ...]] | None
) -> None:
    assert named(*names) == user
