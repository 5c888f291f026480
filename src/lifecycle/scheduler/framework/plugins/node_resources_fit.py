"""NodeResourcesFit: what the pod asks for must still be there; the emptier the node,
the better.

The filter counts what pods really request. The score (`LeastAllocated`) counts
containers without requests as if they had asked for a little (100m CPU, 200 MiB), so
that a crowd of modest pods spreads, too.

    score = mean over cpu and memory of (allocatable - requested) · 100 / allocatable
    (integer divisions)

Upstream: `pkg/scheduler/framework/plugins/noderesources/fit.go` (`Fit`, `fitsRequest`),
`least_allocated.go` (`leastResourceScorer`), `most_allocated.go`,
`requested_to_capacity_ratio.go`, `resource_allocation.go`, v1.36. Left out: device
claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    ScorePlugin,
)
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo, had_a_place
from lifecycle.scheduler.framework.resources import scaled_down
from lifecycle.scheduler.framework.status import Status, unresolvable, unschedulable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, itself


def insufficient_resources(
    info: PodInfo, node: NodeInfo, ignored: Callable[[str], bool] = lambda name: False
) -> list[tuple[str, bool]]:
    """Each reason against the node, and whether even the empty node would be too small.
    `ignored`: resources others look after.
    """
    reasons = []
    if len(node.pods) + 1 > node.allocatable.allowed_pod_number:
        reasons.append(("Too many pods", False))
    requests = info.requests
    if not requests:
        return reasons
    allocatable, requested = node.allocatable, node.requested
    for name in ("cpu", "memory", "ephemeral-storage"):
        request = requests.get(name, 0)
        if request > 0 and request > allocatable.get(name) - requested.get(name):
            reasons.append((f"Insufficient {name}", request > allocatable.get(name)))
    for name, request in requests.items():
        if (
            name in ("cpu", "memory", "ephemeral-storage", "pods")
            or request == 0
            or ignored(name)
        ):
            continue
        if request > allocatable.get(name) - requested.get(name):
            reasons.append((f"Insufficient {name}", request > allocatable.get(name)))
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


def requested_to_capacity_ratio(
    shape: Sequence[Mapping[str, int]],
) -> Callable[[int, int], int]:
    """A score from the used share by a line with bends, each `{"utilization": 0…100,
    "score": 0…10}`.
    """
    points = [
        (point["utilization"], point["score"] * (MAX_NODE_SCORE // 10))
        for point in shape
    ]

    def score(requested: int, capacity: int) -> int:
        used = (
            100
            if capacity == 0 or requested > capacity
            else requested * 100 // capacity
        )
        before: tuple[int, int] | None = None
        for utilization, value in points:
            if used <= utilization:
                if before is None:
                    return value
                rise = (value - before[1]) * (used - before[0])
                return before[1] + int(rise / (utilization - before[0]))
            before = utilization, value
        return points[-1][1]

    return score


STRATEGIES = {
    "LeastAllocated": least_requested_score,
    "MostAllocated": most_requested_score,
}


def _is_schedulable_after_pod_deleted(
    _info: PodInfo, old: Object | None, _new: Object | None
) -> bool:
    return old is not None and had_a_place(old)


def _is_schedulable_after_pod_scale_down(
    info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    if old is None or new is None or not new["spec"].get("nodeName"):
        return False
    return any(info.requests.get(name) for name in scaled_down(old, new))


def _have_any_requested_resources_increased(
    info: PodInfo, old: NodeInfo, new: NodeInfo
) -> bool:
    before, after = old.allocatable, new.allocatable
    return after.allowed_pod_number > before.allowed_pod_number or any(
        request and after.get(name) > before.get(name)
        for name, request in info.requests.items()
    )


class NodeResourcesFit(FilterPlugin, ScorePlugin, EnqueueExtensions):
    """Filter by free resources, score by free share.

    A profile chooses `strategy`, `weights` (per resource) and `shape`, and which
    extended resources to ignore, by name or by group (what stands before the slash).
    """

    name = "NodeResourcesFit"

    def __init__(
        self,
        strategy: str = "LeastAllocated",
        weights: Mapping[str, int] | None = None,
        shape: Sequence[Mapping[str, int]] = (),
        ignored: Sequence[str] = (),
        ignored_groups: Sequence[str] = (),
    ) -> None:
        self._by_ratio = strategy == "RequestedToCapacityRatio"
        self._score_of = (
            requested_to_capacity_ratio(shape)
            if self._by_ratio
            else STRATEGIES[strategy]
        )
        self._weights = tuple((weights or {"cpu": 1, "memory": 1}).items())
        self._ignored, self._ignored_groups = (
            frozenset(ignored),
            frozenset(ignored_groups),
        )

    def _is_ignored(self, name: str) -> bool:
        group, slash, _ = name.partition("/")
        return name in self._ignored or (bool(slash) and group in self._ignored_groups)

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A pod goes, or a node with enough room comes or grows."""
        return {
            ClusterEvent("AssignedPod", "Delete"): _is_schedulable_after_pod_deleted,
            ClusterEvent(
                "AssignedPod", "UpdatePodScaleDown"
            ): _is_schedulable_after_pod_scale_down,
            ClusterEvent("Node", "Add"): self._is_schedulable_after_node_change,
            ClusterEvent(
                "Node", "UpdateNodeAllocatable"
            ): self._is_schedulable_after_node_change,
            ClusterEvent("Pod", "UpdatePodScaleDown"): itself,
        }

    def _is_schedulable_after_node_change(
        self, info: PodInfo, old: Object | None, new: Object | None
    ) -> bool:
        if new is None:
            return True
        node = NodeInfo(new)
        if insufficient_resources(info, node, self._is_ignored):
            return False  # not even if it were empty
        return old is None or _have_any_requested_resources_increased(
            info, NodeInfo(old), node
        )

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes without room."""
        reasons = insufficient_resources(info, node, self._is_ignored)
        if not reasons:
            return None
        refuse = (
            unresolvable if any(hopeless for _, hopeless in reasons) else unschedulable
        )
        return refuse(self.name, *(reason for reason, _ in reasons))

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The strategy's score over the resources, weighted. An extended resource
        counts only for pods that want it.
        """
        total = weights = 0
        for name, weight in self._weights:
            capacity, requested = node.allocatable.get(name), info.non_zero.get(name, 0)
            if name == "cpu":
                requested += node.non_zero_cpu
            elif name == "memory":
                requested += node.non_zero_memory
            elif requested or name == "ephemeral-storage":
                requested += node.requested.get(name)
            else:
                continue
            if capacity and weight:
                score = self._score_of(requested, capacity)
                if score > 0 or not self._by_ratio:
                    total += score * weight
                    weights += weight
        if not weights:
            return 0
        return floor(total / weights + 0.5) if self._by_ratio else total // weights
