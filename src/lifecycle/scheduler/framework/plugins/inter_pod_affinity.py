"""InterPodAffinity: pods that want to be near others, or far from them.

Nearness is a domain: nodes with the same value of the term's topology key. Three counts
are taken once per pod, over all nodes: existing pods whose anti-affinity forbids the
new one; existing pods that the new one wants near; existing pods that it wants far.
Filtering a node then only looks its labels up. Scoring adds the weights of all
preferred terms, of the new pod about others and of others about the new pod.

Upstream: `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`, `scoring.go`,
v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lifecycle.api.http.wire import Object
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
from lifecycle.scheduler.framework.node_info import AffinityTerm, NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import (
    SKIP,
    Status,
    unresolvable,
    unschedulable,
)
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn

ERR_REASON_EXISTING_ANTI_AFFINITY = (
    "node(s) didn't satisfy existing pods anti-affinity rules"
)
ERR_REASON_AFFINITY = "node(s) didn't match pod affinity rules"
ERR_REASON_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
HARD_POD_AFFINITY_WEIGHT = 1

Pair = tuple[str, str]
"""Topology key and value."""

NamespaceLabels = Callable[[str], dict[str, str]]


def has_preferred_terms(info: PodInfo) -> bool:
    """Whether the pod itself would rather be near or far from others."""
    return bool(info.preferred_affinity_terms or info.preferred_anti_affinity_terms)


def _count(
    counts: dict[Pair, int], node: NodeInfo, term: AffinityTerm, delta: int
) -> None:
    value = node.labels.get(term.topology_key)
    if value is not None:
        pair = (term.topology_key, value)
        left = counts.get(pair, 0) + delta
        if left:
            counts[pair] = left
        else:
            counts.pop(pair, None)


class FilterState:
    """The three counts, per domain."""

    __slots__ = (
        "affinity",
        "anti_affinity",
        "existing_anti_affinity",
        "info",
        "labels_of",
    )

    def __init__(self, info: PodInfo, labels_of: NamespaceLabels) -> None:
        self.info = info
        self.labels_of = labels_of
        self.existing_anti_affinity: dict[Pair, int] = {}
        self.affinity: dict[Pair, int] = {}
        self.anti_affinity: dict[Pair, int] = {}

    def clone(self) -> FilterState:
        """For a what-if."""
        copy = FilterState(self.info, self.labels_of)
        copy.existing_anti_affinity = dict(self.existing_anti_affinity)
        copy.affinity = dict(self.affinity)
        copy.anti_affinity = dict(self.anti_affinity)
        return copy

    def count_node(self, node: NodeInfo) -> None:
        """All pods of a node, as far as somebody's terms speak of them."""
        for other in node.pods_with_required_anti_affinity.values():
            self.count_existing(other, node, 1)
        info = self.info
        if info.required_affinity_terms or info.required_anti_affinity_terms:
            for other in node.pods.values():
                self.count_incoming(other, node, 1)

    def count_existing(self, other: PodInfo, node: NodeInfo, delta: int) -> None:
        """What an existing pod's anti-affinity says about the new one."""
        pod = self.info.pod
        terms = other.required_anti_affinity_about(pod)
        labels = self.labels_of(pod["metadata"]["namespace"]) if terms else {}
        for term in terms:
            if term.matches(pod, labels):
                _count(self.existing_anti_affinity, node, term, delta)

    def count_incoming(self, other: PodInfo, node: NodeInfo, delta: int) -> None:
        """What the new pod's terms say about an existing one. An affinity counts only
        if all its terms match.
        """
        info = self.info
        labels = self.labels_of(other.pod["metadata"]["namespace"])
        terms = info.required_affinity_terms
        if terms and all(term.matches(other.pod, labels) for term in terms):
            for term in terms:
                _count(self.affinity, node, term, delta)
        for term in info.required_anti_affinity_about(other.pod):
            if term.matches(other.pod, labels):
                _count(self.anti_affinity, node, term, delta)


class InterPodAffinity(
    PreFilterPlugin,
    PreFilterExtensions,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ScoreExtensions,
    EnqueueExtensions,
):
    """Filter by required, score by preferred terms. `labels_of` gives a namespace's
    labels.

    `hard_weight`: what another pod's required affinity for this one adds to the score.
    With `ignore_others`, terms of pods already there count only for a pod that has
    terms itself.
    """

    name = "InterPodAffinity"

    def __init__(
        self,
        labels_of: NamespaceLabels | None = None,
        hard_weight: int = HARD_POD_AFFINITY_WEIGHT,
        ignore_others: bool = False,
    ) -> None:
        self._hard_weight, self.ignore_others = hard_weight, ignore_others
        self.labels_of: NamespaceLabels = labels_of or (lambda namespace: {})

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """Pods that terms speak of come or go; nodes come or move to another domain."""
        return {
            ClusterEvent("AssignedPod", "Add"): self._is_schedulable_after_pod_added,
            ClusterEvent(
                "AssignedPod", "UpdatePodLabel"
            ): self._is_schedulable_after_pod_updated,
            ClusterEvent(
                "AssignedPod", "Delete"
            ): self._is_schedulable_after_pod_deleted,
            ClusterEvent("Node", "Add"): _is_schedulable_after_node_change,
            ClusterEvent("Node", "UpdateNodeLabel"): _is_schedulable_after_node_change,
        }

    def _all_match(self, terms: Sequence[AffinityTerm], pod: Object) -> bool:
        """Whether there are terms, and this one pod satisfies them all."""
        labels = self.labels_of(pod["metadata"]["namespace"])
        return bool(terms) and all(term.matches(pod, labels) for term in terms)

    def _is_schedulable_after_pod_added(
        self, info: PodInfo, _old: Object | None, new: Object | None
    ) -> bool:
        return new is not None and self._all_match(info.required_affinity_terms, new)

    def _is_schedulable_after_pod_updated(
        self, info: PodInfo, old: Object | None, new: Object | None
    ) -> bool:
        if old is None or new is None:
            return False
        near, far = info.required_affinity_terms, info.required_anti_affinity_terms
        if not self._all_match(near, old) and self._all_match(near, new):
            return True
        return self._all_match(far, old) and not self._all_match(far, new)

    def _is_schedulable_after_pod_deleted(
        self, info: PodInfo, old: Object | None, _new: Object | None
    ) -> bool:
        if old is None:
            return False
        labels = self.labels_of(old["metadata"]["namespace"])
        if any(term.matches(old, labels) for term in info.required_anti_affinity_terms):
            return True
        own = self.labels_of(info.pod["metadata"]["namespace"])
        return any(
            term.matches(info.pod, own)
            for term in PodInfo(old).required_anti_affinity_terms
        )

    # -- required ----------------------------------------------------------------------

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Take the three counts; SKIP if nobody has anything to say."""
        filter_state = FilterState(info, self.labels_of)
        own_terms = info.required_affinity_terms or info.required_anti_affinity_terms
        some = snapshot.have_pods_with_required_anti_affinity.values()
        for node in snapshot.node_info_list if own_terms else some:
            filter_state.count_node(node)
        if not own_terms and not filter_state.existing_anti_affinity:
            return None, SKIP
        state.write("PreFilter" + self.name, filter_state)
        return None, None

    def add_pod(
        self, state: CycleState, info: PodInfo, added: PodInfo, node: NodeInfo
    ) -> None:
        """One more."""
        filter_state: FilterState = state.read("PreFilter" + self.name)
        filter_state.count_existing(added, node, 1)
        filter_state.count_incoming(added, node, 1)

    def remove_pod(
        self, state: CycleState, info: PodInfo, removed: PodInfo, node: NodeInfo
    ) -> None:
        """One less."""
        filter_state: FilterState = state.read("PreFilter" + self.name)
        filter_state.count_existing(removed, node, -1)
        filter_state.count_incoming(removed, node, -1)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Affinity first: no eviction can help against a missing friend."""
        filter_state: FilterState = state.read("PreFilter" + self.name)
        if not self._affinity_satisfied(filter_state, node):
            return unresolvable(self.name, ERR_REASON_AFFINITY)
        labels = node.labels
        for term in info.required_anti_affinity_terms:
            value = labels.get(term.topology_key)
            if (
                value is not None
                and filter_state.anti_affinity.get((term.topology_key, value), 0) > 0
            ):
                return unschedulable(self.name, ERR_REASON_ANTI_AFFINITY)
        existing = filter_state.existing_anti_affinity
        if existing and any(existing.get(pair, 0) > 0 for pair in labels.items()):
            return unschedulable(self.name, ERR_REASON_EXISTING_ANTI_AFFINITY)
        return None

    def _affinity_satisfied(self, filter_state: FilterState, node: NodeInfo) -> bool:
        info, labels = filter_state.info, node.labels
        exist = True
        for term in info.required_affinity_terms:
            value = labels.get(term.topology_key)
            if value is None:
                return False
            if filter_state.affinity.get((term.topology_key, value), 0) <= 0:
                exist = False
        if exist:
            return True
        # the first pod of a group that wants its own kind near: nobody is there yet,
        # and it matches itself
        own = self.labels_of(info.pod["metadata"]["namespace"])
        return not filter_state.affinity and all(
            term.matches(info.pod, own) for term in info.required_affinity_terms
        )

    # -- preferred ---------------------------------------------------------------------

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Add up the weights per domain; SKIP if there are none."""
        own_terms = has_preferred_terms(info)
        if self.ignore_others and not own_terms:
            return SKIP
        weights: dict[Pair, int] = {}
        some = snapshot.have_pods_with_affinity.values()
        for node in snapshot.node_info_list if own_terms else some:
            self.process_node(weights, info, node)
        if not weights:
            return SKIP
        state.write("PreScore" + self.name, weights)
        return None

    def process_node(
        self, weights: dict[Pair, int], info: PodInfo, node: NodeInfo
    ) -> None:
        """Add what a node's pods say about the new one, and it about them."""
        if not node.labels:
            return
        own_labels = self.labels_of(info.pod["metadata"]["namespace"])
        others = node.pods if has_preferred_terms(info) else node.pods_with_affinity
        for other in others.values():
            self._process_existing_pod(weights, info, own_labels, other, node)

    def _process_existing_pod(
        self,
        weights: dict[Pair, int],
        info: PodInfo,
        own_labels: dict[str, str],
        other: PodInfo,
        node: NodeInfo,
    ) -> None:
        pod = info.pod
        if has_preferred_terms(info):
            labels = self.labels_of(other.pod["metadata"]["namespace"])
            _add(weights, node, info.preferred_affinity_terms, other.pod, labels, 1)
            _add(
                weights, node, info.preferred_anti_affinity_terms, other.pod, labels, -1
            )
        if other.has_affinity:
            for term in other.required_affinity_terms if self._hard_weight else ():
                if term.matches(pod, own_labels):
                    _process_term(weights, node, term.topology_key, self._hard_weight)
            _add(weights, node, other.preferred_affinity_terms, pod, own_labels, 1)
            _add(
                weights, node, other.preferred_anti_affinity_terms, pod, own_labels, -1
            )

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The weights of all domains the node is in; may be negative."""
        return sum(
            weight
            for (key, value), weight in state.read("PreScore" + self.name).items()
            if node.labels.get(key) == value
        )

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """The lowest becomes 0, the highest 100; all the same: nobody is better."""
        lowest, highest = min(scores, default=0), max(scores, default=0)
        if highest == lowest:
            return [0] * len(scores)
        return [
            int(MAX_NODE_SCORE * ((score - lowest) / (highest - lowest)))
            for score in scores
        ]


def _is_schedulable_after_node_change(
    info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    """The hint for nodes: one came that has a domain, or one that is in another domain
    than before.
    """
    if new is None or not (
        info.required_affinity_terms or info.required_anti_affinity_terms
    ):
        return True  # others' terms speak of it: who knows
    if old is None and info.required_anti_affinity_terms:
        return True
    before, after = (
        (node or {"metadata": {}})["metadata"].get("labels") or {}
        for node in (old, new)
    )
    for term in info.required_affinity_terms:
        key = term.topology_key
        if key in after and before.get(key) != after[key]:
            return True
    return any(
        term.topology_key in before
        and before[term.topology_key] != after.get(term.topology_key)
        for term in info.required_anti_affinity_terms
    )


def _process_term(
    weights: dict[Pair, int], node: NodeInfo, key: str, weight: int
) -> None:
    value = node.labels.get(key)
    if value is not None:
        weights[key, value] = weights.get((key, value), 0) + weight


def _add(
    weights: dict[Pair, int],
    node: NodeInfo,
    terms: Iterable[AffinityTerm],
    pod: Object,
    namespace_labels: dict[str, str],
    sign: int,
) -> None:
    for term in terms:
        if term.matches(pod, namespace_labels):
            _process_term(weights, node, term.topology_key, sign * term.weight)
