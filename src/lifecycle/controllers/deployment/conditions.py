"""The conditions of a Deployment, and how they change.

`lastUpdateTime` moves when a condition is written with a new reason;
`lastTransitionTime` only when its status changes. A condition that is set again with
the same status and reason is left exactly as it is.

Upstream: `pkg/controller/deployment/util/deployment_util.go` (`SetDeploymentCondition`,
…), v1.36.
"""

from __future__ import annotations

from lifecycle.api.conditions import (
    Condition,
    find_status_condition,
    remove_condition,
    replace_condition,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time

AVAILABLE, PROGRESSING, REPLICA_FAILURE = "Available", "Progressing", "ReplicaFailure"

REPLICA_SET_UPDATED = "ReplicaSetUpdated"
FAILED_RS_CREATE = "ReplicaSetCreateError"
NEW_REPLICA_SET = "NewReplicaSetCreated"
FOUND_NEW_RS = "FoundNewReplicaSet"
NEW_RS_AVAILABLE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
PAUSED = "DeploymentPaused"
RESUMED = "DeploymentResumed"
MINIMUM_REPLICAS_AVAILABLE = "MinimumReplicasAvailable"
MINIMUM_REPLICAS_UNAVAILABLE = "MinimumReplicasUnavailable"


def new_condition(
    condition_type: str, status: str, reason: str, message: str, now: float
) -> Condition:
    """A condition dated now (seconds since 1970)."""
    stamp = format_time(now)
    return {
        "type": condition_type,
        "status": status,
        "lastUpdateTime": stamp,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def get_deployment_condition(status: Object, condition_type: str) -> Condition | None:
    """The condition of that type."""
    return find_status_condition(status.get("conditions"), condition_type)


def set_deployment_condition(status: Object, condition: Condition) -> None:
    """Set a condition in a status that is the caller's own; it moves to the end of the
    list.
    """
    current = get_deployment_condition(status, condition["type"])
    if current is not None and current["status"] == condition["status"]:
        if current["reason"] == condition["reason"]:
            return
        condition = {**condition, "lastTransitionTime": current["lastTransitionTime"]}
    status["conditions"] = replace_condition(status.get("conditions"), condition)


def remove_deployment_condition(status: Object, condition_type: str) -> None:
    """Drop a condition from a status that is the caller's own."""
    conditions = remove_condition(status.get("conditions"), condition_type)
    if conditions:
        status["conditions"] = conditions
    else:
        status.pop("conditions", None)


def replica_set_to_deployment_condition(condition: Condition) -> Condition:
    """A ReplicaSet's failure as the Deployment shows it."""
    mine = {
        "type": condition["type"],
        "status": condition["status"],
        "lastUpdateTime": condition.get("lastTransitionTime"),
        "lastTransitionTime": condition.get("lastTransitionTime"),
        "reason": condition.get("reason"),
        "message": condition.get("message"),
    }
    return {key: value for key, value in mine.items() if value is not None}
