"""NodePorts: a host port can be had once per node.

Upstream: `pkg/scheduler/framework/plugins/nodeports/node_ports.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.host_ports import host_ports, ports_conflict
from lifecycle.scheduler.framework.cycle_state import CycleState
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    PreFilterAnswer,
    PreFilterPlugin,
)
from lifecycle.scheduler.framework.listers import SharedLister
from lifecycle.scheduler.framework.node_info import (
    NodeInfo,
    PodInfo,
    had_a_place,
)
from lifecycle.scheduler.framework.status import SKIP, Status, unschedulable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, always

ERR_REASON = "node(s) didn't have free ports for the requested pod ports"


def _is_schedulable_after_pod_deleted(
    info: PodInfo, old: Object | None, _new: Object | None
) -> bool:
    if old is None or not had_a_place(old):
        return False
    return ports_conflict(dict.fromkeys(host_ports(old), 1), host_ports(info.pod))


class NodePorts(PreFilterPlugin, FilterPlugin, EnqueueExtensions):
    """Compares wanted with used host ports."""

    name = "NodePorts"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """A pod that used the port goes, or a node comes."""
        return {
            ClusterEvent("AssignedPod", "Delete"): _is_schedulable_after_pod_deleted,
            ClusterEvent("Node", "Add"): always,
        }

    def pre_filter(
        self, state: CycleState, info: PodInfo, snapshot: SharedLister
    ) -> PreFilterAnswer:
        """Nothing to do for pods without host ports, that is for nearly all."""
        ports = host_ports(info.pod)
        if not ports:
            return None, SKIP
        state.write(self.name, ports)
        return None, None

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status | None:
        """Refuses nodes where a port is taken."""
        return (
            unschedulable(self.name, ERR_REASON)
            if ports_conflict(node.used_ports, state.read(self.name))
            else None
        )
