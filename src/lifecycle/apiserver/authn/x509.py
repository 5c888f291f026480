"""Client certificates: the subject is the user.

The common name is the user name, each organization a group; that is all kubeadm's admin
certificate is (`kubernetes-admin`, `kubeadm:cluster-admins`). Whether the certificate
is to be believed – signed by the client CA, in date, meant for clients – the TLS layer
decides during the handshake; what arrives here has passed.

Upstream: `apiserver/pkg/authentication/request/x509/x509.go`
(`CommonNameUserConversion`), v1.36.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from lifecycle.api.bounded_cache import short_lru_cache
from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.authn.authenticator import (
    ALL_AUTHENTICATED,
    CREDENTIAL_ID,
    AuthenticationError,
    Identity,
)
from lifecycle.apiserver.authn.client_ca import ClientCAVerifier

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.x509 import oid
else:
    x509 = late_import("cryptography.x509")
    oid = late_import("cryptography.x509.oid")

UID_OID = "1.3.6.1.4.1.57683.2"


@short_lru_cache(1024, longest=4096)
def common_name_user_conversion(der: bytes) -> tuple[Identity | None, float, float]:
    """Who a certificate (DER) names, and the seconds since 1970 between which it is
    valid. Nobody, if it has no common name.

    Raises ValueError if it cannot be read, AuthenticationError if it names two uids.
    """
    certificate = x509.load_der_x509_certificate(der)
    not_before = certificate.not_valid_before_utc.timestamp()
    not_after = certificate.not_valid_after_utc.timestamp()
    names = _values(certificate, oid.NameOID.COMMON_NAME)
    if not names or not names[-1]:
        return None, not_before, not_after
    user = UserInfo(
        name=names[-1],
        groups=(
            *_values(certificate, oid.NameOID.ORGANIZATION_NAME),
            ALL_AUTHENTICATED,
        ),
        uid=_uid_of(certificate),
        extra={CREDENTIAL_ID: (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)},
    )
    return Identity(user), not_before, not_after


def _uid_of(certificate: x509.Certificate) -> str:
    """The uid, or nothing. Raises AuthenticationError for several, and for an empty
    one. Upstream: `parseUIDFromCert`.
    """
    uids = _values(certificate, oid.ObjectIdentifier(UID_OID))
    if len(uids) > 1:
        raise AuthenticationError(
            f"expected 1 UID, but found multiple: [{' '.join(uids)}]"
        )
    if uids == ("",):
        raise AuthenticationError("UID cannot be an empty string")
    return uids[0] if uids else ""


def _values(
    certificate: x509.Certificate, kind: oid.ObjectIdentifier
) -> tuple[str, ...]:
    return tuple(
        str(attribute.value)
        for attribute in certificate.subject.get_attributes_for_oid(kind)
    )


class X509Authenticator:
    """Recognises the certificate that the TLS layer has verified. A connection may
    outlive it, so the dates are looked at each time.

    Where TLS accepts more than one authority, `verifier` says which one's certificates
    are users.
    """

    def __init__(self, verifier: ClientCAVerifier | None = None) -> None:
        self._verifier = verifier

    def authenticate_request(self, request: Request) -> Identity | None:
        """The subject of the request's certificate, if it has one. Raises
        AuthenticationError.
        """
        der = request.peer_certificate
        if der is None:
            return None
        if self._verifier is not None:
            self._verifier.verify(der)
        try:
            identity, not_before, not_after = common_name_user_conversion(der)
        except ValueError as error:
            raise AuthenticationError(f"x509: {error}") from error
        # Real time, also where the cluster's own clock is virtual: certificates are
        # made and verified in it.
        if not not_before <= time.time() <= not_after:
            raise AuthenticationError(
                "x509: certificate has expired or is not yet valid"
            )
        return identity
