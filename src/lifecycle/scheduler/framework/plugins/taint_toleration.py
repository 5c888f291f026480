"""TaintToleration: nodes repel pods that do not tolerate them.

`NoSchedule` and `NoExecute` taints rule a node out; each untolerated `PreferNoSchedule`
taint makes it less attractive.

Upstream: `pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go`, v1.36
(whose message no longer names the taint).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.taints import untolerated
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    ScoreExtensions,
    ScorePlugin,
)
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.normalize_score import (
    default_normalize_score,
)
from lifecycle.scheduler.framework.status import Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, itself

ERR_REASON = "node(s) had untolerated taint(s)"
HARD = ("NoSchedule", "NoExecute")


def _repelled(info: PodInfo, taints: Sequence[Object]) -> bool:
    return untolerated(taints, info.tolerations, HARD) is not None


def _is_schedulable_after_node_change(
    info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    before, after = (
        ((node or {}).get("spec") or {}).get("taints") or () for node in (old, new)
    )
    return (old is None or _repelled(info, before)) and not _repelled(info, after)


class TaintToleration(
    FilterPlugin,
    ScorePlugin,
    ScoreExtensions,
    EnqueueExtensions,
):
    """Filter and score by taints."""

    name = "TaintToleration"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A taint goes, a node comes, or the pod learns to tolerate."""
        return {
            ClusterEvent("Node", "Add"): _is_schedulable_after_node_change,
            ClusterEvent("Node", "UpdateNodeTaint"): _is_schedulable_after_node_change,
            ClusterEvent("Pod", "UpdatePodToleration"): itself,
        }

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes with an untolerated hard taint."""
        if not node.taints:
            return None
        return (
            unresolvable(self.name, ERR_REASON)
            if _repelled(info, node.taints)
            else None
        )

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The number of soft taints that the pod does not tolerate."""
        if not node.taints:
            return 0
        return sum(
            taint.get("effect") == "PreferNoSchedule"
            and info.tolerations.first_for(taint) is None
            for taint in node.taints
        )

    def normalize_score(self, state: CycleState, scores: list[int]) -> list[int]:
        """Fewer is better."""
        return default_normalize_score(scores, reverse=True)
