"""A pod's quality-of-service class: how sure it can be of its resources.

*Guaranteed*: every container limits CPU and memory and requests exactly that.
*BestEffort*: nobody asks for anything. *Burstable*: everything between.

The API server computes the class when a pod is created and writes it into the status;
everybody else reads it there.

Upstream: `pkg/apis/core/v1/helper/qos/qos.go` (`GetPodQOS`, `ComputePodQOS`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import Quantity, parse_quantity

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"

_COMPUTE_RESOURCES = ("cpu", "memory")


def get_pod_qos(pod: Object) -> str:
    """The class in the status; of a pod that has none yet, what it will be."""
    return (pod.get("status") or {}).get("qosClass") or compute_pod_qos(pod)


def compute_pod_qos(pod: Object) -> str:
    """The class from the spec alone. Resources of the pod itself win over its
    containers'.
    """
    spec = pod.get("spec") or {}
    if spec.get("resources") is not None:
        holders = [spec]
    else:
        holders = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    guaranteed = True
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    for holder in holders:
        resources = holder.get("resources") or {}
        _add(requests, _positive(resources.get("requests")))
        limited = _positive(resources.get("limits"))
        _add(limits, limited)
        guaranteed = guaranteed and len(limited) == len(_COMPUTE_RESOURCES)
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if guaranteed and requests == limits else BURSTABLE


def _positive(quantities: Object | None) -> dict[str, Quantity]:
    """CPU and memory, without those that are zero."""
    amounts = {
        name: parse_quantity(str((quantities or {})[name]))
        for name in _COMPUTE_RESOURCES
        if name in (quantities or {})
    }
    return {name: amount for name, amount in amounts.items() if amount.sign > 0}


def _add(total: dict[str, Quantity], more: dict[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount
