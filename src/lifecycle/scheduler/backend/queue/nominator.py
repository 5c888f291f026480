"""Which nodes are kept for whom.

A pod that pushed others out does not get their place at once: they take their time to
go. Meanwhile the place is kept for it, and whoever is no more important must not slip
in.

Upstream: `pkg/scheduler/backend/queue/nominator.go` (`nominator`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.scheduler.framework.change_log import ChangeLog
from lifecycle.scheduler.framework.node_info import PodInfo


class Nominator:
    """Pods that preemption made room for, by the node that is kept for them."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self.changes: ChangeLog[str] = ChangeLog()
        """Nodes that are kept for somebody else than before, or for nobody."""

    def __bool__(self) -> bool:
        return bool(self._node_of)

    def add_nominated_pod(self, info: PodInfo, node_name: str) -> None:
        """Keep the node for the pod."""
        self.delete_nominated_pod_if_exists(info.key)
        self._by_node.setdefault(node_name, {})[info.key] = info
        self._node_of[info.key] = node_name
        self.changes.note(node_name)

    def delete_nominated_pod_if_exists(self, key: str) -> None:
        """The pod needs it no more."""
        node = self._node_of.pop(key, None)
        if node is not None:
            self._by_node[node].pop(key, None)
            if not self._by_node[node]:
                del self._by_node[node]
            self.changes.note(node)

    @property
    def nodes(self) -> Collection[str]:
        """The nodes that are kept for somebody."""
        return self._by_node.keys()

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]:
        """The pods that the node is kept for."""
        return list(self._by_node.get(node_name, {}).values())

    def nominated_node_of(self, key: str) -> str:
        """The node kept for a pod, or the empty string."""
        return self._node_of.get(key, "")
