"""The kubelet: one per node, it makes the node's pods real.

It registers its node, watches for pods placed there, and hands every change to the
pod's worker; what the container runtime reports goes the same way (an *evented* PLEG:
upstream by default still asks the runtime once a second, and so does ours where the
runtime does not tell). Beside that it only keeps one timer, for the lease and the
node's status.

Over a hollow runtime it is made to be cheap: a pod watch, a timer and a few small
objects per node, so that a thousand of them fit in one process. Over a real one it owns
a directory, cgroups and a port, and what it started outlives it: a kubelet that starts
again finds its pods in the runtime, by their labels, and lets them run.

Here is what it does; of what it is made says `main_kubelet.py`.

Upstream: `pkg/kubelet/kubelet.go` (`Kubelet.Run`, `syncLoopIteration`,
`HandlePodAdditions`, …), v1.36. Left out: certificates of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.version import user_agent
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.client.rest import REQUEST_ERRORS
from lifecycle.cri.apis.events import ContainerEventResponse
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.kubelet.allocation.allocation_manager import AllocationManager
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.config.sources import PodSources
from lifecycle.kubelet.container.ref import Events
from lifecycle.kubelet.housekeeping import Housekeeping
from lifecycle.kubelet.kubelet_node_status import NodeRegistration
from lifecycle.kubelet.lifecycle.interfaces import PodAdmitResult
from lifecycle.kubelet.pleg.generic import EventedPLEG
from lifecycle.kubelet.pod.mirror_client import MirrorPods
from lifecycle.kubelet.pod.pod_manager import PodManager
from lifecycle.kubelet.pod.startup_latency_tracker import StartupMetrics
from lifecycle.kubelet.pod_cleanups import PodCleanups
from lifecycle.kubelet.pod_host import PodHost
from lifecycle.kubelet.pod_sync_status import PodSyncStatuses
from lifecycle.kubelet.pod_workers import PodWorkers
from lifecycle.kubelet.prober.prober_manager import ProbeManager, ProbeUpdate
from lifecycle.kubelet.prober.worker import READINESS, STARTUP
from lifecycle.kubelet.server.handler import KubeletServer
from lifecycle.kubelet.server.listener import KubeletListener, NoListener
from lifecycle.kubelet.status.status_manager import StatusManager
from lifecycle.kubelet.sync_pod import PodSyncer
from lifecycle.kubelet.types.pod_update import PodOperation, PodUpdate, is_static_pod
from lifecycle.kubelet.types.update_channel import UpdateChannel

log = logging.getLogger(__name__)

USER_AGENT = user_agent("kubelet")

MAY_BE_STALE = ("NodeAffinity",)
"""Refusals for what a Node no longer says, perhaps: its watch may be a moment behind,
and for its labels the Node is read anew. Upstream:
`predicateAdmitHandler.generalFilter`.
"""

Loop = Callable[[], Coroutine[Any, Any, None]]


def node_user(node_name: str) -> tuple[str, tuple[str, ...]]:
    """User and groups of a node's kubelet."""
    return f"system:node:{node_name}", ("system:nodes", "system:authenticated")


@dataclass(slots=True, eq=False)
class Kubelet:
    """A node's kubelet over a container runtime, made of finished parts.

    `allocatable`: what pods may have of the node. `loops` run as soon as the pods are
    watched.
    """

    node_name: str
    runtime: Runtime
    clock: Clock
    allocatable: Mapping[str, str]
    tasks: BackgroundTasks
    events: Events
    pods: PodSyncStatuses
    pod_manager: PodManager
    status_manager: StatusManager
    registration: NodeRegistration
    host: PodHost
    cpu_manager: CPUManager
    probe_manager: ProbeManager
    mirror_pods: MirrorPods
    syncer: PodSyncer
    pod_workers: PodWorkers
    allocations: AllocationManager
    pleg: EventedPLEG
    pod_config: PodConfig
    sources: PodSources
    cleanups: PodCleanups
    housekeeping: Housekeeping
    server: KubeletServer
    listener: KubeletListener | NoListener
    container_events: UpdateChannel[ContainerEventResponse]
    probe_updates: UpdateChannel[ProbeUpdate]
    loops: Sequence[Loop]
    waiting_for_node: dict[str, Object] = field(default_factory=dict)
    """Pods that may be admitted once the Node was read anew, by uid."""

    def __post_init__(self) -> None:
        self.pod_config.updates.receive(self.sync_loop_iteration)
        self.container_events.receive(self.handle_container_event)
        self.probe_updates.receive(self.handle_probe_update)

    @property
    def metrics(self) -> StartupMetrics:
        """How long pods took to start."""
        return self.syncer.metrics

    # -- running -----------------------------------------------------------------------

    async def run(self) -> None:
        """Serve the node until cancelled."""
        self.pod_workers.start()
        try:
            self.runtime.get_container_events(self.pleg.event)
            self.host.start()
            self.sources.start_static(self.tasks.start)
            await self.registration.register(await self.listener.start())
            await self.host.wait_for_services()
            self.sources.start_api()
            for loop in self.loops:
                self.tasks.start(loop())
            await self._until_network_ready()
            self.tasks.start(self.cpu_manager.run())
            self.housekeeping.start()
            await asyncio.get_running_loop().create_future()
        finally:
            await self._stop()

    async def _until_network_ready(self) -> None:
        await self.registration.until_network_ready()
        for pod in self.pods.active_pods():
            self.pod_workers.sync(pod["metadata"]["uid"])

    async def _stop(self) -> None:
        await self.housekeeping.stop()
        await self.registration.stop()
        await self.tasks.stop()
        await self.listener.stop()
        await self.sources.stop()
        await self.host.stop()
        await self.pod_workers.stop()
        await self.probe_manager.stop()
        await self.status_manager.stop()
        await self.events.stop()

    # -- pods --------------------------------------------------------------------------

    def sync_loop_iteration(self, update: PodUpdate) -> None:
        """One message from the sources, to the handler of its operation. The runtime's
        events and the probes' results come in by `handle_container_event` and
        `handle_probe_update`.
        """
        handlers = {
            PodOperation.ADD: self.handle_pod_additions,
            PodOperation.UPDATE: self.handle_pod_updates,
            # it goes on running until its worker has ended it
            PodOperation.DELETE: self.handle_pod_updates,
            PodOperation.REMOVE: self.handle_pod_removes,
            PodOperation.RECONCILE: self.handle_pod_reconcile,
        }
        handlers[update.op](update.pods)

    def handle_pod_additions(self, pods: Iterable[Object]) -> None:
        """New pods, oldest first: admit them, and give each that is admitted to a
        worker.
        """
        for pod in sorted(
            pods, key=lambda p: p["metadata"].get("creationTimestamp") or ""
        ):
            if self._update_mirror(pod):
                continue
            self.metrics.first_seen(pod["metadata"]["uid"], self.clock.now())
            result = self._can_admit_pod(pod)
            if result.reason in MAY_BE_STALE:
                self.waiting_for_node[pod["metadata"]["uid"]] = pod
                self.tasks.start(self._admit_with_fresh_node(pod["metadata"]["uid"]))
            else:
                self._dispatch(pod, result)

    def handle_pod_updates(self, pods: Iterable[Object]) -> None:
        """A change of what is wanted, or the wish that it end."""
        for pod in pods:
            if not (self._is_waiting_for_node(pod) or self._update_mirror(pod)):
                self.status_manager.reconcile(pod)
                self.pod_workers.update_pod(pod)
                self.allocations.push_pending_resize(pod)
        self.retry_pending_resizes()

    def retry_pending_resizes(self) -> None:
        """There may be room for what pods wish for: grant it, and let their workers
        look.
        """
        if self.allocations.has_pending_resizes():
            for uid in self.allocations.retry_pending_resizes():
                self.pod_workers.sync(uid)

    def handle_pod_reconcile(self, pods: Iterable[Object]) -> None:
        """Only the status is another. It came from here, unless somebody answered a
        readiness gate, or overwrote it.
        """
        for pod in pods:
            if self._is_waiting_for_node(pod) or self._update_mirror(pod):
                continue
            self.pods.note(pod)
            self.status_manager.reconcile(pod)
            if pod["spec"].get("readinessGates"):
                self.pod_workers.update_pod(pod)

    def handle_pod_removes(self, pods: Iterable[Object]) -> None:
        """The source has forgotten the pod: so do we, once it has ended."""
        for pod in pods:
            meta = pod["metadata"]
            self.waiting_for_node.pop(meta["uid"], None)
            if self.pod_manager.remove_mirror_pod(pod):
                continue  # the next look at the static pod draws it again
            self.pod_workers.kill_pod(meta["uid"])
            self.tasks.start(self._delete_pod(pod))

    async def _delete_pod(self, pod: Object) -> None:
        """Once it has ended, nobody speaks of it any more, and no mirror shows it."""
        uid = pod["metadata"]["uid"]
        await self.cleanups.delete_pod(uid)
        self.allocations.remove_pod(uid)
        self.retry_pending_resizes()
        if is_static_pod(pod):
            self.mirror_pods.delete(pod)

    def _update_mirror(self, pod: Object) -> bool:
        """Whether it is only a picture of a static pod; then that pod's worker looks
        whether it is still a good one.
        """
        is_mirror = self.pod_manager.update_mirror_pod(pod)
        if is_mirror:
            self._sync_static_pod(pod)
        return is_mirror

    def _sync_static_pod(self, mirror: Object) -> None:
        for pod in self.pods.active_pods():
            if (
                is_static_pod(pod)
                and pod["metadata"]["name"] == mirror["metadata"]["name"]
            ):
                self.pod_workers.sync(pod["metadata"]["uid"])
                self.status_manager.mirror_changed(pod["metadata"]["uid"])

    def _can_admit_pod(self, pod: Object) -> PodAdmitResult:
        """What has ended or is to end is not asked whether it may begin."""
        phase = (pod.get("status") or {}).get("phase")
        if is_pod_phase_terminal(phase) or pod["metadata"].get("deletionTimestamp"):
            return PodAdmitResult(True)
        return self.allocations.add_pod(pod)

    def _is_waiting_for_node(self, pod: Object) -> bool:
        """Then it is asked for as it is now."""
        uid = pod["metadata"]["uid"]
        if uid in self.waiting_for_node:
            self.waiting_for_node[uid] = pod
            return True
        return False

    async def _admit_with_fresh_node(self, uid: str) -> None:
        """Labels are in the way: once more, with the node as it is now, and with what
        has become of the pod meanwhile.
        """
        try:
            await self.registration.refresh()
        except REQUEST_ERRORS as error:
            log.debug("node %s: %s", self.node_name, error)
        pod = self.waiting_for_node.pop(uid, None)
        if pod is not None:
            self._dispatch(pod, self._can_admit_pod(pod))

    def _dispatch(self, pod: Object, result: PodAdmitResult) -> None:
        if result.admit:
            self.pod_workers.update_pod(pod)
        else:
            self.syncer.reject_pod(pod, result.reason, result.message)

    def handle_container_event(self, event: ContainerEventResponse) -> None:
        """From the runtime: something happened to a pod's containers."""
        self.server.container_event(event)
        self.pod_workers.sync(event.pod_uid, event)

    def handle_probe_update(self, update: ProbeUpdate) -> None:
        """A probe has another result than before. Upstream: `handleProbeSync`."""
        uid, container_id = update.pod["metadata"]["uid"], update.container_id
        if update.kind == READINESS:
            self.status_manager.set_container_readiness(
                uid, container_id, update.passed
            )
        elif update.kind == STARTUP:
            self.status_manager.set_container_startup(uid, container_id, update.passed)
        self.pod_workers.sync(uid)
