"""A CertificateSigningRequest: who asks, for whom, and what became of it.

Upstream: `kubectl/pkg/describe/describe.go` (`CertificateSigningRequestDescriber`,
`describeCertificateSigningRequest`, `extractCSRStatus`),
`kubectl/pkg/util/certificate/certificate.go` (`ParseCSR`), v1.36.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import human_duration
from lifecycle.api.late_import import late_import
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.events import describe_events, events_of
from lifecycle.kubectl.describe.moments import rfc1123z
from lifecycle.kubectl.describe.multiline import format_labels
from lifecycle.kubectl.describe.writer import PrefixWriter
from lifecycle.kubectl.failures import CommandError

if TYPE_CHECKING:
    from cryptography import x509
else:
    x509 = late_import("cryptography.x509")


async def describe_certificate_signing_request(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a CertificateSigningRequest. Raises StatusError, and CommandError for
    what is no request.
    """
    plural = "certificatesigningrequests.certificates.k8s.io"
    csr = await client.get(plural, "", name)
    events = await events_of(client, csr)
    request = parse_csr(base64.b64decode(csr["spec"]["request"]))
    w = PrefixWriter()
    meta, spec = csr["metadata"], csr["spec"]
    w.field(0, "Name", meta["name"])
    w.field(0, "Labels", format_labels(meta.get("labels")))
    w.field(0, "Annotations", format_labels(meta.get("annotations")))
    w.field(0, "CreationTimestamp", rfc1123z(meta.get("creationTimestamp")))
    w.field(0, "Requesting User", spec.get("username", ""))
    if spec.get("signerName"):
        w.field(0, "Signer", spec["signerName"])
    if spec.get("expirationSeconds") is not None:
        w.field(0, "Requested Duration", human_duration(spec["expirationSeconds"]))
    w.field(0, "Status", _status(csr.get("status") or {}))
    _subject(request.subject, w)
    _alternative_names(request, w)
    describe_events(events, w)
    return w.tabbed


def parse_csr(pem: bytes) -> x509.CertificateSigningRequest:
    """A request in PEM. Raises CommandError."""
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in pem:
        raise CommandError(
            "Error parsing CSR: PEM block type must be CERTIFICATE REQUEST"
        )
    try:
        return x509.load_pem_x509_csr(pem)
    except ValueError as error:
        raise CommandError(f"Error parsing CSR: {error}") from None


def _status(status: Object) -> str:
    types = {each["type"] for each in status.get("conditions") or ()}
    text = next((each for each in ("Denied", "Approved") if each in types), "Pending")
    text += ",Failed" if "Failed" in types else ""
    return text + (",Issued" if status.get("certificate") else "")


def _values(subject: x509.Name, oid: x509.ObjectIdentifier) -> list[str]:
    return [str(each.value) for each in subject.get_attributes_for_oid(oid)]


def _subject(subject: x509.Name, w: PrefixWriter) -> None:
    oid = x509.NameOID
    w.write(0, "Subject:\n")
    for title, one in (
        ("Common Name", oid.COMMON_NAME),
        ("Serial Number", oid.SERIAL_NUMBER),
    ):
        w.write(0, f"\t{title}:\t{''.join(_values(subject, one)[-1:])}\n")
    for title, several in (
        ("Organization", oid.ORGANIZATION_NAME),
        ("Organizational Unit", oid.ORGANIZATIONAL_UNIT_NAME),
        ("Country", oid.COUNTRY_NAME),
        ("Locality", oid.LOCALITY_NAME),
        ("Province", oid.STATE_OR_PROVINCE_NAME),
        ("StreetAddress", oid.STREET_ADDRESS),
        ("PostalCode", oid.POSTAL_CODE),
    ):
        _list(title, _values(subject, several), w)


def _alternative_names(
    request: x509.CertificateSigningRequest, w: PrefixWriter
) -> None:
    try:
        names = request.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        ).value
    except x509.ExtensionNotFound:
        return
    w.write(0, "Subject Alternative Names:\n")
    for title, kind in (
        ("DNS Names", x509.DNSName),
        ("Email Addresses", x509.RFC822Name),
        ("URIs", x509.UniformResourceIdentifier),
        ("IP Addresses", x509.IPAddress),
    ):
        _list(title, [str(each) for each in names.get_values_for_type(kind)], w)


def _list(title: str, values: Sequence[str], w: PrefixWriter) -> None:
    if values:
        lines = "\n\t\t".join(values)
        w.write(0, f"\t{title}:\t{lines}\n")
