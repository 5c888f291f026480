"""What changed in the cluster, as the scheduler's queue is told.

An update of an object is many things. The queue wakes a waiting pod only if one of the
plugins that refused it cares about that very change, so updates are taken apart here: a
pod's labels, a smaller request, one more toleration; a node's room, labels, taints. An
update that is none of these wakes nobody.

Upstream: `pkg/scheduler/framework/events.go` (`PodSchedulingPropertiesChange`,
`NodeSchedulingPropertiesChange`), v1.36. Left out: conditions and annotations of nodes
(no plugin here asks for them).
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.framework.resources import scaled_down
from lifecycle.scheduler.framework.types import ClusterEvent

POD_ADDED = ClusterEvent("AssignedPod", "Add")
POD_DELETED = ClusterEvent("AssignedPod", "Delete")
NODE_ADDED = ClusterEvent("Node", "Add")
NODE_DELETED = ClusterEvent("Node", "Delete")
FORCE_ACTIVATE = ClusterEvent("Force", "Activate")
"""Moves everything, whatever the hints say."""


def pod_events(kind: str, old: Object, new: Object) -> list[ClusterEvent]:
    """What changed in a pod. `kind`: `AssignedPod` for one with a node, `Pod` for the
    waiting pod itself.
    """
    before, after = old["spec"], new["spec"]
    events = []
    if (old["metadata"].get("labels") or {}) != (new["metadata"].get("labels") or {}):
        events.append(ClusterEvent(kind, "UpdatePodLabel"))
    if scaled_down(old, new):
        events.append(ClusterEvent(kind, "UpdatePodScaleDown"))
    if before.get("schedulingGates") and not after.get("schedulingGates"):
        events.append(ClusterEvent(kind, "UpdatePodSchedulingGatesEliminated"))
    if len(before.get("tolerations") or ()) != len(after.get("tolerations") or ()):
        events.append(
            ClusterEvent(kind, "UpdatePodToleration")
        )  # they can be added, not changed
    statuses = [
        (pod.get("status") or {}).get("resourceClaimStatuses") for pod in (old, new)
    ]
    if statuses[0] != statuses[1]:
        events.append(ClusterEvent(kind, "UpdatePodGeneratedResourceClaim"))
    return events


def node_events(old: Object, new: Object) -> list[ClusterEvent]:
    """What changed in a node."""
    events = []
    old_spec, new_spec = old.get("spec") or {}, new.get("spec") or {}
    if old_spec.get("unschedulable") and not new_spec.get("unschedulable"):
        events.append(ClusterEvent("Node", "UpdateNodeTaint"))
    if (old.get("status") or {}).get("allocatable") != (new.get("status") or {}).get(
        "allocatable"
    ):
        events.append(ClusterEvent("Node", "UpdateNodeAllocatable"))
    if old["metadata"].get("labels") != new["metadata"].get("labels"):
        events.append(ClusterEvent("Node", "UpdateNodeLabel"))
    if old_spec.get("taints") != new_spec.get("taints"):
        events.append(ClusterEvent("Node", "UpdateNodeTaint"))
    return events
