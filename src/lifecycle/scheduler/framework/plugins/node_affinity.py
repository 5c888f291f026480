"""NodeAffinity: `nodeSelector` and node affinity, required and preferred.

Upstream: `pkg/scheduler/framework/plugins/nodeaffinity/node_affinity.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.node_selector import Matcher, required_node_affinity, term_matcher
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterAnswer,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScoreExtensions,
    ScorePlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.normalize_score import (
    default_normalize_score,
)
from lifecycle.scheduler.framework.status import SKIP, Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn

ERR_REASON = "node(s) didn't match Pod's node affinity/selector"
ERR_REASON_CONFLICT = "pod affinity terms conflict"
ERR_REASON_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"


def _affinity(info: PodInfo) -> Object:
    return (info.pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def _matches(required: Matcher, node: Object) -> bool:
    return required(node["metadata"]["name"], node["metadata"].get("labels") or {})


def _weighted(preferred: Sequence[Object] | None) -> list[tuple[int, Matcher]]:
    return [
        (term["weight"], term_matcher(term["preference"]))
        for term in preferred or ()
        if term["weight"]
    ]


def _node_names(info: PodInfo) -> frozenset[str] | None:
    """The names, if every term demands a name (as daemon pods do)."""
    required = _affinity(info).get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None or not required.get("nodeSelectorTerms"):
        return None
    names: frozenset[str] = frozenset()
    for term in required["nodeSelectorTerms"]:
        of_term: frozenset[str] | None = None
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field["operator"] == "In":
                values = frozenset(field["values"])
                of_term = values if of_term is None else of_term & values
        if of_term is None:
            return None
        names |= of_term
    return names


class NodeAffinity(
    PreFilterPlugin,
    FilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    ScoreExtensions,
    EnqueueExtensions,
):
    """Filter by what is required, score by what is preferred. `added`: node affinity
    that the profile asks of all its pods.
    """

    name = "NodeAffinity"

    def __init__(self, added: Object | None = None) -> None:
        added = added or {}
        self._enforced = required_node_affinity({"affinity": {"nodeAffinity": added}})
        self._added_preferences = _weighted(
            added.get("preferredDuringSchedulingIgnoredDuringExecution")
        )

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A node comes or changes its labels, if then it matches."""
        return {
            ClusterEvent("Node", "Add"): self._is_schedulable_after_node_change,
            ClusterEvent(
                "Node", "UpdateNodeLabel"
            ): self._is_schedulable_after_node_change,
        }

    def _is_schedulable_after_node_change(
        self, info: PodInfo, old: Object | None, new: Object | None
    ) -> bool:
        if new is None or (
            self._enforced is not None and not _matches(self._enforced, new)
        ):
            return new is None
        required = required_node_affinity(info.pod["spec"])
        if required is None:
            return True
        return _matches(required, new) and not (
            self._enforced is None and old is not None and _matches(required, old)
        )

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Nothing to do if nothing is required."""
        required = required_node_affinity(info.pod["spec"])
        if required is None and self._enforced is None:
            return None, SKIP
        names = _node_names(info)
        if names is not None and not names:
            return None, unresolvable(self.name, ERR_REASON_CONFLICT)
        state.write(self.name, required)
        return PreFilterResult(names), None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes that do not match."""
        if self._enforced is not None and not self._enforced(node.name, node.labels):
            return unresolvable(self.name, ERR_REASON_ENFORCED)
        required = state.read(self.name)
        if required is None or required(node.name, node.labels):
            return None
        return unresolvable(self.name, ERR_REASON)

    def pre_score(
        self,
        state: CycleState,
        info: PodInfo,
        nodes: Sequence[NodeInfo],
        snapshot: SharedLister,
    ) -> Status | None:
        """Nothing to do without preferences."""
        preferred = _affinity(info).get(
            "preferredDuringSchedulingIgnoredDuringExecution"
        )
        if not preferred and not self._added_preferences:
            return SKIP
        state.write(
            "PreScore" + self.name,
            [
                *self._added_preferences,
                *_weighted(preferred),
            ],
        )
        return None

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The sum over all matching terms."""
        terms = state.read("PreScore" + self.name)
        return sum(
            weight for weight, matches in terms if matches(node.name, node.labels)
        )

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """In proportion to the best."""
        return default_normalize_score(scores)
