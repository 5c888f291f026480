"""Scaling in the middle of a rollout: the difference is shared out in proportion.

Two ReplicaSets of 8 and 4 pods, and the Deployment is scaled from 10 to 20 (surge 2):
both grow by the same factor, (20+2)/(10+2). Rounding leaves a remainder, which goes to
the largest. So a rollout that is half done stays half done, and if the new version
turns out to be bad, not everything has been scaled on it.

Upstream: `pkg/controller/deployment/sync.go` (`scale`),
`pkg/controller/deployment/util/deployment_util.go` (`GetReplicaSetProportion`,
`getReplicaSetFraction`), v1.36.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lifecycle.api.wire import Object
from lifecycle.controllers.deployment.fenceposts import max_surge, replicas_of
from lifecycle.controllers.deployment.replica_set_selection import (
    by_size_newer,
    by_size_older,
)
from lifecycle.controllers.deployment.revisions import MAX_REPLICAS, int_from_annotation


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
