"""Finding or making the ReplicaSet of the current template.

If it exists, its annotations are brought up to date: after an undo it gets a new
revision number. If not, it is created, named after the Deployment and the hash of the
template; the same hash goes, as the label `pod-template-hash`, into its selector and
its pods, so that no two ReplicaSets ever select the same pods. Should the name be taken
by something with another template (a hash collision), `status.collisionCount` is
raised, which changes the hash, and the next sync tries again.

Upstream: `pkg/controller/deployment/sync.go` (`getAllReplicaSetsAndSyncRevision`,
`getNewReplicaSet`), v1.36.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.controllers.deployment import conditions as c
from lifecycle.controllers.deployment.fenceposts import new_rs_new_replicas
from lifecycle.controllers.deployment.pod_template_hash import compute_hash
from lifecycle.controllers.deployment.replica_set_scaling import DeploymentControl
from lifecycle.controllers.deployment.replica_set_selection import (
    POD_TEMPLATE_HASH,
    equal_ignore_hash,
    find_new_replica_set,
    find_old_replica_sets,
)
from lifecycle.controllers.deployment.revisions import (
    REVISION,
    annotations_of,
    max_revision,
    set_deployment_revision,
    set_new_replica_set_annotations,
)
from lifecycle.controllers.deployment.rollout_status import (
    has_progress_deadline,
    status_of,
)
from lifecycle.controllers.namespace_terminating import is_namespace_terminating
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import is_controlled_by, new_controller_ref


async def get_all_replica_sets_and_sync_revision(
    control: DeploymentControl,
    d: Object,
    replica_sets: Sequence[Object],
    *,
    create_if_not_existed: bool,
) -> tuple[Object | None, list[Object]]:
    """The new ReplicaSet (None if there is none and none is to be made) and the old
    ones, revisions brought up to date.

    `d` is the caller's own copy of the Deployment; it is changed along the way. Raises
    StatusError.
    """
    old = find_old_replica_sets(d, replica_sets)
    return await _get_new_replica_set(
        control, d, replica_sets, old, create_if_not_existed
    ), old


async def _get_new_replica_set(
    control: DeploymentControl,
    d: Object,
    replica_sets: Sequence[Object],
    old: list[Object],
    create: bool,
) -> Object | None:
    new_revision = max_revision(old) + 1
    existing = find_new_replica_set(d, replica_sets)
    if existing is not None:
        return await _adjust_existing(control, d, existing, new_revision)
    return await _create(control, d, old, new_revision) if create else None


async def _adjust_existing(
    control: DeploymentControl, d: Object, existing: Object, new_revision: int
) -> Object:
    copy = mutable_copy(existing)
    annotations_updated = set_new_replica_set_annotations(
        d, copy, new_revision, exists=True
    )
    min_ready_seconds = d["spec"].get("minReadySeconds", 0)
    if (
        annotations_updated
        or copy["spec"].get("minReadySeconds", 0) != min_ready_seconds
    ):
        if min_ready_seconds or "minReadySeconds" in copy["spec"]:
            copy["spec"]["minReadySeconds"] = min_ready_seconds
        return await control.client.update(control.replica_sets, copy)
    needs_update = set_deployment_revision(
        d, annotations_of(existing).get(REVISION, "")
    )
    if (
        has_progress_deadline(d)
        and c.get_deployment_condition(status_of(d), c.PROGRESSING) is None
    ):
        message = f'Found new replica set "{existing["metadata"]["name"]}"'
        _set_progressing(control, d, "True", c.FOUND_NEW_RS, message)
        needs_update = True
    if needs_update:
        await control.update_status(d)
    return existing


def new_replica_set(d: Object) -> Object:
    """The ReplicaSet for the current template, with no size and no annotations yet."""
    spec = d["spec"]
    template = mutable_copy({"metadata": {}, **spec["template"]})
    template_hash = compute_hash(template, status_of(d).get("collisionCount"))
    template["metadata"]["labels"] = {
        **(template["metadata"].get("labels") or {}),
        POD_TEMPLATE_HASH: template_hash,
    }
    selector = spec["selector"]
    rs_spec: Object = {"replicas": 0}
    if spec.get("minReadySeconds"):
        rs_spec["minReadySeconds"] = spec["minReadySeconds"]
    rs_spec["selector"] = {
        **selector,
        "matchLabels": {
            **(selector.get("matchLabels") or {}),
            POD_TEMPLATE_HASH: template_hash,
        },
    }
    rs_spec["template"] = template
    return {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": f"{d['metadata']['name']}-{template_hash}",
            "namespace": d["metadata"]["namespace"],
            "labels": dict(template["metadata"]["labels"]),
            "ownerReferences": [new_controller_ref(d)],
        },
        "spec": rs_spec,
        "status": {"replicas": 0},
    }


async def _create(
    control: DeploymentControl, d: Object, old: list[Object], new_revision: int
) -> Object:
    new_rs = new_replica_set(d)
    name, namespace = new_rs["metadata"]["name"], new_rs["metadata"]["namespace"]
    size = new_rs_new_replicas(d, [*old, new_rs], new_rs)
    new_rs["spec"]["replicas"] = size
    set_new_replica_set_annotations(d, new_rs, new_revision, exists=False)
    already_exists = False
    try:
        created = await control.client.create(control.replica_sets, new_rs, namespace)
    except StatusError as error:
        if error.reason == "AlreadyExists":
            created = await _taken_name(control, d, name, namespace, error)
            already_exists = True
        else:
            if not is_namespace_terminating(error):
                await _report_failure(
                    control,
                    d,
                    f'Failed to create new replica set "{name}": {error.message}',
                )
            raise
    if not already_exists and size > 0:
        control.recorder.event(
            d,
            "Normal",
            "ScalingReplicaSet",
            f"Scaled up replica set {name} from 0 to {size}",
        )
    needs_update = set_deployment_revision(d, str(new_revision))
    if not already_exists and has_progress_deadline(d):
        _set_progressing(
            control, d, "True", c.NEW_REPLICA_SET, f'Created new replica set "{name}"'
        )
        needs_update = True
    if needs_update:
        await control.update_status(d)
    return created


async def _taken_name(
    control: DeploymentControl, d: Object, name: str, namespace: str, error: StatusError
) -> Object:
    """Either the cache was behind and it is ours, or the hash collides."""
    rs = await control.client.get(control.replica_sets, name, namespace)
    if is_controlled_by(rs, d) and equal_ignore_hash(
        d["spec"]["template"], rs["spec"]["template"]
    ):
        return rs
    d["status"] = {
        **status_of(d),
        "collisionCount": status_of(d).get("collisionCount", 0) + 1,
    }
    await control.update_status(d)
    raise error


async def _report_failure(control: DeploymentControl, d: Object, message: str) -> None:
    if has_progress_deadline(d):
        _set_progressing(control, d, "False", c.FAILED_RS_CREATE, message)
        with contextlib.suppress(
            StatusError
        ):  # the failure itself is raised; this one is for the next sync
            await control.update_status(d)
    control.recorder.event(d, "Warning", c.FAILED_RS_CREATE, message)


def _set_progressing(
    control: DeploymentControl, d: Object, status: str, reason: str, message: str
) -> None:
    mine = d.setdefault("status", {})
    c.set_deployment_condition(
        mine,
        c.new_condition(c.PROGRESSING, status, reason, message, control.clock.now()),
    )
