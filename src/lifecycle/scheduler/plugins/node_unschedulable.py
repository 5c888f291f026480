"""NodeUnschedulable: cordoned nodes get no pods.

Upstream: `pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go`,
v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import orjson

from lifecycle.api.taints import tolerates
from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    Status,
    itself,
    unresolvable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo

ERR_REASON = "node(s) were unschedulable"
TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _cordoned(node: Object | None) -> bool:
    return node is not None and bool((node.get("spec") or {}).get("unschedulable"))


def _uncordoned(_info: PodInfo, old: Object | None, new: Object | None) -> bool:
    return (old is None or _cordoned(old)) and not _cordoned(new)


class NodeUnschedulable(FilterPlugin):
    """Looks at `spec.unschedulable`, unless the pod tolerates that."""

    name = "NodeUnschedulable"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """Uncordoned, a new node, or the pod learns to tolerate."""
        return {
            ClusterEvent("Node", "Add"): _uncordoned,
            ClusterEvent("Node", "UpdateNodeTaint"): _uncordoned,
            ClusterEvent("Pod", "UpdatePodToleration"): itself,
        }

    def sign_pod(self, info: PodInfo) -> Hashable:
        """The tolerations."""
        return orjson.dumps(info.pod["spec"].get("tolerations"))

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
