"""The scheduler: takes pods without a node from the queue, one at a time, and gives each a node.

Deciding is quick and sequential; binding takes a round trip and runs beside it. Between the two stands the
assumption: the cache counts the pod on its node at once, so that the next decision knows of it.

    queue.pop → schedule_pod → assume → (task) bind → event "Scheduled"
                     └ FitError → PostFilter (preemption) → back to the queue, condition PodScheduled=False, event "FailedScheduling"

Upstream: `pkg/scheduler/scheduler.go` (`Scheduler`, `Run`), `schedule_one.go` (`ScheduleOne`, `schedulingCycle`,
`bindingCycle`, `handleSchedulingFailure`), v1.36. Left out: several profiles, leader election (see
`client.leader_election`), the client's limit of 50 requests a second, which would make 10,000 pods take 200 s.
"""

from __future__ import annotations

import asyncio
import logging
import random

from lifecycle.api.clock import Clock
from lifecycle.api.labels import Selector
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.cache import Cache
from lifecycle.scheduler.event_handlers import EventHandlers
from lifecycle.scheduler.framework import CycleState, FitError
from lifecycle.scheduler.node_info import PodInfo
from lifecycle.scheduler.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.plugins.topology_constraints import default_selector
from lifecycle.scheduler.pod_conditions import condition_patch
from lifecycle.scheduler.preemption_executor import PreemptionExecutor
from lifecycle.scheduler.profile import DEFAULT_SCHEDULER_NAME, default_framework
from lifecycle.scheduler.queue.pod_queues import QueuedPodInfo
from lifecycle.scheduler.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.schedule_one import Algorithm, Nominator, NoNodesAvailable
from lifecycle.scheduler.snapshot import Snapshot

log = logging.getLogger(__name__)

USER = "system:kube-scheduler"
USER_AGENT = "kube-scheduler/v1.36.2 (linux/amd64) kubernetes/$Format/scheduler"
"""Who the scheduler's client should say it is."""

PODS_BEFORE_YIELD = 8
"""Decisions in a row before other tasks get their turn."""

_OWNERS = {
    "Service": "services",
    "ReplicaSet": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
    "StatefulSet": "statefulsets.apps",
}


class Scheduler:
    """Schedules pods whose `schedulerName` is `default-scheduler`. `rng_seed` makes the choice among equals repeatable.

    `batch=False` takes the plain path for every pod (see `schedule_one.py`).
    """

    def __init__(
        self,
        client: Client,
        informers: SharedInformerFactory,
        *,
        clock: Clock,
        names: NameSource | None = None,
        rng_seed: int | None = None,
        batch: bool = True,
        percentage_of_nodes_to_score: int = 0,
    ) -> None:
        self._client = client
        self._informers = informers
        self._clock = clock
        self._names = names
        self.profile_name = DEFAULT_SCHEDULER_NAME
        self.recorder = EventRecorder(client, self.profile_name, clock=clock)
        self._executor = PreemptionExecutor(client, self.recorder, clock, self.profile_name)
        self._pods = informers.informer(resource("pods"))
        self._nodes = informers.informer(resource("nodes"))
        self._namespaces = informers.informer(resource("namespaces"))
        self._claims = informers.informer(resource("persistentvolumeclaims"))
        self._budgets = informers.informer(resource("poddisruptionbudgets.policy"))
        self._owners = {kind: informers.informer(resource(name)) for kind, name in _OWNERS.items()}
        self.framework = default_framework(
            find_selector=self._find_selector,
            labels_of_namespace=self._labels_of_namespace,
            get_claim=self._claims.indexer.get_by_key,
            budgets=self._budgets.indexer.list,
            prepare_candidate=self._executor.prepare,
            profile_name=self.profile_name,
        )
        self.cache = Cache()
        self.queue = SchedulingQueue(self.framework, clock)
        self.snapshot = Snapshot()
        self.nominator = Nominator()
        self.algorithm = Algorithm(
            self.framework,
            self.snapshot,
            nominator=self.nominator,
            rng=random.Random(rng_seed),
            batch=batch,
            percentage_of_nodes_to_score=percentage_of_nodes_to_score,
        )
        self._binder = DefaultBinder()
        self._binding: set[asyncio.Task[None]] = set()

    # -- what plugins ask about other objects -------------------------------------------------------------------------

    def _owner(self, kind: str, namespace: str, name: str) -> Object | None:
        return self._owners[kind].indexer.get_by_key(f"{namespace}/{name}")

    def _find_selector(self, pod: Object) -> Selector | None:
        return default_selector(pod, self._owners["Service"].indexer.list_namespace, self._owner)

    def _labels_of_namespace(self, name: str) -> dict[str, str]:
        namespace = self._namespaces.indexer.get_by_key(name)
        return (namespace["metadata"].get("labels") or {}) if namespace else {}

    def _responsible(self, pod: Object) -> bool:
        return (pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER_NAME) == self.profile_name

    # -- running ------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Schedule until cancelled."""
        informers = [self._nodes, self._namespaces, self._claims, self._budgets, *self._owners.values()]
        handlers = EventHandlers(self.cache, self.queue, self.nominator, self._responsible)
        self._nodes.add_event_handler(handlers.node_added, handlers.node_updated, handlers.node_deleted)
        self._claims.add_event_handler(*handlers.other("PersistentVolumeClaim"))
        try:
            await asyncio.gather(*(informer.wait_for_sync() for informer in informers))
            self._pods.add_event_handler(handlers.pod_added, handlers.pod_updated, handlers.pod_deleted)
            await self._pods.wait_for_sync()
            in_a_row = 0
            while True:
                queued = self.queue.try_pop()
                if queued is None:
                    in_a_row = 0
                    queued = await self.queue.pop()
                elif in_a_row >= PODS_BEFORE_YIELD:
                    in_a_row = 0
                    await asyncio.sleep(0)
                in_a_row += 1
                self.schedule_one(queued)
        finally:
            await self._stop()

    async def _stop(self) -> None:
        self.queue.close()
        tasks = [*self._binding, *self._executor.tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.recorder.stop()

    def schedule_one(self, queued: QueuedPodInfo) -> None:
        """Decide for one pod; binding goes on in a task."""
        info = queued.info
        metadata = info.pod["metadata"]
        if metadata.get("deletionTimestamp") or info.key in self.cache:
            return  # gone, or placed already (an event crossed ours)
        with span("scheduler", "schedule_one", key=info.key, uid=metadata.get("uid", "")):
            state = CycleState()
            self.cache.update_snapshot(self.snapshot)
            try:
                result = self.algorithm.schedule_pod(state, info)
            except FitError as error:
                self._handle_scheduling_failure(queued, state, error)
                return
            except NoNodesAvailable as error:
                queued.unschedulable_plugins = set()
                self._fail(queued, str(error), "")
                return
            except Exception as error:
                log.exception("scheduling %s failed", info.key)
                self.queue.add_backoff(queued)
                self._report(info.pod, "SchedulerError", str(error), "")
                return
        assumed = dict(info.pod)
        assumed["spec"] = {**info.pod["spec"], "nodeName": result.suggested_host}
        queued.info = info
        info.pod = assumed
        self.cache.assume_pod(info)
        self.nominator.remove(info.key)
        self._in_background(self._binding_cycle(queued, result.suggested_host), f"bind {info.key}")

    def _in_background(self, work: object, name: str) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work, name=name)  # type: ignore[arg-type]
        self._binding.add(task)
        task.add_done_callback(self._binding.discard)

    async def _binding_cycle(self, queued: QueuedPodInfo, node_name: str) -> None:
        pod = queued.info.pod
        metadata = pod["metadata"]
        try:
            with span("scheduler", "bind", key=queued.key, uid=metadata.get("uid", "")):
                await self._binder.bind(self._client, pod, node_name)
        except StatusError as error:
            self.cache.forget_pod(queued.key)
            if error.code == 404:
                return
            spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
            queued.info = PodInfo({**pod, "spec": spec})
            self.queue.add_backoff(queued)
            reason = "SchedulerError"
            message = f"binding rejected: {error.message}"
            self._report(queued.info.pod, reason, message, "")
            return
        message = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node_name}"
        self._event(pod, "Normal", "Scheduled", message)

    # -- failure ------------------------------------------------------------------------------------------------------

    def _handle_scheduling_failure(self, queued: QueuedPodInfo, state: CycleState, error: FitError) -> None:
        diagnosis = error.diagnosis
        nominated, message = self.framework.run_post_filter_plugins(
            state, queued.info, self.snapshot, diagnosis.statuses
        )
        diagnosis.post_filter_message = message
        queued.unschedulable_plugins = set(diagnosis.unschedulable_plugins)
        self._fail(queued, str(error), nominated)

    def _fail(self, queued: QueuedPodInfo, message: str, nominated: str) -> None:
        if nominated:
            self.nominator.add(queued.info, nominated)
        self.queue.add_unschedulable(queued)
        self._report(queued.info.pod, "Unschedulable", message, nominated)

    def _report(self, pod: Object, reason: str, message: str, nominated: str) -> None:
        self._event(pod, "Warning", "FailedScheduling", message)
        condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
        more = {"nominatedNodeName": nominated} if nominated else None
        patch = condition_patch(pod, condition, self._clock.timestamp(), more)
        if patch:
            self._in_background(self._patch_status(pod, patch), f"status {pod['metadata']['name']}")

    async def _patch_status(self, pod: Object, patch: Object) -> None:
        metadata = pod["metadata"]
        try:
            await self._client.patch(
                resource("pods"),
                metadata["name"],
                metadata["namespace"],
                patch,
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )
        except StatusError as error:
            if error.code != 404:
                log.warning("updating the status of %s failed: %s", metadata["name"], error.message)

    def _event(self, pod: Object, event_type: str, reason: str, message: str) -> None:
        self.recorder.event({"kind": "Pod", "apiVersion": "v1", **pod}, event_type, reason, message)
