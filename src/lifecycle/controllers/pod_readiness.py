"""Questions that controllers ask of a pod.

Upstream: `pkg/api/v1/pod/util.go` (`IsPodReady`, `IsPodAvailable`, `GetPodCondition`),
`pkg/controller/controller_utils.go` (`IsPodActive`, `IsPodTerminating`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.clock import parse_time
from lifecycle.api.wire import Object


def pod_phase(pod: Object) -> str:
    """`status.phase`; `Pending` before anybody wrote one."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def get_condition(obj: Object, condition_type: str) -> dict[str, Any] | None:
    """The condition of that type in `status.conditions`."""
    for condition in (obj.get("status") or {}).get("conditions") or ():
        if condition["type"] == condition_type:
            found: dict[str, Any] = condition
            return found
    return None


def is_pod_ready(pod: Object) -> bool:
    """Whether its `Ready` condition is true."""
    condition = get_condition(pod, "Ready")
    return condition is not None and condition["status"] == "True"


def is_pod_available(pod: Object, min_ready_seconds: int, now: float) -> bool:
    """Ready, and for at least `min_ready_seconds`."""
    condition = get_condition(pod, "Ready")
    if condition is None or condition["status"] != "True":
        return False
    if not min_ready_seconds:
        return True
    since = condition.get("lastTransitionTime")
    return isinstance(since, str) and parse_time(since) + min_ready_seconds <= now


def is_pod_terminal(pod: Object) -> bool:
    """Finished, one way or the other."""
    return pod_phase(pod) in ("Succeeded", "Failed")


def is_pod_active(pod: Object) -> bool:
    """Neither finished nor being deleted: it counts as a replica."""
    return "deletionTimestamp" not in pod["metadata"] and not is_pod_terminal(pod)


def is_pod_terminating(pod: Object) -> bool:
    """Being deleted and not finished yet."""
    return "deletionTimestamp" in pod["metadata"] and not is_pod_terminal(pod)
