"""Replacing daemon pods: which may go now, and where a second one may come first.

With `maxUnavailable` the old pod goes and the new one comes. With `maxSurge` the new one comes first and the old
one goes once the new one is available. Old pods that serve nobody go at once in either case: nothing is lost.

Upstream: `pkg/controller/daemon/update.go` (`rollingUpdate`, `updatedDesiredNodeCounts`, `findUpdatedPodsOnNode`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lifecycle.api.wire import Object
from lifecycle.controllers.daemonset.daemon_pods import (
    TEMPLATE_GENERATION,
    node_should_run_daemon_pod,
    template_generation,
)
from lifecycle.controllers.history.revisions import REVISION_LABEL
from lifecycle.controllers.pod_readiness import is_pod_available


class Step(NamedTuple):
    """Pods to delete, nodes to create on."""

    delete: list[Object]
    create: list[str]


def is_updated(ds: Object, pod: Object, revision_hash: str) -> bool:
    """Whether the pod is of the newest template: by hash, or by the older count of templates."""
    labels = pod["metadata"].get("labels") or {}
    generation = template_generation(ds)
    return labels.get(REVISION_LABEL) == revision_hash or bool(
        generation and labels.get(TEMPLATE_GENERATION) == generation and REVISION_LABEL not in labels
    )


def scaled(value: int | str, total: int) -> int:
    """A number, or a share of `total`, rounded up."""
    if isinstance(value, str):
        return -(-total * int(value.rstrip("%")) // 100)
    return value


def rolling_update(
    ds: Object, nodes: Sequence[Object], pods_on: Mapping[str, list[Object]], revision_hash: str, now: float
) -> Step:
    """The next step of a rollout; nothing to do is an empty one. `now`: seconds since 1970."""
    rolling = ds["spec"]["updateStrategy"].get("rollingUpdate") or {}
    desired = [node for node in nodes if node_should_run_daemon_pod(ds, node).run]
    surge = scaled(rolling.get("maxSurge", 0), len(desired))
    max_unavailable = scaled(rolling.get("maxUnavailable", 1), len(desired))
    if not surge and not max_unavailable:
        max_unavailable = 1
    min_ready = ds["spec"].get("minReadySeconds", 0)
    unavailable, surging = 0, 0
    gone_already: list[Object] = []
    candidates: list[Object] = []
    new_on_ready: list[Object] = []
    to_surge: list[str] = []
    for node in desired:
        name = node["metadata"]["name"]
        old, new, several = _old_and_new(ds, pods_on.get(name, []), revision_hash)
        if several:
            surging += bool(surge and old and new)
            if surge == 0:
                unavailable += 1
                continue
        available_new = new is not None and is_pod_available(new, min_ready, now)
        available_old = old is not None and is_pod_available(old, min_ready, now)
        if surge:
            if old is None:
                continue
            if new is None:
                if "deletionTimestamp" in old["metadata"]:
                    continue
                if not available_old:
                    to_surge.insert(0, name)  # nothing to lose: does not count against the surge
                    surging -= 1
                else:
                    to_surge.append(name)
            else:
                surging += not several
                if available_new or not available_old:
                    new_on_ready.append(old)
            continue
        if new is not None:
            unavailable += not available_new
        elif old is None or "deletionTimestamp" in old["metadata"]:
            unavailable += 1
        elif not available_old:
            gone_already.append(old)
            unavailable += 1
        else:
            candidates.append(old)
    if surge:
        return Step(
            [p for p in new_on_ready if "deletionTimestamp" not in p["metadata"]], to_surge[: max(0, surge - surging)]
        )
    return Step(gone_already + candidates[: max(0, max_unavailable - unavailable)], [])


def _old_and_new(ds: Object, pods: Sequence[Object], revision_hash: str) -> tuple[Object | None, Object | None, bool]:
    old = [pod for pod in pods if not is_updated(ds, pod, revision_hash)]
    new = [pod for pod in pods if is_updated(ds, pod, revision_hash)]
    return (old[0] if old else None), (new[0] if new else None), len(pods) > 1
