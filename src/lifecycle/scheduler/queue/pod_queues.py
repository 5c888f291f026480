"""The heap under the active and the back-off queue.

Upstream: `pkg/scheduler/backend/heap/heap.go`, v1.36. Here an entry is not removed from
the middle: it is forgotten in the index, and skipped when it comes up.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

from lifecycle.scheduler.node_info import PodInfo


class QueuedPodInfo:
    """A pod on its way through the queue. `timestamp`: when it was last put in;
    `attempts`: how often it was tried.

    `unschedulable_count`: how often plugins refused it; `consecutive_errors`: how often
    in a row it came back for no plugin's sake. Each has its own back-off.
    """

    __slots__ = (
        "attempts",
        "consecutive_errors",
        "gated",
        "info",
        "initial_timestamp",
        "timestamp",
        "unschedulable_count",
        "unschedulable_plugins",
    )

    def __init__(self, info: PodInfo, now: float) -> None:
        self.info = info
        self.timestamp = now
        self.initial_timestamp = now
        self.attempts = 0
        self.unschedulable_count = 0
        self.consecutive_errors = 0
        self.unschedulable_plugins: set[str] = set()
        self.gated = False

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.info.key


class KeyedHeap:
    """Pods by a sort key, each once. Smaller keys come first; among equals who came
    first.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[object, int, str]] = []
        self._entries: dict[str, tuple[int, QueuedPodInfo]] = {}
        self._order = count()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        return (pod for _, pod in self._entries.values())

    def push(self, pod: QueuedPodInfo, sort_key: object) -> None:
        """Add, or move to another place."""
        order = next(self._order)
        self._entries[pod.key] = (order, pod)
        heapq.heappush(self._heap, (sort_key, order, pod.key))

    def get(self, key: str) -> QueuedPodInfo | None:
        """The entry, or None."""
        entry = self._entries.get(key)
        return entry[1] if entry else None

    def remove(self, key: str) -> QueuedPodInfo | None:
        """Forget; what was there."""
        entry = self._entries.pop(key, None)
        return entry[1] if entry else None

    def peek_key(self) -> object | None:
        """The smallest sort key, or None if empty."""
        self._drop_forgotten()
        return self._heap[0][0] if self._heap else None

    def pop(self) -> QueuedPodInfo | None:
        """The first, or None if empty."""
        self._drop_forgotten()
        if not self._heap:
            return None
        _, _, key = heapq.heappop(self._heap)
        return self._entries.pop(key)[1]

    def _drop_forgotten(self) -> None:
        heap, entries = self._heap, self._entries
        while heap:
            _, order, key = heap[0]
            entry = entries.get(key)
            if entry is not None and entry[0] == order:
                return
            heapq.heappop(heap)
