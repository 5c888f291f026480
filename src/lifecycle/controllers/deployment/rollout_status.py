"""What a Deployment says of its rollout: the numbers, and whether it is done, moving,
or stuck.

Upstream: `pkg/controller/deployment/sync.go` (`calculateStatus`),
`pkg/controller/deployment/util/deployment_util.go` (`DeploymentComplete`,
`DeploymentProgressing`, `DeploymentTimedOut`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.clock import parse_time
from lifecycle.api.wire import Object
from lifecycle.controllers.deployment import conditions as c
from lifecycle.controllers.deployment.fenceposts import max_unavailable, replicas_of

NO_DEADLINE = 2**31 - 1


def status_of(obj: Object) -> Object:
    """`status`, for reading."""
    return obj.get("status") or {}


def status_sum(replica_sets: Sequence[Object | None], field: str) -> int:
    """The sum of a number over the ReplicaSets' statuses."""
    return sum(status_of(rs).get(field, 0) for rs in replica_sets if rs is not None)


def calculate_status(
    all_replica_sets: Sequence[Object | None],
    new_rs: Object | None,
    deployment: Object,
    now: float,
) -> Object:
    """The status the ReplicaSets add up to. `now`: seconds since 1970."""
    available = status_sum(all_replica_sets, "availableReplicas")
    total = sum(replicas_of(rs) for rs in all_replica_sets if rs is not None)
    old = status_of(deployment)
    counts = {
        "observedGeneration": deployment["metadata"].get("generation", 0),
        "replicas": status_sum(all_replica_sets, "replicas"),
        "updatedReplicas": status_sum([new_rs], "replicas"),
        "readyReplicas": status_sum(all_replica_sets, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(0, total - available),
    }
    status: Object = {name: count for name, count in counts.items() if count}
    status["terminatingReplicas"] = status_sum(all_replica_sets, "terminatingReplicas")
    if old.get("conditions"):
        status["conditions"] = list(old["conditions"])
    if available >= replicas_of(deployment) - max_unavailable(deployment):
        enough = (
            "True",
            c.MINIMUM_REPLICAS_AVAILABLE,
            "Deployment has minimum availability.",
        )
    else:
        enough = (
            "False",
            c.MINIMUM_REPLICAS_UNAVAILABLE,
            "Deployment does not have minimum availability.",
        )
    c.set_deployment_condition(status, c.new_condition(c.AVAILABLE, *enough, now))
    if "collisionCount" in old:
        status["collisionCount"] = old["collisionCount"]
    return status


def has_progress_deadline(deployment: Object) -> bool:
    """Whether a rollout of it can time out at all."""
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    return deadline is not None and deadline != NO_DEADLINE


def deployment_complete(deployment: Object, status: Object) -> bool:
    """All pods are of the new template, all are available, no others are left."""
    desired = replicas_of(deployment)
    return bool(
        status.get("updatedReplicas", 0) == desired
        and status.get("replicas", 0) == desired
        and status.get("availableReplicas", 0) == desired
        and status.get("observedGeneration", 0)
        >= deployment["metadata"].get("generation", 0)
    )


def deployment_progressing(deployment: Object, new: Object) -> bool:
    """More updated, fewer old, more ready or more available pods than the stored status
    has.
    """
    old = status_of(deployment)

    def number(status: Object, field: str) -> int:
        return int(status.get(field, 0))

    old_left = number(old, "replicas") - number(old, "updatedReplicas")
    new_left = number(new, "replicas") - number(new, "updatedReplicas")
    return (
        number(new, "updatedReplicas") > number(old, "updatedReplicas")
        or new_left < old_left
        or number(new, "readyReplicas") > number(old, "readyReplicas")
        or number(new, "availableReplicas") > number(old, "availableReplicas")
    )


def deployment_timed_out(deployment: Object, new: Object, now: float) -> bool:
    """No progress for `progressDeadlineSeconds`."""
    if not has_progress_deadline(deployment):
        return False
    condition = c.get_deployment_condition(new, c.PROGRESSING)
    if condition is None or condition["reason"] == c.NEW_RS_AVAILABLE:
        return False
    if condition["reason"] == c.TIMED_OUT:
        return True
    deadline = deployment["spec"]["progressDeadlineSeconds"]
    return bool(parse_time(condition["lastUpdateTime"]) + deadline < now)
