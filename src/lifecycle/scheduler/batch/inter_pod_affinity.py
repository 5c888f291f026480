"""The adapter of InterPodAffinity: what pods say about each other, kept up node by
node.

Whom a pod wants near, whom far, and who wants it near or far, is counted over all
nodes. Here each node's share of the counts is remembered; when the node changes, its
old share is taken away and its new one added. For a node's class only the values of its
labels under the terms' topology keys matter. A key that nobody named before makes all
classes be found anew.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.scheduler.batch.interface import (
    BatchAdapter,
    ClassFilter,
    ClassScorer,
    Observer,
)
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import PreScorePlugin, ScorePlugin
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.plugins.inter_pod_affinity import (
    FilterState,
    InterPodAffinity,
    Pair,
    has_preferred_terms,
)
from lifecycle.scheduler.framework.status import SKIP, Status


class PairCounts(Observer):
    """Numbers per topology key and value, put together from shares of nodes."""

    counts_cluster = True

    def __init__(self) -> None:
        self.keys: tuple[str, ...] = ()
        self._shares: dict[int, list[dict[Pair, int]]] = {}

    def know(self, key: str) -> None:
        """A topology key that tells nodes apart."""
        if key not in self.keys:
            self.keys += (key,)
            self.version += 1

    def node_values(self, node: NodeInfo) -> Hashable:
        """The node's domains, for each key known."""
        labels = node.labels
        return tuple([labels.get(key) for key in self.keys])

    def renew(
        self,
        position: int,
        totals: list[dict[Pair, int]],
        shares: list[dict[Pair, int]],
    ) -> None:
        """Take the old shares of the node at that position out of the totals, put these
        in. What comes to nothing is forgotten.
        """
        for total, old in zip(totals, self._shares.pop(position, ()), strict=False):
            for pair, number in old.items():
                _add(total, pair, -number)
        if not any(shares):
            return
        self._shares[position] = shares
        for total, new in zip(totals, shares, strict=True):
            for pair, number in new.items():
                self.know(pair[0])
                _add(total, pair, number)

    @property
    def shared(self) -> bool:
        """Whether any node has a share."""
        return bool(self._shares)


def _add(total: dict[Pair, int], pair: Pair, number: int) -> None:
    left = total.get(pair, 0) + number
    if left:
        total[pair] = left
    else:
        total.pop(pair, None)


class AffinityFilter(PairCounts, ClassFilter):
    """Keeps the filter's three counts."""

    def __init__(self, plugin: InterPodAffinity, info: PodInfo) -> None:
        PairCounts.__init__(self)
        ClassFilter.__init__(self, plugin)
        self._info, self._labels_of = info, plugin.labels_of
        self.totals = FilterState(info, plugin.labels_of)
        for term in (*info.required_affinity_terms, *info.required_anti_affinity_terms):
            self.know(term.topology_key)

    @property
    def skipped(self) -> bool:
        info = self._info
        own_terms = info.required_affinity_terms or info.required_anti_affinity_terms
        return not own_terms and not self.totals.existing_anti_affinity

    def observe(self, position: int, node: NodeInfo) -> None:
        own = FilterState(self._info, self._labels_of)
        own.count_node(node)
        self.renew(position, _three(self.totals), _three(own))

    def node_class(self, node: NodeInfo) -> Hashable:
        return self.node_values(node)


def _three(state: FilterState) -> list[dict[Pair, int]]:
    return [state.existing_anti_affinity, state.affinity, state.anti_affinity]


class AffinityScorer(PairCounts, ClassScorer):
    """Keeps the sums of weights."""

    def __init__(self, plugin: ScorePlugin, state: CycleState, info: PodInfo) -> None:
        PairCounts.__init__(self)
        ClassScorer.__init__(self, plugin, state)
        self._info = info
        self._weights: dict[Pair, int] = {}

    def observe(self, position: int, node: NodeInfo) -> None:
        own: dict[Pair, int] = {}
        plugin: Any = self.plugin
        plugin.process_node(own, self._info, node)
        self.renew(position, [self._weights], [own])

    @property
    def skipped(self) -> bool:
        return not self.shared

    def node_class(self, info: PodInfo, node: NodeInfo) -> Hashable:
        return self.keys, self.node_values(node)

    def score(self, node_class: Any) -> int:
        pairs = zip(*node_class, strict=True)
        return sum([self._weights.get(pair, 0) for pair in pairs])


class InterPodAffinityAdapter(BatchAdapter):
    """Where nobody has terms, nobody has a say. Otherwise they speak of a pod's labels
    and of its namespace's. Terms that choose namespaces by their labels are not shared:
    those labels change, and no node with them.
    """

    def sign_pod(self, plugin: Any, info: PodInfo, snapshot: SharedLister) -> Hashable:
        if not _concerns(info, snapshot):
            return ()
        terms = (
            *info.required_affinity_terms,
            *info.required_anti_affinity_terms,
            *info.preferred_affinity_terms,
            *info.preferred_anti_affinity_terms,
        )
        if any(not term.namespace_selector.nothing for term in terms):
            return None
        metadata = info.pod["metadata"]
        affinity = info.pod["spec"].get("affinity") or {}
        namespace = metadata["namespace"]
        parts = [
            metadata.get("labels"),
            plugin.labels_of(namespace),
            affinity.get("podAffinity"),
            affinity.get("podAntiAffinity"),
        ]
        return namespace, fast_json.dumps(parts)

    def class_filter(
        self, plugin: Any, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> ClassFilter | None:
        if not _concerns(info, snapshot):
            return None
        counts = AffinityFilter(plugin, info)
        state.write("PreFilter" + plugin.name, counts.totals)
        return counts

    def pre_score(
        self, plugin: PreScorePlugin, state: CycleState, info: PodInfo, s: SharedLister
    ) -> Status | None:
        ignored = getattr(plugin, "ignore_others", False)
        if not _concerns(info, s) or (ignored and not has_preferred_terms(info)):
            return SKIP
        return None

    def class_scorer(
        self, plugin: ScorePlugin, state: CycleState, info: PodInfo
    ) -> ClassScorer:
        return AffinityScorer(plugin, state, info)


def _concerns(info: PodInfo, snapshot: SharedLister) -> bool:
    return info.has_affinity or bool(snapshot.have_pods_with_affinity)
