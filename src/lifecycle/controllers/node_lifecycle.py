"""Taints that follow a node's conditions.

The scheduler looks at taints, not at conditions. So a node that is not ready, short of memory, disk or process
ids, cut off, or cordoned gets the taint that says so, and loses it when the condition passes. A new node comes
with `not-ready` from admission; taking that away when the kubelet first says Ready is what lets pods in.

Upstream: `pkg/controller/nodelifecycle/node_lifecycle_controller.go` (`doNoScheduleTaintingPass`,
`doNoExecuteTaintingPass`), `pkg/controller/util/node/controller_utils.go` (`SwapNodeControllerTaint`), v1.36.
Left out: watching heartbeats and declaring nodes Unknown, evicting pods (`pkg/controller/tainteviction`), zones
and their eviction rates.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.keyed_worker import run_workers
from lifecycle.controllers.pod_readiness import get_condition

Taint = dict[str, Any]

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"

NO_SCHEDULE_TAINTS: dict[str, dict[str, str]] = {
    "Ready": {"False": NOT_READY, "Unknown": UNREACHABLE},
    "MemoryPressure": {"True": "node.kubernetes.io/memory-pressure"},
    "DiskPressure": {"True": "node.kubernetes.io/disk-pressure"},
    "NetworkUnavailable": {"True": "node.kubernetes.io/network-unavailable"},
    "PIDPressure": {"True": "node.kubernetes.io/pid-pressure"},
}
"""Condition and its status → the key of the taint. Upstream: `nodeConditionToTaintKeyStatusMap`."""

MANAGED_NO_SCHEDULE = frozenset(key for keys in NO_SCHEDULE_TAINTS.values() for key in keys.values()) | {UNSCHEDULABLE}
MANAGED_NO_EXECUTE = frozenset({NOT_READY, UNREACHABLE})


def wanted_taints(node: Object, now: str) -> list[Taint]:
    """The node's taints as they should be: its own, and those its conditions call for. `now` dates new NoExecute taints."""
    spec = node.get("spec") or {}
    current: list[Taint] = spec.get("taints") or []
    schedule: list[str] = []
    for condition_type, keys in NO_SCHEDULE_TAINTS.items():
        condition = get_condition(node, condition_type)
        key = keys.get(condition["status"]) if condition is not None else None
        if key:
            schedule.append(key)
    if spec.get("unschedulable"):
        schedule.append(UNSCHEDULABLE)
    ready = get_condition(node, "Ready")
    execute = NO_SCHEDULE_TAINTS["Ready"].get(ready["status"]) if ready is not None else None
    taints: list[Taint] = []
    for taint in current:
        key, effect = taint["key"], taint["effect"]
        if effect == "NoSchedule" and key in MANAGED_NO_SCHEDULE:
            # A node that has not reported anything yet keeps what admission gave it.
            if key not in schedule and (ready is not None or key not in MANAGED_NO_EXECUTE):
                continue
        elif effect == "NoExecute" and key in MANAGED_NO_EXECUTE and key != execute and ready is not None:
            continue
        taints.append(taint)
    have = {(taint["key"], taint["effect"]) for taint in taints}
    taints += [{"key": key, "effect": "NoSchedule"} for key in schedule if (key, "NoSchedule") not in have]
    if execute and (execute, "NoExecute") not in have:
        taints.append({"key": execute, "effect": "NoExecute", "timeAdded": now})
    return taints


class NodeLifecycleController:
    """Keeps taints in line with conditions."""

    def __init__(self, client: Client, informers: SharedInformerFactory, *, clock: Clock, names: NameSource) -> None:
        self._client = client
        self._clock = clock
        self._nodes = informers.informer(resource("nodes"))
        self._recorder = EventRecorder(client, "node-controller", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._nodes.add_event_handler(add=self._node_added, update=self._node_updated)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._nodes.wait_for_sync()
            await run_workers(self._queue, self._sync_node, workers=8, name="node-lifecycle-controller")
        finally:
            await self._recorder.stop()

    def _node_added(self, node: Object) -> None:
        meta = node["metadata"]
        about = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": meta["name"], "uid": meta["uid"]}}
        message = f"Node {meta['name']} event: Registered Node {meta['name']} in Controller"
        self._recorder.event(about, "Normal", "RegisteredNode", message)
        self._queue.add(meta["name"])

    def _node_updated(self, old: Object, new: Object) -> None:
        spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
        same_spec = spec.get("taints") == old_spec.get("taints") and spec.get("unschedulable") == old_spec.get(
            "unschedulable"
        )
        if same_spec and _statuses(new) == _statuses(old):
            return  # a heartbeat
        self._queue.add(new["metadata"]["name"])

    async def _sync_node(self, name: str) -> None:
        node = self._nodes.indexer.get_by_key(name)
        if node is None:
            return
        current = (node.get("spec") or {}).get("taints") or []
        wanted = wanted_taints(node, self._clock.timestamp())
        if wanted == current:
            return
        version = node["metadata"]["resourceVersion"]
        patch = {"metadata": {"resourceVersion": version}, "spec": {"taints": wanted or None}}
        await self._client.patch(resource("nodes"), name, "", patch, patch_type=STRATEGIC_MERGE_PATCH)


def _statuses(node: Object) -> list[tuple[str, str]]:
    return [(c["type"], c["status"]) for c in (node.get("status") or {}).get("conditions") or ()]
