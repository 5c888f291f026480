"""What a request in `certificates.k8s.io/v1beta1` did not have to say.

The signer is guessed: who asks for what a kubelet asks for gets a kubelet's signer,
everybody else the one that was there before signers had names.

Upstream: `pkg/apis/certificates/v1beta1/defaults.go`,
`pkg/apis/certificates/helpers.go` (`IsKubeletClientCSR`, `IsKubeletServingCSR`), v1.20.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.apiserver.registry.certificates.certificate_signing_request.validation import (  # noqa: E501
    LEGACY_UNKNOWN_SIGNER,
)
from lifecycle.apiserver.registry.rest.defaults import set_default

if TYPE_CHECKING:
    from cryptography import x509
else:
    x509 = late_import("cryptography.x509")

KUBELET_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING_SIGNER = "kubernetes.io/kubelet-serving"
_USAGES = ("digital signature", "key encipherment")


def set_defaults(request: Object) -> None:
    """Usages, a signer, and conditions that are true if they do not say otherwise."""
    spec = request.setdefault("spec", {})
    set_default(spec, "usages", list(_USAGES))
    if not spec.get("signerName"):
        spec["signerName"] = default_signer_name(spec)
    for condition in (request.get("status") or {}).get("conditions") or ():
        if not condition.get("status"):
            condition["status"] = "True"


def default_signer_name(spec: Object) -> str:
    """Who is to sign what is asked for. Upstream: `DefaultSignerNameFromSpec`."""
    try:
        pem = base64.b64decode(spec.get("request") or "", validate=True)
        request = x509.load_pem_x509_csr(pem)
    except (binascii.Error, ValueError, TypeError):
        return LEGACY_UNKNOWN_SIGNER
    usages = set(spec.get("usages") or ())
    if not _is_kubelet(request):
        return LEGACY_UNKNOWN_SIGNER
    names = _alternative_names(request)
    if not names and usages == {*_USAGES, "client auth"}:
        return KUBELET_CLIENT_SIGNER
    reached = {x509.DNSName, x509.IPAddress}
    if names and names <= reached and usages == {*_USAGES, "server auth"}:
        return KUBELET_SERVING_SIGNER
    return LEGACY_UNKNOWN_SIGNER


def _is_kubelet(request: x509.CertificateSigningRequest) -> bool:
    def of(oid: x509.ObjectIdentifier) -> list[str]:
        return [str(name.value) for name in request.subject.get_attributes_for_oid(oid)]

    oids = x509.NameOID
    names = of(oids.COMMON_NAME)
    return of(oids.ORGANIZATION_NAME) == ["system:nodes"] and bool(
        names and names[-1].startswith("system:node:")
    )


def _alternative_names(
    request: x509.CertificateSigningRequest,
) -> set[type[x509.GeneralName]]:
    """The kinds of names that stand beside the subject."""
    try:
        extension = request.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
    except x509.ExtensionNotFound:
        return set()
    return {type(name) for name in extension.value}
