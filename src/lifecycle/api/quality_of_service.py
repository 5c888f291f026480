"""A pod's quality-of-service class: who is killed first when memory runs out.

Guaranteed: every container limits CPU and memory and requests exactly that. BestEffort:
nobody asks for anything. Burstable: everything between.

Upstream: `pkg/apis/core/v1/helper/qos/qos.go` (`ComputePodQOS`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object

_COMPUTE = ("cpu", "memory")


def pod_qos_class(pod: Object) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`, from the spec alone."""
    spec = pod.get("spec") or {}
    if spec.get("resources") is not None:
        holders = [spec]
    else:
        holders = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    requested = limited = False
    guaranteed = True
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    for holder in holders:
        resources = holder.get("resources")
        if not resources:
            guaranteed = False
            continue
        seen = 0
        for name in _COMPUTE:
            request = (resources.get("requests") or {}).get(name)
            if request is not None and (amount := parse_quantity(request).milli()):
                requested = True
                requests[name] = requests.get(name, 0) + amount
            limit = (resources.get("limits") or {}).get(name)
            if limit is not None and (amount := parse_quantity(limit).milli()):
                limited = True
                seen += 1
                limits[name] = limits.get(name, 0) + amount
        guaranteed = guaranteed and seen == 2
    if not requested and not limited:
        return "BestEffort"
    if guaranteed and requests == limits:
        return "Guaranteed"
    return "Burstable"
