"""Why a pod fits nowhere, where the answers come by the class of a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lifecycle.scheduler.framework.node_info import NodeInfo
from lifecycle.scheduler.framework.node_to_status import NodeToStatus
from lifecycle.scheduler.framework.status import Code, Status


class StatusByClass(NodeToStatus):
    """`classes`: each node's, in the order of the snapshot's nodes; `of_class`: what
    its nodes said; `sizes`: how many they are. `position`: where a node is, by name.
    """

    def __init__(
        self,
        position: Mapping[str, int],
        classes: Sequence[int],
        of_class: Mapping[int, Status],
        sizes: Mapping[int, int],
    ) -> None:
        self._position = position
        self._classes = classes
        self._of_class = of_class
        self._sizes = sizes

    def __getitem__(self, node: str) -> Status:
        return self._of_class[self._classes[self._position[node]]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._position)

    def __len__(self) -> int:
        return len(self._classes)

    def tally(self) -> Iterable[tuple[Status, int]]:
        """Each answer, and how many nodes gave it."""
        return [(self._of_class[number], size) for number, size in self._sizes.items()]

    def positions_for_status_code(
        self, nodes: Sequence[NodeInfo], code: Code
    ) -> Iterator[int]:
        """Which of the nodes have a status with the code."""
        having = {
            number for number, status in self._of_class.items() if status.code is code
        }
        return (i for i, number in enumerate(self._classes) if number in having)
