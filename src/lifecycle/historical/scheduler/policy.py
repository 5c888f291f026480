"""The Policy file: `--policy-config-file`, until v1.22.

It named the predicates and priorities to use; what it left out altogether came from the
defaults, an empty list meant none. Since v1.14 names were translated into plugins, so
that the last versions with a Policy already decided with plugins. `plugins_of` is that
translation, and with it an old file still says what a profile would have to be.

Upstream: `pkg/scheduler/apis/config/legacy_types.go` (`Policy`), `factory.go`
(`createFromConfig`), `framework/plugins/legacy_registry.go` (`NewLegacyRegistry`),
v1.20; removed in v1.23.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.historical.scheduler.predicates import (
    DEFAULT_PREDICATES,
    MANDATORY,
    PREDICATES,
    pod_fits_on_node,
)
from lifecycle.historical.scheduler.priorities import (
    DEFAULT_PRIORITIES,
    MAX_PRIORITY,
    PRIORITIES,
    prioritize_nodes,
)
from lifecycle.scheduler.config import Profile
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo

FILTERS: Mapping[str, tuple[str, ...]] = {
    "GeneralPredicates": ("NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity"),
    "PodFitsResources": ("NodeResourcesFit",),
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
    "EvenPodsSpread": ("PodTopologySpread",),
}
"""Predicate → filter plugins of today."""

SCORES: Mapping[str, str] = {
    "LeastRequestedPriority": "NodeResourcesFit",
    "MostRequestedPriority": "NodeResourcesFit",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "SelectorSpreadPriority": "PodTopologySpread",
    "InterPodAffinityPriority": "InterPodAffinity",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
    "EvenPodsSpreadPriority": "PodTopologySpread",
}
"""Priority → score plugin of today."""


class PolicyError(ValueError):
    """What the old scheduler died of at its start."""


@dataclass(slots=True)
class Policy:
    """A parsed file."""

    predicates: tuple[str, ...] = DEFAULT_PREDICATES
    priorities: dict[str, int] = field(default_factory=lambda: dict(DEFAULT_PRIORITIES))
    always_check_all: bool = False


def parse_policy(document: str | Mapping[str, Any]) -> Policy:
    """Read a Policy (JSON or decoded). Raises PolicyError."""
    decoded = json.loads(document) if isinstance(document, str) else document
    if decoded.get("kind") != "Policy" or decoded.get("apiVersion", "v1") not in (
        "v1",
        "kubescheduler.config.k8s.io/v1",
    ):
        raise PolicyError(
            f'no kind "{decoded.get("kind", "")}" is registered for version'
            f' "{decoded.get("apiVersion", "")}"'
        )
    policy = Policy(always_check_all=bool(decoded.get("alwaysCheckAllPredicates")))
    if decoded.get("predicates") is not None:
        names = [
            "PodFitsHostPorts" if p["name"] == "PodFitsPorts" else p["name"]
            for p in decoded["predicates"]
        ]
        for name in names:
            if name not in PREDICATES and name not in FILTERS:
                raise PolicyError(
                    f'Invalid configuration: Predicate type not found for "{name}"'
                )
        policy.predicates = tuple(dict.fromkeys((*names, *MANDATORY)))
    if decoded.get("priorities") is not None:
        for priority in decoded["priorities"]:
            name, weight = priority["name"], priority.get("weight", 0)
            if name not in PRIORITIES and name not in SCORES:
                raise PolicyError(
                    f'Invalid configuration: Priority type not found for "{name}"'
                )
            if weight <= 0:
                raise PolicyError(
                    f"Priority {name} should have a positive weight applied to it or it"
                    " has overflown"
                )
        policy.priorities = {p["name"]: p["weight"] for p in decoded["priorities"]}
    return policy


class GenericScheduler:
    """The algorithm of then: predicates, priorities, the highest sum; among equals
    chance. Upstream: `genericScheduler.Schedule`.
    """

    def __init__(
        self, policy: Policy, *, highest: int = MAX_PRIORITY, seed: int | None = None
    ) -> None:
        self.policy = policy
        self._highest = highest
        self._rng = random.Random(seed)

    def find_nodes_that_fit(
        self, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[list[NodeInfo], dict[str, list[str]]]:
        """Nodes that fit, and the reasons against the others."""
        failed: dict[str, list[str]] = {}
        for node in nodes:
            reasons = pod_fits_on_node(
                info,
                node,
                self.policy.predicates,
                always_check_all=self.policy.always_check_all,
            )
            if reasons:
                failed[node.name] = reasons
        return [node for node in nodes if node.name not in failed], failed

    def best(self, info: PodInfo, nodes: Sequence[NodeInfo]) -> list[str]:
        """All nodes with the highest sum; empty if none fits."""
        fit, _ = self.find_nodes_that_fit(info, nodes)
        if len(fit) < 2:
            return [node.name for node in fit]
        ranks = prioritize_nodes(info, fit, self.policy.priorities, self._highest)
        top = max(ranks.values())
        return [name for name, rank in ranks.items() if rank == top]

    def schedule(self, info: PodInfo, nodes: Sequence[NodeInfo]) -> str | None:
        """One of the best."""
        best = self.best(info, nodes)
        return self._rng.choice(best) if best else None


def plugins_of(policy: Policy, scheduler_name: str = "default-scheduler") -> Profile:
    """The profile that a policy comes to: no filters or scores but the ones it
    names.
    """
    filters = list(
        dict.fromkeys(plugin for name in policy.predicates for plugin in FILTERS[name])
    )
    scores: dict[str, int] = {}
    for name, weight in policy.priorities.items():
        if name in SCORES:
            scores[SCORES[name]] = scores.get(SCORES[name], 0) + weight
    profile = Profile(scheduler_name)
    profile.points = {
        "filter": tuple((name, 0) for name in filters),
        "score": tuple(scores.items()),
    }
    if "MostRequestedPriority" in policy.priorities:
        profile.args["NodeResourcesFit"] = {
            "scoringStrategy": {"type": "MostAllocated"}
        }
    return profile
