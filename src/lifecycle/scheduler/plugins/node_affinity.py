"""NodeAffinity: `nodeSelector` and node affinity, required and preferred.

Upstream: `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`, v1.36. Left out: the affinity added by the
profile's configuration.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import orjson

from lifecycle.api.node_selector import required_node_affinity, term_matcher
from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    SKIP,
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    ScorePlugin,
    Status,
    default_normalize_score,
    unresolvable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.snapshot import Snapshot

ERR_REASON = "node(s) didn't match Pod's node affinity/selector"


def _affinity(info: PodInfo) -> Object:
    return (info.pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def _matches_now(info: PodInfo, _old: Object | None, new: Object | None) -> bool:
    required = required_node_affinity(info.pod["spec"])
    if new is None or required is None:
        return True
    return required(new["metadata"]["name"], new["metadata"].get("labels") or {})


class NodeAffinity(FilterPlugin, ScorePlugin):
    """Filter by what is required, score by what is preferred."""

    name = "NodeAffinity"
    weight = 2

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """A node comes or changes its labels, if then it matches."""
        return {ClusterEvent("Node", "Add"): _matches_now, ClusterEvent("Node", "UpdateNodeLabel"): _matches_now}

    def sign_pod(self, info: PodInfo) -> Hashable:
        """Selector and affinity."""
        spec = info.pod["spec"]
        return orjson.dumps([spec.get("nodeSelector"), (spec.get("affinity") or {}).get("nodeAffinity")])

    def pre_filter(self, state: CycleState, info: PodInfo, snapshot: Snapshot) -> Status | None:
        """Nothing to do if nothing is required."""
        required = required_node_affinity(info.pod["spec"])
        if required is None:
            return SKIP
        state.data[self.name] = required
        return None

    def pre_filter_nodes(self, info: PodInfo) -> set[str] | None:
        """The names, if every term demands a name (as daemon pods do)."""
        required = _affinity(info).get("requiredDuringSchedulingIgnoredDuringExecution")
        if required is None:
            return None
        names: set[str] = set()
        for term in required.get("nodeSelectorTerms") or ():
            of_term: set[str] | None = None
            for field in term.get("matchFields") or ():
                if field["key"] == "metadata.name" and field["operator"] == "In":
                    of_term = set(field["values"]) if of_term is None else of_term & set(field["values"])
            if of_term is None:
                return None
            names |= of_term
        return names

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes that do not match."""
        return None if state.data[self.name](node.name, node.labels) else unresolvable(self.name, ERR_REASON)

    def pre_score(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo], snapshot: Snapshot
    ) -> Status | None:
        """Nothing to do without preferences."""
        preferred = _affinity(info).get("preferredDuringSchedulingIgnoredDuringExecution")
        if not preferred:
            return SKIP
        state.data["PreScore" + self.name] = [
            (term["weight"], term_matcher(term["preference"])) for term in preferred if term["weight"]
        ]
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The sum over all matching terms."""
        terms = state.data["PreScore" + self.name]
        return sum(weight for weight, matches in terms if matches(node.name, node.labels))

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """In proportion to the best."""
        return default_normalize_score(scores)
