"""SchedulingGates: a pod with gates is not even queued.

Upstream: `pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.scheduler.framework import PreEnqueuePlugin, Status, unresolvable


class SchedulingGates(PreEnqueuePlugin):
    """Waits until somebody has removed every gate."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: Object) -> Status | None:
        """None without gates."""
        gates = pod["spec"].get("schedulingGates")
        if not gates:
            return None
        names = " ".join(gate["name"] for gate in gates)
        return unresolvable(self.name, f"waiting for scheduling gates: [{names}]")
