"""Quality of service: how sure a pod can be of its resources.

*Guaranteed*: every container has CPU and memory limits, and requests equal to them.
              *BestEffort*: nobody asks for
anything. *Burstable*: the rest.

Upstream: `pkg/apis/core/v1/helper/qos/qos.go` (`ComputePodQOS`), v1.36. The API server
computes it at creation; the kubelet repeats it in each status.
"""

from __future__ import annotations

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object

COMPUTE_RESOURCES = ("cpu", "memory")


def _positive(quantities: Object | None) -> dict[str, object]:
    found = {
        name: parse_quantity(str(text))
        for name, text in (quantities or {}).items()
        if name in COMPUTE_RESOURCES
    }
    return {name: quantity for name, quantity in found.items() if quantity.milli() > 0}


def compute_pod_qos(pod: Object) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`. Requests and limits on the pod itself
    win over its containers'.
    """
    spec = pod["spec"]
    pod_level = spec.get("resources")
    if pod_level and (pod_level.get("requests") or pod_level.get("limits")):
        holders = [pod_level]
    else:
        holders = [
            c.get("resources") or {}
            for c in [*spec["containers"], *(spec.get("initContainers") or ())]
        ]
    if not any(h.get("requests") or h.get("limits") for h in holders):
        return "BestEffort"
    anything = False
    guaranteed = True
    for holder in holders:
        requests, limits = (
            _positive(holder.get("requests")),
            _positive(holder.get("limits")),
        )
        anything = anything or bool(requests or limits)
        if set(limits) != set(COMPUTE_RESOURCES) or any(
            requests.get(n, limits[n]) != limits[n] for n in limits
        ):
            guaranteed = False
    if not anything:
        return "BestEffort"
    return "Guaranteed" if guaranteed else "Burstable"
