"""What a request for a certificate must say, and what of it an update may change.

Upstream: `pkg/apis/certificates/validation/validation.go`
(`validateCertificateSigningRequest`, `ValidateCertificateSigningRequestSignerName`),
`pkg/apis/certificates/helpers.go` (`ParseCSR`), v1.36; the same at v1.20 for `v1beta1`.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, replace
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
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.late_import import late_import
from lifecycle.api.validation import content
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


LEGACY_UNKNOWN_SIGNER = "kubernetes.io/legacy-unknown"


_MIN_EXPIRATION_SECONDS = 600


_PEM_BLOCK = re.compile(
    rb"-----BEGIN (?P<type>[^\n-]+)-----\r?\n(?P<body>.*?)-----END (?P=type)-----",
    re.DOTALL,
)


_FINAL = ("Approved", "Denied", "Failed")


@dataclass(frozen=True, slots=True)
class ValidationOptions:
    """What is let through: nothing of a new request today, what was stored already, and
    in `v1beta1` what nobody looked at then. Upstream: `certificateValidationOptions`,
    `getValidationOptions`, at v1.20 with a `GroupVersion`.
    """

    resetting_certificate: bool = False
    both_approved_and_denied: bool = False
    legacy_signer_name: bool = False
    duplicate_condition_types: bool = False
    empty_condition_type: bool = False
    arbitrary_certificate: bool = False
    duplicate_usages: bool = False
    unknown_usages: bool = False

    def on_update(self, new: Object, old: Object) -> ValidationOptions:
        """What was wrong before may stay."""
        spec, status = old.get("spec") or {}, old.get("status") or {}
        types = [each.get("type", "") for each in status.get("conditions") or ()]
        usages, certificate = spec.get("usages") or [], status.get("certificate")
        return replace(
            self,
            both_approved_and_denied={"Approved", "Denied"} <= set(types),
            legacy_signer_name=self.legacy_signer_name
            or spec.get("signerName") == LEGACY_UNKNOWN_SIGNER,
            duplicate_condition_types=self.duplicate_condition_types
            or len(set(types)) < len(types),
            empty_condition_type=self.empty_condition_type or "" in types,
            arbitrary_certificate=self.arbitrary_certificate
            or (new.get("status") or {}).get("certificate") == certificate
            or bool(_certificate_problem(certificate)),
            duplicate_usages=self.duplicate_usages or len(set(usages)) < len(usages),
            unknown_usages=self.unknown_usages or not set(usages) <= set(_USAGES),
        )


STRICT = ValidationOptions()
V1BETA1 = ValidationOptions(
    resetting_certificate=True,
    legacy_signer_name=True,
    duplicate_condition_types=True,
    empty_condition_type=True,
    arbitrary_certificate=True,
    duplicate_usages=True,
    unknown_usages=True,
)


def validate(request: Object, options: ValidationOptions = STRICT) -> list[FieldError]:
    """A new request. Any name will do."""
    errors = validate_core_object_meta(
        request.get("metadata") or {}, False, lambda name, prefix: ()
    )
    errors += _validate_spec(request.get("spec") or {}, options)
    errors += _validate_conditions(request, options)
    if not options.arbitrary_certificate:
        problem = _certificate_problem((request.get("status") or {}).get("certificate"))
        if problem:
            shown = "<certificate data>"
            errors.append(invalid("status.certificate", shown, problem))
    return errors


def validate_update(
    new: Object,
    old: Object,
    options: ValidationOptions = STRICT,
    *,
    approval: bool = False,
    certificate: bool = False,
) -> list[FieldError]:
    """A changed request. Through the subresource `approval` it may be approved or
    denied, through `status` a certificate comes (`certificate`).
    """
    options = options.on_update(new, old)
    errors = validate(new, options)
    for kind in _FINAL:
        if len(_conditions(new, kind)) < len(_conditions(old, kind)):
            errors.append(_forbidden_condition("remove", kind))
    for kind in () if approval else ("Approved", "Denied"):
        if len(_conditions(new, kind)) > len(_conditions(old, kind)):
            errors.append(_forbidden_condition("add", kind))
    issued = (old.get("status") or {}).get("certificate")
    if (new.get("status") or {}).get("certificate") != issued:
        if not certificate:
            why = "updates may not set certificate content"
            errors.append(forbidden("status.certificate", why))
        elif issued and not options.resetting_certificate:
            why = "updates may not modify existing certificate content"
            errors.append(forbidden("status.certificate", why))
    return errors + validate_core_object_meta_update(new["metadata"], old["metadata"])


def _forbidden_condition(change: str, kind: str) -> FieldError:
    why = f'updates may not {change} a condition of type "{kind}"'
    return forbidden("status.conditions", why)


def _conditions(request: Object, kind: str) -> list[Object]:
    conditions = (request.get("status") or {}).get("conditions") or ()
    return [condition for condition in conditions if condition.get("type") == kind]


def _validate_spec(spec: Object, options: ValidationOptions) -> list[FieldError]:
    errors: list[FieldError] = []
    problem = _request_problem(spec.get("request") or "")
    if problem:
        errors.append(invalid("spec.request", spec.get("request"), problem))
    usages, signer = spec.get("usages") or [], spec.get("signerName", "")
    if not usages:
        errors.append(required("spec.usages"))
    if not options.unknown_usages:
        errors += [
            not_supported(f"spec.usages[{i}]", usage, _USAGES)
            for i, usage in enumerate(usages)
            if usage not in _USAGES
        ]
    if not options.duplicate_usages:
        first = {usage: i for i, usage in reversed([*enumerate(usages)])}
        errors += [
            duplicate(f"spec.usages[{i}]", usage)
            for i, usage in enumerate(usages)
            if first[usage] < i
        ]
    if signer == LEGACY_UNKNOWN_SIGNER and not options.legacy_signer_name:
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
    longest = 253 + len("/") + 63 + len(".") + 253
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


def _validate_conditions(
    request: Object, options: ValidationOptions
) -> list[FieldError]:
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
        if not type_ and not options.empty_condition_type:
            errors.append(required(f"{here}.type"))
        allowed = ("True",) if type_ in _FINAL else ("False", "True", "Unknown")
        errors += validate_required_enum(f"{here}.status", status, allowed)
        other = {"Approved": "Denied", "Denied": "Approved"}.get(type_)
        if other in seen and not options.both_approved_and_denied:
            why = "Approved and Denied conditions are mutually exclusive"
            errors.append(invalid("status.conditions", type_, why))
        if type_ in seen and not options.duplicate_condition_types:
            errors.append(duplicate(f"{here}.type", type_))
        seen.add(type_)
    return errors


def _certificate_problem(encoded: str | None) -> str:
    """What is wrong with issued certificates in PEM; nothing, if there are none.
    Upstream: `validateCertificate`.
    """
    if not encoded:
        return ""
    rest, blocks = base64.b64decode(encoded), 0
    while match := _PEM_BLOCK.search(rest):
        if match["type"] != b"CERTIFICATE":
            shown = match["type"].decode("utf-8", "replace")
            return f'only CERTIFICATE PEM blocks are allowed, found "{shown}"'
        if b":" in match["body"]:
            return "no PEM block headers are permitted"
        blocks += 1
        try:
            x509.load_pem_x509_certificate(match[0])
        except ValueError as error:
            return str(error)
        rest = rest[match.end() :]
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"
