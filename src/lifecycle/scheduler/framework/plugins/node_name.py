"""NodeName: a pod that names its node runs there or nowhere.

Upstream: `pkg/scheduler/framework/plugins/nodename/node_name.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
)
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.status import Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, always

ERR_REASON = "node(s) didn't match the requested node name"


class NodeName(FilterPlugin, EnqueueExtensions):
    """Compares `spec.nodeName`."""

    name = "NodeName"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A node of that name may come."""
        return {ClusterEvent("Node", "Add"): always}

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses every other node."""
        name = info.pod["spec"].get("nodeName")
        return (
            None
            if name in (None, "", node.name)
            else unresolvable(self.name, ERR_REASON)
        )
