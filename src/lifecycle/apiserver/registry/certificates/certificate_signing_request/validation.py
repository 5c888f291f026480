"""What a request for a certificate must say, and what of it an update may change.

Upstream: `pkg/apis/certificates/validation/validation.go`
(`validateCertificateSigningRequest`, `ValidateCertificateSigningRequestSignerName`),
`pkg/apis/certificates/helpers.go` (`ParseCSR`), v1.36.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.go_format import go_quote
from lifecycle.api.late_import import late_import
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)

if TYPE_CHECKING:
    from cryptography import exceptions, x509
else:
    x509 = late_import("cryptography.x509")
    exceptions = late_import("cryptography.exceptions")

_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign",
    "data encipherment", "decipher only",
    "digital signature", "email protection", "encipher only", "ipsec end system",
    "ipsec tunnel", "ipsec user", "key agreement",
    "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime",
    "server auth", "signing", "timestamping",
)  # fmt: skip


_LEGACY_UNKNOWN_SIGNER = "kubernetes.io/legacy-unknown"


_MIN_EXPIRATION_SECONDS = 600


_FINAL = ("Approved", "Denied", "Failed")


def validate(request: Object) -> list[FieldError]:
    """A new request. Any name will do."""
    errors = validate_core_object_meta(
        request.get("metadata") or {}, False, lambda name, prefix: ()
    )
    return (
        errors
        + _validate_spec(request.get("spec") or {})
        + _validate_conditions(request)
    )


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed request: what was wrong before may stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("spec") != old.get("spec"):
        errors += _validate_spec(new.get("spec") or {})
    for kind in _FINAL:
        if _count(new, kind) < _count(old, kind):
            errors.append(
                forbidden(
                    "status.conditions",
                    f'updates may not remove a condition of type "{kind}"',
                )
            )
    return errors


def _count(request: Object, kind: str) -> int:
    return sum(
        condition.get("type") == kind
        for condition in (request.get("status") or {}).get("conditions") or ()
    )


def _validate_spec(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    problem = _request_problem(spec.get("request") or "")
    if problem:
        errors.append(invalid("spec.request", spec.get("request"), problem))
    usages, signer = spec.get("usages") or [], spec.get("signerName", "")
    if not usages:
        errors.append(required("spec.usages"))
    errors += [
        not_supported(f"spec.usages[{i}]", usage, _USAGES)
        for i, usage in enumerate(usages)
        if usage not in _USAGES
    ]
    errors += [
        duplicate(f"spec.usages[{i}]", usage)
        for i, usage in enumerate(usages)
        if usage in usages[:i]
    ]
    if signer == _LEGACY_UNKNOWN_SIGNER:
        errors.append(
            invalid(
                "spec.signerName",
                signer,
                "the legacy signerName is not allowed via this API version",
            )
        )
    else:
        errors += validate_signer_name(signer, "spec.signerName")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _MIN_EXPIRATION_SECONDS:
        why = "may not specify a duration less than 600 seconds (10 minutes)"
        errors.append(invalid("spec.expirationSeconds", seconds, why))
    return errors


def _request_problem(encoded: str) -> str:
    """What is wrong with a PKCS #10 request in PEM. Go and Python word the finer points
    of a broken one differently.
    """
    try:
        pem = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        pem = b""
    if b"-----BEGIN CERTIFICATE REQUEST-----" not in pem:
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        request = x509.load_pem_x509_csr(pem)
        return (
            "" if request.is_signature_valid else "x509: signature verification failed"
        )
    except (
        ValueError,
        TypeError,
        exceptions.InvalidSignature,
        exceptions.UnsupportedAlgorithm,
    ) as error:
        return str(error)


def validate_signer_name(name: str, path: str) -> list[FieldError]:
    """A domain and a path: `example.com/signer-name`."""
    if not name:
        return [required(path)]
    segments = name.split("/")
    if len(segments) != 2:
        return [
            invalid(
                path,
                name,
                "must be a fully qualified domain and path of the form"
                " 'example.com/signer-name'",
            )
        ]
    domain, rest = segments
    errors = [too_long(path, 253)] if len(domain) > 253 else []
    errors += _validate_labels(domain.split("."), domain, path, content.dns1123_label)
    if "." not in domain:
        errors.append(
            invalid(
                path,
                domain,
                "should be a domain with at least two segments separated by dots",
            )
        )
    errors += _validate_labels(rest.split("."), rest, path, content.dns1123_subdomain)
    longest = 253 + 63 + 1 + 253
    return errors + ([too_long(path, longest)] if len(name) > longest else [])


def _validate_labels(
    labels: list[str], whole: str, path: str, rule: content.Rule
) -> list[FieldError]:
    for label in labels:
        messages = rule(label)
        if messages:
            return [
                invalid(path, whole, f"validating label {go_quote(label)}: {why}")
                for why in messages
            ]
    return []


def _validate_conditions(request: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(
        (request.get("status") or {}).get("conditions") or ()
    ):
        here, type_, status = (
            f"status.conditions[{index}]",
            condition.get("type", ""),
            condition.get("status", ""),
        )
        if not type_:
            errors.append(required(f"{here}.type"))
        allowed = ("True",) if type_ in _FINAL else ("False", "True", "Unknown")
        errors += validate_required_enum(f"{here}.status", status, allowed)
        if {"Approved": "Denied", "Denied": "Approved"}.get(type_) in seen:
            why = "Approved and Denied conditions are mutually exclusive"
            errors.append(invalid(f"{here}.type", type_, why))
        if type_ in seen:
            errors.append(duplicate(f"{here}.type", type_))
        seen.add(type_)
    return errors
