"""Priorities: functions that give each node that is left a number, the sum of which
decides.

A priority was a *map* over nodes and a *reduce* that brought the numbers to 0 … 10 (0 …
100 since v1.15); the weighted sum made the rank. As now, what is requested counts, not
what is used.

Upstream: `pkg/scheduler/algorithm/priorities/` as of v1.17 (`least_requested.go`,
`balanced_resource_allocation.go`, `taint_toleration.go`, `node_affinity.go`). A model:
those that look at other pods are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lifecycle.api.node_selector import term_matcher
from lifecycle.api.pods.taints import Tolerations
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo

MAX_PRIORITY = 10
"""Until v1.14."""

PriorityMap = Callable[[PodInfo, NodeInfo, int], int]
PriorityReduce = Callable[[list[int], int], list[int]]


def _loads(info: PodInfo, node: NodeInfo) -> tuple[tuple[int, int], ...]:
    return (
        (node.non_zero_cpu + info.non_zero.get("cpu", 0), node.allocatable.milli_cpu),
        (
            node.non_zero_memory + info.non_zero.get("memory", 0),
            node.allocatable.memory,
        ),
    )


def least_requested(info: PodInfo, node: NodeInfo, highest: int) -> int:
    """The mean of the free shares of cpu and memory, on a scale up to `highest`."""
    shares = [
        0 if not c or r > c else (c - r) * highest // c for r, c in _loads(info, node)
    ]
    return sum(shares) // 2


def most_requested(info: PodInfo, node: NodeInfo, highest: int) -> int:
    """The opposite: fill one node after the other."""
    return (
        sum(0 if not c or r > c else r * highest // c for r, c in _loads(info, node))
        // 2
    )


def balanced_resource_allocation(info: PodInfo, node: NodeInfo, highest: int) -> int:
    """Best where cpu and memory are used to the same share with the pod on it."""
    cpu, memory = ((r / c if c else 1.0) for r, c in _loads(info, node))
    return 0 if cpu >= 1 or memory >= 1 else int((1 - abs(cpu - memory)) * highest)


def intolerable_taints(info: PodInfo, node: NodeInfo, highest: int) -> int:
    """How many taints would rather not have the pod."""
    tolerations = Tolerations(info.pod["spec"].get("tolerations") or ())
    return sum(
        taint["effect"] == "PreferNoSchedule" and tolerations.first_for(taint) is None
        for taint in node.taints
    )


def preferred_node_affinity(info: PodInfo, node: NodeInfo, highest: int) -> int:
    """The weights of the preferences that the node meets."""
    affinity = (info.pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return sum(
        term["weight"]
        for term in (
            affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        )
        if term["weight"] and term_matcher(term["preference"])(node.name, node.labels)
    )


def _proportional(scores: list[int], highest: int) -> list[int]:
    top = max(scores, default=0)
    return [score * highest // top for score in scores] if top else scores


def _reversed(scores: list[int], highest: int) -> list[int]:
    return [highest - score for score in _proportional(scores, highest)]


def _as_is(scores: list[int], highest: int) -> list[int]:
    return scores


PRIORITIES: Mapping[str, tuple[PriorityMap, PriorityReduce]] = {
    "LeastRequestedPriority": (least_requested, _as_is),
    "MostRequestedPriority": (most_requested, _as_is),
    "BalancedResourceAllocation": (balanced_resource_allocation, _as_is),
    "TaintTolerationPriority": (intolerable_taints, _reversed),
    "NodeAffinityPriority": (preferred_node_affinity, _proportional),
    "EqualPriority": (lambda info, node, highest: 1, _as_is),
}

DEFAULT_PRIORITIES: Mapping[str, int] = {
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
}


def prioritize_nodes(
    info: PodInfo,
    nodes: Sequence[NodeInfo],
    weights: Mapping[str, int],
    highest: int = MAX_PRIORITY,
) -> dict[str, int]:
    """Node → weighted sum."""
    totals = [0] * len(nodes)
    for name, weight in weights.items():
        of_node, reduce = PRIORITIES[name]
        scores = reduce([of_node(info, node, highest) for node in nodes], highest)
        totals = [
            total + score * weight for total, score in zip(totals, scores, strict=True)
        ]
    return {node.name: total for node, total in zip(nodes, totals, strict=True)}
