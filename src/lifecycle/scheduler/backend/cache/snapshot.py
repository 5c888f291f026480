"""The cluster as one scheduling cycle sees it.

A cycle must not see nodes change under its hands, so it works on a copy. Copying every
node for every pod would be slow; only nodes changed since the last cycle are copied,
found by their generation. `changes` is the log of those copies: who caches something
per node (see `batch/`) reads from where it stopped last time.

Upstream: `pkg/scheduler/backend/cache/snapshot.go` (`Snapshot`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.scheduler.framework.change_log import ChangeLog
from lifecycle.scheduler.framework.node_info import NodeInfo


class Snapshot:
    """Nodes in scheduling order, by name, and those with pods that have
    (anti-)affinity.

    `layout` counts the times the list of nodes changed: positions in `node_info_list`
    mean nothing across layouts. `image_nodes` says on how many nodes an image is.
    """

    def __init__(self) -> None:
        self.node_info_list: list[NodeInfo] = []
        self.node_info_map: dict[str, NodeInfo] = {}
        self.position: dict[str, int] = {}
        self.have_pods_with_affinity: dict[str, NodeInfo] = {}
        self.have_pods_with_required_anti_affinity: dict[str, NodeInfo] = {}
        self.image_nodes: Mapping[str, int] = {}
        self.generation = 0
        self.layout = 0
        self.changes: ChangeLog[int] = ChangeLog()
        """Positions of nodes copied since the layout changed."""

    def __len__(self) -> int:
        return len(self.node_info_list)

    def get(self, name: str) -> NodeInfo | None:
        """The node, or None."""
        return self.node_info_map.get(name)

    def replace(self, info: NodeInfo) -> None:
        """Put a newer copy in the place of a node that is in the list already."""
        position = self.position[info.name]
        self.node_info_list[position] = info
        self.node_info_map[info.name] = info
        self._file(info)
        self.changes.note(position)

    def rebuild(self, infos: list[NodeInfo]) -> None:
        """The list of nodes changed: everything anew."""
        self.node_info_list = infos
        self.node_info_map = {info.name: info for info in infos}
        self.position = {info.name: i for i, info in enumerate(infos)}
        self.have_pods_with_affinity = {}
        self.have_pods_with_required_anti_affinity = {}
        for info in infos:
            self._file(info)
        self.layout += 1
        self.changes = ChangeLog()

    def _file(self, info: NodeInfo) -> None:
        for index, pods in (
            (self.have_pods_with_affinity, info.pods_with_affinity),
            (
                self.have_pods_with_required_anti_affinity,
                info.pods_with_required_anti_affinity,
            ),
        ):
            if pods:
                index[info.name] = info
            elif index:
                index.pop(info.name, None)
