"""A condition that a controller puts on a pod, as it stands in the patch.

Upstream: `pkg/controller/podgc/gc_controller.go`, `pkg/controller/tainteviction`
(`addConditionAndDeletePod`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.conditions import update_pod_condition
from lifecycle.api.wire import Object


def disruption_target(
    pod: Object, reason: str, message: str, now: str
) -> dict[str, Any] | None:
    """`DisruptionTarget`, which says that the pod did not end of itself; None if it
    says so already.
    """
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
    }
    return update_pod_condition(pod, condition, now)
