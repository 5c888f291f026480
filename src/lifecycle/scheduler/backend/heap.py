"""The heap under the active and the back-off queue.

Upstream: `pkg/scheduler/backend/heap/heap.go`, v1.36. Here an entry is not removed from
the middle: it is forgotten in the index, and skipped when it comes up.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count

from lifecycle.scheduler.framework.types import QueuedPodInfo

LessFunc = Callable[[QueuedPodInfo, QueuedPodInfo], bool]


class _Entry:
    """A pod's place; a forgotten one has no pod. Among equals who came first."""

    __slots__ = ("less", "order", "pod", "queued")

    def __init__(self, less: LessFunc, order: int, pod: QueuedPodInfo) -> None:
        self.less, self.order, self.pod = less, order, pod
        self.queued = True

    def __lt__(self, other: _Entry) -> bool:
        if self.less(self.pod, other.pod):
            return True
        return self.order < other.order and not self.less(other.pod, self.pod)


class Heap:
    """Pods in the order of a less function, each once."""

    def __init__(self, less: LessFunc) -> None:
        self._less = less
        self._heap: list[_Entry] = []
        self._entries: dict[str, _Entry] = {}
        self._order = count()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        return (entry.pod for entry in self._entries.values())

    def push(self, pod: QueuedPodInfo) -> None:
        """Add, or move to another place."""
        self.remove(pod.key)
        entry = self._entries[pod.key] = _Entry(self._less, next(self._order), pod)
        heapq.heappush(self._heap, entry)

    def get(self, key: str) -> QueuedPodInfo | None:
        """The pod, or None."""
        entry = self._entries.get(key)
        return entry.pod if entry else None

    def remove(self, key: str) -> QueuedPodInfo | None:
        """Forget; what was there."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        entry.queued = False
        return entry.pod

    def peek(self) -> QueuedPodInfo | None:
        """The first, or None if empty."""
        heap = self._heap
        while heap and not heap[0].queued:
            heapq.heappop(heap)
        return heap[0].pod if heap else None

    def pop(self) -> QueuedPodInfo | None:
        """The first, which is taken out, or None if empty."""
        pod = self.peek()
        if pod is not None:
            heapq.heappop(self._heap)
            del self._entries[pod.key]
        return pod
