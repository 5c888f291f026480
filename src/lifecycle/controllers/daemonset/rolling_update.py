"""Replacing daemon pods: which may go now, and where a second one may come first.

With `maxUnavailable` the old pod goes and the new one comes. With `maxSurge` the new
one comes first and the old one goes once the new one is available. Old pods that serve
nobody go at once in either case: nothing is lost.

Upstream: `pkg/controller/daemon/update.go` (`rollingUpdate`,
`updatedDesiredNodeCounts`, `findUpdatedPodsOnNode`), `daemon_controller.go`
(`podsShouldBeOnNode`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.controllers.daemonset.daemon_pods import (
    TEMPLATE_GENERATION,
    node_should_run_daemon_pod,
    template_generation,
)
from lifecycle.controllers.history.revisions import REVISION_LABEL
from lifecycle.controllers.int_or_percent import scaled_value
from lifecycle.controllers.pod_readiness import is_pod_available, is_pod_ready


class _State(NamedTuple):
    """A node's old and new pod, and whether it has several of a kind."""

    old: Object | None
    new: Object | None
    several: bool


class Step(NamedTuple):
    """Pods to delete, nodes to create on."""

    delete: list[Object]
    create: list[str]


def is_updated(ds: Object, pod: Object, revision_hash: str) -> bool:
    """Whether the pod is of the newest template: by hash, or by the older count of
    templates.
    """
    labels = pod["metadata"].get("labels") or {}
    generation = template_generation(ds)
    return labels.get(REVISION_LABEL) == revision_hash or bool(
        generation
        and labels.get(TEMPLATE_GENERATION) == generation
        and REVISION_LABEL not in labels
    )


def allows_surge(ds: Object) -> bool:
    """Whether a new pod may come beside an old one. Upstream: `AllowsSurge`."""
    rolling = ds["spec"]["updateStrategy"].get("rollingUpdate") or {}
    return rolling.get("maxSurge") not in (None, 0, "0%")


def surplus_pods(
    ds: Object, running: Sequence[Object], revision_hash: str, now: float
) -> list[Object]:
    """Of a node's pods all but the oldest. With a surge an old one and a new one stay,
    as long as the old one serves and the new one does not yet. Upstream:
    `podsShouldBeOnNode`.
    """
    if len(running) < 2:
        return []
    pods = sorted(running, key=_by_creation_and_phase)
    if not allows_surge(ds):
        return pods[1:]
    old, new = (
        [pod for pod in pods if _of_revision(pod, revision_hash) == wanted]
        for wanted in (False, True)
    )
    surplus = [*old[1:], *new[1:]]
    if old and new:
        min_ready = ds["spec"].get("minReadySeconds", 0)
        if not is_pod_ready(old[0]) or is_pod_available(new[0], min_ready, now):
            surplus.append(old[0])
    return surplus


def _of_revision(pod: Object, revision_hash: str) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return bool(labels.get(REVISION_LABEL) == revision_hash)


def _by_creation_and_phase(pod: Object) -> tuple[bool, str, str]:
    meta = pod["metadata"]
    return not pod["spec"].get("nodeName"), meta["creationTimestamp"], meta["name"]


def rolling_update(
    ds: Object,
    nodes: Sequence[Object],
    pods_on: Mapping[str, list[Object]],
    revision_hash: str,
    now: float,
) -> Step:
    """The next step of a rollout; nothing to do is an empty one. `now`: seconds since
    1970.

    Nodes that should have no pod, but still have one, take part, also those that are
    gone: their old pods go, too, when their turn comes.
    """
    rolling = ds["spec"]["updateStrategy"].get("rollingUpdate") or {}
    desired = {
        n["metadata"]["name"] for n in nodes if node_should_run_daemon_pod(ds, n).run
    }
    surge = scaled_value(rolling.get("maxSurge", 0), len(desired), round_up=True)
    max_unavailable = scaled_value(
        rolling.get("maxUnavailable", 1), len(desired), round_up=True
    )
    if not surge and not max_unavailable:
        max_unavailable = 1
    names = [n["metadata"]["name"] for n in nodes]
    names += sorted(pods_on.keys() - {*names, ""})  # of nodes that are gone
    taking_part = [name for name in names if name in desired or pods_on.get(name)]
    states = {
        name: _old_and_new(ds, pods_on.get(name, []), revision_hash)
        for name in taking_part
    }
    min_ready = ds["spec"].get("minReadySeconds", 0)

    def available(pod: Object | None) -> bool:
        return pod is not None and is_pod_available(pod, min_ready, now)

    return (
        _surge(states, desired, surge, available)
        if surge
        else _replace(states, max_unavailable, available)
    )


def _replace(
    states: Mapping[str, _State],
    max_unavailable: int,
    available: Callable[[Object | None], bool],
) -> Step:
    """Take old pods away, as long as no more than so many nodes are without an
    available one.
    """
    unavailable = 0
    useless: list[Object] = []
    candidates: list[Object] = []
    for state in states.values():
        if state.several or (state.old is None) == (state.new is None):
            unavailable += 1
        elif state.old is None:
            unavailable += not available(state.new)
        elif not available(state.old):
            useless.append(state.old)
            unavailable += 1
        elif unavailable < max_unavailable:
            candidates.append(state.old)
    return Step(useless + candidates[: max(0, max_unavailable - unavailable)], [])


def _surge(
    states: Mapping[str, _State],
    desired: set[str],
    surge: int,
    available: Callable[[Object | None], bool],
) -> Step:
    """Put new pods beside old ones, so many at most; take an old one away when the new
    one is available.

    An available pod where none should be stays until there are more than enough
    elsewhere.
    """
    surging = number_available = 0
    to_delete: list[Object] = []
    misplaced: list[Object] = []
    at_once: list[str] = []
    candidates: list[str] = []
    for name, (old, new, several) in states.items():
        if several:
            surging += 1
            continue
        number_available += available(old if old is not None else new)
        if old is None:
            continue
        if new is not None:
            if available(new):
                to_delete.append(old)
            else:
                surging += 1
        elif name not in desired:
            (misplaced if available(old) else to_delete).append(old)
        elif not available(old):
            at_once.append(name)  # nothing to lose: does not count against the surge
        elif surging < surge:
            candidates.append(name)
    to_delete += misplaced[: max(0, number_available - len(desired))]
    return Step(to_delete, at_once + candidates[: max(0, surge - surging)])


def _old_and_new(ds: Object, pods: Sequence[Object], revision_hash: str) -> _State:
    """A node's pods that are to stay. More than one old or new one is for others to
    tidy up.
    """
    staying = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    old = [pod for pod in staying if not is_updated(ds, pod, revision_hash)]
    new = [pod for pod in staying if is_updated(ds, pod, revision_hash)]
    return _State(
        old[0] if old else None, new[0] if new else None, len(old) > 1 or len(new) > 1
    )
