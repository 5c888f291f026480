"""Pod sandboxes of a hollow node: an address, and what is known of them.

Upstream: `cri-api/pkg/apis/services.go` (`PodSandboxManager`); the errors are
containerd's (`internal/cri/server/sandbox_*.go`, v2.x).
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.cri.apis.events import ContainerEventType
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.cri.hollow.containers import HollowContainers
from lifecycle.cri.hollow.process.process import SIGKILLED
from lifecycle.cri.hollow.step_times import SANDBOX


class HollowPodSandboxes(HollowContainers):
    """The calls that are about sandboxes; one that goes takes its containers along."""

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Its id: 64 hexadecimal digits, as containerd's."""
        await self._take_time(SANDBOX)
        sandbox_id = self._id()
        address = "" if config.host_network else self._addresses.allocate(sandbox_id)
        self._add_sandbox(sandbox_id, config, address, self._now())
        return sandbox_id

    def resume_pod_sandbox(
        self, config: PodSandboxConfig, address: str, created_at: int
    ) -> str:
        """A sandbox that was there before this node was looked at: its id."""
        sandbox_id = self._id()
        if address:
            self._addresses.take(address, sandbox_id)
        self._add_sandbox(sandbox_id, config, address, created_at)
        return sandbox_id

    def _add_sandbox(
        self, sandbox_id: str, config: PodSandboxConfig, address: str, created_at: int
    ) -> None:
        uid = config.metadata.uid
        options = dict(config.namespace_options) or {
            "network": "NODE" if config.host_network else "POD"
        }
        status = PodSandboxStatus(
            sandbox_id,
            config.metadata,
            PodSandboxState.READY,
            created_at,
            address,
            config.labels,
            annotations=config.annotations,
            namespace_options=options,
            runtime_handler=config.runtime_handler,
        )
        self._configs[sandbox_id] = config
        self._sandboxes[sandbox_id] = status
        self._by_pod.setdefault(uid, []).append(sandbox_id)
        self._in_sandbox[sandbox_id] = []
        self._emit(ContainerEventType.STARTED, sandbox_id, sandbox_id, uid)

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Kills what still runs in it."""
        sandbox = self._sandboxes.get(pod_sandbox_id)
        if sandbox is None or sandbox.state is PodSandboxState.NOTREADY:
            return
        for container_id in self._in_sandbox[pod_sandbox_id]:
            self._end(self._containers[container_id], SIGKILLED)
        sandbox.state = PodSandboxState.NOTREADY
        self._addresses.give_back(sandbox.ip)
        self._emit(
            ContainerEventType.STOPPED,
            pod_sandbox_id,
            pod_sandbox_id,
            sandbox.metadata.uid,
        )

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """And all its containers."""
        await self.stop_pod_sandbox(pod_sandbox_id)
        sandbox = self._sandboxes.pop(pod_sandbox_id, None)
        self._configs.pop(pod_sandbox_id, None)
        if sandbox is None:
            return
        for container_id in self._in_sandbox.pop(pod_sandbox_id):
            container = self._containers.pop(container_id, None)
            if container is not None:
                container.forget_process()
        uid = sandbox.metadata.uid
        self._by_pod[uid].remove(pod_sandbox_id)
        if not self._by_pod[uid]:
            del self._by_pod[uid]

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatus:
        """By id."""
        return self._sandbox(pod_sandbox_id)

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """Newest first."""
        ids = self._by_pod.get(pod_uid, []) if pod_uid else list(self._sandboxes)
        return [replace(self._sandboxes[i]) for i in reversed(ids)]
