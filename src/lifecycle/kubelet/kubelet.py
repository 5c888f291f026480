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

Upstream: `pkg/kubelet/kubelet.go` (`Kubelet`, `syncLoopIteration`), `kubelet_pods.go`
(`HandlePodCleanups`), v1.36. Left out: stats, certificates of its own. Eviction is tied
to it from outside (`eviction/attach.py`).
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cri.node_access import NodeAccess
from lifecycle.cri.runtime import ContainerEventResponse, Runtime, RuntimeServiceError
from lifecycle.kubelet.admit import (
    PodAdmitAttributes,
    PodAdmitResult,
    can_admit_pod,
    is_static_pod,
    predicate_handler,
)
from lifecycle.kubelet.admit_handlers import default_handlers
from lifecycle.kubelet.config import API, FILE, HTTP, PodConfig, PodOperation, PodUpdate
from lifecycle.kubelet.container_gc import GC_PERIOD, ContainerGC
from lifecycle.kubelet.container_options import PaperOptions
from lifecycle.kubelet.cpu_manager.cpu_manager import CPUManager, Policy
from lifecycle.kubelet.cpu_manager.state import CPUState
from lifecycle.kubelet.credentials import NodeCredentials
from lifecycle.kubelet.images import ImageManager
from lifecycle.kubelet.local_pods import LocalNode, LocalPods
from lifecycle.kubelet.logs.rotate import rotate_logs
from lifecycle.kubelet.mirror_pods import MirrorPods
from lifecycle.kubelet.node_registration import Machine, NodeRegistration
from lifecycle.kubelet.node_status import DEFAULT_CAPACITY
from lifecycle.kubelet.phase import is_terminal
from lifecycle.kubelet.pleg import EventedPLEG
from lifecycle.kubelet.pod_workers import PodWorkers
from lifecycle.kubelet.probes.manager import ProbeManager
from lifecycle.kubelet.runtime_manager import RuntimeManager
from lifecycle.kubelet.server.auth import KubeletAuth
from lifecycle.kubelet.server.handler import KubeletServer
from lifecycle.kubelet.server.listener import KubeletListener, Listen
from lifecycle.kubelet.sources import SourceFile, SourceURL, new_source_apiserver
from lifecycle.kubelet.status_manager import StatusManager
from lifecycle.kubelet.sync_pod import PodSyncer
from lifecycle.kubelet.volumes import ObjectReferences
from lifecycle.kubelet.volumes.payloads import VolumeError

log = logging.getLogger(__name__)

USER_AGENT = "kubelet/v1.36.2 (linux/amd64) kubernetes/$Format"
HOUSEKEEPING_PERIOD = 2.0
"""Seconds until cleaning up is tried again if something was still in use."""

RENEW_INTERVAL = 10.0
"""Seconds between renewals of the lease: a quarter of its duration."""


def node_user(node_name: str) -> tuple[str, tuple[str, ...]]:
    """User and groups of a node's kubelet."""
    return f"system:node:{node_name}", ("system:nodes", "system:authenticated")


class Kubelet:
    """A node's kubelet over a container runtime.

    `pod_cidr`: the node's range of pod addresses; without it, the one that the node
    object gets from the controllers. `cpu_policy`: the CPU manager's, `none` without
    it; `cpu_state`: the file it keeps. `local`: the machine whose disk and cgroups the
    pods get; without it nothing of them is there but what they say. `sync_frequency`:
    seconds after which an idle pod is looked at again (upstream: 60), 0 for never.
    `static_pod_path`, `static_pod_url`: where manifests are that need no API server.
    `listen`: the socket of its own API, which otherwise is only to be had in this
    process. `record_events=False` saves two thirds of the requests where thousands of
    pods are started for the numbers only.
    """

    def __init__(
        self,
        client: Client,
        node_name: str,
        runtime: Runtime,
        *,
        clock: Clock,
        names: NameSource | None = None,
        node_ip: str,
        pod_cidr: str | None = None,
        labels: Mapping[str, str] | None = None,
        taints: Sequence[Object] = (),
        capacity: Mapping[str, str] | None = None,
        provider_id: str = "",
        machine_info: Mapping[str, str] | None = None,
        record_events: bool = True,
        local: LocalNode | None = None,
        sync_frequency: float = 0.0,
        static_pod_path: Path | None = None,
        static_pod_url: str = "",
        unsafe_sysctls: Sequence[str] = (),
        node_credentials: NodeCredentials | None = None,
        cpu_policy: Policy | None = None,
        cpu_state: Path | None = None,
        listen: Listen | None = None,
    ) -> None:
        self._client = client
        self.node_name = node_name
        self._runtime = self.runtime = runtime
        self._clock = clock
        self._real = isinstance(runtime, NodeAccess)
        self._node_ip = node_ip
        self._capacity = dict(capacity or DEFAULT_CAPACITY)
        self._rng = random.Random(node_name)
        self._recorder = (
            EventRecorder(client, "kubelet", clock=clock, host=node_name)
            if record_events
            else None
        )
        provider = provider_id or f"kind://docker/lifecycle/{node_name}"
        machine = Machine(
            node_name,
            node_ip,
            pod_cidr or "",
            dict(labels or {}),
            list(taints),
            self._capacity,
            provider,
            machine_info,
        )
        self.registration = NodeRegistration(
            client, machine, runtime, clock, self._rng, asks_runtime=self._real
        )
        self._housekeeping: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._cleanups: set[asyncio.Task[None]] = set()
        self._sources_ready = False

        references = ObjectReferences(client)
        self.pod_workers = PodWorkers(clock, self._rng)
        self.status_manager = StatusManager(
            client,
            clock,
            could_have_running_containers=self.pod_workers.could_have_running_containers,
            can_be_deleted=self.pod_workers.is_terminated,
        )
        images = ImageManager(runtime, clock, node_credentials)
        memory = (
            parse_quantity(str(self._capacity.get("memory", "0"))).value() or 1 << 34
        )
        paper = PaperOptions(references.get, node_ip, self._capacity)
        self._manager = RuntimeManager(
            runtime, clock, images, paper, self._event, memory
        )
        self.probe_manager = ProbeManager(
            runtime,
            clock,
            self._event,
            self._probe_result,
            self.status_manager.get_pod_status,
        )
        self.pod_workers.syncer = self.syncer = PodSyncer(
            self._manager,
            self.status_manager,
            self.probe_manager,
            references,
            clock,
            node_ip,
            self._event,
        )
        self.syncer.images = images
        self.syncer.active_pods = self.pod_workers.active_pods
        self.syncer.network_error = lambda: self.registration.network_error
        self.mirror_pods = MirrorPods(
            client, lambda: self.registration.node, self._start
        )
        self.syncer.make_mirror_pod = self.mirror_pods.make
        self.status_manager.mirror_of = self.mirror_pods.known
        self._services: SharedInformer | None = None
        if local is not None:
            self._use_local_node(local)
        self._handlers = default_handlers(
            predicate_handler,
            unsafe_sysctls=unsafe_sysctls,
            node_conditions=self.registration.under_pressure,
        )
        if cpu_policy is not None:
            state = CPUState(cpu_policy.name, cpu_state)
            self._manager.cpu_manager = CPUManager(
                cpu_policy, state, runtime, self.pod_workers.active_pods
            )
        self._collector = ContainerGC(
            runtime, clock.now, lambda uid: not self.pod_workers.known(uid)
        )
        self._collected = clock.now()
        self._pleg = EventedPLEG(runtime, self._container_event)
        self.registration.health = self._pleg.healthy
        self._listen = listen
        self._listener: KubeletListener | None = None
        self.server = KubeletServer(
            runtime,
            clock,
            pods=self.pod_workers.all_pods,
            status=self.status_manager.get_pod_status,
        )
        self.pod_config = PodConfig()
        self.pod_config.updates.receive(self.sync_loop_iteration)
        self._source = new_source_apiserver(client, node_name, self.pod_config)
        self._static_sources: list[SourceFile | SourceURL] = []
        if static_pod_path is not None:
            merge = partial(self.pod_config.merge, FILE)
            self._static_sources.append(
                SourceFile(static_pod_path, node_name, merge, clock)
            )
        if static_pod_url:
            merge = partial(self.pod_config.merge, HTTP)
            self._static_sources.append(
                SourceURL(static_pod_url, node_name, merge, clock)
            )
        self._sources = [
            API,
            *([FILE] if static_pod_path is not None else []),
            *([HTTP] if static_pod_url else []),
        ]
        self.pod_workers.sync_frequency = sync_frequency

    def _use_local_node(self, local: LocalNode) -> None:
        """Give pods a place on this machine."""
        self._services = services = SharedInformer(self._client, resource("services"))
        self.syncer.local = LocalPods(
            local,
            self._client,
            self._clock,
            self._capacity,
            host_ip=self._node_ip,
            services=services.indexer.list,
            volumes_attached=lambda: (
                (self.registration.node.get("status") or {}).get("volumesAttached")
                or []
            ),
            status=lambda pod: (
                self.status_manager.get_pod_status(pod["metadata"]["uid"])
                or pod.get("status")
                or {}
            ),
            rng=self._rng,
        )
        if self._real:
            self._manager.logs = self.syncer.local.logs
        if self.syncer.local.cgroup_version == 2:
            self._manager.unified = {"memory.oom.group": "1"}
        self._manager.options = self.syncer.local.options
        self.syncer.tokens = self.syncer.local.tokens

    # -- running -----------------------------------------------------------------------

    async def run(self) -> None:
        """Serve the node until cancelled."""
        self.pod_workers.start()
        try:
            self._runtime.get_container_events(self._pleg.event)
            if self.syncer.local is not None:
                self.syncer.local.start()
            for static in self._static_sources:
                self._start(static.run())
            await self._serve()
            await self.registration.register()
            if self._services is not None:
                self._services.start()
                await (
                    self._services.wait_for_sync()
                )  # upstream, too, starts no pod before it knows the services
            self._source.start()
            if self._real:
                self._start(self._pleg.run())
                self._start(self._remove_what_nobody_knows())
            await self._until_ready()
            if self._manager.cpu_manager is not None:
                self._start(self._manager.cpu_manager.run())
            self._timer = asyncio.get_running_loop().call_later(
                RENEW_INTERVAL * self._rng.random(), self._start_housekeeping
            )
            await asyncio.get_running_loop().create_future()
        finally:
            await self._stop()

    async def _serve(self) -> None:
        """Open the port of the kubelet's API, for those who may. Raises OSError."""
        if self._listen is not None:
            listen, auth = self._listen, KubeletAuth(self._client, self.node_name)
            self._listener = KubeletListener(auth.guard(self.server), listen.tls)
            self.registration.port = await self._listener.start(
                listen.address, listen.port, listen.sock
            )

    async def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        tasks = [
            task for task in (self._housekeeping, *self._cleanups) if task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._listener is not None:
            await self._listener.stop()
        await self._source.stop()
        if self._services is not None:
            await self._services.stop()
        await self.pod_workers.stop()
        await self.probe_manager.stop()
        await self.status_manager.stop()
        if self._recorder is not None:
            await self._recorder.stop()

    # -- the node ----------------------------------------------------------------------

    async def _until_ready(self) -> None:
        await self.registration.until_network_ready()
        for pod in self.pod_workers.active_pods():
            self.pod_workers.sync(pod["metadata"]["uid"])

    def _start_housekeeping(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(
            RENEW_INTERVAL, self._start_housekeeping
        )
        if self._housekeeping is None or self._housekeeping.done():
            self._housekeeping = asyncio.get_running_loop().create_task(
                self._housekeep()
            )

    async def _housekeep(self) -> None:
        try:
            await self.registration.keep_fresh()
            if self._clock.now() - self._collected >= GC_PERIOD and (
                self._sources_ready or not self._real
            ):
                self._collected = self._clock.now()
                await self._collector.garbage_collect()
                if self._real:
                    await self._kill_unknown()
            if self._real:  # else the runtime keeps the logs itself
                await rotate_logs(self._runtime, self._clock.now())
        except (StatusError, OSError, RuntimeServiceError) as error:
            log.debug("node %s: %s", self.node_name, error)

    # -- pods --------------------------------------------------------------------------

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Something that runs beside, until it ends or the kubelet does."""
        task = asyncio.get_running_loop().create_task(work)
        self._cleanups.add(task)
        task.add_done_callback(self._cleanups.discard)

    def sync_loop_iteration(self, update: PodUpdate) -> None:
        """One message from the sources, to the handler of its operation. The runtime's
        events and the probes' results come in by `_container_event` and
        `_probe_result`.
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
            if self._note_mirror(pod):
                continue
            self.syncer.metrics.first_seen(pod["metadata"]["uid"], self._clock.now())
            done = is_terminal((pod.get("status") or {}).get("phase")) or pod[
                "metadata"
            ].get("deletionTimestamp")
            result = PodAdmitResult(True) if done else self._can_admit_pod(pod)
            if result.reason == "NodeAffinity":
                self._start(self._admit_with_fresh_node(pod))
            else:
                self._dispatch(pod, result)

    def handle_pod_updates(self, pods: Iterable[Object]) -> None:
        """A change of what is wanted, or the wish that it end."""
        for pod in pods:
            if not self._note_mirror(pod):
                self.pod_workers.update_pod(pod)

    def handle_pod_reconcile(self, pods: Iterable[Object]) -> None:
        """Only the status is another. It came from here, unless somebody answered a
        readiness gate.
        """
        for pod in pods:
            if not self._note_mirror(pod) and pod["spec"].get("readinessGates"):
                self.pod_workers.update_pod(pod)

    def handle_pod_removes(self, pods: Iterable[Object]) -> None:
        """The source has forgotten the pod: so do we, once it has ended."""
        for pod in pods:
            meta = pod["metadata"]
            if self.mirror_pods.forget(pod):
                self._sync_static_pod(pod)  # it lives: draw it again
                continue
            self.pod_workers.kill_pod(meta["uid"])
            self._start(self._clean_up(meta["uid"]))
            if is_static_pod(pod):
                self.mirror_pods.remove(pod)

    def _note_mirror(self, pod: Object) -> bool:
        """Whether it is only a picture of a static pod; then that pod's worker looks
        whether it is still a good one.
        """
        noted = self.mirror_pods.note(pod)
        if noted:
            self._sync_static_pod(pod)
        return noted

    def _sync_static_pod(self, mirror: Object) -> None:
        for pod in self.pod_workers.active_pods():
            if (
                is_static_pod(pod)
                and pod["metadata"]["name"] == mirror["metadata"]["name"]
            ):
                self.pod_workers.sync(pod["metadata"]["uid"])
                self.status_manager.mirror_changed(pod["metadata"]["uid"])

    def _can_admit_pod(self, pod: Object) -> PodAdmitResult:
        uid = pod["metadata"]["uid"]
        others = [
            other
            for other in self.pod_workers.active_pods()
            if other["metadata"]["uid"] != uid
        ]
        node = self.registration.node_as_known()
        result = can_admit_pod(
            self._handlers, PodAdmitAttributes(pod, others, node, self._capacity)
        )
        if result.admit and self._manager.cpu_manager is not None:
            message = self._manager.cpu_manager.admit(pod)
            if message:
                return PodAdmitResult(False, "UnexpectedAdmissionError", message)
        return result

    async def _admit_with_fresh_node(self, pod: Object) -> None:
        """Labels are in the way: once more, with the node as it is now."""
        try:
            await self.registration.refresh()
        except StatusError as error:
            log.debug("node %s: %s", self.node_name, error.message)
        self._dispatch(pod, self._can_admit_pod(pod))

    def _dispatch(self, pod: Object, result: PodAdmitResult) -> None:
        if result.admit:
            self.pod_workers.update_pod(pod)
        else:
            self.syncer.reject_pod(pod, result.reason, result.message)

    async def _clean_up(self, uid: str) -> None:
        await self.pod_workers.wait_terminated(uid)
        self.pod_workers.forget(uid)
        self.probe_manager.remove_pod(uid)
        self.status_manager.remove_orphaned_status(uid)
        self.syncer.metrics.forget(uid)
        runtime = await self._manager.get_pod_status(uid)
        for status in runtime.containers:
            self.probe_manager.forget_container(status.id)
        await self._manager.remove_pod(uid)
        self.handle_pod_cleanups()

    async def _remove_what_nobody_knows(self) -> None:
        """Once every source has told of its pods: end what an earlier kubelet left of
        pods that were deleted meanwhile.
        """
        await self._source.wait_for_sync()
        self.pod_config.mark_seen(API)
        while not self.pod_config.seen_all_sources(self._sources):  # noqa: ASYNC110 - a URL is asked now and then, too
            await asyncio.sleep(1.0)
        self._sources_ready = True
        await self._kill_unknown()
        self.handle_pod_cleanups()

    async def _kill_unknown(self) -> None:
        """End pods that run and that no worker knows. Upstream:
        `SyncTerminatingRuntimePod`.
        """
        try:
            found = {
                sandbox.metadata.uid
                for sandbox in await self._runtime.list_pod_sandbox()
            }
            for uid in found:
                if not self.pod_workers.known(uid):
                    await self._manager.kill_unknown_pod(uid)
        except RuntimeServiceError as error:
            log.debug("node %s: %s", self.node_name, error)

    def handle_pod_cleanups(self) -> None:
        """Remove what is left on this machine of pods that no source and no worker
        knows. Upstream: `HandlePodCleanups`.
        """
        local = self.syncer.local
        if local is not None:
            try:
                local.clean_up(
                    {pod["metadata"]["uid"] for pod in self.pod_workers.all_pods()}
                )
            except (VolumeError, OSError) as error:
                log.warning("failed cleaning up orphaned pod directories: %s", error)
                self._start(self._clean_up_again())

    async def _clean_up_again(self) -> None:
        await asyncio.sleep(HOUSEKEEPING_PERIOD)
        self.handle_pod_cleanups()

    def _container_event(self, event: ContainerEventResponse) -> None:
        """From the runtime: something happened to a pod's containers."""
        self.server.container_event(event)
        self.pod_workers.sync(event.pod_uid, event)

    def _probe_result(
        self, pod: Object, kind: str, container_id: str, passed: bool
    ) -> None:
        self.status_manager.set_probe_result(
            pod["metadata"]["uid"], kind, container_id, passed
        )
        self.pod_workers.sync(pod["metadata"]["uid"])

    def _event(
        self, pod: Object, kind: str, reason: str, message: str, container: str
    ) -> None:
        if self._recorder is None:
            return
        field_path = ""
        if container:
            spec = pod["spec"]
            init = any(c["name"] == container for c in spec.get("initContainers") or ())
            field_path = (
                f"spec.{'initContainers' if init else 'containers'}{{{container}}}"
            )
        reference = {"kind": "Pod", "apiVersion": "v1", "metadata": pod["metadata"]}
        self._recorder.event(reference, kind, reason, message, field_path=field_path)
