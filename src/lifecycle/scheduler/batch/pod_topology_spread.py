"""The adapter of PodTopologySpread: how many of a kind run in each domain, kept up node
by node.

Constraints look at the pods of every node. Here each node's share of the counts is
remembered; when the node changes, its old share is taken away and its new one added.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import floor
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.scheduler.batch.interface import (
    BatchAdapter,
    ClassFilter,
    ClassScorer,
)
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import ScorePlugin
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    Inclusion,
)
from lifecycle.scheduler.framework.plugins.pod_topology_spread.plugin import (
    IGNORED,
    HardState,
    PodTopologySpread,
    Share,
    SoftState,
    has_all_keys,
)
from lifecycle.scheduler.framework.status import SKIP, Status


class SpreadFilter(ClassFilter):
    """Keeps the hard constraints' counts. A node's class: its domains."""

    def __init__(self, plugin: PodTopologySpread, hard: HardState) -> None:
        super().__init__(plugin)
        self._hard = hard
        self._shares: dict[int, list[Share]] = {}
        self._nodes: dict[tuple[int, str], int] = {}

    def observe(self, position: int, node: NodeInfo) -> None:
        old, new = self._shares.get(position, []), self._hard.shares_of(node)
        self._shares[position] = new
        self._hard.count(new)
        self._hard.count([(i, domain, -number) for i, domain, number in old])
        for shares, sign in ((new, 1), (old, -1)):
            for i, domain, _ in shares:
                left = self._nodes.get((i, domain), 0) + sign
                self._nodes[i, domain] = left
                if not left:
                    del self._nodes[i, domain]
                    self._hard.forget(i, domain)

    def node_class(self, node: NodeInfo) -> Hashable:
        labels = node.labels
        return tuple([labels.get(c.topology_key) for c in self._hard.constraints])


class SpreadScorer(ClassScorer):
    """The default spreading. A node's class: per constraint the number of matching pods
    on the host, or the name of the domain (None for a missing label); and the names of
    the domains, which matter for their number even where the host has no name.
    """

    counts_cluster = True

    def __init__(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo, soft: SoftState
    ) -> None:
        super().__init__(plugin, state)
        self._soft = soft
        spec = info.pod["spec"]
        self._required = required_node_affinity(spec)
        self._tolerations = info.tolerations
        self._zonal = [
            i for i, c in enumerate(soft.constraints) if c.topology_key != HOSTNAME
        ]
        self._shares: dict[int, list[tuple[int, str, int]]] = {}
        self._domain_counts: dict[int, dict[str, int]] = {i: {} for i in self._zonal}

    def node_class(self, info: PodInfo, node: NodeInfo) -> Hashable:
        soft, labels = self._soft, node.labels
        domains = tuple(
            [labels.get(soft.constraints[i].topology_key, "") for i in self._zonal]
        )
        if soft.require_all and not has_all_keys(node, soft.constraints):
            return None, domains
        values = tuple(
            [
                (
                    node.kinds.number(c.selector, soft.namespace)
                    if c.topology_key == HOSTNAME and HOSTNAME in labels
                    else labels.get(c.topology_key)
                )
                for c in soft.constraints
            ]
        )
        return values, domains

    def observe(self, position: int, node: NodeInfo) -> None:
        self._count(self._shares.get(position, ()), -1)
        shares = self._shares[position] = self._shares_of(node)
        self._count(shares, 1)

    def _shares_of(self, node: NodeInfo) -> list[tuple[int, str, int]]:
        """Constraint, domain, and how many of the node's pods count for it."""
        soft = self._soft
        shares = []
        inclusion = Inclusion(node, self._required, self._tolerations)
        for i in self._zonal:
            constraint = soft.constraints[i]
            if constraint.counts(inclusion):
                number = node.kinds.number(constraint.selector, soft.namespace)
                if number:
                    domain = node.labels.get(constraint.topology_key, "")
                    shares.append((i, domain, number))
        return shares

    def _count(self, shares: Sequence[tuple[int, str, int]], sign: int) -> None:
        for i, domain, number in shares:
            counts = self._domain_counts[i]
            counts[domain] = counts.get(domain, 0) + sign * number

    def prepare(self, classes: Sequence[Any], feasible: int) -> None:
        soft = self._soft
        sizes = [feasible] * len(soft.constraints)
        for at, i in enumerate(self._zonal):
            domains = {of_class[at] for _, of_class in classes}
            counts = self._domain_counts[i]
            soft.domain_counts[i] = {
                domain: counts.get(domain, 0) for domain in domains
            }
            sizes[i] = len(domains)
        soft.weigh(sizes)

    def score(self, node_class: Any) -> int:
        values, _ = node_class
        if values is None:
            return IGNORED
        soft = self._soft
        total = 0.0
        for i, value in enumerate(values):
            if value is not None:
                count = value
                if not isinstance(value, int):
                    count = soft.domain_counts[i].get(value, 0)
                total += soft.score_for_count(i, count)
        return floor(total + 0.5)


class PodTopologySpreadAdapter(BatchAdapter):
    """A pod's own hard constraints, or the system's soft ones, which depend on what the
    pod's owners select. Soft ones of the pod's own, and a profile's, are not shared.
    """

    def sign_pod(
        self, plugin: PodTopologySpread, info: PodInfo, snapshot: SharedLister
    ) -> Hashable:
        metadata, spec = info.pod["metadata"], info.pod["spec"]
        own = spec.get("topologySpreadConstraints") or ()
        if plugin.defaults or any(
            constraint["whenUnsatisfiable"] != DO_NOT_SCHEDULE for constraint in own
        ):
            return None
        selector = None if own else plugin.find_selector(info.pod)
        if not own and selector is None:
            return ()
        # labels: the constraints' `matchLabelKeys`, and whether the pod counts itself
        labels = metadata.get("labels") if own else None
        affinity = (spec.get("affinity") or {}).get("nodeAffinity")
        nodes = [spec.get("nodeSelector"), affinity, spec.get("tolerations")]
        text = fast_json.dumps([own, labels, *nodes])
        return metadata["namespace"], selector, text

    def class_filter(
        self,
        plugin: PodTopologySpread,
        state: CycleState,
        info: PodInfo,
        snapshot: SharedLister,
    ) -> ClassFilter | None:
        constraints = plugin.hard_constraints(info.pod)
        if not constraints:
            return None
        hard = HardState(constraints, info.pod)
        state.write("PreFilter" + plugin.name, hard)
        return SpreadFilter(plugin, hard)

    def pre_score(
        self, plugin: Any, state: CycleState, info: PodInfo, s: SharedLister
    ) -> Status | None:
        soft = plugin.soft_state(info.pod)
        if soft is None:
            return SKIP
        state.write("PreScore" + plugin.name, soft)
        return None

    def class_scorer(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo
    ) -> ClassScorer:
        return SpreadScorer(plugin, state, info, state.read("PreScore" + plugin.name))
