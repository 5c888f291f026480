"""Which fields can be selected by, of kinds that have no home of their own yet.

Upstream: `pkg/apis/*/v1/conversion.go` (`AddFieldLabelConversionFunc`),
`ToSelectableFields` of each `pkg/registry/*/*/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.field_labels import (
    NAME,
    NAMESPACE,
    FieldLabels,
    field_label_not_supported,
)


def _job(job: Object) -> dict[str, str]:
    return {"status.successful": str((job.get("status") or {}).get("succeeded", 0))}


def _signing_request(request: Object) -> dict[str, str]:
    return {"spec.signerName": (request.get("spec") or {}).get("signerName", "")}


def _resource_slice(slice_: Object) -> dict[str, str]:
    spec = slice_.get("spec") or {}
    return {
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.driver": spec.get("driver", ""),
    }


def _job_label_not_supported(label: str) -> str:
    return f'field label "{label}" not supported for batchv1.Job'


FIELD_LABELS: dict[str, FieldLabels] = {
    "Job": FieldLabels(
        (NAME, NAMESPACE, "status.successful"), _job, _job_label_not_supported
    ),
    "CertificateSigningRequest": FieldLabels(
        (NAME, "spec.signerName"), _signing_request, field_label_not_supported
    ),
    "ResourceSlice": FieldLabels((NAME, *_resource_slice({})), _resource_slice),
}
