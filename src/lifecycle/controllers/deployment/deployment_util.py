"""What the parts of the deployment controller ask of a Deployment and its ReplicaSets:
how many pods there may be, which ReplicaSet is the new one, how far the rollout is.

How far a rolling update may lean out is in percentages of the desired number:
`maxSurge` above it rounds up, `maxUnavailable` below it rounds down. Should both come
to zero nothing could ever move, so one pod may then be unavailable.

The new ReplicaSet is not the youngest but the one whose template equals the
Deployment's: after an undo it may be the oldest of all. The comparison leaves the
`pod-template-hash` label out, and compares what the templates *mean*: an absent field,
an empty list and an empty map are the same.

Upstream: `pkg/controller/deployment/util/deployment_util.go` (`ResolveFenceposts`,
`NewRSNewReplicas`, `FindNewReplicaSet`, `EqualIgnoreHash`, `FindActiveOrLatest`,
`DeploymentComplete`, `DeploymentProgressing`, `DeploymentTimedOut`),
`pkg/controller/controller_utils.go` (`ReplicaSetsByCreationTimestamp`, …), v1.36. Its
conditions are in `conditions`, its annotations in `revisions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.controllers.deployment import conditions as c
from lifecycle.controllers.int_or_percent import scaled_value

POD_TEMPLATE_HASH = "pod-template-hash"
NO_DEADLINE = 2**31 - 1


def resolve_fenceposts(
    max_surge: int | str | None, max_unavailable: int | str | None, desired: int
) -> tuple[int, int]:
    """`(surge, unavailable)` in pods."""
    surge = scaled_value(max_surge, desired, round_up=True)
    unavailable = scaled_value(max_unavailable, desired, round_up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def replicas_of(obj: Object) -> int:
    """`spec.replicas`."""
    return int(obj["spec"].get("replicas", 1))


def is_rolling_update(deployment: Object) -> bool:
    """Whether the strategy is `RollingUpdate`."""
    return bool(
        (deployment["spec"].get("strategy") or {}).get("type") == "RollingUpdate"
    )


def _resolve_fenceposts(deployment: Object) -> tuple[int, int]:
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    return resolve_fenceposts(
        rolling.get("maxSurge"), rolling.get("maxUnavailable"), replicas_of(deployment)
    )


def max_unavailable(deployment: Object) -> int:
    """Pods that may be missing; at most all of them."""
    if not is_rolling_update(deployment) or replicas_of(deployment) == 0:
        return 0
    return min(_resolve_fenceposts(deployment)[1], replicas_of(deployment))


def max_surge(deployment: Object) -> int:
    """Pods that may be too many."""
    return _resolve_fenceposts(deployment)[0] if is_rolling_update(deployment) else 0


def new_rs_new_replicas(
    deployment: Object, all_replica_sets: Iterable[Object], new_rs: Object
) -> int:
    """The size the new ReplicaSet may have now: as far as the surge allows, not more
    than wanted.

    With `Recreate` it is the full size at once: the old pods are gone by then.
    """
    desired = replicas_of(deployment)
    if not is_rolling_update(deployment):
        return desired
    current = sum(replicas_of(rs) for rs in all_replica_sets)
    max_total = desired + max_surge(deployment)
    if current >= max_total:
        return replicas_of(new_rs)
    return replicas_of(new_rs) + min(max_total - current, desired - replicas_of(new_rs))


def by_creation_timestamp(replica_sets: Iterable[Object]) -> list[Object]:
    """Oldest first; the name decides between those of one second."""
    return sorted(
        replica_sets,
        key=lambda rs: (
            rs["metadata"].get("creationTimestamp", ""),
            rs["metadata"]["name"],
        ),
    )


def by_size_newer(replica_sets: Iterable[Object]) -> list[Object]:
    """Largest first, then the newer. Upstream: `ReplicaSetsBySizeNewer`."""
    newest_first = by_creation_timestamp(replica_sets)[::-1]
    return sorted(newest_first, key=replicas_of, reverse=True)


def by_size_older(replica_sets: Iterable[Object]) -> list[Object]:
    """Largest first, then the older. Upstream: `ReplicaSetsBySizeOlder`."""
    return sorted(by_creation_timestamp(replica_sets), key=lambda rs: -replicas_of(rs))


def filter_active(replica_sets: Iterable[Object | None]) -> list[Object]:
    """Those that want pods."""
    return [rs for rs in replica_sets if rs is not None and replicas_of(rs) > 0]


def find_new_replica_set(
    deployment: Object, replica_sets: Iterable[Object]
) -> Object | None:
    """The ReplicaSet of the current template; the oldest, should there be two."""
    template = deployment["spec"]["template"]
    for rs in by_creation_timestamp(replica_sets):
        if equal_ignore_hash(rs["spec"]["template"], template):
            return rs
    return None


def find_old_replica_sets(
    deployment: Object, replica_sets: Iterable[Object]
) -> list[Object]:
    """All the others, oldest first."""
    ordered = by_creation_timestamp(replica_sets)
    new_rs = find_new_replica_set(deployment, ordered)
    return [
        rs
        for rs in ordered
        if new_rs is None or rs["metadata"]["uid"] != new_rs["metadata"]["uid"]
    ]


def find_active_or_latest(
    new_rs: Object | None, old_replica_sets: Sequence[Object]
) -> Object | None:
    """The only active ReplicaSet; the newest if none is active; None if several are."""
    active = filter_active([*by_creation_timestamp(old_replica_sets)[::-1], new_rs])
    if len(active) > 1:
        return None
    if active:
        return active[0]
    if new_rs is not None or not old_replica_sets:
        return new_rs
    return by_creation_timestamp(old_replica_sets)[-1]


def equal_ignore_hash(ours: Object, theirs: Object) -> bool:
    """Whether two pod templates mean the same, the hash label aside."""
    if ours is theirs or ours == theirs:
        return True
    return _equal(without_hash(ours), without_hash(theirs))


def without_hash(template: Object) -> Object:
    """The template as its Deployment has it."""
    meta = template.get("metadata") or {}
    labels = {
        key: value
        for key, value in (meta.get("labels") or {}).items()
        if key != POD_TEMPLATE_HASH
    }
    return {**template, "metadata": {**meta, "labels": labels}}


def _equal(a: Any, b: Any) -> bool:
    """Equality for which empty and absent are one. Upstream:
    `equality.Semantic.DeepEqual`.
    """
    if a == b:
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        return all(_equal(a.get(key), b.get(key)) for key in a.keys() | b.keys())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    # In Go an absent list or map equals an empty one. A pointer to an empty struct is
    # not nil, which JSON cannot tell apart; in a pod template such pointers (`emptyDir:
    # {}`) stand where something else would be required in their place, so nothing is
    # lost.
    return (a is None and b in ([], {})) or (b is None and a in ([], {}))


def status_of(obj: Object) -> Object:
    """`status`, for reading."""
    return obj.get("status") or {}


def status_sum(replica_sets: Sequence[Object | None], field: str) -> int:
    """The sum of a number over the ReplicaSets' statuses."""
    return sum(status_of(rs).get(field, 0) for rs in replica_sets if rs is not None)


def terminating_replicas(replica_sets: Sequence[Object | None]) -> int | None:
    """The pods on their way out; None if a ReplicaSet that was looked at does not say:
    an older controller did. Upstream: `GetTerminatingReplicaCountForReplicaSets`.
    """
    statuses = [status_of(rs) for rs in replica_sets if rs is not None]
    if any(
        "terminatingReplicas" not in status and status.get("observedGeneration")
        for status in statuses
    ):
        return None
    return sum(status.get("terminatingReplicas", 0) for status in statuses)


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
