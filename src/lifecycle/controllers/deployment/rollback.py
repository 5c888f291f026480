"""Rolling back on the server: what `kubectl rollout undo` did before it learnt to do it
alone.

The wish is written on the Deployment as an annotation, once a field of
extensions/v1beta1: the revision to go back to, 0 for the one before the newest. The
controller copies that ReplicaSet's template, and the annotations it was made with, back
to the Deployment, and takes the wish away; the next sync finds a changed template and
rolls it out like any other.

Upstream: `pkg/controller/deployment/rollback.go` (`rollback`, `rollbackToTemplate`),
`pkg/controller/deployment/util/deployment_util.go` (`LastRevision`,
`SetDeploymentAnnotationsTo`), v1.36, where it still is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.controllers.deployment.deployment_control import DeploymentControl
from lifecycle.controllers.deployment.deployment_util import (
    equal_ignore_hash,
    without_hash,
)
from lifecycle.controllers.deployment.revisions import (
    ANNOTATIONS_TO_SKIP,
    DEPRECATED_ROLLBACK_TO,
    annotations_of,
    revision,
)
from lifecycle.controllers.deployment.sync import get_all_replica_sets_and_sync_revision
from lifecycle.controllers.object_copy import mutable_copy

REVISION_NOT_FOUND = "DeploymentRollbackRevisionNotFound"
TEMPLATE_UNCHANGED = "DeploymentRollbackTemplateUnchanged"
DONE = "DeploymentRollback"


def get_rollback_to(d: Object) -> int | None:
    """The revision wished for; None without a wish, or with one that is no number."""
    try:
        return int(annotations_of(d)[DEPRECATED_ROLLBACK_TO])
    except (KeyError, ValueError):
        return None


def last_revision(replica_sets: Iterable[Object]) -> int:
    """The highest revision but one; 0 if there are not two."""
    revisions = sorted((revision(rs) for rs in replica_sets), reverse=True)
    return revisions[1] if len(revisions) > 1 else 0


async def rollback(
    control: DeploymentControl,
    d: Object,
    replica_sets: Sequence[Object],
    to_revision: int,
) -> None:
    """Go back, or say why not. `d` is the caller's own. Raises StatusError."""
    new_rs, old = await get_all_replica_sets_and_sync_revision(
        control, d, replica_sets, create_if_not_existed=True
    )
    everything = [*old, *([new_rs] if new_rs is not None else ())]
    if to_revision == 0:
        to_revision = last_revision(everything)
        if to_revision == 0:
            control.recorder.event(
                d, "Warning", REVISION_NOT_FOUND, "Unable to find last revision."
            )
            await update_deployment_and_clear_rollback_to(control, d)
            return
    target = next((rs for rs in everything if revision(rs) == to_revision), None)
    if target is None:
        control.recorder.event(
            d,
            "Warning",
            REVISION_NOT_FOUND,
            "Unable to find the revision to rollback to.",
        )
        await update_deployment_and_clear_rollback_to(control, d)
        return
    name = d["metadata"]["name"]
    if equal_ignore_hash(d["spec"]["template"], target["spec"]["template"]):
        message = (
            "The rollback revision contains the same template as current deployment"
            f' "{name}"'
        )
        control.recorder.event(d, "Warning", TEMPLATE_UNCHANGED, message)
        await update_deployment_and_clear_rollback_to(control, d)
        return
    d["spec"]["template"] = mutable_copy(
        {"metadata": {}, **without_hash(target["spec"]["template"])}
    )
    kept = {
        key: value
        for key, value in annotations_of(d).items()
        if key in ANNOTATIONS_TO_SKIP
    }
    brought = {
        key: value
        for key, value in annotations_of(target).items()
        if key not in ANNOTATIONS_TO_SKIP
    }
    d["metadata"]["annotations"] = {**kept, **brought}
    await update_deployment_and_clear_rollback_to(control, d)
    control.recorder.event(
        d, "Normal", DONE, f'Rolled back deployment "{name}" to revision {to_revision}'
    )


async def update_deployment_and_clear_rollback_to(
    control: DeploymentControl, d: Object
) -> None:
    """Write the Deployment without the annotation. Raises StatusError."""
    d["metadata"]["annotations"].pop(DEPRECATED_ROLLBACK_TO, None)
    await control.client.update(control.deployments, mutable_copy(d))
