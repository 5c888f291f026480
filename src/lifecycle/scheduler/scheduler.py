"""The scheduler: takes pods without a node from the queue, one at a time, and gives
each a node.

Deciding is quick and sequential; binding takes a round trip and runs beside it. Between
the two stands the assumption: the cache counts the pod on its node at once, so that the
next decision knows of it.

    queue.pop → schedule_pod → assume → (task) bind → event "Scheduled"
                     └ FitError → PostFilter (preemption) → back to the queue, condition
                     PodScheduled=False, event "FailedScheduling"

Upstream: `pkg/scheduler/scheduler.go` (`Scheduler`, `Run`), `schedule_one.go`
(`ScheduleOne`, `schedulingCycle`, `bindingCycle`, `handleSchedulingFailure`), v1.36.
Left out: leader election (see `client.leader_election`), the client's limit of 50
requests a second, which would make 10,000 pods take 200 s.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from lifecycle.api.clock import Clock
from lifecycle.api.labels import Selector
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.api.version import user_agent
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.scheduler.cache import Cache
from lifecycle.scheduler.cluster_events import FORCE_ACTIVATE, POD_DELETED
from lifecycle.scheduler.config import (
    DEFAULT_SCHEDULER_NAME,
    SchedulerConfiguration,
    with_ignored_resources,
)
from lifecycle.scheduler.event_handlers import EventHandlers
from lifecycle.scheduler.extender import ExtenderError, HTTPExtender
from lifecycle.scheduler.framework import CycleState, FitError, Framework
from lifecycle.scheduler.node_info import PodInfo
from lifecycle.scheduler.nominator import Nominator
from lifecycle.scheduler.plugins.default_binder import DefaultBinder
from lifecycle.scheduler.plugins.default_preemption import Candidate, DefaultPreemption
from lifecycle.scheduler.plugins.topology_constraints import default_selector
from lifecycle.scheduler.pod_conditions import condition_patch
from lifecycle.scheduler.preemption_executor import PreemptionExecutor
from lifecycle.scheduler.profile import Factory, Views, new_framework
from lifecycle.scheduler.queue.pod_queues import QueuedPodInfo
from lifecycle.scheduler.queue.scheduling_queue import SchedulingQueue
from lifecycle.scheduler.schedule_one import Algorithm, NoNodesAvailable
from lifecycle.scheduler.snapshot import Snapshot
from lifecycle.scheduler.volume_binder import PodVolumes, VolumeBinder
from lifecycle.scheduler.volume_prebind import VolumeBindingError, VolumePreBind

log = logging.getLogger(__name__)

USER = "system:kube-scheduler"
USER_AGENT = user_agent("kube-scheduler", "scheduler")
"""Who the scheduler's client should say it is."""

PODS_BEFORE_YIELD = 8
"""Decisions in a row before other tasks get their turn."""

NOTE_LENGTH_LIMIT = 1024
"""How long an event's message may be. The pod's condition has all of it."""

_OWNERS = {
    "Service": "services",
    "ReplicaSet": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
    "StatefulSet": "statefulsets.apps",
}


def truncate_message(message: str) -> str:
    """A message cut to what an event can hold. Upstream: `truncateMessage`."""
    suffix = " ..."
    if len(message) <= NOTE_LENGTH_LIMIT:
        return message
    return message[: NOTE_LENGTH_LIMIT - len(suffix)] + suffix


class Scheduler:
    """Schedules pods whose `schedulerName` is that of one of its profiles. `rng_seed`
    makes the choice among equals repeatable.

    `batch=False` takes the plain path for every pod (see `schedule_one.py`).
    `out_of_tree`: plugins of one's own, by name.
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
        configuration: SchedulerConfiguration | None = None,
        out_of_tree: Mapping[str, Factory] | None = None,
    ) -> None:
        self._client = client
        self._informers = informers
        self._clock = clock
        self._names = names
        configuration = configuration or SchedulerConfiguration(
            percentage_of_nodes_to_score=percentage_of_nodes_to_score
        )
        self._pods = informers.informer(resource("pods"))
        self._nodes = informers.informer(resource("nodes"))
        self._namespaces = informers.informer(resource("namespaces"))
        self._claims = informers.informer(resource("persistentvolumeclaims"))
        self._volumes = informers.informer(resource("persistentvolumes"))
        self._classes = informers.informer(resource("storageclasses.storage.k8s.io"))
        self._csi_nodes = informers.informer(resource("csinodes.storage.k8s.io"))
        self._csi_drivers = informers.informer(resource("csidrivers.storage.k8s.io"))
        self._capacities = informers.informer(
            resource("csistoragecapacities.storage.k8s.io")
        )
        self._resource_claims = informers.informer(
            resource("resourceclaims.resource.k8s.io")
        )
        self._device_classes = informers.informer(
            resource("deviceclasses.resource.k8s.io")
        )
        self.volume_binder = VolumeBinder(
            self._claims.indexer.get_by_key,
            self._volumes.indexer.get_by_key,
            self._volumes.indexer.list,
            self._classes.indexer.get_by_key,
            self._csi_nodes.indexer.get_by_key,
            self._csi_drivers.indexer.get_by_key,
            self._capacities.indexer.list,
        )
        self._pre_bind = VolumePreBind(client, self.volume_binder, self._claims)
        self._budgets = informers.informer(resource("poddisruptionbudgets.policy"))
        self._owners = {
            kind: informers.informer(resource(name)) for kind, name in _OWNERS.items()
        }
        self._recorders: dict[str, EventRecorder] = {}
        self._executors: dict[str, PreemptionExecutor] = {}
        self.frameworks: dict[str, Framework] = {}
        self.nominator = Nominator()
        extenders = sorted(configuration.extenders, key=lambda config: config.ignorable)
        self.extenders = [
            HTTPExtender(config) for config in extenders
        ]  # those that may fail come last
        for profile in with_ignored_resources(configuration):
            name = profile.scheduler_name
            recorder = self._recorders[name] = EventRecorder(client, name, clock=clock)
            executor = self._executors[name] = PreemptionExecutor(
                client, recorder, clock, name, self.nominator
            )
            views = Views(
                find_selector=self._find_selector,
                labels_of_namespace=self._labels_of_namespace,
                volume_binder=self.volume_binder,
                budgets=self._budgets.indexer.list,
                prepare_candidate=executor.prepare,
                resource_claim=self._resource_claims.indexer.get_by_key,
                device_class=self._device_classes.indexer.get_by_key,
            )
            self.frameworks[name] = new_framework(profile, views, out_of_tree)
        self.cache = Cache()
        self.queue = SchedulingQueue(
            self.frameworks,
            clock,
            initial_backoff=configuration.pod_initial_backoff_seconds,
            max_backoff=configuration.pod_max_backoff_seconds,
        )
        self.snapshot = Snapshot()
        rng = random.Random(rng_seed)
        self.algorithms = {
            profile.scheduler_name: Algorithm(
                self.frameworks[profile.scheduler_name],
                self.snapshot,
                nominator=self.nominator,
                rng=rng,
                batch=batch,
                percentage_of_nodes_to_score=(
                    configuration.percentage_of_nodes_to_score
                    if profile.percentage_of_nodes_to_score is None
                    else profile.percentage_of_nodes_to_score
                ),
                extended=any(
                    config.filter_verb or config.prioritize_verb for config in extenders
                ),
            )
            for profile in configuration.profiles
        }
        self._binder = DefaultBinder()
        self._binding: set[asyncio.Task[None]] = set()

    # -- what plugins ask about other objects ------------------------------------------

    def _owner(self, kind: str, namespace: str, name: str) -> Object | None:
        return self._owners[kind].indexer.get_by_key(f"{namespace}/{name}")

    def _find_selector(self, pod: Object) -> Selector | None:
        return default_selector(
            pod, self._owners["Service"].indexer.list_namespace, self._owner
        )

    def _labels_of_namespace(self, name: str) -> dict[str, str]:
        namespace = self._namespaces.indexer.get_by_key(name)
        return (namespace["metadata"].get("labels") or {}) if namespace else {}

    @staticmethod
    def _profile_of(pod: Object) -> str:
        return pod["spec"].get("schedulerName") or DEFAULT_SCHEDULER_NAME

    def _responsible(self, pod: Object) -> bool:
        return self._profile_of(pod) in self.frameworks

    # -- running -----------------------------------------------------------------------

    async def run(self) -> None:
        """Schedule until cancelled."""
        others = {
            "PersistentVolumeClaim": self._claims,
            "PersistentVolume": self._volumes,
            "StorageClass": self._classes,
            "CSINode": self._csi_nodes,
            "CSIDriver": self._csi_drivers,
            "CSIStorageCapacity": self._capacities,
            "ResourceClaim": self._resource_claims,
            "DeviceClass": self._device_classes,
        }
        informers = [
            self._nodes,
            self._namespaces,
            *others.values(),
            self._budgets,
            *self._owners.values(),
        ]
        handlers = EventHandlers(
            self.cache, self.queue, self.nominator, self._responsible
        )
        self._nodes.add_event_handler(
            handlers.node_added, handlers.node_updated, handlers.node_deleted
        )
        for kind, informer in others.items():
            informer.add_event_handler(*handlers.other(kind))
        self._claims.add_event_handler(update=self._pre_bind.claim_changed)
        try:
            await asyncio.gather(*(informer.wait_for_sync() for informer in informers))
            self._pods.add_event_handler(
                handlers.pod_added, handlers.pod_updated, handlers.pod_deleted
            )
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
                interested = [
                    e for e in self.extenders if e.is_interested(queued.info.pod)
                ]
                if interested:
                    await self._schedule_one_with_extenders(queued, interested)
                else:
                    self.schedule_one(queued)
        finally:
            await self._stop()

    async def _stop(self) -> None:
        self.queue.close()
        tasks = [
            *self._binding,
            *(task for executor in self._executors.values() for task in executor.tasks),
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for extender in self.extenders:
            await extender.close()
        for recorder in self._recorders.values():
            await recorder.stop()

    def schedule_one(self, queued: QueuedPodInfo) -> None:
        """Decide for one pod; binding goes on in a task."""
        info = queued.info
        metadata = info.pod["metadata"]
        if self._skip(info):
            return
        with span(
            "scheduler", "schedule_one", key=info.key, uid=metadata.get("uid", "")
        ):
            state = CycleState()
            self.cache.update_snapshot(self.snapshot)
            try:
                result = self.algorithms[self._profile_of(info.pod)].schedule_pod(
                    state, info
                )
            except FitError as error:
                self._handle_scheduling_failure(queued, state, error)
                return
            except Exception as error:
                self._could_not_decide(queued, error)
                return
        self._assume_and_bind(queued, state, result.suggested_host)

    def _skip(self, info: PodInfo) -> bool:
        """Whether there is nothing to decide. Upstream: `skipPodSchedule`."""
        metadata = info.pod["metadata"]
        if metadata.get("deletionTimestamp"):
            text = (
                "skip schedule deleting pod:"
                f" {metadata['namespace']}/{metadata['name']}"
            )
            self._event(info.pod, "Warning", "FailedScheduling", text)
            return True
        return info.key in self.cache  # placed already: an event crossed ours

    async def _schedule_one_with_extenders(
        self, queued: QueuedPodInfo, extenders: Sequence[HTTPExtender]
    ) -> None:
        """The same where others have a say. The world goes on meanwhile; what happened
        is not missed.
        """
        info, moves = queued.info, self.queue.moves
        if self._skip(info):
            return
        state = CycleState()
        self.cache.update_snapshot(self.snapshot)
        algorithm = self.algorithms[self._profile_of(info.pod)]
        try:
            result = await algorithm.schedule_pod_with_extenders(state, info, extenders)
        except FitError as error:
            await self._preempt_with_extenders(queued, state, error, extenders)
            if (
                self.queue.moves != moves
            ):  # something changed while we waited for answers: do not sleep on it
                self.queue.move_all(FORCE_ACTIVATE, None, None)
            return
        except Exception as error:
            self._could_not_decide(queued, error)
            return
        binders = [extender for extender in extenders if extender.config.bind_verb]
        self._assume_and_bind(queued, state, result.suggested_host, binders)

    async def _preempt_with_extenders(
        self,
        queued: QueuedPodInfo,
        state: CycleState,
        error: FitError,
        extenders: Sequence[HTTPExtender],
    ) -> None:
        framework = self.frameworks[self._profile_of(queued.info.pod)]
        preemption = next(
            (
                p
                for p in framework.post_filter_plugins
                if isinstance(p, DefaultPreemption)
            ),
            None,
        )
        if preemption is None or not any(e.config.preempt_verb for e in extenders):
            self._handle_scheduling_failure(queued, state, error)
            return
        diagnosis = error.diagnosis
        others = [p for p in framework.post_filter_plugins if p is not preemption]
        nominated, message = framework.run_post_filter_plugins(
            state, queued.info, self.snapshot, diagnosis.statuses, others
        )
        refusal = preemption.why_not_eligible(
            queued.info, self.snapshot, diagnosis.statuses
        )
        why = refusal.message if refusal else ""
        if not nominated and not why:
            candidates, refusal = preemption.find_candidates(
                state, queued.info, self.snapshot, diagnosis.statuses
            )
            if refusal is not None:
                nominated, why = "", refusal.message
            else:
                try:
                    candidates = await self._pass_preemption(
                        queued.info, candidates, extenders
                    )
                    nominated = (
                        preemption.choose(queued.info, candidates)
                        if candidates
                        else None
                    )
                    why = (
                        ""
                        if candidates
                        else "preemption: no candidate node for preemption"
                    )
                except ExtenderError as failure:
                    message, why = "", f"preemption: {failure}"
        if not nominated:
            diagnosis.post_filter_message = ", ".join(filter(None, (message, why)))
        queued.unschedulable_plugins = set(diagnosis.unschedulable_plugins)
        self._fail(queued, str(error), nominated)

    @staticmethod
    async def _pass_preemption(
        info: PodInfo, candidates: list[Candidate], extenders: Sequence[HTTPExtender]
    ) -> list[Candidate]:
        """Upstream: `callExtenders`."""
        for extender in extenders:
            try:
                candidates = await extender.process_preemption(info, candidates)
            except ExtenderError:
                if not extender.config.ignorable:
                    raise
            if not candidates:
                break
        return candidates

    def _could_not_decide(self, queued: QueuedPodInfo, error: Exception) -> None:
        if isinstance(error, NoNodesAvailable):
            self._fail(queued, str(error), "")
            return
        if not isinstance(error, ExtenderError):
            log.error("scheduling %s failed", queued.key, exc_info=error)
        self._fail(queued, str(error), "", "SchedulerError")

    def _assume_and_bind(
        self,
        queued: QueuedPodInfo,
        state: CycleState,
        host: str,
        binders: Sequence[HTTPExtender] = (),
    ) -> None:
        info = queued.info
        volumes = self._pre_bind.reserve(state, host)
        assumed = dict(info.pod)
        assumed["spec"] = {**info.pod["spec"], "nodeName": host}
        info.pod = assumed
        self.cache.assume_pod(info)
        self.nominator.remove(info.key)
        self._in_background(
            self._binding_cycle(queued, host, volumes, binders), f"bind {info.key}"
        )

    def _in_background(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._binding.add(task)
        task.add_done_callback(self._binding.discard)

    async def _binding_cycle(
        self,
        queued: QueuedPodInfo,
        node_name: str,
        volumes: PodVolumes | None,
        binders: Sequence[HTTPExtender],
    ) -> None:
        pod = queued.info.pod
        metadata = pod["metadata"]
        try:
            if (
                volumes is not None
            ):  # it will take a while: say where the pod is about to go
                await self._patch_status(
                    pod, {"status": {"nominatedNodeName": node_name}}
                )
                await self._pre_bind.bind(volumes, node_name)
            with span("scheduler", "bind", key=queued.key, uid=metadata.get("uid", "")):
                await self._bind(pod, node_name, binders)
        except (StatusError, ExtenderError, VolumeBindingError) as error:
            if volumes is not None:
                self.volume_binder.revert(volumes)
            self._handle_binding_cycle_error(queued, error)
            return
        message = (
            f"Successfully assigned {metadata['namespace']}/{metadata['name']} to"
            f" {node_name}"
        )
        self._event(pod, "Normal", "Scheduled", message)

    async def _bind(
        self, pod: Object, node_name: str, binders: Sequence[HTTPExtender]
    ) -> None:
        """By the first extender that binds; without one, or if those that failed may be
        ignored, by ourselves.
        """
        for binder in binders:
            try:
                await binder.bind(pod, node_name)
            except ExtenderError:
                if not binder.config.ignorable:
                    raise
            else:
                return
        await self._binder.bind(self._client, pod, node_name)

    # -- failure -----------------------------------------------------------------------

    def _handle_binding_cycle_error(
        self, queued: QueuedPodInfo, error: Exception
    ) -> None:
        """The place is free again, which others may have waited for; the pod itself is
        tried later, if it is still there.

        Upstream: `handleBindingCycleError`.
        """
        pod = queued.info.pod
        self.cache.forget_pod(queued.key)
        self.queue.move_all(POD_DELETED, pod, None)
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        queued.info = PodInfo({**pod, "spec": spec})
        message = str(error)
        if isinstance(error, VolumeBindingError):
            message = f'running PreBind plugin "VolumeBinding": {error}'
        elif isinstance(error, StatusError):
            message = f'running Bind plugin "DefaultBinder": {error}'
        self._fail(queued, message, "", "SchedulerError")

    def _handle_scheduling_failure(
        self, queued: QueuedPodInfo, state: CycleState, error: FitError
    ) -> None:
        diagnosis = error.diagnosis
        nominated, message = self.frameworks[
            self._profile_of(queued.info.pod)
        ].run_post_filter_plugins(state, queued.info, self.snapshot, diagnosis.statuses)
        diagnosis.post_filter_message = message
        queued.unschedulable_plugins = set(diagnosis.unschedulable_plugins)
        self._fail(queued, str(error), nominated)

    def _fail(
        self,
        queued: QueuedPodInfo,
        message: str,
        nominated: str | None,
        reason: str = "Unschedulable",
    ) -> None:
        """Back to the queue, and say why. `nominated`: the node to keep for the pod;
        empty: none any more; None: as before.
        """
        pod = queued.info.pod
        waits = self._still_waits(queued)
        if waits:
            self.queue.add_unschedulable(queued)
        if nominated and waits:
            self.nominator.add(queued.info, nominated)
        elif nominated is not None:
            self.nominator.remove(queued.key)
        self._report(pod, reason, message, nominated)

    def _still_waits(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod is there and without a node; if so, `queued` has its latest
        version.
        """
        stored = self._pods.indexer.get_by_key(queued.key)
        if stored is None or stored["spec"].get("nodeName"):
            return False
        if stored["metadata"].get("uid") != queued.info.pod["metadata"].get("uid"):
            return False  # another one of that name, which is in the queue already
        queued.info = PodInfo(stored)
        return True

    def _report(
        self, pod: Object, reason: str, message: str, nominated: str | None
    ) -> None:
        self._event(pod, "Warning", "FailedScheduling", truncate_message(message))
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": reason,
            "message": message,
        }
        more = None if nominated is None else {"nominatedNodeName": nominated or None}
        patch = condition_patch(pod, condition, self._clock.timestamp(), more)
        if patch:
            self._in_background(
                self._patch_status(pod, patch), f"status {pod['metadata']['name']}"
            )

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
                log.warning(
                    "updating the status of %s failed: %s",
                    metadata["name"],
                    error.message,
                )

    def _event(self, pod: Object, event_type: str, reason: str, message: str) -> None:
        self._recorders[self._profile_of(pod)].event(
            {"kind": "Pod", "apiVersion": "v1", **pod}, event_type, reason, message
        )
