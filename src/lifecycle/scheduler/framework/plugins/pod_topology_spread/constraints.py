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
from functools import cached_property

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Requirement, Selector, selector_from_label_selector
from lifecycle.api.node_selector import Matcher
from lifecycle.api.pods.taints import Tolerations, untolerated
from lifecycle.scheduler.framework.node_info import NodeInfo

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"


class Inclusion:
    """Whether a pod could run on a node, as far as the policies of constraints ask.
    Each question is answered once, however many constraints there are.
    """

    def __init__(
        self, node: NodeInfo, required: Matcher | None, tolerations: Tolerations
    ) -> None:
        self._node, self._required, self._tolerations = node, required, tolerations

    @cached_property
    def has_affinity(self) -> bool:
        """It is one that the pod's node affinity allows."""
        node, required = self._node, self._required
        return required is None or required(node.name, node.labels)

    @cached_property
    def is_tolerated(self) -> bool:
        """The pod tolerates its taints."""
        effects = ("NoSchedule", "NoExecute")
        return untolerated(self._node.taints, self._tolerations, effects) is None


@dataclass(slots=True, frozen=True)
class Constraint:
    """One constraint, its selector parsed."""

    topology_key: str
    max_skew: int
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False

    def counts(self, node: Inclusion) -> bool:
        """Whether the node's pods count: nodes the pod could not run on anyway do not,
        as the policies say.
        """
        return (not self.honor_affinity or node.has_affinity) and (
            not self.honor_taints or node.is_tolerated
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
