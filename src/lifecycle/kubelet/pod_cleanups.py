"""Pods that are gone, and what they left.

A pod whose source has forgotten it still ends in good order; then its worker, its
status and its containers go. What an earlier kubelet left behind is only touched once
every source has spoken: before that, nobody can say that a pod is unknown.

Upstream: `pkg/kubelet/kubelet_pods.go` (`HandlePodCleanups`), `pkg/kubelet/kubelet.go`
(`SyncTerminatingRuntimePod`, `deletePod`), v1.36.
"""

from __future__ import annotations

import asyncio
import logging

from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.services import RuntimeService
from lifecycle.kubelet.config.sources import PodSources
from lifecycle.kubelet.kuberuntime.kuberuntime_manager import RuntimeManager
from lifecycle.kubelet.pod.startup_latency_tracker import StartupMetrics
from lifecycle.kubelet.pod_host import PodHost
from lifecycle.kubelet.pod_sync_status import PodSyncStatuses
from lifecycle.kubelet.pod_workers import PodWorkers
from lifecycle.kubelet.prober.prober_manager import ProbeManager
from lifecycle.kubelet.status.status_manager import StatusManager
from lifecycle.kubelet.volume.payloads import VolumeError

log = logging.getLogger(__name__)

HOUSEKEEPING_PERIOD = 2.0
"""Seconds until cleaning up is tried again if something was still in use."""


class PodCleanups:
    """One per node."""

    def __init__(
        self,
        runtime: RuntimeService,
        sources: PodSources,
        pods: PodSyncStatuses,
        pod_workers: PodWorkers,
        runtime_manager: RuntimeManager,
        status_manager: StatusManager,
        probe_manager: ProbeManager,
        metrics: StartupMetrics,
        host: PodHost,
        tasks: BackgroundTasks,
    ) -> None:
        self._runtime = runtime
        self._sources = sources
        self._pods = pods
        self._pod_workers = pod_workers
        self._runtime_manager = runtime_manager
        self._status_manager = status_manager
        self._probe_manager = probe_manager
        self._metrics = metrics
        self._host = host
        self._tasks = tasks

    async def delete_pod(self, uid: str) -> None:
        """No source knows the pod any more: once it has ended, forget it."""
        await self._pod_workers.wait_terminated(uid)
        self._pod_workers.forget(uid)
        self._probe_manager.remove_pod(uid)
        self._status_manager.remove_orphaned_status(uid)
        self._metrics.forget(uid)
        runtime = await self._runtime_manager.get_pod_status(uid)
        for status in runtime.containers:
            self._probe_manager.forget_container(status.id)
        await self._runtime_manager.remove_pod(uid)
        self.handle_pod_cleanups()

    async def clean_up_when_ready(self) -> None:
        """Once every source has told of its pods: end what an earlier kubelet left of
        pods that were deleted meanwhile.
        """
        await self._sources.wait_until_ready()
        await self.kill_unknown_pods()
        self.handle_pod_cleanups()

    async def kill_unknown_pods(self) -> None:
        """End pods that run and that no worker knows. Upstream:
        `SyncTerminatingRuntimePod`.
        """
        if not self._sources.all_ready():
            return
        try:
            running = {
                sandbox.metadata.uid
                for sandbox in await self._runtime.list_pod_sandbox()
            }
            for uid in running:
                if not self._pods.known(uid):
                    await self._runtime_manager.kill_unknown_pod(uid)
        except RuntimeServiceError as error:
            log.debug("unknown pods not ended: %s", error)

    def handle_pod_cleanups(self) -> None:
        """Remove what is left on this machine of pods that no source and no worker
        knows.
        """
        try:
            self._host.clean_up(
                {pod["metadata"]["uid"] for pod in self._pods.all_pods()}
            )
        except (VolumeError, OSError) as error:
            log.warning("failed cleaning up orphaned pod directories: %s", error)
            self._tasks.start(self._handle_pod_cleanups_again())

    async def _handle_pod_cleanups_again(self) -> None:
        await asyncio.sleep(HOUSEKEEPING_PERIOD)
        self.handle_pod_cleanups()
