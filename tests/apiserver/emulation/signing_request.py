"""A request for a certificate, signed with a new key, in the version that is gone."""

from __future__ import annotations

import base64
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lifecycle.api.http.wire import Object


def signing_request(name: str, *organizations: str, dns: str = "", **spec: Any) -> Object:
    names = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, each) for each in organizations]
    subject = x509.Name([*names, x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if dns:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(dns)]), critical=False)
    pem = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256()).public_bytes(
        serialization.Encoding.PEM
    )
    return {
        "apiVersion": "certificates.k8s.io/v1beta1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "r"},
        "spec": {"request": base64.b64encode(pem).decode(), **spec},
    }
