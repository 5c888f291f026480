"""What is done to a Deployment that is paused or being scaled: sizes change, templates
do not.

Upstream: `pkg/controller/deployment/sync.go` (`sync`, `syncStatusOnly`, `scale`,
`isScalingEvent`, `checkPausedConditions`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.wire import Object
from lifecycle.controllers.deployment import conditions as c
from lifecycle.controllers.deployment.fenceposts import is_rolling_update, replicas_of
from lifecycle.controllers.deployment.new_replica_set import (
    get_all_replica_sets_and_sync_revision,
)
from lifecycle.controllers.deployment.proportional_scaling import proportional_sizes
from lifecycle.controllers.deployment.replica_set_scaling import DeploymentControl
from lifecycle.controllers.deployment.replica_set_selection import (
    filter_active,
    find_active_or_latest,
)
from lifecycle.controllers.deployment.revisions import (
    DESIRED_REPLICAS,
    int_from_annotation,
)
from lifecycle.controllers.deployment.rollout_status import (
    calculate_status,
    has_progress_deadline,
    status_of,
)


async def sync_status_only(
    control: DeploymentControl, d: Object, replica_sets: Sequence[Object]
) -> None:
    """For a Deployment that is being deleted: count, change nothing."""
    new_rs, old = await get_all_replica_sets_and_sync_revision(
        control, d, replica_sets, create_if_not_existed=False
    )
    await sync_deployment_status(control, [*old, new_rs], new_rs, d)


async def sync(
    control: DeploymentControl, d: Object, replica_sets: Sequence[Object]
) -> None:
    """Scale what is there. Raises StatusError."""
    new_rs, old = await get_all_replica_sets_and_sync_revision(
        control, d, replica_sets, create_if_not_existed=False
    )
    await scale(control, d, new_rs, old)
    if d["spec"].get("paused"):
        await control.cleanup_deployment(old, d)
    await sync_deployment_status(control, [*old, new_rs], new_rs, d)


async def scale(
    control: DeploymentControl, d: Object, new_rs: Object | None, old: Sequence[Object]
) -> None:
    """Bring the ReplicaSets to the Deployment's new size."""
    only = find_active_or_latest(new_rs, old)
    if only is not None:
        await control.scale_replica_set_and_record_event(only, replicas_of(d), d)
        return
    if is_saturated(d, new_rs):  # the rollout is over: what is old has no share
        for rs in filter_active(old):
            await control.scale_replica_set_and_record_event(rs, 0, d)
        return
    if is_rolling_update(d):
        for rs, size in proportional_sizes(filter_active([*old, new_rs]), d):
            await control.scale_replica_set(rs, size, d)


def is_saturated(d: Object, rs: Object | None) -> bool:
    """Whether this ReplicaSet alone is what the Deployment wants, and knows it."""
    if rs is None:
        return False
    desired = replicas_of(d)
    return bool(
        replicas_of(rs) == desired
        and int_from_annotation(rs, DESIRED_REPLICAS) == desired
        and status_of(rs).get("availableReplicas", 0) == desired
    )


async def sync_deployment_status(
    control: DeploymentControl,
    everything: Sequence[Object | None],
    new_rs: Object | None,
    d: Object,
) -> None:
    """Write the status if it changed, leaving the progress condition alone."""
    status = calculate_status(everything, new_rs, d, control.clock.now())
    if status != status_of(d):
        d["status"] = status
        await control.update_status(d)


async def is_scaling_event(
    control: DeploymentControl, d: Object, replica_sets: Sequence[Object]
) -> bool:
    """Whether an active ReplicaSet was last scaled for another size of the
    Deployment.
    """
    new_rs, old = await get_all_replica_sets_and_sync_revision(
        control, d, replica_sets, create_if_not_existed=False
    )
    sizes = (
        int_from_annotation(rs, DESIRED_REPLICAS)
        for rs in filter_active([*old, new_rs])
    )
    return any(size is not None and size != replicas_of(d) for size in sizes)


async def check_paused_conditions(control: DeploymentControl, d: Object) -> None:
    """Say `Unknown` when a Deployment is paused or resumed, which also restarts the
    deadline.
    """
    if not has_progress_deadline(d):
        return
    condition = c.get_deployment_condition(status_of(d), c.PROGRESSING)
    if condition is not None and condition["reason"] == c.TIMED_OUT:
        return
    marked = condition is not None and condition["reason"] == c.PAUSED
    if bool(d["spec"].get("paused")) == marked:
        return
    reason, message = (
        (c.RESUMED, "Deployment is resumed")
        if marked
        else (c.PAUSED, "Deployment is paused")
    )
    now = control.clock.now()
    c.set_deployment_condition(
        d.setdefault("status", {}),
        c.new_condition(c.PROGRESSING, "Unknown", reason, message, now),
    )
    await control.update_status(d)
