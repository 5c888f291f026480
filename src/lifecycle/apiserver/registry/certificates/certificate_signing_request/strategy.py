"""CertificateSigningRequests: somebody asks, somebody else approves, a signer signs.

Upstream: `pkg/registry/certificates/certificates/strategy.go` (`csrStrategy`,
`csrStatusStrategy`, `csrApprovalStrategy`), `pkg/apis/certificates/v1/conversion.go`,
`pkg/printers/internalversion/printers.go` (`printCertificateSigningRequest`), v1.36.
Who asks is written down by the store.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age, human_duration
from lifecycle.apiserver.registry.certificates.certificate_signing_request import (
    v1beta1,
)
from lifecycle.apiserver.registry.certificates.certificate_signing_request.validation import (  # noqa: E501
    V1BETA1,
    ValidationOptions,
    validate,
    validate_update,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.field_labels import NAME as METADATA_NAME
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.strategy import (
    SPEC_FIELDS,
    STATUS_FIELDS,
    Strategy,
    UpdateStrategy,
)


def prepare_for_update(new: Object, old: Object) -> None:
    """What was asked for stays."""
    update.take_over(new, old, "spec")


def prepare_for_approval_update(new: Object, old: Object) -> None:
    """Of `new` count the conditions."""
    conditions = (new.get("status") or {}).get("conditions")
    update.take_over(new, old, "spec")
    kept = {k: v for k, v in (old.get("status") or {}).items() if k != "conditions"}
    new["status"] = {**kept, **({"conditions": conditions} if conditions else {})}


def prepare_for_status_update(new: Object, old: Object) -> None:
    """Of `new` count the status and the metadata; whether it is approved or denied is
    said elsewhere, and stays as it is.
    """
    update.prepare_for_status_update(new, old)
    for kind in ("Approved", "Denied"):
        _preserve_conditions(new, old, kind)


def _preserve_conditions(new: Object, old: Object, kind: str) -> None:
    """Conditions of a kind are those of `old`, unless there are more or fewer: that is
    validation's to refuse. Upstream: `preserveConditionInstances`.
    """
    before = [each for each in _conditions(old) if each.get("type") == kind]
    conditions = _conditions(new)
    if sum(each.get("type") == kind for each in conditions) != len(before):
        return
    kept = iter(before)
    if before:
        new["status"] = {
            **new["status"],
            "conditions": [
                next(kept) if each.get("type") == kind else each for each in conditions
            ],
        }


def _conditions(request: Object) -> list[Object]:
    return (request.get("status") or {}).get("conditions") or []


def _selectable_fields(request: Object) -> dict[str, str]:
    return {"spec.signerName": (request.get("spec") or {}).get("signerName", "")}


FIELD_LABELS = FieldLabels(
    (METADATA_NAME, "spec.signerName"), _selectable_fields, field_label_not_supported
)


# --- table ----------------------------------------------------------------------------


def print_certificate_signing_request(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get certificatesigningrequests`."""
    spec, seconds = (
        obj.get("spec") or {},
        (obj.get("spec") or {}).get("expirationSeconds"),
    )
    return [
        obj["metadata"]["name"],
        age(obj, now),
        spec.get("signerName") or "<none>",
        spec.get("username", ""),
        "<none>" if seconds is None else human_duration(seconds),
        _extract_csr_status(obj.get("status") or {}),
    ]


def _extract_csr_status(status: Object) -> str:
    """Upstream: `extractCSRStatus`; a denial outweighs an approval."""
    types = {condition["type"] for condition in status.get("conditions") or ()}
    state = (
        "Denied"
        if "Denied" in types
        else "Approved"
        if "Approved" in types
        else "Pending"
    )
    if "Failed" in types:
        state += ",Failed"
    return state + ",Issued" if status.get("certificate") else state


_SPEC = "certificates/v1.CertificateSigningRequestSpec"
_STATUS = "certificates/v1.CertificateSigningRequestStatus"

PRINTER = Printer(
    (
        NAME,
        AGE,
        Column("SignerName", field(_SPEC, "signerName")),
        Column("Requestor", field(_SPEC, "request")),
        Column("RequestedDuration", field(_SPEC, "expirationSeconds")),
        Column("Condition", field(_STATUS, "conditions")),
    ),
    print_certificate_signing_request,
)


def _strategy(options: ValidationOptions) -> Strategy:
    changed = partial(validate_update, options=options)
    return Strategy(
        validate=partial(validate, options=options),
        prepare_for_update=prepare_for_update,
        validate_update=changed,
        reset_fields={**SPEC_FIELDS, **STATUS_FIELDS},
        subresources={
            "status": UpdateStrategy(
                prepare_for_status_update, partial(changed, certificate=True)
            ),
            "approval": UpdateStrategy(
                prepare_for_approval_update,
                partial(changed, approval=True),
                reset_fields=STATUS_FIELDS,
            ),
        },
        field_labels=FIELD_LABELS,
        printer=PRINTER,
    )


STRATEGY = replace(
    _strategy(ValidationOptions()),
    earlier={
        "certificates.k8s.io/v1beta1": replace(
            _strategy(V1BETA1), set_defaults=v1beta1.set_defaults
        )
    },
)
