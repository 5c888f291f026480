"""Topology spread constraints: a pod's own, or the ones it gets by default.

A pod that says nothing about spreading, but belongs to a Service, ReplicaSet,
ReplicationController or StatefulSet, is spread softly over hosts (skew 3) and zones
(skew 5), counting the pods that those owners select. That is why three replicas land on
different nodes though nobody asked.

Upstream: `pkg/scheduler/framework/plugins/podtopologyspread/common.go`
(`buildDefaultConstraints`, `matchNodeInclusionPolicies`), `plugin.go`
(`systemDefaultConstraints`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Requirement, Selector, selector_from_label_selector
from lifecycle.api.node_selector import Matcher
from lifecycle.api.pods.taints import untolerated
from lifecycle.scheduler.framework.node_info import NodeInfo

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"


@dataclass(slots=True, frozen=True)
class Constraint:
    """One constraint, its selector parsed."""

    topology_key: str
    max_skew: int
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def counts_node(
        self, node: NodeInfo, required: Matcher | None, tolerations: list[Object]
    ) -> bool:
        """Whether the node's pods count: nodes the pod could not run on anyway do not,
        as the policies say.
        """
        if (
            self.honor_affinity
            and required is not None
            and not required(node.name, node.labels)
        ):
            return False
        return (
            not self.honor_taints
            or untolerated(node.taints, tolerations, ("NoSchedule", "NoExecute"))
            is None
        )


def own_constraints(pod: Object, action: str) -> tuple[Constraint, ...]:
    """The pod's constraints with that `whenUnsatisfiable`; `matchLabelKeys` narrow the
    selector to the pod's own values.
    """
    labels = pod["metadata"].get("labels") or {}
    return _parsed(pod["spec"].get("topologySpreadConstraints") or (), action, labels)


def configured_constraints(
    items: Sequence[Object], action: str, selector: Selector
) -> tuple[Constraint, ...]:
    """A profile's default constraints with that `whenUnsatisfiable`, for a pod whose
    owners select with `selector`.
    """
    return tuple(
        replace(constraint, selector=selector)
        for constraint in _parsed(items, action, {})
    )


def _parsed(
    items: Sequence[Object], action: str, labels: Mapping[str, str]
) -> tuple[Constraint, ...]:
    constraints = []
    for item in items:
        if item["whenUnsatisfiable"] != action:
            continue
        selector = selector_from_label_selector(item.get("labelSelector"))
        keys = [key for key in item.get("matchLabelKeys") or () if key in labels]
        if keys:
            more = [Requirement(key, "in", (labels[key],)) for key in keys]
            selector = Selector(
                [*selector.requirements, *more], nothing=selector.nothing
            )
        constraints.append(
            Constraint(
                item["topologyKey"],
                item["maxSkew"],
                selector,
                item.get("minDomains") or 1,
                (item.get("nodeAffinityPolicy") or "Honor") == "Honor",
                item.get("nodeTaintsPolicy") == "Honor",
            )
        )
    return tuple(constraints)


def default_constraints(selector: Selector) -> tuple[Constraint, ...]:
    """Upstream's system defaults, for a pod whose owners select with `selector`."""
    return (Constraint(HOSTNAME, 3, selector), Constraint(ZONE, 5, selector))
