"""Who a certificate is about that gives several names."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from lifecycle.api.http.wire import Request
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.x509 import X509Authenticator, common_name_user_conversion

COMMON, ORGANIZATION = NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME


def shown(*names: tuple[x509.ObjectIdentifier, str]) -> bytes:
    """A certificate with these names, in this order, for the year 2026."""
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
    return certificate.public_bytes(serialization.Encoding.DER)


def named(*names: tuple[x509.ObjectIdentifier, str]) -> tuple[str, tuple[str, ...]] | None:
    """Name and groups of who shows a certificate with these names."""
    identity, _, _ = common_name_user_conversion(shown(*names))
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


@pytest.mark.parametrize(
    ("day", "seconds", "known"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), -1, False),
        (datetime(2026, 1, 1, tzinfo=UTC), 0, True),
        (datetime(2026, 7, 1, tzinfo=UTC), 0, True),
        (datetime(2027, 1, 1, tzinfo=UTC), 0, True),
        (datetime(2027, 1, 1, tzinfo=UTC), 1, False),
        (datetime(1971, 1, 1, tzinfo=UTC), 0, False),
    ],
)
@pytest.mark.parametrize("names", [[(COMMON, "jane")], [(ORGANIZATION, "devs")]])
def test_a_certificate_counts_between_its_days(
    names: list[tuple[x509.ObjectIdentifier, str]],
    day: datetime,
    seconds: int,
    known: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whomever it names. Upstream: Go's `x509.Certificate.Verify`: neither day is excluded."""
    monkeypatch.setattr(time, "time", lambda: day.timestamp() + seconds)
    request = Request("GET", "/", peer_certificate=shown(*names))
    if not known:
        with pytest.raises(AuthenticationError, match=r"x509: certificate has expired or is not yet valid$"):
            X509Authenticator().authenticate_request(request)
        return
    identity = X509Authenticator().authenticate_request(request)
    assert (identity.user.name if identity is not None else "") == ("jane" if names[0][0] is COMMON else "")
