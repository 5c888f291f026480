"""PrioritySort: higher priority first, then who waited longer.

Upstream: `pkg/scheduler/framework/plugins/queuesort/priority_sort.go`
(`PrioritySort.Less`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import Plugin


class PrioritySort(Plugin):
    """Orders the active queue."""

    name = "PrioritySort"

    def key(self, pod: Object, timestamp: float) -> tuple[int, float]:
        """Smaller comes first."""
        return (-int(pod["spec"].get("priority") or 0), timestamp)
