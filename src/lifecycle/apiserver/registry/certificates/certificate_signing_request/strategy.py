"""CertificateSigningRequests: somebody asks, somebody else approves, a signer signs.

Upstream: `pkg/registry/certificates/certificates/strategy.go` (`csrStrategy`,
`csrStatusStrategy`, `csrApprovalStrategy`), `pkg/apis/certificates/v1/conversion.go`,
`pkg/printers/internalversion/printers.go` (`printCertificateSigningRequest`), v1.36.
Who asks is written down by the store.
"""

from __future__ import annotations

from lifecycle.api.human_duration import age, human_duration
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.certificates.certificate_signing_request.validation import (  # noqa: E501
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
    new["status"] = {**(old.get("status") or {}), "conditions": conditions or []}


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

STRATEGY = Strategy(
    validate=validate,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    reset_fields={**SPEC_FIELDS, **STATUS_FIELDS},
    subresources={
        "status": UpdateStrategy(update.prepare_for_status_update, validate_update),
        "approval": UpdateStrategy(
            prepare_for_approval_update, validate_update, reset_fields=STATUS_FIELDS
        ),
    },
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
