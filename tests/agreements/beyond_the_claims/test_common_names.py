"""Who a certificate is about that gives several names."""

from __future__ import annotations

import hashlib
import re
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


UID = x509.ObjectIdentifier("1.3.6.1.4.1.57683.2")


@pytest.mark.parametrize("uids", [(), ("u-1",)])
def test_a_certificate_may_say_a_uid_and_always_says_which_one_it_is(uids: tuple[str, ...]) -> None:
    der = shown((COMMON, "jane"), *((UID, uid) for uid in uids))
    identity, _, _ = common_name_user_conversion(der)
    assert identity is not None
    assert identity.user.uid == "".join(uids)
    digest = hashlib.sha256(der).hexdigest()
    assert identity.user.extra == {"authentication.kubernetes.io/credential-id": (f"X509SHA256={digest}",)}


@pytest.mark.parametrize(
    ("uids", "said"),
    [
        (("u-1", "u-2"), "expected 1 UID, but found multiple: [u-1 u-2]"),
        (("",), "UID cannot be an empty string"),
    ],
)
def test_whoever_says_two_uids_or_an_empty_one_is_nobody(uids: tuple[str, ...], said: str) -> None:
    """The words are upstream's: `parseUIDFromCert`."""
    request = Request("GET", "/", peer_certificate=shown((COMMON, "jane"), *((UID, uid) for uid in uids)))
    with pytest.raises(AuthenticationError, match=re.escape(said)):
        X509Authenticator().authenticate_request(request)


def test_a_certificate_is_good_from_its_first_to_its_last_second() -> None:
    _, begin, end = common_name_user_conversion(shown((COMMON, "jane")))
    assert (begin, end) == tuple(datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (2026, 2027))
