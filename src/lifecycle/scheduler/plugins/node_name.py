"""NodeName: a pod that names its node runs there or nowhere.

Upstream: `pkg/scheduler/framework/plugins/nodename/node_name.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from lifecycle.scheduler.framework import (
    SKIP,
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    Status,
    always,
    unresolvable,
)
from lifecycle.scheduler.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.snapshot import Snapshot

ERR_REASON = "node(s) didn't match the requested node name"


class NodeName(FilterPlugin):
    """Compares `spec.nodeName`."""

    name = "NodeName"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """A node of that name may come."""
        return {ClusterEvent("Node", "Add"): always}

    def sign_pod(self, info: PodInfo) -> Hashable:
        """The name."""
        return info.pod["spec"].get("nodeName") or ""

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: Snapshot
    ) -> Status | None:
        """Nothing to do without a name (upstream has no PreFilter here; the answer is
        the same).
        """
        return None if info.pod["spec"].get("nodeName") else SKIP

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses every other node."""
        return (
            None
            if info.pod["spec"]["nodeName"] == node.name
            else unresolvable(self.name, ERR_REASON)
        )
