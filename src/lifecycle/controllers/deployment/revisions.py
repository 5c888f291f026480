"""Revisions: how a Deployment numbers its ReplicaSets, so that `kubectl rollout undo`
has something to go back to.

All of it lives in annotations. The newest ReplicaSet carries the highest `revision`;
one that is used again after an undo gets a new number and keeps the former ones in
`revision-history`. `desired-replicas` and `max-replicas` record for which size of the
Deployment a ReplicaSet was last scaled: that is how the controller notices that the
Deployment itself was scaled, and in which proportion to share out the difference.

Upstream: `pkg/controller/deployment/util/deployment_util.go`
(`SetNewReplicaSetAnnotations`, `MaxRevision`, `SetReplicasAnnotations`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.controllers.deployment.deployment_util import (
    by_creation_timestamp,
    max_surge,
    replicas_of,
)

PREFIX = "deployment.kubernetes.io/"
REVISION = PREFIX + "revision"
REVISION_HISTORY = PREFIX + "revision-history"
DESIRED_REPLICAS = PREFIX + "desired-replicas"
MAX_REPLICAS = PREFIX + "max-replicas"

DEPRECATED_ROLLBACK_TO = "deprecated.deployment.rollback.to"

ANNOTATIONS_TO_SKIP = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        DEPRECATED_ROLLBACK_TO,
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
    }
)
MAX_REV_HISTORY_LENGTH_IN_CHARS = 2000


def annotations_of(obj: Object) -> dict[str, str]:
    """The annotations, for reading."""
    return obj["metadata"].get("annotations") or {}


def revision(obj: Object) -> int:
    """The revision annotation as a number; 0 if it is missing or no number."""
    try:
        return int(annotations_of(obj).get(REVISION, "0"))
    except ValueError:
        return 0


def by_revision(replica_sets: Iterable[Object]) -> list[Object]:
    """Lowest revision first; of those without one the oldest. Upstream:
    `ReplicaSetsByRevision`.
    """
    return sorted(by_creation_timestamp(replica_sets), key=revision)


def max_revision(replica_sets: Iterable[Object]) -> int:
    """The highest revision; 0 if there is none."""
    return max((revision(rs) for rs in replica_sets), default=0)


def set_deployment_revision(deployment: Object, value: str) -> bool:
    """Write the revision into a Deployment that is the caller's own. Whether it
    changed.
    """
    if annotations_of(deployment).get(REVISION) == value:
        return False
    _own_annotations(deployment)[REVISION] = value
    return True


def set_new_replica_set_annotations(
    deployment: Object, new_rs: Object, new_revision: int, *, exists: bool
) -> bool:
    """Bring the annotations of the newest ReplicaSet (the caller's own copy) up to
    date. Whether they changed.
    """
    changed = _copy_deployment_annotations(deployment, new_rs)
    annotations = _own_annotations(new_rs)
    old_revision = annotations.get(REVISION)
    try:
        old_number = int(old_revision or "0")
    except ValueError:
        return False
    if old_number < new_revision:
        annotations[REVISION] = str(new_revision)
        changed = True
        if old_revision is not None:
            _append_to_history(annotations, old_revision)
    if not exists and set_replicas_annotations(
        new_rs, replicas_of(deployment), replicas_of(deployment) + max_surge(deployment)
    ):
        changed = True
    if not annotations:
        del new_rs["metadata"]["annotations"]
    return changed


def set_replicas_annotations(rs: Object, desired: int, maximum: int) -> bool:
    """Record the Deployment's size in a ReplicaSet that is the caller's own. Whether it
    changed.
    """
    if not replicas_annotations_need_update(rs, desired, maximum):
        return False
    _own_annotations(rs).update(
        {DESIRED_REPLICAS: str(desired), MAX_REPLICAS: str(maximum)}
    )
    return True


def replicas_annotations_need_update(rs: Object, desired: int, maximum: int) -> bool:
    """Whether the recorded size is another."""
    annotations = annotations_of(rs)
    return annotations.get(DESIRED_REPLICAS) != str(desired) or annotations.get(
        MAX_REPLICAS
    ) != str(maximum)


def int_from_annotation(rs: Object, key: str) -> int | None:
    """An annotation as a number; None if it is missing or no number."""
    try:
        return int(annotations_of(rs)[key])
    except (KeyError, ValueError):
        return None


def _own_annotations(obj: Object) -> dict[str, str]:
    annotations: dict[str, str] = obj["metadata"].setdefault("annotations", {})
    return annotations


def _copy_deployment_annotations(deployment: Object, rs: Object) -> bool:
    """What users annotate the Deployment with (a change cause, say) goes to the
    ReplicaSet too.
    """
    target = _own_annotations(rs)
    changed = False
    for key, value in annotations_of(deployment).items():
        if key not in ANNOTATIONS_TO_SKIP and target.get(key) != value:
            target[key] = value
            changed = True
    return changed


def _append_to_history(annotations: dict[str, str], old_revision: str) -> None:
    """Add a number to the history, dropping the oldest if it gets longer than 2000
    characters.
    """
    history = [
        entry for entry in annotations.get(REVISION_HISTORY, "").split(",") if entry
    ]
    history.append(old_revision)
    while len(history) > 1 and len(",".join(history)) > MAX_REV_HISTORY_LENGTH_IN_CHARS:
        history.pop(0)
    annotations[REVISION_HISTORY] = ",".join(history)
