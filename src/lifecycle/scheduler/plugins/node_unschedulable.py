"""NodeUnschedulable: cordoned nodes get no pods.

Upstream: `pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import orjson

from lifecycle.api.taints import tolerates
from lifecycle.scheduler.framework import (
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    Status,
    always,
    unresolvable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo

ERR_REASON = "node(s) were unschedulable"
TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


class NodeUnschedulable(FilterPlugin):
    """Looks at `spec.unschedulable`, unless the pod tolerates that."""

    name = "NodeUnschedulable"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """Uncordoned, or a new node."""
        return {ClusterEvent("Node", "Add"): always, ClusterEvent("Node", "UpdateNodeTaint"): always}

    def sign_pod(self, info: PodInfo) -> Hashable:
        """The tolerations."""
        return orjson.dumps(info.pod["spec"].get("tolerations"))

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses cordoned nodes."""
        assert node.node is not None
        if not node.node["spec"].get("unschedulable"):
            return None
        if any(tolerates(toleration, TAINT) for toleration in info.pod["spec"].get("tolerations") or ()):
            return None
        return unresolvable(self.name, ERR_REASON)
