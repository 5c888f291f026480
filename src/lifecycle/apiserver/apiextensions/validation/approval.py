"""Groups of the Kubernetes community: a definition in one says who approved it.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`validateAPIApproval`), `pkg/apihelpers/helpers.go` (`GetAPIApprovalState`), v1.36.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object

APPROVED = "api-approved.kubernetes.io"
_WHY = "https://github.com/kubernetes/enhancements/pull/1111"


def validate_api_approval(new: Object, old: Object | None) -> list[FieldError]:
    """Only an answer that became worse is refused."""
    group = (new.get("spec") or {}).get("group", "")
    if not (
        group.endswith((".k8s.io", ".kubernetes.io"))
        or group in ("k8s.io", "kubernetes.io")
    ):
        return []
    state, why = get_api_approval_state(new)
    if state in ("approved", "bypassed") or (
        old is not None and get_api_approval_state(old)[0] == state
    ):
        return []
    here = f"metadata.annotations[{APPROVED}]"
    annotation = (new["metadata"].get("annotations") or {}).get(APPROVED)
    return [
        required(here, why) if annotation is None else invalid(here, annotation, why)
    ]


def get_api_approval_state(definition: Object) -> tuple[str, str]:
    """Whether a definition in a group of the Kubernetes community says who approved it,
    and why not.
    """
    annotation = (definition["metadata"].get("annotations") or {}).get(APPROVED)
    if not annotation:
        return (
            "missing",
            f'protected groups must have approval annotation "{APPROVED}", see {_WHY}',
        )
    if annotation.startswith("unapproved"):
        return "bypassed", f'not approved: "{annotation}"'
    parts = urlsplit(annotation)
    if parts.scheme and parts.netloc and re.match(r"^https?$", parts.scheme):
        return "approved", f"approved in {annotation}"
    return (
        "invalid",
        (
            f'protected groups must have approval annotation "{APPROVED}" with either a'
            f' URL or a reason starting with "unapproved", see {_WHY}'
        ),
    )
