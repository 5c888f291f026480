"""Was this certificate signed by that authority? For servers that know more than one.

A server may know two authorities of clients: one whose certificates *are* users, and
one for the front proxy, whose word about users counts. TLS accepts what either signed;
each authenticator then looks for its own.

Upstream: `apiserver/pkg/authentication/request/x509/x509.go` (`Verifier`,
`NewDynamicCAVerifier`), v1.36. Left out: intermediate certificates, reloading the
bundle from disk.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.authn.authenticator import AuthenticationError

if TYPE_CHECKING:
    from cryptography import exceptions, x509
    from cryptography.x509 import oid
else:
    x509 = late_import("cryptography.x509")
    exceptions = late_import("cryptography.exceptions")
    oid = late_import("cryptography.x509.oid")

UNKNOWN_AUTHORITY = "x509: certificate signed by unknown authority"


class ClientCAVerifier:
    """Verifies client certificates against a PEM bundle; `allowed_names` restricts
    their common names (empty: any).
    """

    def __init__(self, bundle: bytes, allowed_names: Sequence[str] = ()) -> None:
        self._authorities = x509.load_pem_x509_certificates(bundle)
        self.allowed_names = tuple(allowed_names)
        self._facts = short_lru_cache(1024, longest=4096)(self._look_at)

    def verify(self, der: bytes) -> None:
        """Raises AuthenticationError for a certificate that is not good enough."""
        wrong, not_before, not_after = self._facts(der)
        if wrong:
            raise AuthenticationError(wrong)
        if not not_before <= time.time() <= not_after:
            raise AuthenticationError(
                "x509: certificate has expired or is not yet valid"
            )

    def _look_at(self, der: bytes) -> tuple[str, float, float]:
        """What is wrong with it for ever, and between which seconds it is valid."""
        try:
            certificate = x509.load_der_x509_certificate(der)
        except ValueError as error:
            return f"x509: {error}", 0, 0
        dates = (
            certificate.not_valid_before_utc.timestamp(),
            certificate.not_valid_after_utc.timestamp(),
        )
        if not any(
            _signed_by(certificate, authority) for authority in self._authorities
        ):
            return UNKNOWN_AUTHORITY, *dates
        if not _for_clients(certificate):
            return "x509: certificate specifies an incompatible key usage", *dates
        names = [
            str(each.value)
            for each in certificate.subject.get_attributes_for_oid(
                oid.NameOID.COMMON_NAME
            )
        ]
        common_name = names[-1] if names else ""
        if self.allowed_names and common_name not in self.allowed_names:
            return (
                f"x509: subject with cn={common_name} is not in the allowed list",
                *dates,
            )
        return "", *dates


def _signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, exceptions.InvalidSignature):
        return False
    return True


def _for_clients(certificate: x509.Certificate) -> bool:
    try:
        usage = certificate.extensions.get_extension_for_class(
            x509.ExtendedKeyUsage
        ).value
    except x509.ExtensionNotFound:
        return True
    return (
        oid.ExtendedKeyUsageOID.CLIENT_AUTH in usage
        or oid.ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE in usage
    )
