"""PrioritySort: higher priority first, then who waited longer.

Upstream: `pkg/scheduler/framework/plugins/queuesort/priority_sort.go`
(`PrioritySort.Less`), v1.36.
"""

from __future__ import annotations

from lifecycle.scheduler.framework.interface import QueueSortPlugin
from lifecycle.scheduler.framework.types import QueuedPodInfo


class PrioritySort(QueueSortPlugin):
    """Orders the active queue."""

    name = "PrioritySort"

    def less(self, pod_info1: QueuedPodInfo, pod_info2: QueuedPodInfo) -> bool:
        p1, p2 = pod_info1.info.priority, pod_info2.info.priority
        return p1 > p2 or (p1 == p2 and pod_info1.timestamp < pod_info2.timestamp)
