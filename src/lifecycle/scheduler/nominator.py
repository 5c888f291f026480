"""Which nodes are kept for whom.

A pod that pushed others out does not get their place at once: they take their time to
go. Meanwhile the place is kept for it, and whoever is no more important must not slip
in.

Upstream: `pkg/scheduler/backend/queue/nominator.go` (`nominator`), v1.36.
"""

from __future__ import annotations

from lifecycle.scheduler.node_info import PodInfo


class Nominator:
    """Pods that preemption made room for, by the node that is kept for them."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._node_of)

    def add(self, info: PodInfo, node: str) -> None:
        """Keep the node for the pod."""
        self.remove(info.key)
        self._by_node.setdefault(node, {})[info.key] = info
        self._node_of[info.key] = node

    def remove(self, key: str) -> None:
        """The pod needs it no more."""
        node = self._node_of.pop(key, None)
        if node is not None:
            self._by_node[node].pop(key, None)
            if not self._by_node[node]:
                del self._by_node[node]

    def on(self, node: str) -> list[PodInfo]:
        """The pods that the node is kept for."""
        return list(self._by_node.get(node, {}).values())

    def node_of(self, key: str) -> str:
        """The node kept for a pod, or the empty string."""
        return self._node_of.get(key, "")
