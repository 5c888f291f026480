"""Which of a Deployment's ReplicaSets is the new one, which are old, which are active.

The new one is not the youngest but the one whose template equals the Deployment's:
after an undo it may be the oldest of all. The comparison leaves the `pod-template-hash`
label out, and compares what the templates *mean*: an absent field, an empty list and an
empty map are the same.

Upstream: `pkg/controller/deployment/util/deployment_util.go` (`FindNewReplicaSet`,
`FindOldReplicaSets`, `EqualIgnoreHash`, `FindActiveOrLatest`),
`pkg/controller/controller_utils.go` (`ReplicaSetsByCreationTimestamp`, …), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lifecycle.api.wire import Object
from lifecycle.controllers.deployment.fenceposts import replicas_of

POD_TEMPLATE_HASH = "pod-template-hash"


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
