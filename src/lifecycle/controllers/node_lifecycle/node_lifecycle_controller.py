"""Nodes: taints by their conditions at once, and every five seconds a look at who has
fallen silent.

A node unheard of for 50 seconds gets the condition Unknown. From there everything
follows: the NoSchedule taint at once, its pods are marked not ready (so Services leave
them out), and in its turn (`zones.py`) the NoExecute taint, upon which the taint
eviction controller removes its pods when their tolerations run out.

Upstream: `pkg/controller/nodelifecycle/node_lifecycle_controller.go`
(`monitorNodeHealth`, `handleDisruption`, `doNoExecuteTaintingPass`),
`pkg/controller/util/node/controller_utils.go` (`MarkPodsNotReady`), v1.36. Ours takes a
NoExecute taint back as soon as the node says Ready, upstream with its next look.
"""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from lifecycle.api.conditions import get_condition, update_pod_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import REQUEST_ERRORS, STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.node_lifecycle.health import (
    NODE_MONITOR_PERIOD,
    NodeHealth,
    first_health,
    unknown_conditions,
)
from lifecycle.controllers.node_lifecycle.labels import labels_to_update
from lifecycle.controllers.node_lifecycle.taints import (
    MANAGED_NO_EXECUTE,
    desired_taints,
    execute_taint,
    has_execute_taint,
)
from lifecycle.controllers.node_lifecycle.zones import (
    ZoneQueue,
    ZoneState,
    compute_zone_state,
    eviction_rate,
    zone_key,
)
from lifecycle.controllers.object_copy import mutable_copy
from lifecycle.controllers.pod_conditions import patch_pod_status
from lifecycle.controllers.pod_readiness import is_pod_ready

log = logging.getLogger(__name__)

EXCLUDE_DISRUPTION = "node.kubernetes.io/exclude-disruption"
BY_NODE = "nodeName"


class NodeLifecycleController:
    """Watches over nodes."""

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._client = client
        self._clock = clock
        self._nodes = informers.informer(resource("nodes"))
        self._leases = informers.informer(resource("leases.coordination.k8s.io"))
        self._pods = informers.informer(resource("pods"))
        self._pods.add_indexers(
            {BY_NODE: lambda pod: (pod["spec"].get("nodeName", ""),)}
        )
        self._recorder = EventRecorder(client, "node-controller", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._health: dict[str, NodeHealth] = {}
        self.zone_states: dict[str, ZoneState] = {}
        self._zones: dict[str, ZoneQueue] = {}
        self._may_taint: set[str] = set()
        self._said: dict[str, _Said] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._retry: set[str] = set()
        self._nodes.add_event_handler(
            add=self._node_added, update=self._node_updated, delete=self._node_deleted
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            for informer in (self._nodes, self._leases, self._pods):
                await informer.wait_for_sync()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._monitor(), name="node health")
                group.create_task(
                    run_workers(
                        self._queue,
                        self._sync_node,
                        workers=8,
                        name="node-lifecycle-controller",
                    )
                )
        finally:
            for timer in self._timers.values():
                timer.cancel()
            await self._recorder.stop()

    # Taints.

    def _node_added(self, node: Object) -> None:
        name = node["metadata"]["name"]
        self._event(
            node,
            "RegisteredNode",
            f"Node {name} event: Registered Node {name} in Controller",
        )
        self._queue.add(name)

    def _node_updated(self, old: Object, new: Object) -> None:
        spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
        same_spec = spec.get("taints") == old_spec.get("taints") and spec.get(
            "unschedulable"
        ) == old_spec.get("unschedulable")
        if same_spec and _statuses(new) == _statuses(old) and not labels_to_update(new):
            return  # a heartbeat
        self._queue.add(new["metadata"]["name"])

    def _node_deleted(self, node: Object) -> None:
        name = node["metadata"]["name"]
        self._event(
            node,
            "RemovingNode",
            f"Node {name} event: Removing Node {name} from Controller",
        )
        self._health.pop(name, None)
        self._may_taint.discard(name)
        for queue in self._zones.values():
            queue.remove(name)

    async def _sync_node(self, name: str) -> None:
        node = self._nodes.indexer.get_by_key(name)
        if node is None:
            return
        if execute_taint(node) is None:
            self._may_taint.discard(name)
            self._zone_of(node).remove(name)
        execute_too = name in self._may_taint or has_execute_taint(node)
        await self._set_taints(
            node, desired_taints(node, self._clock.timestamp(), execute_too=execute_too)
        )
        labels = labels_to_update(node)
        if labels:
            patch = {"metadata": {"labels": labels}}
            await self._client.patch(
                self._nodes.resource, name, "", patch, patch_type=STRATEGIC_MERGE_PATCH
            )

    async def _set_taints(self, node: Object, taints: list[Object]) -> None:
        if taints == ((node.get("spec") or {}).get("taints") or []):
            return
        meta = node["metadata"]
        patch = {
            "metadata": {"resourceVersion": meta["resourceVersion"]},
            "spec": {"taints": taints or None},
        }
        await self._client.patch(
            self._nodes.resource,
            meta["name"],
            "",
            patch,
            patch_type=STRATEGIC_MERGE_PATCH,
        )

    # Silence.

    async def _monitor(self) -> None:
        while True:
            try:
                await self.monitor_node_health()
            except REQUEST_ERRORS as error:  # the next look sees what is left
                log.debug("monitoring node health: %s", error)
            await asyncio.sleep(NODE_MONITOR_PERIOD)

    async def monitor_node_health(self) -> None:
        """One look at every node. Most say what they said the last time: of a version
        that is known only the silence is new.
        """
        ready_in: dict[str, list[bool]] = {}
        nodes = self._nodes.indexer.list()
        before, self._said = self._said, {}
        for node in nodes:
            name = node["metadata"]["name"]
            said = before.get(name)
            if said is None or said.node is not node:
                said = _what_it_says(node)
            self._said[name] = said
            was_ready, zone = said.is_ready, said.zone
            is_ready = await self._update_health(node, was_ready)
            if said.counts:
                ready_in.setdefault(zone, []).append(is_ready)
            if not is_ready and was_ready:
                self._event(
                    node, "NodeNotReady", f"Node {name} status is now: NodeNotReady"
                )
            if (not is_ready and was_ready) or name in self._retry:
                await self._mark_pods_not_ready(name)
            if said.lacks_taint and name not in self._may_taint:
                self._zone_of(node).add(name)
                self._arm(zone)
        await self._handle_disruption(ready_in, nodes)

    async def _update_health(self, node: Object, was_ready: bool) -> bool:
        """Whether the node is ready, after declaring it Unknown if it has been silent
        for too long.
        """
        name, now = node["metadata"]["name"], self._clock.now()
        health = self._health.get(name)
        if health is None:
            health = self._health[name] = first_health(node, now)
        lease = self._leases.indexer.get_by_key(f"kube-node-lease/{name}")
        health.observe(node, lease, now)
        if not health.overdue(node, now):
            return was_ready
        conditions = unknown_conditions(node, now)
        if conditions is not None:
            copy = mutable_copy(node)
            copy["status"] = {**(copy.get("status") or {}), "conditions": conditions}
            try:
                updated = await self._client.update(
                    self._nodes.resource, copy, subresource="status"
                )
            except StatusError:
                return was_ready  # it changed meanwhile; the next look decides anew
            ready = get_condition(updated, "Ready")
            health.heartbeat = (
                ready.get("lastHeartbeatTime") if ready is not None else None
            )
        return False

    async def _mark_pods_not_ready(self, node: str) -> None:
        """A pod whose node is silent is no endpoint any more. Upstream:
        `MarkPodsNotReady`.
        """
        self._retry.discard(node)
        for pod in self._pods.indexer.by_index(BY_NODE, node):
            if not is_pod_ready(pod):
                continue
            ready = get_condition(pod, "Ready") or {}
            condition = update_pod_condition(
                pod, {**ready, "status": "False"}, self._clock.timestamp()
            )
            try:
                status = {"conditions": [condition]}
                await patch_pod_status(self._client, pod, status)
            except REQUEST_ERRORS as error:
                if not isinstance(error, StatusError) or error.code != 404:
                    self._retry.add(node)
                continue
            about = {"kind": "Pod", "apiVersion": "v1", **pod}
            self._recorder.event(about, "Warning", "NodeNotReady", "Node is not ready")

    # Pace.

    def _zone_of(self, node: Object) -> ZoneQueue:
        return self._zones.setdefault(zone_key(node), ZoneQueue())

    def _arm(self, zone: str) -> None:
        """One timer per zone, for the next node that may go."""
        if zone in self._timers:
            return
        due = self._zones[zone].due(self._clock.now())
        if due is not None:
            self._timers[zone] = asyncio.get_running_loop().call_later(
                due, self._evict_next, zone
            )

    def _evict_next(self, zone: str) -> None:
        self._timers.pop(zone, None)
        name = self._zones[zone].take(self._clock.now() + 1e-6)
        if name is not None:
            self._may_taint.add(name)
            self._queue.add(name)
        self._arm(zone)

    async def _handle_disruption(
        self, ready_in: dict[str, list[bool]], nodes: list[Object]
    ) -> None:
        new = {zone: compute_zone_state(ready) for zone, ready in ready_in.items()}
        self.zone_states = {
            zone: self.zone_states.get(zone, ZoneState.INITIAL) for zone in new
        }
        all_are = all(state is ZoneState.FULL_DISRUPTION for state in new.values())
        all_were = all(
            state is ZoneState.FULL_DISRUPTION for state in self.zone_states.values()
        )
        if not new or (all_are and all_were):
            return
        if all_are:  # it is us who are cut off
            for node in nodes:
                name = node["metadata"]["name"]
                self._may_taint.discard(name)
                self._zone_of(node).remove(name)
                fresh = self._nodes.indexer.get_by_key(name) or node
                taints = (fresh.get("spec") or {}).get("taints") or []
                kept = [
                    t
                    for t in taints
                    if t["effect"] != "NoExecute" or t["key"] not in MANAGED_NO_EXECUTE
                ]
                await self._set_taints(fresh, kept)
        for zone, state in new.items():
            queue = self._zones.setdefault(zone, ZoneQueue())
            queue.swap_limiter(
                0.0 if all_are else eviction_rate(state, len(ready_in[zone]))
            )
            self._arm(zone)
        if all_were and not all_are:  # back again: nobody's silence counts so far
            now = self._clock.now()
            for health in self._health.values():
                health.probe_timestamp = now
        self.zone_states = new

    def _event(self, node: Object, reason: str, message: str) -> None:
        meta = node["metadata"]
        about = {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {"name": meta["name"], "uid": meta["uid"]},
        }
        self._recorder.event(about, "Normal", reason, message)


class _Said(NamedTuple):
    """What one version of a node says of itself. `counts`: where it is looked whether a
    zone is disrupted; `lacks_taint`: it is to be given up, and not marked yet.
    """

    node: Object
    is_ready: bool
    zone: str
    counts: bool
    lacks_taint: bool


def _what_it_says(node: Object) -> _Said:
    ready = get_condition(node, "Ready")
    return _Said(
        node,
        is_ready=ready is not None and ready["status"] == "True",
        zone=zone_key(node),
        counts=EXCLUDE_DISRUPTION not in (node["metadata"].get("labels") or {}),
        lacks_taint=execute_taint(node) is not None and not has_execute_taint(node),
    )


def _statuses(node: Object) -> list[tuple[str, str]]:
    return [
        (c["type"], c["status"])
        for c in (node.get("status") or {}).get("conditions") or ()
    ]
