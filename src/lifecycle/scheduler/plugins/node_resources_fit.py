"""NodeResourcesFit: what the pod asks for must still be there; the emptier the node, the better.

The filter counts what pods really request. The score (`LeastAllocated`) counts containers without requests as if they
had asked for a little (100m CPU, 200 MiB), so that a crowd of modest pods spreads, too.

    score = mean over cpu and memory of (allocatable - requested) · 100 / allocatable      (integer divisions)

Upstream: `pkg/scheduler/framework/plugins/noderesources/fit.go` (`Fit`, `fitsRequest`), `least_allocated.go`
(`leastResourceScorer`), `most_allocated.go`, v1.36. Left out: the strategy RequestedToCapacityRatio, ignored
resources, device claims.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    MAX_NODE_SCORE,
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    ScorePlugin,
    Status,
    always,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.resources import amounts


def insufficient_resources(info: PodInfo, node: NodeInfo) -> list[tuple[str, bool]]:
    """Each reason against the node, and whether even the empty node would be too small."""
    reasons = []
    if len(node.pods) + 1 > node.allocatable.allowed_pod_number:
        reasons.append(("Too many pods", False))
    requests = info.requests
    if not requests:
        return reasons
    allocatable, requested = node.allocatable, node.requested
    for name in ("cpu", "memory", "ephemeral-storage"):
        wanted = requests.get(name, 0)
        if wanted > 0 and wanted > allocatable.get(name) - requested.get(name):
            reasons.append((f"Insufficient {name}", wanted > allocatable.get(name)))
    for name, wanted in requests.items():
        if name in ("cpu", "memory", "ephemeral-storage", "pods") or wanted == 0:
            continue
        if wanted > allocatable.get(name) - requested.get(name):
            reasons.append((f"Insufficient {name}", wanted > allocatable.get(name)))
    return reasons


def least_requested_score(requested: int, capacity: int) -> int:
    """The free share in per cent."""
    if capacity == 0 or requested > capacity:
        return 0
    return (capacity - requested) * MAX_NODE_SCORE // capacity


def most_requested_score(requested: int, capacity: int) -> int:
    """The used share in per cent: packs pods together."""
    if capacity == 0:
        return 0
    return min(requested, capacity) * MAX_NODE_SCORE // capacity


STRATEGIES = {"LeastAllocated": least_requested_score, "MostAllocated": most_requested_score}


def _pod_gone(_info: PodInfo, old: Object | None, _new: Object | None) -> bool:
    return old is not None and bool(old["spec"].get("nodeName"))


def _node_would_do(info: PodInfo, _old: Object | None, new: Object | None) -> bool:
    if new is None:
        return True
    allocatable = amounts((new.get("status") or {}).get("allocatable"))
    return all(allocatable.get(name, 0) >= wanted for name, wanted in info.requests.items())


class NodeResourcesFit(FilterPlugin, ScorePlugin):
    """Filter by free resources, score by free share. `strategy` and `weights` (per resource) are a profile's to choose."""

    name = "NodeResourcesFit"
    weight = 1

    def __init__(self, strategy: str = "LeastAllocated", weights: Mapping[str, int] | None = None) -> None:
        self._score_of = STRATEGIES[strategy]
        weights = weights or {"cpu": 1, "memory": 1}
        self._cpu_weight, self._memory_weight = weights.get("cpu", 0), weights.get("memory", 0)

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """A pod goes, or a node with enough room comes or grows."""
        return {
            ClusterEvent("AssignedPod", "Delete"): _pod_gone,
            ClusterEvent("Node", "Add"): _node_would_do,
            ClusterEvent("Node", "UpdateNodeAllocatable"): _node_would_do,
            ClusterEvent("Pod", "UpdatePodScaleDown"): always,
        }

    def sign_pod(self, info: PodInfo) -> Hashable:
        """The requests."""
        return (tuple(info.requests.items()), tuple(info.non_zero.items()))

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes without room."""
        reasons = insufficient_resources(info, node)
        if not reasons:
            return None
        refuse = unresolvable if any(hopeless for _, hopeless in reasons) else unschedulable
        return refuse(self.name, *(reason for reason, _ in reasons))

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The strategy's score over cpu and memory, weighted."""
        total = weights = 0
        for requested, capacity, weight in (
            (node.non_zero_cpu + info.non_zero.get("cpu", 0), node.allocatable.milli_cpu, self._cpu_weight),
            (node.non_zero_memory + info.non_zero.get("memory", 0), node.allocatable.memory, self._memory_weight),
        ):
            if capacity and weight:
                total += self._score_of(requested, capacity) * weight
                weights += weight
        return total // weights if weights else 0
