"""Has this node been heard of lately?

Two signs of life: a status that says something newer, and a lease that was renewed. The
times in them are the kubelet's and are only compared with each other; how long ago a
sign *arrived* is measured with the controller's own clock, so that wrong clocks on
nodes do no harm. For the same reason a controller that has just started gives every
node a full grace period.

Upstream: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`
(`tryUpdateNodeHealth`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time

NODE_MONITOR_PERIOD = 5.0
NODE_MONITOR_GRACE_PERIOD = 50.0
NODE_STARTUP_GRACE_PERIOD = 60.0

HEARTBEAT_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
"""What a kubelet vouches for. `NetworkUnavailable` is the network's own business."""


@dataclass(slots=True)
class NodeHealth:
    """What was last seen. `probe_timestamp` is when a sign of life arrived, in seconds
    since 1970.
    """

    probe_timestamp: float
    heartbeat: str | None = None
    renew_time: str = ""
    seen: bool = False

    def observe(self, node: Object, lease: Object | None, now: float) -> None:
        """Take note of the node and its lease as they are now."""
        ready = get_condition(node, "Ready")
        heartbeat = ready.get("lastHeartbeatTime") if ready is not None else None
        if not self.seen or heartbeat != self.heartbeat:
            if self.seen or ready is not None:
                self.probe_timestamp = now
            self.heartbeat, self.seen = heartbeat, True
        renewed = ((lease or {}).get("spec") or {}).get("renewTime") or ""
        if renewed > self.renew_time:
            self.renew_time, self.probe_timestamp = renewed, now

    def grace_period(self, node: Object) -> float:
        """How long it may be silent: a node that never said a word gets a little
        more.
        """
        return (
            NODE_STARTUP_GRACE_PERIOD
            if get_condition(node, "Ready") is None
            else NODE_MONITOR_GRACE_PERIOD
        )

    def overdue(self, node: Object, now: float) -> bool:
        """Whether it has been silent for too long."""
        heard_of = self.probe_timestamp
        if now <= heard_of + NODE_MONITOR_GRACE_PERIOD:  # the shorter of the two
            return False
        return now > heard_of + self.grace_period(node)


def first_health(node: Object, now: float) -> NodeHealth:
    """For a node seen for the first time: silent ones count from their creation, others
    from now.
    """
    created = node["metadata"].get("creationTimestamp")
    if get_condition(node, "Ready") is None and created:
        return NodeHealth(parse_time(created))
    return NodeHealth(now)


def unknown_conditions(node: Object, now: float) -> list[dict[str, Any]] | None:
    """All conditions of a silent node; None if they say Unknown already."""
    conditions = [
        dict(condition)
        for condition in (node.get("status") or {}).get("conditions") or ()
    ]
    by_type = {condition["type"]: condition for condition in conditions}
    changed = False
    for kind in HEARTBEAT_CONDITIONS:
        condition = by_type.get(kind)
        if condition is None:
            conditions.append(
                {
                    "type": kind,
                    "status": "Unknown",
                    "lastHeartbeatTime": node["metadata"]["creationTimestamp"],
                    "lastTransitionTime": format_time(now),
                    "reason": "NodeStatusNeverUpdated",
                    "message": "Kubelet never posted node status.",
                }
            )
            changed = True
        elif condition["status"] != "Unknown":
            condition.update(
                status="Unknown",
                reason="NodeStatusUnknown",
                message="Kubelet stopped posting node status.",
                lastTransitionTime=format_time(now),
            )
            changed = True
    return conditions if changed else None
