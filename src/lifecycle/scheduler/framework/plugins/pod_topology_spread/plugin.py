"""PodTopologySpread: pods of a kind spread over hosts, zones, whatever a label says.

*Hard* constraints (`DoNotSchedule`) filter. For each, pods that match are counted per
domain (a value of the topology key); the pod may go where its domain's count, itself
included, exceeds the smallest count by no more than `maxSkew`:

    matching in the domain + (1 if the pod matches itself) - smallest count over all
    domains  ≤  maxSkew

*Soft* constraints (`ScheduleAnyway`) score. A node's raw score, the lower the better,
is

    round( Σ over constraints of  count in the node's domain · ln(number of domains + 2)
    + (maxSkew - 1) )

and is turned round when normalized: 100 · (highest + lowest - score) / highest.

Upstream: `pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`,
`scoring.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor, log

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector
from lifecycle.api.node_selector import required_node_affinity
from lifecycle.api.pods.taints import Tolerations
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    MAX_NODE_SCORE,
    EnqueueExtensions,
    FilterPlugin,
    PreFilterAnswer,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.pod_topology_spread.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    Constraint,
    Inclusion,
    configured_constraints,
    default_constraints,
    own_constraints,
)
from lifecycle.scheduler.framework.status import (
    SKIP,
    Status,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn

ERR_REASON = "node(s) didn't match pod topology spread constraints"
ERR_REASON_NODE_LABEL_NOT_MATCH = ERR_REASON + " (missing required label)"

IGNORED = -1
"""The raw score of a node that lacks a topology label the pod demands."""


Share = tuple[int, str, int]
"""A constraint's place, a domain, and how many of a node's pods count for it."""


class HardState:
    """Matching pods per domain, for each hard constraint of a pod."""

    __slots__ = (
        "_namespace",
        "_required",
        "_smallest",
        "_tolerations",
        "constraints",
        "counts",
    )

    def __init__(self, constraints: tuple[Constraint, ...], pod: Object) -> None:
        self.constraints = constraints
        self.counts: list[dict[str, int]] = [{} for _ in constraints]
        self._smallest: list[int | None] = [None] * len(constraints)
        self._namespace = pod["metadata"]["namespace"]
        self._required = required_node_affinity(pod["spec"])
        self._tolerations = Tolerations(pod["spec"].get("tolerations") or ())

    def clone(self) -> HardState:
        """For a what-if."""
        copy = HardState.__new__(HardState)
        copy.constraints = self.constraints
        copy.counts = [dict(counts) for counts in self.counts]
        copy._smallest = self._smallest.copy()
        copy._namespace = self._namespace
        copy._required = self._required
        copy._tolerations = self._tolerations
        return copy

    def min_match(self, i: int) -> int:
        """The smallest count; 0 while there are fewer domains than `minDomains`."""
        smallest = self._smallest[i]
        if smallest is None:
            counts = self.counts[i]
            enough = len(counts) >= self.constraints[i].min_domains
            smallest = min(counts.values(), default=0) if enough else 0
            self._smallest[i] = smallest
        return smallest

    def shares_of(self, node: NodeInfo) -> list[Share]:
        """What the node's pods add to which domains; 0 also makes a domain."""
        if not has_all_keys(node, self.constraints):
            return []
        inclusion = Inclusion(node, self._required, self._tolerations)
        return [
            (
                i,
                node.labels[constraint.topology_key],
                node.kinds.number(constraint.selector, self._namespace),
            )
            for i, constraint in enumerate(self.constraints)
            if constraint.counts(inclusion)
        ]

    def count(self, shares: Sequence[Share]) -> None:
        """So many more (or less) in these domains."""
        for i, domain, number in shares:
            counts = self.counts[i]
            counts[domain] = counts.get(domain, 0) + number
            self._smallest[i] = None

    def forget(self, i: int, domain: str) -> None:
        """No node is in the domain any more."""
        del self.counts[i][domain]
        self._smallest[i] = None

    def update(self, changed: Object, node: NodeInfo, delta: int) -> None:
        """A pod more (or less) on a node."""
        if changed["metadata"]["namespace"] != self._namespace:
            return
        if not has_all_keys(node, self.constraints):
            return
        inclusion = Inclusion(node, self._required, self._tolerations)
        for i, constraint in enumerate(self.constraints):
            if constraint.selector.matches(
                changed["metadata"].get("labels")
            ) and constraint.counts(inclusion):
                self.count([(i, node.labels[constraint.topology_key], delta)])


class SoftState:
    """What scoring needs of the whole cluster: the constraints, their weights, and
    matching pods per domain (hosts excepted).
    """

    __slots__ = ("constraints", "domain_counts", "namespace", "require_all", "weights")

    def __init__(
        self, constraints: tuple[Constraint, ...], namespace: str, require_all: bool
    ) -> None:
        self.constraints = constraints
        self.namespace = namespace
        self.require_all = require_all
        self.weights: list[float] = []
        self.domain_counts: list[dict[str, int]] = [{} for _ in constraints]

    def weigh(self, domains: Sequence[int]) -> None:
        """Many small domains weigh more, lest few big ones drown them. `domains`: their
        number, per constraint.
        """
        self.weights = [log(number + 2) for number in domains]

    def score_for_count(self, i: int, count: int) -> float:
        """One summand of the formula. Upstream: `scoreForCount`."""
        return count * self.weights[i] + (self.constraints[i].max_skew - 1)


class PodTopologySpread(
    PreFilterPlugin,
    PreFilterExtensions,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ScoreExtensions,
    EnqueueExtensions,
):
    """Filter by hard, score by soft constraints. `find_selector` gives what the pod's
    owners select (see `default_selector`).

    `defaults`: the profile's own list instead of the system's.
    """

    name = "PodTopologySpread"

    def __init__(
        self,
        find_selector: Callable[[Object], Selector | None] | None = None,
        defaults: Sequence[Object] | None = None,
    ) -> None:
        self.find_selector = find_selector or (lambda pod: None)
        self.defaults = defaults

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """Matching pods come or go; nodes come, go, or move to another domain."""
        return {
            ClusterEvent("AssignedPod", "Add"): self._matching_pod,
            ClusterEvent("AssignedPod", "Delete"): self._matching_pod,
            ClusterEvent("AssignedPod", "UpdatePodLabel"): self._matching_pod,
            ClusterEvent("Pod", "UpdatePodLabel"): self._matching_pod,
            ClusterEvent(
                "Pod", "UpdatePodToleration"
            ): self._is_schedulable_after_toleration_added,
            ClusterEvent("Node", "Add"): self._is_schedulable_after_node_change,
            ClusterEvent("Node", "Delete"): self._is_schedulable_after_node_change,
            ClusterEvent(
                "Node", "UpdateNodeLabel"
            ): self._is_schedulable_after_node_change,
            ClusterEvent(
                "Node", "UpdateNodeTaint"
            ): self._is_schedulable_after_node_change,
        }

    def _matching_pod(
        self, info: PodInfo, old: Object | None, new: Object | None
    ) -> bool:
        other = new or old
        if (
            other is None
            or other["metadata"]["namespace"] != info.pod["metadata"]["namespace"]
        ):
            return False
        constraints = self.hard_constraints(info.pod)
        if new is None or old is None:
            return any(
                c.selector.matches(other["metadata"].get("labels")) for c in constraints
            )
        before, after = old["metadata"].get("labels"), new["metadata"].get("labels")
        return any(
            c.selector.matches(before) != c.selector.matches(after) for c in constraints
        )

    def _is_schedulable_after_toleration_added(
        self, info: PodInfo, _old: Object | None, _new: Object | None
    ) -> bool:
        return any(
            constraint.honor_taints for constraint in self.hard_constraints(info.pod)
        )

    def _is_schedulable_after_node_change(
        self, info: PodInfo, old: Object | None, new: Object | None
    ) -> bool:
        constraints = self.hard_constraints(info.pod)
        before, after = (
            (
                None
                if node is None
                else [
                    (node["metadata"].get("labels") or {}).get(c.topology_key)
                    for c in constraints
                ]
            )
            for node in (old, new)
        )
        if before is None or after is None:
            return None not in (before or after or ())
        if (None in before) != (None in after):
            return True
        return None not in after and (
            before != after or _taints_of(old) != _taints_of(new)
        )

    # -- hard constraints --------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Count the matching pods of every domain."""
        constraints = self.hard_constraints(info.pod)
        if not constraints:
            return None, SKIP
        hard = HardState(constraints, info.pod)
        for node in snapshot.node_info_list:
            hard.count(hard.shares_of(node))
        state.write("PreFilter" + self.name, hard)
        return None, None

    def add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> None:
        """One more."""
        state.read("PreFilter" + self.name).update(added.pod, node, 1)

    def remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> None:
        """One less."""
        state.read("PreFilter" + self.name).update(removed.pod, node, -1)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes without the label, and domains that would stick out."""
        hard: HardState = state.read("PreFilter" + self.name)
        labels = info.pod["metadata"].get("labels") or {}
        for i, constraint in enumerate(hard.constraints):
            value = node.labels.get(constraint.topology_key)
            if value is None:
                return unresolvable(self.name, ERR_REASON_NODE_LABEL_NOT_MATCH)
            itself = 1 if constraint.selector.matches(labels) else 0
            skew = hard.counts[i].get(value, 0) + itself - hard.min_match(i)
            if skew > constraint.max_skew:
                return unschedulable(self.name, ERR_REASON)
        return None

    def hard_constraints(self, pod: Object) -> tuple[Constraint, ...]:
        """The pod's, or the profile's for it."""
        if pod["spec"].get("topologySpreadConstraints") or not self.defaults:
            return own_constraints(pod, DO_NOT_SCHEDULE)
        selector = self.find_selector(pod)
        return (
            ()
            if selector is None
            else configured_constraints(self.defaults, DO_NOT_SCHEDULE, selector)
        )

    # -- soft constraints --------------------------------------------------------------

    def soft_state(self, pod: Object) -> SoftState | None:
        """The pod's soft constraints, or the default ones; None without any."""
        namespace = pod["metadata"]["namespace"]
        if pod["spec"].get("topologySpreadConstraints"):
            constraints = own_constraints(pod, SCHEDULE_ANYWAY)
            return SoftState(constraints, namespace, True) if constraints else None
        selector = self.find_selector(pod)
        if selector is None:
            return None
        if self.defaults is None:
            return SoftState(default_constraints(selector), namespace, False)
        constraints = configured_constraints(self.defaults, SCHEDULE_ANYWAY, selector)
        return SoftState(constraints, namespace, True) if constraints else None

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Find the domains among the nodes that are left, and count their pods on all
        nodes.
        """
        soft = self.soft_state(info.pod)
        if soft is None:
            return SKIP
        scored = [
            n
            for n in nodes
            if not soft.require_all or has_all_keys(n, soft.constraints)
        ]
        for i, constraint in enumerate(soft.constraints):
            if constraint.topology_key != HOSTNAME:
                soft.domain_counts[i] = {
                    node.labels.get(constraint.topology_key, ""): 0 for node in scored
                }
        soft.weigh(
            [
                (
                    len(scored)
                    if c.topology_key == HOSTNAME
                    else len(soft.domain_counts[i])
                )
                for i, c in enumerate(soft.constraints)
            ]
        )
        spec = info.pod["spec"]
        required = required_node_affinity(spec)
        tolerations = Tolerations(spec.get("tolerations") or ())
        for node in snapshot.node_info_list:
            if soft.require_all and not has_all_keys(node, soft.constraints):
                continue
            inclusion = Inclusion(node, required, tolerations)
            for i, constraint in enumerate(soft.constraints):
                value = node.labels.get(constraint.topology_key, "")
                if value in soft.domain_counts[i] and constraint.counts(inclusion):
                    number = node.kinds.number(constraint.selector, soft.namespace)
                    soft.domain_counts[i][value] += number
        state.write("PreScore" + self.name, soft)
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The raw score; less is better."""
        soft: SoftState = state.read("PreScore" + self.name)
        if soft.require_all and not has_all_keys(node, soft.constraints):
            return IGNORED
        total = 0.0
        for i, constraint in enumerate(soft.constraints):
            value = node.labels.get(constraint.topology_key)
            if value is None:
                continue
            if constraint.topology_key == HOSTNAME:
                count = node.kinds.number(constraint.selector, soft.namespace)
            else:
                count = soft.domain_counts[i].get(value, 0)
            total += soft.score_for_count(i, count)
        return floor(total + 0.5)

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """Turned round; ignored nodes get nothing."""
        counted = [score for score in scores if score != IGNORED]
        lowest, highest = min(counted, default=0), max(counted, default=0)
        if highest == 0:
            return [0 if score == IGNORED else MAX_NODE_SCORE for score in scores]
        return [
            (
                0
                if score == IGNORED
                else MAX_NODE_SCORE * (highest + lowest - score) // highest
            )
            for score in scores
        ]


def has_all_keys(node: NodeInfo, constraints: tuple[Constraint, ...]) -> bool:
    """Whether the node is in a domain of every constraint."""
    return all(c.topology_key in node.labels for c in constraints)


def _taints_of(node: Object | None) -> Sequence[Object]:
    return ((node or {}).get("spec") or {}).get("taints") or ()
