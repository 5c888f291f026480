"""Questions that controllers ask of a pod.

Upstream: `pkg/api/v1/pod/util.go` (`IsPodReady`, `IsPodAvailable`),
`pkg/controller/controller_utils.go` (`IsPodActive`, `IsPodTerminating`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.conditions import get_condition, is_status_condition_true
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time


def pod_phase(pod: Object) -> str:
    """`status.phase`; `Pending` before anybody wrote one."""
    return str((pod.get("status") or {}).get("phase") or "Pending")


def is_pod_ready(pod: Object) -> bool:
    """Whether its `Ready` condition is true."""
    return is_status_condition_true(
        (pod.get("status") or {}).get("conditions"), "Ready"
    )


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
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_pod_active(pod: Object) -> bool:
    """Neither finished nor being deleted: it counts as a replica."""
    return "deletionTimestamp" not in pod["metadata"] and not is_pod_terminal(pod)


def is_pod_terminating(pod: Object) -> bool:
    """Being deleted and not finished yet."""
    return "deletionTimestamp" in pod["metadata"] and not is_pod_terminal(pod)
