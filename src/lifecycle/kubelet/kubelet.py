"""The kubelet: one per node, it makes the node's pods real.

It registers its node, watches for pods placed there, and hands every change to the pod's worker; what the container
runtime reports goes the same way (an *evented* PLEG: upstream by default still asks the runtime once a second).
Beside that it only keeps one timer, for the lease and the node's status.

It is made to be cheap: a pod watch, a timer and a few small objects per node, so that a thousand of them fit in one
process.

Upstream: `pkg/kubelet/kubelet.go` (`Kubelet`, `syncLoopIteration`), `pleg/evented.go`, v1.36. Left out: static and
mirror pods, eviction, stats, the kubelet's own API, certificates.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Mapping, Sequence

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH, Client
from lifecycle.cri.runtime import ContainerEventResponse, Runtime
from lifecycle.kubelet.admit import admit
from lifecycle.kubelet.config import new_source_apiserver
from lifecycle.kubelet.images import ImageManager
from lifecycle.kubelet.node_status import (
    DEFAULT_CAPACITY,
    LEASE_NAMESPACE,
    initial_node,
    lease,
    node_conditions,
    node_status,
)
from lifecycle.kubelet.pod_workers import PodWorkers
from lifecycle.kubelet.probes.manager import ProbeManager
from lifecycle.kubelet.runtime_manager import RuntimeManager
from lifecycle.kubelet.status_manager import StatusManager
from lifecycle.kubelet.status_patch import status_patch
from lifecycle.kubelet.sync_pod import PodSyncer
from lifecycle.kubelet.volumes import ObjectReferences

log = logging.getLogger(__name__)

USER_AGENT = "kubelet/v1.36.2 (linux/amd64) kubernetes/$Format"
RENEW_INTERVAL = 10.0
"""Seconds between renewals of the lease: a quarter of its duration."""

STATUS_REPORT_FREQUENCY = 300.0
"""Seconds between reports of an unchanged node status."""


def node_user(node_name: str) -> tuple[str, tuple[str, ...]]:
    """User and groups of a node's kubelet."""
    return f"system:node:{node_name}", ("system:nodes", "system:authenticated")


class Kubelet:
    """A node's kubelet over a container runtime.

    `pod_cidr`: the node's range of pod addresses; without it, the one that the node object gets from the controllers.
    `record_events=False` saves two thirds of the requests where thousands of pods are started for the numbers only.
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
    ) -> None:
        self._client = client
        self.node_name = node_name
        self._runtime = runtime
        self._clock = clock
        self._node_ip = node_ip
        self._pod_cidr = pod_cidr or ""
        self._labels = dict(labels or {})
        self._taints = list(taints)
        self._capacity = dict(capacity or DEFAULT_CAPACITY)
        self._machine_info = machine_info
        self._provider_id = provider_id or f"kind://docker/lifecycle/{node_name}"
        self._rng = random.Random(node_name)
        self._recorder = EventRecorder(client, "kubelet", clock=clock, host=node_name) if record_events else None
        self._node: Object = {}
        self._lease: Object | None = None
        self._network_ready = False
        self._last_report = 0.0
        self._housekeeping: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._cleanups: set[asyncio.Task[None]] = set()

        references = ObjectReferences(client)
        self.pod_workers = PodWorkers(clock, self._rng)
        self.status_manager = StatusManager(
            client,
            clock,
            could_have_running_containers=self.pod_workers.could_have_running_containers,
            can_be_deleted=self.pod_workers.is_terminated,
        )
        self._manager = RuntimeManager(runtime, clock, ImageManager(runtime, clock), references, self._event)
        self.probe_manager = ProbeManager(runtime, clock, self._event, self._probe_result)
        self.pod_workers.syncer = PodSyncer(
            self._manager, self.status_manager, self.probe_manager, references, clock, node_ip, self._event, self._admit
        )
        self._source = new_source_apiserver(
            client, node_name, add=self._pod_added, update=self._pod_updated, remove=self._pod_removed
        )

    # -- running ------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Serve the node until cancelled."""
        try:
            self._runtime.get_container_events(self._container_event)
            await self._register()
            self._source.start()
            await self._until_network_ready()
            self._timer = asyncio.get_running_loop().call_later(
                RENEW_INTERVAL * self._rng.random(), self._start_housekeeping
            )
            await asyncio.get_running_loop().create_future()
        finally:
            await self._stop()

    async def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        tasks = [task for task in (self._housekeeping, *self._cleanups) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._source.stop()
        await self.pod_workers.stop()
        await self.probe_manager.stop()
        await self.status_manager.stop()
        if self._recorder is not None:
            await self._recorder.stop()

    # -- the node -----------------------------------------------------------------------------------------------------

    async def _register(self) -> None:
        """Create the node, or take over the one that is there; then report its status."""
        nodes = resource("nodes")
        wanted = initial_node(self.node_name, self._labels, self._taints, self._provider_id, self._pod_cidr)
        wanted["status"] = await self._node_status([])
        while True:
            try:
                self._node = await self._client.create(nodes, wanted)
                break
            except StatusError as error:
                if error.code == 409:
                    self._node = await self._client.get(nodes, self.node_name)
                    break
                log.debug("node %s not registered: %s", self.node_name, error.message)
            await asyncio.sleep(0.2 + self._rng.random())
        await self._renew_lease()
        await self._set_pod_cidr(self._pod_cidr or (self._node.get("spec") or {}).get("podCIDR", ""))
        await self._report_status()

    async def _set_pod_cidr(self, pod_cidr: str) -> None:
        if pod_cidr and not self._network_ready:
            await self._runtime.update_runtime_config(pod_cidr)
            self._network_ready = True

    async def _until_network_ready(self) -> None:
        """Without a range of its own, wait until the node object has one."""
        while not self._network_ready:
            try:
                frames = await self._client.watch(
                    resource("nodes"),
                    resource_version=self._node["metadata"]["resourceVersion"],
                    field_selector=f"metadata.name={self.node_name}",
                )
                async for frame in frames:
                    if frame.type not in ("ADDED", "MODIFIED"):
                        if frame.type == "ERROR":
                            break
                        continue
                    self._node = frame.object
                    await self._set_pod_cidr((self._node.get("spec") or {}).get("podCIDR", ""))
                    if self._network_ready:
                        break
                close = getattr(frames, "aclose", None)
                if close is not None:
                    await close()
            except StatusError as error:
                log.debug("watch of node %s: %s", self.node_name, error.message)
            if not self._network_ready:
                await asyncio.sleep(1.0)
                self._node = await self._client.get(resource("nodes"), self.node_name)
                await self._set_pod_cidr((self._node.get("spec") or {}).get("podCIDR", ""))
        await self._report_status()
        for pod in self.pod_workers.active_pods():
            self.pod_workers.sync(pod["metadata"]["uid"])

    async def _node_status(self, old: Sequence[Object]) -> Object:
        version = await self._runtime.version()
        return node_status(
            self.node_name,
            self._node_ip,
            self._capacity,
            await self._runtime.list_images(),
            node_conditions(old, self._clock.timestamp(), self._network_ready),
            f"{version.runtime_name}://{version.runtime_version}",
            self._machine_info,
        )

    async def _report_status(self) -> None:
        """Patch what changed. Upstream: `tryUpdateNodeStatus`."""
        old = self._node.get("status") or {}
        new = {**old, **await self._node_status(old.get("conditions") or [])}
        known = {c["type"] for c in new["conditions"]}
        new["conditions"] = [*new["conditions"], *(c for c in old.get("conditions") or () if c["type"] not in known)]
        patch = status_patch(self._node["metadata"]["uid"], old, new)
        self._last_report = self._clock.now()
        if patch:
            self._node = await self._client.patch(
                resource("nodes"),
                self.node_name,
                "",
                {"status": patch["status"]},
                patch_type=STRATEGIC_MERGE_PATCH,
                subresource="status",
            )

    async def _renew_lease(self) -> None:
        leases = resource("leases.coordination.k8s.io")
        fresh = lease(self.node_name, self._node["metadata"]["uid"], self._clock.micro_timestamp())
        try:
            if self._lease is not None:
                renewed = {**self._lease, "spec": {**self._lease["spec"], "renewTime": fresh["spec"]["renewTime"]}}
                self._lease = await self._client.update(leases, renewed)
            else:
                self._lease = await self._client.create(leases, fresh, LEASE_NAMESPACE)
        except StatusError as error:
            self._lease = None
            if error.code == 409:
                self._lease = await self._client.get(leases, self.node_name, LEASE_NAMESPACE)
            else:
                log.debug("lease of %s not renewed: %s", self.node_name, error.message)

    def _start_housekeeping(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(RENEW_INTERVAL, self._start_housekeeping)
        if self._housekeeping is None or self._housekeeping.done():
            self._housekeeping = asyncio.get_running_loop().create_task(self._housekeep())

    async def _housekeep(self) -> None:
        try:
            await self._renew_lease()
            if self._clock.now() - self._last_report >= STATUS_REPORT_FREQUENCY:
                self._node = await self._client.get(resource("nodes"), self.node_name)
                await self._report_status()
        except (StatusError, OSError) as error:
            log.debug("node %s: %s", self.node_name, error)

    # -- pods ---------------------------------------------------------------------------------------------------------

    def _pod_added(self, pod: Object) -> None:
        self.pod_workers.update_pod(pod)

    def _pod_updated(self, old: Object, new: Object) -> None:
        """A change of spec or deletion counts; what only the status says came from here (a readiness gate did not)."""
        before, after = old["metadata"], new["metadata"]
        if before["uid"] != after["uid"]:
            self._pod_removed(old)
            self.pod_workers.update_pod(new)
            return
        if (
            before.get("deletionTimestamp") == after.get("deletionTimestamp")
            and before.get("deletionGracePeriodSeconds") == after.get("deletionGracePeriodSeconds")
            and before.get("generation") == after.get("generation")
            and before.get("labels") == after.get("labels")
            and not new["spec"].get("readinessGates")
        ):
            return
        self.pod_workers.update_pod(new)

    def _pod_removed(self, pod: Object) -> None:
        """The API server has forgotten the pod: so do we, once it has ended."""
        uid = pod["metadata"]["uid"]
        self.pod_workers.kill_pod(uid)
        task = asyncio.get_running_loop().create_task(self._clean_up(uid))
        self._cleanups.add(task)
        task.add_done_callback(self._cleanups.discard)

    async def _clean_up(self, uid: str) -> None:
        await self.pod_workers.wait_terminated(uid)
        self.pod_workers.forget(uid)
        self.probe_manager.remove_pod(uid)
        self.status_manager.remove_orphaned_status(uid)
        runtime = await self._manager.get_pod_status(uid)
        for status in runtime.containers:
            self.probe_manager.forget_container(status.id)
        await self._manager.remove_pod(uid)

    async def _admit(self, pod: Object) -> tuple[str, str]:
        """Ask `admit`; if labels are in the way, once more with the node as it is now."""
        uid = pod["metadata"]["uid"]
        others = [other for other in self.pod_workers.active_pods() if other["metadata"]["uid"] != uid]
        reason, message = admit(pod, others, self._node, self._capacity)
        if reason == "NodeAffinity":
            self._node = await self._client.get(resource("nodes"), self.node_name)
            reason, message = admit(pod, others, self._node, self._capacity)
        return reason, message

    def _container_event(self, event: ContainerEventResponse) -> None:
        """The runtime says that something happened to a pod's containers."""
        self.pod_workers.sync(event.pod_uid)

    def _probe_result(self, pod: Object) -> None:
        self.pod_workers.sync(pod["metadata"]["uid"])

    def _event(self, pod: Object, kind: str, reason: str, message: str, container: str) -> None:
        if self._recorder is None:
            return
        field_path = ""
        if container:
            spec = pod["spec"]
            init = any(c["name"] == container for c in spec.get("initContainers") or ())
            field_path = f"spec.{'initContainers' if init else 'containers'}{{{container}}}"
        reference = {"kind": "Pod", "apiVersion": "v1", "metadata": pod["metadata"]}
        self._recorder.event(reference, kind, reason, message, field_path=field_path)
