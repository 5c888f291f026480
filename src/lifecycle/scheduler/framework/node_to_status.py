"""Why a pod fits nowhere, node by node.

Two ask: the message that users read (`3 Insufficient cpu`) wants each answer and how
many nodes gave it; preemption wants the nodes whose answer evictions could change.
Neither needs a list of all nodes, and where the answers come by the class of a node
(see `batch/`), none is made.

Upstream: `pkg/scheduler/framework/types.go` (`NodeToStatus`), v1.36.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lifecycle.scheduler.framework.node_info import NodeInfo
from lifecycle.scheduler.framework.status import Code, Status


class NodeToStatus(Mapping[str, Status]):
    """By the node's name what it said. Who was not looked at is not in it."""

    @abstractmethod
    def tally(self) -> Iterable[tuple[Status, int]]:
        """Each answer, and how many nodes gave it; the same may come again."""

    @abstractmethod
    def positions_for_status_code(
        self, nodes: Sequence[NodeInfo], code: Code
    ) -> Iterator[int]:
        """Which of the nodes have a status with the code. Upstream:
        `NodesForStatusCode`.
        """


class StatusByName(NodeToStatus):
    """The answers as they were given, one by one."""

    def __init__(self, by_name: Mapping[str, Status] | None = None) -> None:
        self._by_name = dict(by_name or {})

    def set(self, node: str, status: Status) -> None:
        """A node was ruled out."""
        self._by_name[node] = status

    def __getitem__(self, node: str) -> Status:
        return self._by_name[node]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def tally(self) -> Iterable[tuple[Status, int]]:
        """Each node's answer."""
        return [(status, 1) for status in self._by_name.values()]

    def positions_for_status_code(
        self, nodes: Sequence[NodeInfo], code: Code
    ) -> Iterator[int]:
        """Which of the nodes have a status with the code."""
        for position, node in enumerate(nodes):
            status = self._by_name.get(node.name)
            if status is not None and status.code is code:
                yield position
