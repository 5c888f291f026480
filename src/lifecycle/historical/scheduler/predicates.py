"""Predicates: functions that say yes or no to a node, and why not.

Each took the pod, something precomputed, and a node, and returned whether it fits with
its reasons. They ran in a fixed order, and by default the first no ended it
(`alwaysCheckAllPredicates` went on).

Upstream: `pkg/scheduler/algorithm/predicates/predicates.go` as of v1.17
(`GeneralPredicates`, `PodToleratesNodeTaints` …); names as in
`pkg/scheduler/framework/plugins/legacy_registry.go`, v1.20. A model: the predicates
about volumes are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.pods.host_ports import host_ports, ports_conflict
from lifecycle.api.pods.taints import Tolerations, tolerates, untolerated
from lifecycle.scheduler.framework.node_info import (
    NodeInfo,
    PodInfo,
)

Predicate = Callable[[PodInfo, NodeInfo], list[str]]
"""The reasons against the node; none if it fits."""


def pod_fits_resources(info: PodInfo, node: NodeInfo) -> list[str]:
    """Requests of everything on the node and of the pod, against what the node has to
    give.
    """
    reasons = (
        ["Too many pods"]
        if len(node.pods) + 1 > node.allocatable.allowed_pod_number
        else []
    )
    reasons += [
        f"Insufficient {name}"
        for name, requested in info.requests.items()
        if requested > 0
        and requested + node.requested.get(name) > node.allocatable.get(name)
    ]
    return reasons


def host_name(info: PodInfo, node: NodeInfo) -> list[str]:
    """A pod that names its node goes there or nowhere."""
    node_name = info.pod["spec"].get("nodeName")
    return (
        []
        if not node_name or node_name == node.name
        else ["node(s) didn't match the requested hostname"]
    )


def pod_fits_host_ports(info: PodInfo, node: NodeInfo) -> list[str]:
    """A port of the host can be had once."""
    taken = ports_conflict(node.used_ports, host_ports(info.pod))
    return (
        ["node(s) didn't have free ports for the requested pod ports"] if taken else []
    )


def match_node_selector(info: PodInfo, node: NodeInfo) -> list[str]:
    """Selector and required affinity."""
    matcher = required_node_affinity(info.pod["spec"])
    return (
        []
        if matcher is None or matcher(node.name, node.labels)
        else ["node(s) didn't match node selector"]
    )


def general_predicates(info: PodInfo, node: NodeInfo) -> list[str]:
    """Four in one, all of them asked: also what a kubelet checks when it admits a
    pod.
    """
    parts = (pod_fits_resources, host_name, pod_fits_host_ports, match_node_selector)
    return [reason for part in parts for reason in part(info, node)]


def pod_tolerates_node_taints(info: PodInfo, node: NodeInfo) -> list[str]:
    """Every taint that keeps new pods away must be tolerated."""
    taint = untolerated(
        node.taints,
        Tolerations(info.pod["spec"].get("tolerations") or ()),
        ("NoSchedule", "NoExecute"),
    )
    return [] if taint is None else ["node(s) had taints that the pod didn't tolerate"]


def check_node_unschedulable(info: PodInfo, node: NodeInfo) -> list[str]:
    """A cordoned node takes none but those who tolerate that."""
    cordoned = bool(((node.node or {}).get("spec") or {}).get("unschedulable"))
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    tolerated = any(
        tolerates(t, taint) for t in info.pod["spec"].get("tolerations") or ()
    )
    return ["node(s) were unschedulable"] if cordoned and not tolerated else []


PREDICATES: Mapping[str, Predicate] = {
    "CheckNodeUnschedulable": check_node_unschedulable,
    "GeneralPredicates": general_predicates,
    "HostName": host_name,
    "PodFitsHostPorts": pod_fits_host_ports,
    "MatchNodeSelector": match_node_selector,
    "PodFitsResources": pod_fits_resources,
    "PodToleratesNodeTaints": pod_tolerates_node_taints,
}
"""In the order they ran."""

MANDATORY = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
"""Asked whatever a policy says."""

DEFAULT_PREDICATES = (
    "CheckNodeUnschedulable",
    "GeneralPredicates",
    "PodToleratesNodeTaints",
)


def pod_fits_on_node(
    info: PodInfo,
    node: NodeInfo,
    names: Sequence[str],
    *,
    always_check_all: bool = False,
) -> list[str]:
    """All reasons of the first predicate that says no, or of all."""
    required = {*names, *MANDATORY}
    reasons: list[str] = []
    for name, predicate in PREDICATES.items():
        if name in required:
            reasons += predicate(info, node)
            if reasons and not always_check_all:
                break
    return reasons
