"""Bringing ReplicaSets in line with their Deployment: finding or making the one of the
current template, and sizing them when the Deployment is paused or scaled.

The ReplicaSet of the current template may exist. Then its annotations are brought up to
date: after an undo it gets a new revision number. If it does not, it is created, named
after the Deployment and the hash of the template; the same hash goes, as the label
`pod-template-hash`, into its selector and its pods, so that no two ReplicaSets ever
select the same pods. Should the name be taken by something with another template (a
hash collision), `status.collisionCount` is raised, which changes the hash, and the next
sync tries again.

Scaling in the middle of a rollout shares the difference out in proportion. Two
ReplicaSets of 8 and 4 pods, and the Deployment is scaled from 10 to 20 (surge 2): both
grow by the same factor, (20+2)/(10+2). Rounding leaves a remainder, which goes to the
largest. So a rollout that is half done stays half done, and if the new version turns
out to be bad, not everything has been scaled on it.

Upstream: `pkg/controller/deployment/sync.go` (`sync`, `syncStatusOnly`,
`getAllReplicaSetsAndSyncRevision`, `getNewReplicaSet`, `scale`, `calculateStatus`,
`isScalingEvent`, `checkPausedConditions`), `util/deployment_util.go`
(`GetReplicaSetProportion`, `getReplicaSetFraction`), v1.36. Its writes are in
`deployment_control`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.status import StatusError
from lifecycle.controllers.deployment import conditions as c
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_util import (
    POD_TEMPLATE_HASH,
    by_size_newer,
    by_size_older,
    equal_ignore_hash,
    filter_active,
    find_active_or_latest,
    find_new_replica_set,
    find_old_replica_sets,
    has_progress_deadline,
    is_rolling_update,
    max_surge,
    max_unavailable,
    new_rs_new_replicas,
    replicas_of,
    status_of,
    status_sum,
    terminating_replicas,
)
from lifecycle.controllers.deployment.revisions import (
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    REVISION,
    annotations_of,
    int_from_annotation,
    max_revision,
    set_deployment_revision,
    set_new_replica_set_annotations,
)
from lifecycle.controllers.namespace_terminating import is_namespace_terminating
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.owner_references import is_controlled_by, new_controller_ref
from lifecycle.controllers.pod_template_hash import compute_hash


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
    new_rs = await beside(size_of(d["spec"]["template"]), new_replica_set, d)
    name, namespace = new_rs["metadata"]["name"], new_rs["metadata"]["namespace"]
    size = new_rs_new_replicas(d, [*old, new_rs], new_rs)
    new_rs["spec"]["replicas"] = size
    set_new_replica_set_annotations(d, new_rs, new_revision, exists=False)
    already_exists = False
    try:
        created = await control.client.create(control.replica_sets, new_rs, namespace)
    except StatusError as error:
        if error.reason == "AlreadyExists":
            created = await _handle_already_exists(control, d, name, namespace, error)
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


async def _handle_already_exists(
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


def get_replica_set_fraction(rs: Object, deployment: Object) -> int:
    """By how many pods this ReplicaSet would change if shares were exact, rounded half
    away from zero.
    """
    size = replicas_of(rs)
    if replicas_of(deployment) == 0:
        return -size
    maximum = replicas_of(deployment) + max_surge(deployment)
    before = int_from_annotation(rs, MAX_REPLICAS)
    if (
        not before
    ):  # somebody removed the annotation: the current size is the next best guess
        before = (deployment.get("status") or {}).get("replicas", 0)
        if not before:
            return 0
    exact = size * maximum / before
    return math.floor(exact + 0.5) - size


def get_proportion(rs: Object, deployment: Object, to_add: int, added: int) -> int:
    """The share of `to_add` (negative: to remove) that this ReplicaSet gets when
    `added` are given out already.
    """
    if replicas_of(rs) == 0 or to_add == 0 or to_add == added:
        return 0
    fraction, allowed = get_replica_set_fraction(rs, deployment), to_add - added
    return min(fraction, allowed) if to_add > 0 else max(fraction, allowed)


def proportional_sizes(
    active: Sequence[Object], deployment: Object
) -> list[tuple[Object, int]]:
    """The active ReplicaSets in the order they are scaled in, each with its new
    size.
    """
    desired = replicas_of(deployment)
    allowed_size = desired + max_surge(deployment) if desired > 0 else 0
    to_add = allowed_size - sum(replicas_of(rs) for rs in active)
    ordered = (
        by_size_newer(active)
        if to_add > 0
        else by_size_older(active)
        if to_add < 0
        else list(active)
    )
    sizes: list[tuple[Object, int]] = []
    added = 0
    for rs in ordered:
        share = get_proportion(rs, deployment, to_add, added)
        sizes.append((rs, replicas_of(rs) + share))
        added += share
    if sizes and to_add != 0:
        rs, size = sizes[0]
        sizes[0] = (rs, max(0, size + to_add - added))
    return sizes


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
    terminating = terminating_replicas(all_replica_sets)
    if terminating is not None:
        status["terminatingReplicas"] = terminating
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
