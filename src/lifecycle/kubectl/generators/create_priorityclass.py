"""`kubectl create priorityclass`.

Upstream: `kubectl/pkg/cmd/create/create_priorityclass.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object


def create_priorityclass(
    name: str,
    value: int,
    *,
    global_default: bool,
    description: str,
    preemption_policy: str,
) -> Object:
    """A PriorityClass."""
    obj: Object = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }
    if global_default:
        obj["globalDefault"] = True
    if description:
        obj["description"] = description
    obj["preemptionPolicy"] = preemption_policy
    return obj
