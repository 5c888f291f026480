"""A condition that a controller puts on a pod, as it stands in the patch.

Upstream: `pkg/api/v1/pod/util.go` (`UpdatePodCondition`,
`CalculatePodConditionObservedGeneration`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.wire import Object
from lifecycle.controllers.pod_readiness import get_condition


def disruption_target(
    pod: Object, reason: str, message: str, now: str
) -> dict[str, Any] | None:
    """`DisruptionTarget`, which says that the pod did not end of itself; None if it
    says so already.
    """
    wanted = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
    }
    return updated_condition(pod, wanted, now)


def updated_condition(
    pod: Object, wanted: dict[str, Any], now: str
) -> dict[str, Any] | None:
    """The condition with its time, which moves only with the status, and the generation
    of the pod it is about.
    """
    old = get_condition(pod, wanted["type"]) or {}
    since = (
        old.get("lastTransitionTime") if old.get("status") == wanted["status"] else now
    )
    new = {"lastProbeTime": None, **wanted, "lastTransitionTime": since}
    generation = pod["metadata"].get("generation")
    if generation:
        new["observedGeneration"] = generation
    return new if any(old.get(key) != value for key, value in new.items()) else None
