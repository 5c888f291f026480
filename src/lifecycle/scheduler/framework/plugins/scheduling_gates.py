"""SchedulingGates: a pod with gates is not even queued.

Upstream: `pkg/scheduler/framework/plugins/schedulinggates/scheduling_gates.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.interface import (
    EnqueueExtensions,
    PreEnqueuePlugin,
)
from lifecycle.scheduler.framework.status import Status, unresolvable
from lifecycle.scheduler.framework.types import ClusterEvent, QueueingHintFn, itself


class SchedulingGates(PreEnqueuePlugin, EnqueueExtensions):
    """Waits until somebody has removed every gate."""

    name = "SchedulingGates"

    def events_to_register(self) -> Mapping[ClusterEvent, QueueingHintFn]:
        """The last gate of the pod is lifted."""
        return {ClusterEvent("Pod", "UpdatePodSchedulingGatesEliminated"): itself}

    def pre_enqueue(self, pod: Object) -> Status | None:
        """None without gates."""
        gates = pod["spec"].get("schedulingGates")
        if not gates:
            return None
        names = " ".join(gate["name"] for gate in gates)
        return unresolvable(self.name, f"waiting for scheduling gates: [{names}]")
