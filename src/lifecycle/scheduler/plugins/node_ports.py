"""NodePorts: a host port can be had once per node.

Upstream: `pkg/scheduler/framework/plugins/nodeports/node_ports.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import (
    SKIP,
    ClusterEvent,
    CycleState,
    FilterPlugin,
    QueueingHint,
    Status,
    always,
    unschedulable,
)
from lifecycle.scheduler.node_info import (
    NodeInfo,
    PodInfo,
    had_a_place,
    host_ports,
    ports_conflict,
)
from lifecycle.scheduler.snapshot import Snapshot

ERR_REASON = "node(s) didn't have free ports for the requested pod ports"


def _frees_a_port(info: PodInfo, old: Object | None, _new: Object | None) -> bool:
    if old is None or not had_a_place(old):
        return False
    return ports_conflict(dict.fromkeys(host_ports(old), 1), host_ports(info.pod))


class NodePorts(FilterPlugin):
    """Compares wanted with used host ports."""

    name = "NodePorts"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHint]:
        """A pod that used the port goes, or a node comes."""
        return {
            ClusterEvent("AssignedPod", "Delete"): _frees_a_port,
            ClusterEvent("Node", "Add"): always,
        }

    def sign_pod(self, info: PodInfo) -> Hashable:
        """The wanted ports."""
        return tuple(host_ports(info.pod))

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: Snapshot
    ) -> Status | None:
        """Nothing to do for pods without host ports, that is for nearly all."""
        ports = host_ports(info.pod)
        if not ports:
            return SKIP
        state.data[self.name] = ports
        return None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes where a port is taken."""
        return (
            unschedulable(self.name, ERR_REASON)
            if ports_conflict(node.used_ports, state.data[self.name])
            else None
        )
