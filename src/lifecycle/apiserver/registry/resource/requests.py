"""The requests for devices that ResourceClaims and their templates hold.

Upstream: `pkg/apis/resource/v1/defaults.go`, declarative `+default` markers of
`k8s.io/api/resource/v1/types.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object


def set_claim_spec_defaults(spec: Object) -> None:
    """One device, exactly; a toleration compares its value."""
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
