"""Evicting pods from tainted nodes, each when its patience ends.

A pod stays on a node with a NoExecute taint if it tolerates every one of them: for
ever, or for the shortest of the times its tolerations give. If it does not, it goes at
once. Five minutes for `not-ready` and `unreachable` is what admission gives to pods
that say nothing.

Upstream: `pkg/controller/tainteviction/taint_eviction.go` (`processPodOnNode`,
`getMinTolerationTime`, `addConditionAndDeletePod`), `timed_workers.go`, v1.36
(`nodelifecycle/scheduler/taint_manager.go` in v1.20).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.pods.taints import Tolerations
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.events import EventRecorder
from lifecycle.client.keyed_worker import run_workers
from lifecycle.client.rest import REQUEST_ERRORS, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.client.workqueue import RateLimitingQueue
from lifecycle.controllers.pod_conditions import disruption_target, patch_pod_status

BY_NODE = "nodeName"
RETRIES = 5


def no_execute(node: Object) -> list[Object]:
    """The taints that evict."""
    return [
        taint
        for taint in (node.get("spec") or {}).get("taints") or ()
        if taint["effect"] == "NoExecute"
    ]


def patience(tolerations: Sequence[Object], taints: Sequence[Object]) -> float | None:
    """Seconds that a pod may stay: 0 if it does not tolerate all of the taints, None
    for ever.
    """
    used: list[Object] = []
    order = Tolerations(tolerations)
    for taint in taints:
        fitting = order.first_for(taint)
        if fitting is None:
            return 0.0
        used.append(fitting)
    limits = [
        float(t["tolerationSeconds"])
        for t in used
        if t.get("tolerationSeconds") is not None
    ]
    return max(0.0, min(limits)) if limits else None


@dataclass(slots=True)
class _Scheduled:
    created_at: float
    timer: asyncio.TimerHandle


class TaintEvictionController:
    """One timer for each pod whose time is running out."""

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
        self._pods = informers.informer(resource("pods"))
        self._pods.add_indexers(
            {BY_NODE: lambda pod: (pod["spec"].get("nodeName", ""),)}
        )
        self._nodes = informers.informer(resource("nodes"))
        self._recorder = EventRecorder(client, "taint-eviction-controller", clock=clock)
        self._queue: RateLimitingQueue[str] = RateLimitingQueue()
        self._tainted: dict[str, list[Object]] = {}
        self._scheduled: dict[str, _Scheduled] = {}
        self._evictions: set[asyncio.Task[None]] = set()
        self._nodes.add_event_handler(
            add=self._node_added, update=self._node_updated, delete=self._node_deleted
        )
        self._pods.add_event_handler(
            add=self._pod_added, update=self._pod_updated, delete=self._pod_deleted
        )

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            await self._nodes.wait_for_sync()
            await self._pods.wait_for_sync()
            await run_workers(
                self._queue, self._process, workers=8, name="taint-eviction-controller"
            )
        finally:
            for scheduled in self._scheduled.values():
                scheduled.timer.cancel()
            for task in self._evictions:
                task.cancel()
            await self._recorder.stop()

    # Events. Node names have no slash, pod keys have one.

    def _node_added(self, node: Object) -> None:
        if no_execute(node):
            self._queue.add(node["metadata"]["name"])

    def _node_updated(self, old: Object, new: Object) -> None:
        if no_execute(old) != no_execute(new):
            self._queue.add(new["metadata"]["name"])

    def _node_deleted(self, node: Object) -> None:
        self._tainted.pop(node["metadata"]["name"], None)

    def _pod_added(self, pod: Object) -> None:
        if pod["spec"].get("nodeName") in self._tainted:
            self._queue.add(meta_namespace_key(pod))

    def _pod_updated(self, old: Object, new: Object) -> None:
        if old["spec"].get("nodeName") != new["spec"].get("nodeName") or old[
            "spec"
        ].get("tolerations") != new["spec"].get("tolerations"):
            self._pod_added(new)

    def _pod_deleted(self, pod: Object) -> None:
        self._cancel(meta_namespace_key(pod))

    # Decisions.

    async def _process(self, key: str) -> None:
        if "/" in key:
            pod = self._pods.indexer.get_by_key(key)
            node = pod["spec"].get("nodeName", "") if pod is not None else ""
            if pod is not None and node in self._tainted:
                self._process_pod(key, pod, self._tainted[node])
            return
        tainted_node = self._nodes.indexer.get_by_key(key)
        taints = no_execute(tainted_node) if tainted_node is not None else []
        if taints:
            self._tainted[key] = taints
        else:
            self._tainted.pop(key, None)
        for pod in self._pods.indexer.by_index(BY_NODE, key):
            self._process_pod(meta_namespace_key(pod), pod, taints)

    def _process_pod(self, key: str, pod: Object, taints: list[Object]) -> None:
        if not taints:
            self._cancel(key)
            return
        wait = patience(pod["spec"].get("tolerations") or (), taints)
        now = self._clock.now()
        if not wait:  # not a second, or for ever
            self._cancel(key)
            if wait is not None:
                self._evict(key, pod)
            return
        before = self._scheduled.get(key)
        if before is not None:
            if before.created_at < now:
                # what was decided first stands, even if its patience has become shorter
                return
            self._cancel(key)
        timer = asyncio.get_running_loop().call_later(wait, self._evict_if_there, key)
        self._scheduled[key] = _Scheduled(now, timer)

    def _cancel(self, key: str) -> None:
        scheduled = self._scheduled.pop(key, None)
        if scheduled is not None:
            scheduled.timer.cancel()
            self._event(key, f"Cancelling deletion of Pod {key}")

    def _evict_if_there(self, key: str) -> None:
        self._scheduled.pop(key, None)
        pod = self._pods.indexer.get_by_key(key)
        if pod is not None:
            self._evict(key, pod)

    def _evict(self, key: str, pod: Object) -> None:
        self._event(key, f"Marking for deletion Pod {key}")
        task = asyncio.get_running_loop().create_task(
            self._delete(pod), name=f"evict {key}"
        )
        self._evictions.add(task)
        task.add_done_callback(self._evictions.discard)

    async def _delete(self, pod: Object) -> None:
        meta = pod["metadata"]
        for attempt in range(RETRIES):
            try:
                message = "Taint manager: deleting due to NoExecute taint"
                condition = disruption_target(
                    pod, "DeletionByTaintManager", message, self._clock.timestamp()
                )
                if condition is not None:
                    status = {"conditions": [condition]}
                    await patch_pod_status(self._client, pod, status)
                await self._client.delete(
                    self._pods.resource, meta["name"], meta["namespace"]
                )
                return
            except REQUEST_ERRORS as error:
                if isinstance(error, StatusError) and error.code == 404:
                    return
                await asyncio.sleep(0.01 * 2**attempt)

    def _event(self, key: str, message: str) -> None:
        namespace, _, name = key.partition("/")
        about = {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"namespace": namespace, "name": name},
        }
        self._recorder.event(about, "Normal", "TaintManagerEviction", message)
