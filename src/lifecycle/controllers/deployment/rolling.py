"""The rolling update: a bit up, a bit down, until nothing old is left.

Each sync takes one step and comes back when its effects are seen. First the new
ReplicaSet grows as far as the surge allows. Otherwise old ones shrink: pods that are
not available go first (nobody misses them), then available ones as far as
`maxUnavailable` allows. What the new ReplicaSet has not got available yet is held
against the budget, so that a new version that never becomes ready stops the rollout by
itself.

Upstream: `pkg/controller/deployment/rolling.go` (`rolloutRolling`,
`reconcileNewReplicaSet`, `reconcileOldReplicaSets`, `cleanupUnhealthyReplicas`,
`scaleDownOldReplicaSetsForRollingUpdate`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_util import (
    by_creation_timestamp,
    deployment_complete,
    filter_active,
    max_unavailable,
    new_rs_new_replicas,
    replicas_of,
    status_of,
    status_sum,
)
from lifecycle.controllers.deployment.progress import EnqueueAfter, sync_rollout_status
from lifecycle.controllers.deployment.sync import get_all_replica_sets_and_sync_revision


class MoreAvailableThanWanted(Exception):
    """A ReplicaSet that has just been made smaller does not say so yet."""


async def rollout_rolling(
    control: DeploymentControl,
    d: Object,
    replica_sets: Sequence[Object],
    enqueue_after: EnqueueAfter,
) -> None:
    """One step of a rolling update. Raises StatusError."""
    new_rs, old = await get_all_replica_sets_and_sync_revision(
        control, d, replica_sets, create_if_not_existed=True
    )
    assert new_rs is not None
    everything = [*old, new_rs]
    if await reconcile_new_replica_set(control, everything, new_rs, d):
        await sync_rollout_status(control, everything, new_rs, d, enqueue_after)
        return
    if await reconcile_old_replica_sets(
        control, everything, filter_active(old), new_rs, d
    ):
        await sync_rollout_status(control, everything, new_rs, d, enqueue_after)
        return
    if deployment_complete(d, status_of(d)):
        await control.cleanup_deployment(old, d)
    await sync_rollout_status(control, everything, new_rs, d, enqueue_after)


async def reconcile_new_replica_set(
    control: DeploymentControl, everything: Sequence[Object], new_rs: Object, d: Object
) -> bool:
    """Grow the new ReplicaSet as far as it may now (or shrink it, if the Deployment
    did). Whether anything was done.
    """
    if replicas_of(new_rs) == replicas_of(d):
        return False
    size = (
        replicas_of(d)
        if replicas_of(new_rs) > replicas_of(d)
        else new_rs_new_replicas(d, everything, new_rs)
    )
    scaled, _ = await control.scale_replica_set_and_record_event(new_rs, size, d)
    return scaled


async def reconcile_old_replica_sets(
    control: DeploymentControl,
    everything: Sequence[Object],
    old: list[Object],
    new_rs: Object,
    d: Object,
) -> bool:
    """Shrink old ReplicaSets as far as availability allows. Whether anything was
    done.
    """
    if not old:
        return False
    all_pods = sum(replicas_of(rs) for rs in everything)
    min_available = replicas_of(d) - max_unavailable(d)
    new_unavailable = replicas_of(new_rs) - status_of(new_rs).get(
        "availableReplicas", 0
    )
    max_scaled_down = all_pods - min_available - new_unavailable
    if max_scaled_down <= 0:
        return False
    try:
        old, cleaned_up = await cleanup_unhealthy_replicas(
            control, old, d, max_scaled_down
        )
        scaled_down = await scale_down_old_replica_sets(control, [*old, new_rs], old, d)
    except (StatusError, MoreAvailableThanWanted):
        # the status is still worth writing; the ReplicaSet's own next event brings us
        # back
        return False
    return cleaned_up + scaled_down > 0


async def cleanup_unhealthy_replicas(
    control: DeploymentControl, old: Sequence[Object], d: Object, max_cleanup: int
) -> tuple[list[Object], int]:
    """Take away up to `max_cleanup` old pods that are not available. The ReplicaSets as
    they are then, and how many went. Raises StatusError, MoreAvailableThanWanted.
    """
    total = 0
    result: list[Object] = []
    for rs in by_creation_timestamp(old):
        unhealthy = replicas_of(rs) - status_of(rs).get("availableReplicas", 0)
        count = min(max_cleanup - total, unhealthy)
        if replicas_of(rs) and count < 0:
            raise MoreAvailableThanWanted
        if replicas_of(rs) and count > 0:
            _, rs = await control.scale_replica_set_and_record_event(
                rs, replicas_of(rs) - count, d
            )
            total += count
        result.append(rs)
    return result, total


async def scale_down_old_replica_sets(
    control: DeploymentControl,
    everything: Sequence[Object],
    old: Sequence[Object],
    d: Object,
) -> int:
    """Take away old pods while more than the minimum are available. How many went.

    Upstream: `scaleDownOldReplicaSetsForRollingUpdate`.
    """
    available = status_sum(everything, "availableReplicas")
    budget = available - (replicas_of(d) - max_unavailable(d))
    total = 0
    for rs in by_creation_timestamp(old):
        if total >= budget:
            break
        count = min(replicas_of(rs), budget - total)
        if count > 0:
            await control.scale_replica_set_and_record_event(
                rs, replicas_of(rs) - count, d
            )
            total += count
    return total
