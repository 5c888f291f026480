"""Defaults of dynamic resource allocation: how many devices a request means, what a
toleration compares, when a taint was added.

Upstream: `pkg/apis/resource/v1/defaults.go`, declarative `+default` markers of
`k8s.io/api/resource/v1/types.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.clock import Clock
from lifecycle.api.wire import Object


def set_resource_claim_defaults(claim: Object) -> None:
    """A ResourceClaim."""
    _set_claim_spec_defaults(claim.get("spec") or {})


def set_resource_claim_template_defaults(template: Object) -> None:
    """A ResourceClaimTemplate: the same, one level down."""
    _set_claim_spec_defaults((template.get("spec") or {}).get("spec") or {})


def _set_claim_spec_defaults(spec: Object) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        exactly = request.get("exactly")
        for one in ([exactly] if exactly is not None else []) + (
            request.get("firstAvailable") or []
        ):
            if not one.get("allocationMode"):
                one["allocationMode"] = "ExactCount"
            if one["allocationMode"] == "ExactCount" and not one.get("count"):
                one["count"] = 1
            for toleration in one.get("tolerations") or ():
                if not toleration.get("operator"):
                    toleration["operator"] = "Equal"


def set_resource_slice_defaults(resource_slice: Object) -> None:
    """A ResourceSlice: a taint is as old as its first appearance."""
    for device in (resource_slice.get("spec") or {}).get("devices") or ():
        for taint in device.get("taints") or ():
            if taint.get("timeAdded") is None:
                taint["timeAdded"] = Clock().timestamp()
