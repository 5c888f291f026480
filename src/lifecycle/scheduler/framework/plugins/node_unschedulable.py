"""NodeUnschedulable: cordoned nodes get no pods.

Upstream: `pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go`,
v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.taints import tolerates
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
)
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, itself

ERR_REASON = "node(s) were unschedulable"
TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _cordoned(node: Object | None) -> bool:
    return node is not None and bool((node.get("spec") or {}).get("unschedulable"))


def _is_schedulable_after_node_change(
    _info: PodInfo, old: Object | None, new: Object | None
) -> bool:
    return (old is None or _cordoned(old)) and not _cordoned(new)


class NodeUnschedulable(FilterPlugin, EnqueueExtensions):
    """Looks at `spec.unschedulable`, unless the pod tolerates that."""

    name = "NodeUnschedulable"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """Uncordoned, a new node, or the pod learns to tolerate."""
        return {
            ClusterEvent("Node", "Add"): _is_schedulable_after_node_change,
            ClusterEvent("Node", "UpdateNodeTaint"): _is_schedulable_after_node_change,
            ClusterEvent("Pod", "UpdatePodToleration"): itself,
        }

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses cordoned nodes."""
        assert node.node is not None
        if not _cordoned(node.node):
            return None
        if any(
            tolerates(toleration, TAINT)
            for toleration in info.pod["spec"].get("tolerations") or ()
        ):
            return None
        return unresolvable(self.name, ERR_REASON)
