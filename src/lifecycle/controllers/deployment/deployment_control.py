"""Changing the size of a ReplicaSet on behalf of its Deployment, with the event that
says so.

Upstream: `pkg/controller/deployment/sync.go` (`scaleReplicaSetAndRecordEvent`,
`scaleReplicaSet`, `cleanupDeployment`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.controllers.deployment.deployment_util import (
    max_surge,
    replicas_of,
    status_of,
)
from lifecycle.controllers.deployment.revisions import (
    by_revision,
    replicas_annotations_need_update,
    set_replicas_annotations,
)
from lifecycle.controllers.object_copy import mutable_copy


class DeploymentControl:
    """The writes of the deployment controller: ReplicaSet sizes, Deployment status,
    events.
    """

    def __init__(self, client: Client, recorder: EventRecorder, clock: Clock) -> None:
        self.client = client
        self.recorder = recorder
        self.clock = clock
        self.replica_sets = resource("replicasets.apps")
        self.deployments = resource("deployments.apps")

    async def update_status(self, d: Object) -> None:
        """Write `status` (and annotations, which travel with it) as they are in `d`.
        Raises StatusError.
        """
        await self.client.update(
            self.deployments, mutable_copy(d), subresource="status"
        )

    async def scale_replica_set_and_record_event(
        self, rs: Object, new_scale: int, d: Object
    ) -> tuple[bool, Object]:
        """Scale if the size differs. Whether it did, and the ReplicaSet as it is
        now.
        """
        if replicas_of(rs) == new_scale:
            return False, rs
        return await self.scale_replica_set(rs, new_scale, d)

    async def scale_replica_set(
        self, rs: Object, new_scale: int, d: Object
    ) -> tuple[bool, Object]:
        """Scale, or bring only the size annotations up to date. Raises StatusError."""
        old_scale = replicas_of(rs)
        desired, maximum = replicas_of(d), replicas_of(d) + max_surge(d)
        if old_scale == new_scale and not replicas_annotations_need_update(
            rs, desired, maximum
        ):
            return False, rs
        copy = mutable_copy(rs)
        copy["spec"]["replicas"] = new_scale
        set_replicas_annotations(copy, desired, maximum)
        updated = await self.client.update(self.replica_sets, copy)
        if old_scale == new_scale:
            return False, updated
        direction = "up" if old_scale < new_scale else "down"
        message = (
            f"Scaled {direction} replica set {rs['metadata']['name']} from {old_scale}"
            f" to {new_scale}"
        )
        self.recorder.event(d, "Normal", "ScalingReplicaSet", message)
        return True, updated

    async def cleanup_deployment(
        self, old_replica_sets: Sequence[Object], d: Object
    ) -> None:
        """Delete empty ReplicaSets beyond `revisionHistoryLimit`, lowest revision
        first.
        """
        limit = d["spec"].get("revisionHistoryLimit")
        if limit is None or limit == 2**31 - 1:
            return
        alive = by_revision(
            rs for rs in old_replica_sets if "deletionTimestamp" not in rs["metadata"]
        )
        for rs in alive[: max(0, len(alive) - limit)]:
            meta, status = rs["metadata"], status_of(rs)
            if (
                status.get("replicas", 0)
                or replicas_of(rs)
                or meta.get("generation", 0) > status.get("observedGeneration", 0)
            ):
                continue  # still has pods, or nobody has looked at it yet
            try:
                await self.client.delete(
                    self.replica_sets, meta["name"], meta["namespace"]
                )
            except StatusError as error:
                if error.code != 404:
                    raise
