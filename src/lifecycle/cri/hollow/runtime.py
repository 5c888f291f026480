"""A container runtime without containers: everything a kubelet asks for happens in
memory, at once.

Sandboxes get addresses from the node's range as CNI's host-local plugin gives them
(from `.2` up, the next after the last one given). Containers run no programs; Python
functions play some (`programs.py` says which, and what becomes of the others: they are
not run, say so, and give 126). Files are those of volumes, and what containers wrote
themselves (`filesystem.py`). A container that only waits is no more than its status, so
a thousand nodes with ten pods each are a few megabytes.

`latency` stretches sandbox creation and container starts to real-looking times
(seconds, each between half and one and a half times of it), or all steps to those that
they took on recorded nodes (`step_times.py`), for those who want to watch the states in
between.

Ours, after the idea of kubemark's hollow nodes (`pkg/kubemark/hollow_kubelet.go`,
`cri-client/pkg/fake`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.services import VersionResponse
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.hollow import streaming
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.network import conversation
from lifecycle.cri.hollow.pod_sandboxes import HollowPodSandboxes
from lifecycle.cri.hollow.step_times import PROBE, PULL

RUNTIME_HANDLERS = [
    {
        "name": name,
        "features": {"recursive_read_only_mounts": True, "user_namespaces": True},
    }
    for name in ("", "runc", "test-handler")
]
"""What containerd is configured for on a kind node."""


class HollowRuntime(HollowPodSandboxes):
    """Implements `Runtime`. One per node."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._network.join(self._pod_listening)

    async def version(self) -> VersionResponse:
        """It says what kind's runtime says; nobody is to notice."""
        return VersionResponse("containerd", "2.3.4")

    async def status(self) -> dict[str, Any]:
        """Always ready; the network is once there is a range to give addresses from."""
        network = {
            "type": "NetworkReady",
            "status": bool(self._addresses.known),
            "reason": "",
            "message": "",
        }
        if not self._addresses.known:
            network["reason"] = "NetworkPluginNotReady"
            network["message"] = (
                "Network plugin returns error: cni plugin not initialized"
            )
        ready = {"type": "RuntimeReady", "status": True, "reason": "", "message": ""}
        return {
            "conditions": [ready, network],
            "runtime_handlers": RUNTIME_HANDLERS,
            "features": {"supplemental_groups_policy": True},
        }

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """Addresses come from this range from now on."""
        self._addresses.use(pod_cidr)
        self._step_times.use(pod_cidr)

    async def stop(self) -> None:
        """The machine is switched off: whatever is played in its containers ends."""
        for container in self._containers.values():
            container.stop_processes()
        await asyncio.sleep(0)  # what was cancelled ends at the loop's next turn

    async def exec_sync(
        self, container_id: str, cmd: tuple[str, ...], timeout: float
    ) -> ExecSyncResponse:
        """Runs nothing: what is not played says so, and ends with 126."""
        await self._take_time(PROBE)
        return await streaming.exec_sync(self._container(container_id), cmd, timeout)

    async def exec(
        self,
        container_id: str,
        cmd: tuple[str, ...],
        streams: Streams,
        tty: bool = False,
    ) -> int:
        """What `exec_sync` would say, as it says it."""
        return await streaming.exec_stream(
            self._container(container_id), cmd, streams, tty
        )

    async def attach(
        self, container_id: str, streams: Streams, tty: bool = False
    ) -> None:
        """Hear what the program says from now on, until it ends, and talk to it."""
        await streaming.attach(self._container(container_id), self.logs, streams, tty)

    async def port_forward(
        self, pod_sandbox_id: str, port: int, streams: Streams
    ) -> None:
        """A hollow web server answers the requests it is sent; nothing else listens."""
        sandbox = await self.pod_sandbox_status(pod_sandbox_id)
        await conversation.port_forward(
            self._listening(sandbox.ip, port), port, streams
        )

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        """Nothing runs, so nothing is used."""
        status = self._container(container_id).status
        now = self._now()
        metadata = {"name": status.metadata.name, "attempt": status.metadata.attempt}
        return {
            "attributes": {
                "id": container_id,
                "metadata": metadata,
                "labels": dict(status.labels),
            },
            "cpu": {"timestamp": now, "usage_core_nano_seconds": {"value": 0}},
            "memory": {"timestamp": now, "working_set_bytes": {"value": 0}},
        }

    async def list_container_stats(
        self, pod_sandbox_id: str = ""
    ) -> list[dict[str, Any]]:
        """Of what runs."""
        statuses = await self.list_containers(pod_sandbox_id)
        return [
            await self.container_stats(s.id)
            for s in statuses
            if s.state is ContainerState.RUNNING
        ]

    def read_log(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        """From memory: a log, or what a container wrote as its last words."""
        container_id, _, inside = path[1:].partition("/")
        container = self._containers.get(container_id)
        if container is None:
            return self.logs.read(path, offset, size)
        message = container.files.written(f"/{inside}")
        return message[offset : None if size < 0 else offset + size]

    def log_size(self, path: str) -> int:
        """Of what is in memory."""
        return self.logs.size(path)

    async def log_grown(self, path: str, size: int) -> None:
        """Woken by the next line."""
        await self.logs.grown(path, size)

    async def list_images(self) -> list[Image]:
        """Largest first."""
        return self.images.list_images()

    async def image_status(self, image: str) -> Image | None:
        """By any name."""
        return self.images.image_status(image)

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """Its id, as containerd answers. At once, unless there is no such image."""
        await self._take_time(PULL)
        return self.images.pull_image(image, auth).id

    async def remove_image(self, image: str) -> None:
        """By any name."""
        self.images.remove_image(image)

    async def image_fs_info(self) -> list[dict[str, Any]]:
        """As large as its images say."""
        used = sum(image.size for image in self.images.list_images())
        where = {
            "mountpoint": "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs"
        }
        return [
            {
                "timestamp": self._now(),
                "fs_id": where,
                "used_bytes": {"value": used},
                "inodes_used": {"value": 0},
            }
        ]

    def _listening(self, ip: str, port: int) -> HollowContainer | None:
        """Who accepts connections there. An address that no pod has is taken for one of
        the node's own: the host network's.
        """
        try:
            return self._network.listening(ip, port)
        except KeyError:
            own = [key for key, sandbox in self._sandboxes.items() if not sandbox.ip]
            return self._first_server(own, port)

    def _pod_listening(
        self, ip: str, port: int, protocol: str
    ) -> HollowContainer | None:
        sandbox_id = self._addresses.owner(ip)
        if sandbox_id is None:
            raise KeyError(ip)
        return self._first_server([sandbox_id], port, protocol)

    def _first_server(
        self, sandbox_ids: list[str], port: int, protocol: str = "tcp"
    ) -> HollowContainer | None:
        for host in sandbox_ids:
            for container_id in self._in_sandbox.get(host, ()):
                container = self._containers[container_id]
                if (
                    container.running
                    and container.listens(protocol, port)
                    and self._now() >= container.listens_at
                ):
                    return container
        return None

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """Works where the program listens."""
        await self._take_time(PROBE)
        return (
            ""
            if self._listening(ip, port)
            else f"dial tcp {ip}:{port}: connect: connection refused"
        )

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        """What the function says that plays the server; most have a start page, or tell
        that they are well, and nothing else.
        """
        await self._take_time(PROBE)
        return await conversation.http_answer(
            self._listening(request.host, request.port), request
        )
