"""Requests and limits of the pod as a whole.

Only what is half said is completed: a pod-level limit without a request takes the
containers' sum, or the limit itself; huge pages, which cannot be overcommitted, are
summed up first.

Upstream: `pkg/apis/core/v1/defaults.go` (`defaultPodRequests`,
`defaultHugePagePodLimits`, `defaultPodLimits`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.resources import (
    aggregate_container_limits,
    aggregate_container_requests,
    is_supported_pod_level_resource,
)


def set_pod_level_defaults(spec: Object) -> None:
    """Complete `spec.resources` in place."""
    resources = spec["resources"]
    limits, requests = (
        dict(resources.get("limits") or {}),
        dict(resources.get("requests") or {}),
    )
    container_limits = aggregate_container_limits({"spec": spec})
    if limits or requests:
        for name, amount in container_limits.items():
            if name.startswith("hugepages-") and name not in requests:
                limits.setdefault(name, str(amount))
    if limits:
        for name, amount in aggregate_container_requests({"spec": spec}).items():
            if name in ("cpu", "memory"):
                requests.setdefault(name, str(amount))
        for name, text in limits.items():
            if is_supported_pod_level_resource(name):
                requests.setdefault(name, text)
    elif requests:
        everyone = [
            *(spec.get("containers") or ()),
            *(spec.get("initContainers") or ()),
        ]
        for name, amount in container_limits.items():
            if name in ("cpu", "memory") and all(
                name in ((c.get("resources") or {}).get("limits") or {})
                for c in everyone
            ):
                limits[name] = str(amount)
    if limits:
        resources["limits"] = limits
    if requests:
        resources["requests"] = requests
