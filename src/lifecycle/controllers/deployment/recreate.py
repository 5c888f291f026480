"""The other strategy: everything old goes, then everything new comes.

The wait in the middle is for the old *pods*, not for the ReplicaSets' numbers: a pod
that is being deleted still runs, still holds its volume and its port.

Upstream: `pkg/controller/deployment/recreate.go` (`rolloutRecreate`, `oldPodsRunning`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_util import (
    deployment_complete,
    filter_active,
    replicas_of,
    status_of,
    status_sum,
)
from lifecycle.controllers.deployment.progress import EnqueueAfter, sync_rollout_status
from lifecycle.controllers.deployment.sync import get_all_replica_sets_and_sync_revision
from lifecycle.controllers.pod_readiness import is_pod_terminal

PodMap = Mapping[str, Sequence[Object]]
"""A Deployment's pods by the uid of their ReplicaSet."""


async def rollout_recreate(
    control: DeploymentControl,
    d: Object,
    replica_sets: Sequence[Object],
    pod_map: PodMap,
    enqueue_after: EnqueueAfter,
) -> None:
    """One step of a recreation. Raises StatusError."""
    new_rs, old = await get_all_replica_sets_and_sync_revision(
        control, d, replica_sets, create_if_not_existed=False
    )
    scaled_down = False
    for rs in filter_active(old):
        scaled, _ = await control.scale_replica_set_and_record_event(rs, 0, d)
        scaled_down = scaled_down or scaled
    if scaled_down or old_pods_running(new_rs, old, pod_map):
        await sync_rollout_status(control, [*old, new_rs], new_rs, d, enqueue_after)
        return
    if new_rs is None:
        new_rs, old = await get_all_replica_sets_and_sync_revision(
            control, d, replica_sets, create_if_not_existed=True
        )
        assert new_rs is not None
    await control.scale_replica_set_and_record_event(new_rs, replicas_of(d), d)
    if deployment_complete(d, status_of(d)):
        await control.cleanup_deployment(old, d)
    await sync_rollout_status(control, [*old, new_rs], new_rs, d, enqueue_after)


def old_pods_running(
    new_rs: Object | None, old: Sequence[Object], pod_map: PodMap
) -> bool:
    """Whether a pod of an old template has not ended yet."""
    if status_sum(old, "replicas") > 0:
        return True
    new_uid = new_rs["metadata"]["uid"] if new_rs is not None else None
    return any(
        not is_pod_terminal(pod)
        for uid, pods in pod_map.items()
        if uid != new_uid
        for pod in pods
    )
