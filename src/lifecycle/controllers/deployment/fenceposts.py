"""How far a rolling update may lean out: `maxSurge` above the wanted number of pods,
`maxUnavailable` below.

Percentages of the wanted number: the surge rounds up, the unavailable part rounds down.
Should both come to zero nothing could ever move, so one pod may then be unavailable.

Upstream: `pkg/controller/deployment/util/deployment_util.go` (`ResolveFenceposts`,
`MaxSurge`, `MaxUnavailable`, `NewRSNewReplicas`),
`apimachinery/pkg/util/intstr/intstr.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.wire import Object
from lifecycle.controllers.int_or_percent import scaled_value


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


def _resolved(deployment: Object) -> tuple[int, int]:
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    return resolve_fenceposts(
        rolling.get("maxSurge"), rolling.get("maxUnavailable"), replicas_of(deployment)
    )


def max_unavailable(deployment: Object) -> int:
    """Pods that may be missing; at most all of them."""
    if not is_rolling_update(deployment) or replicas_of(deployment) == 0:
        return 0
    return min(_resolved(deployment)[1], replicas_of(deployment))


def max_surge(deployment: Object) -> int:
    """Pods that may be too many."""
    return _resolved(deployment)[0] if is_rolling_update(deployment) else 0


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
