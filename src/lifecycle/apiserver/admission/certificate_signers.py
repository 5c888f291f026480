"""Certificates: who may approve a request, who may sign it, and what nobody gets
signed.

A signing request names its signer, and rights are given per signer: the verbs `approve`
and `sign` on the resource `signers`, by the signer's whole name (`example.com/team`) or
by its domain (`example.com/*`). Writing a request's `approval` or `status` takes that
right beside the one to write the subresource. And no certificate for clients of this
server may say `system:masters`: it could not be taken back.

Upstream:
`plugin/pkg/admission/certificates/{approval,signing,subjectrestriction}/admission.go`,
`plugin/pkg/admission/certificates/util.go` (`IsAuthorizedForSignerName`), v1.36.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import ANONYMOUS, MASTERS, Object, RequestInfo, UserInfo
from lifecycle.api.late_import import late_import
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.authz.authorizer import Authorize, decide

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.x509 import oid
else:
    x509 = late_import("cryptography.x509")
    oid = late_import("cryptography.x509.oid")

GROUP = "certificates.k8s.io"
REQUESTS = frozenset({(GROUP, "certificatesigningrequests")})
KUBE_API_SERVER_CLIENT = "kubernetes.io/kube-apiserver-client"
PEM_TYPE = "CERTIFICATE REQUEST"


async def is_authorized_for_signer(
    authorize: Authorize, user: UserInfo, verb: str, signer: str
) -> bool:
    """Whether the user may do this for the signer, or for all of the signer's
    domain.
    """
    domain = signer.partition("/")[0]
    for name in (signer, f"{domain}/*"):
        question = RequestInfo(
            True, "", verb, group=GROUP, version="*", resource="signers", name=name
        )
        if (await decide(authorize, user, question)).allowed:
            return True
    return False


class _SignerPlugin(Plugin):
    """A write of one subresource that takes a right on the signer."""

    operations = frozenset({UPDATE})
    resources = REQUESTS
    verb = ""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize

    async def validate(self, attributes: Attributes) -> None:
        """Refuse who lacks the right. The stored request counts: nobody gets around it
        by changing the signer as well.
        """
        stored = attributes.old_obj or {}
        if not self.concerns(attributes.obj or {}, stored):
            return
        signer = (stored.get("spec") or {}).get("signerName", "")
        if not await is_authorized_for_signer(
            self._authorize, attributes.user or ANONYMOUS, self.verb, signer
        ):
            raise attributes.forbidden(
                f"user not permitted to {self.verb} requests with signerName"
                f" {go_quote(signer)}"
            )

    def concerns(self, new: Object, stored: Object) -> bool:
        """Whether the write is one that needs the right."""
        return True


class CertificateApproval(_SignerPlugin):
    """Looks at writes of `approval`."""

    name = "CertificateApproval"
    subresources = frozenset({"approval"})
    verb = "approve"


class CertificateSigning(_SignerPlugin):
    """Looks at writes of `status` that bring a certificate or other conditions."""

    name = "CertificateSigning"
    subresources = frozenset({"status"})
    verb = "sign"

    def concerns(self, new: Object, stored: Object) -> bool:
        """See `_SignerPlugin`."""
        status, before = new.get("status") or {}, stored.get("status") or {}
        return any(
            (status.get(key) or None) != (before.get(key) or None)
            for key in ("certificate", "conditions")
        )


class CertificateSubjectRestriction(Plugin):
    """Looks at new requests to the signer of this server's clients."""

    name = "CertificateSubjectRestriction"
    operations = frozenset({CREATE})
    resources = REQUESTS

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Refuse a subject in `system:masters`."""
        spec = (attributes.obj or {}).get("spec") or {}
        if spec.get("signerName") != KUBE_API_SERVER_CLIENT:
            return None
        return self._check(attributes, spec.get("request", ""))

    async def _check(self, attributes: Attributes, request: str) -> None:
        try:
            groups = await beside(len(request), _groups, request)
        except ValueError as error:
            raise attributes.forbidden(f"failed to parse CSR: {error}") from None
        if MASTERS in groups:
            why = (
                f"use of {KUBE_API_SERVER_CLIENT} signer with {MASTERS} group is not"
                " allowed"
            )
            raise attributes.forbidden(why)


def _groups(request: str) -> list[str | bytes]:
    """The organizations of a request in base64. Raises ValueError."""
    try:
        pem = base64.b64decode(request, validate=True)
    except binascii.Error:
        pem = b""
    if f"-----BEGIN {PEM_TYPE}-----".encode() not in pem:
        raise ValueError(f"PEM block type must be {PEM_TYPE}")
    subject = x509.load_pem_x509_csr(pem).subject
    organizations = subject.get_attributes_for_oid(oid.NameOID.ORGANIZATION_NAME)
    return [each.value for each in organizations]
