"""Which pods go first when there are too many.

Pods that lose the least come first. The rules, each breaking the ties of the one
before:

1. not yet on a node before on a node;
2. `Pending` before `Unknown` before `Running`;
3. not ready before ready;
4. lower `controller.kubernetes.io/pod-deletion-cost` before higher;
5. on a node with more active pods of the same owner before on a node with fewer;
6. ready for a shorter time before longer;
7. more container restarts before fewer;
8. created later before created earlier.

Times (6, 8) are compared by order of magnitude: the logarithm of the age in
nanoseconds, rounded down. Pods whose ages fall into one bucket tie, and the uid decides
– so a scale-down does not always hit the newest zone of a cluster.

Upstream: `pkg/controller/controller_utils.go` (`ActivePodsWithRanks`),
`pkg/controller/replicaset/replica_set.go` (`getPodsToDelete`,
`getPodsRankedByRelatedPodsOnSameNode`), v1.36.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cmp_to_key

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.controllers.pod_readiness import is_pod_active, pod_phase

POD_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}


def get_pods_to_delete(
    filtered_pods: Sequence[Object],
    related_pods: Sequence[Object],
    diff: int,
    now: float,
) -> list[Object]:
    """The `diff` pods to delete. `related_pods`: all pods of ReplicaSets with the same
    owner; `now` in seconds since 1970.
    """
    if diff >= len(filtered_pods):
        return list(filtered_pods)
    on_node = Counter(
        pod["spec"].get("nodeName", "") for pod in related_pods if is_pod_active(pod)
    )
    ranked = [
        _Victim(pod, on_node[pod["spec"].get("nodeName", "")], now)
        for pod in filtered_pods
    ]
    ranked.sort(key=cmp_to_key(_compare))
    return [victim.pod for victim in ranked[:diff]]


class _Victim:
    """What the rules look at, read once per pod."""

    __slots__ = ("cheap", "created", "node", "pod", "ready_since", "restarts", "uid")

    def __init__(self, pod: Object, rank: int, now: float) -> None:
        self.pod = pod
        meta, status = pod["metadata"], pod.get("status") or {}
        self.node = pod["spec"].get("nodeName", "")
        ready = get_condition(pod, "Ready")
        is_ready = ready is not None and ready["status"] == "True"
        self.cheap = (
            bool(self.node),
            _PHASE_ORDER.get(pod_phase(pod), 0),
            is_ready,
            _deletion_cost(meta.get("annotations")),
            -rank,
        )
        self.ready_since = (
            _bucket(ready.get("lastTransitionTime"), now)
            if is_ready and ready
            else None
        )
        self.restarts = _restarts(pod["spec"], status)
        self.created = _bucket(meta.get("creationTimestamp"), now)
        self.uid = meta.get("uid", "")


def _compare(a: _Victim, b: _Victim) -> int:
    """Negative if `a` is to be deleted before `b`."""
    if a.cheap != b.cheap:
        return -1 if a.cheap < b.cheap else 1
    if (
        a.ready_since is not None
        and b.ready_since is not None
        and a.ready_since[1] != b.ready_since[1]
    ):
        return _by_time(a.ready_since[0], b.ready_since[0], a.uid, b.uid)
    for ours, theirs in zip(a.restarts, b.restarts):
        if ours != theirs:
            return -1 if ours > theirs else 1
    if a.created[1] != b.created[1]:
        return _by_time(a.created[0], b.created[0], a.uid, b.uid)
    return 0


def _by_time(a: int, b: int, a_uid: str, b_uid: str) -> int:
    """Smaller bucket (younger, or no time at all) first; within one bucket the uid
    decides.
    """
    if a == b:
        return -1 if a_uid < b_uid else 1
    return -1 if a < b else 1


def _bucket(stamp: str | None, now: float) -> tuple[int, str]:
    """The age's order of magnitude, and the time itself. No time at all counts as
    youngest.
    """
    if not stamp:
        return -1, ""
    nanoseconds = int((now - parse_time(stamp)) * 1_000_000_000)
    return (nanoseconds.bit_length() - 1 if nanoseconds > 0 else 0), stamp


def _deletion_cost(annotations: dict[str, str] | None) -> int:
    """The pod's own word on what losing it costs; 0 if it has none or it is not a
    32-bit number.
    """
    value = (annotations or {}).get(POD_DELETION_COST)
    if not value or value[0] == "+" or (value.lstrip("-")[:1] == "0" and value != "0"):
        return 0
    try:
        cost = int(value)
    except ValueError:
        return 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _restarts(spec: Object, status: Object) -> tuple[int, int]:
    """The most restarts of any container, and of any sidecar (restartable init
    container); those of other init containers do not count.
    """
    sidecars_of = {
        container["name"]
        for container in spec.get("initContainers") or ()
        if is_restartable_init_container(container)
    }
    containers = max(
        (c.get("restartCount", 0) for c in status.get("containerStatuses") or ()),
        default=0,
    )
    sidecars = max(
        (
            c.get("restartCount", 0)
            for c in status.get("initContainerStatuses") or ()
            if c["name"] in sidecars_of
        ),
        default=0,
    )
    return containers, sidecars
