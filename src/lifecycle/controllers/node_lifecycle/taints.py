"""Taints that follow a node's conditions.

The scheduler looks at taints, not at conditions. So a node that is not ready, short of
memory, disk or process ids, cut off, or cordoned gets the taint that says so, and loses
it when the condition passes. A new node comes with `not-ready` from admission; taking
that away when the kubelet first says Ready is what lets pods in. (A node that comes
without any condition loses it at once: kubelets always come with theirs.)

Upstream: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`
(`doNoScheduleTaintingPass`, `processTaintBaseEviction`),
`pkg/controller/util/node/controller_utils.go` (`SwapNodeControllerTaint`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object

Taint = dict[str, Any]

NOT_READY, UNREACHABLE = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
)
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

NO_SCHEDULE_TAINTS: dict[str, dict[str, str]] = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
"""Condition and its status → the key of the taint. Upstream:
`nodeConditionToTaintKeyStatusMap`.
"""

MANAGED_NO_SCHEDULE = frozenset(
    key for keys in NO_SCHEDULE_TAINTS.values() for key in keys.values()
) | {UNSCHEDULABLE}
MANAGED_NO_EXECUTE = frozenset({NOT_READY, UNREACHABLE})


def execute_taint(node: Object) -> str | None:
    """The key of the NoExecute taint that the node's condition calls for; None if it is
    well, or has not said anything yet.
    """
    ready = get_condition(node, "Ready")
    return (
        NO_SCHEDULE_TAINTS["Ready"].get(ready["status"]) if ready is not None else None
    )


def has_execute_taint(node: Object) -> bool:
    """Whether one of the two is there already: then the other may take its place at
    once.
    """
    return any(
        taint["effect"] == "NoExecute" and taint["key"] in MANAGED_NO_EXECUTE
        for taint in (node.get("spec") or {}).get("taints") or ()
    )


def desired_taints(node: Object, now: str, *, execute_too: bool = True) -> list[Taint]:
    """The node's taints as they should be: its own, and those its conditions call for,
    dated `now` if they are new.

    `execute_too=False` adds no NoExecute taint: that one has to wait its turn.
    """
    spec = node.get("spec") or {}
    current: list[Taint] = spec.get("taints") or []
    schedule: list[str] = []
    for condition in (node.get("status") or {}).get("conditions") or ():
        key = NO_SCHEDULE_TAINTS.get(condition["type"], {}).get(condition["status"])
        if key:
            schedule.append(key)
    if spec.get("unschedulable"):
        schedule.append(UNSCHEDULABLE)
    ready = get_condition(node, "Ready")
    execute = execute_taint(node)
    taints: list[Taint] = []
    for taint in current:
        key, effect = taint["key"], taint["effect"]
        if effect == "NoSchedule" and key in MANAGED_NO_SCHEDULE:
            if key not in schedule:
                continue
        elif (
            effect == "NoExecute"
            and key in MANAGED_NO_EXECUTE
            and key != execute
            and ready is not None
        ):
            continue
        taints.append(taint)
    have = {(taint["key"], taint["effect"]) for taint in taints}
    taints += [
        {"key": key, "effect": "NoSchedule", "timeAdded": now}
        for key in schedule
        if (key, "NoSchedule") not in have
    ]
    if execute and execute_too and (execute, "NoExecute") not in have:
        taints.append({"key": execute, "effect": "NoExecute", "timeAdded": now})
    return taints
