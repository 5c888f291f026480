"""A container runtime that tells what it was asked for, behind a real kubelet as behind
ours.

It is the hollow one. What containers do is a scene's choice: what a command in one of
them ends with, which file system the images are on.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lifecycle.cluster.one_node import NotingRuntime
from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.apis.streams import ExecSyncResponse

POD_NAME = "io.kubernetes.pod.name"


class WitnessRuntime(NotingRuntime):
    """Notes what it is asked for. `says(pod, command, attempt)`: what a command in a
    container of a pod ends with; `disk`: a folder, the file system of which is that of
    images; `uses`: bytes of memory by pod and container; `fails`: what goes wrong with
    a pod's `sandbox`, or with a container's `create` or `start`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.calls: list[tuple[Any, ...]] = []
        self.says: Callable[[str, tuple[str, ...], int], ExecSyncResponse] | None = None
        self.disk: Path | None = None
        self.uses: dict[tuple[str, str], int] = {}
        self.fails: dict[tuple[str, str], str] = {}

    def _may_fail(self, call: str, pod: str) -> None:
        if why := self.fails.get((call, pod)):
            raise RuntimeServiceError(f"rpc error: code = Unknown desc = {why}")

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Unless it fails."""
        self._may_fail("sandbox", config.metadata.name)
        return await super().run_pod_sandbox(config)

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """Unless it fails."""
        self._may_fail("create", config.labels[POD_NAME])
        return await super().create_container(pod_sandbox_id, config, sandbox_config)

    async def start_container(self, container_id: str) -> None:
        """Unless it fails."""
        status = await self.container_status(container_id)
        self._may_fail("start", status.labels[POD_NAME])
        await super().start_container(container_id)

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """Noted with what was shown."""
        shown = (auth.username, auth.password) if auth else ("", "")
        self.calls.append(("pull", image, *shown))
        return await super().pull_image(image, auth)

    async def remove_image(self, image: str) -> None:
        """Noted; the disk gets its room back."""
        known = self.images.image_status(image)
        self.calls.append(("remove image", *(known.repo_tags if known else (image,))))
        if known is not None and self.disk is not None:
            (self.disk / known.id.replace(":", "-")).unlink(missing_ok=True)
        await super().remove_image(image)

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """Noted, by pod and name, with the seconds that it is given."""
        status = await self.container_status(container_id)
        name = status.metadata.name
        self.calls.append(("stop", status.labels.get(POD_NAME, ""), name, int(timeout)))
        await super().stop_container(container_id, timeout)

    async def remove_container(self, container_id: str) -> None:
        """Noted, by pod, name and attempt."""
        for each in await self.list_containers():
            if each.id == container_id:
                pod = each.labels.get(POD_NAME, "")
                meta = each.metadata
                self.calls.append(("remove container", pod, meta.name, meta.attempt))
        await super().remove_container(container_id)

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Noted, by pod."""
        for each in await self.list_pod_sandbox():
            if each.id == pod_sandbox_id:
                self.calls.append(
                    ("remove sandbox", each.metadata.name, each.metadata.attempt)
                )
        await super().remove_pod_sandbox(pod_sandbox_id)

    async def update_container_resources(
        self, container_id: str, linux: Fields
    ) -> None:
        """Noted, by pod and name."""
        status = await self.container_status(container_id)
        pod, name = status.labels[POD_NAME], status.metadata.name
        self.calls.append(("update", pod, name, dict(linux)))
        await super().update_container_resources(container_id, dict(linux))

    async def exec_sync(
        self, container_id: str, cmd: tuple[str, ...], timeout: float
    ) -> ExecSyncResponse:
        """What the scene says that it says."""
        if self.says is None:
            return await super().exec_sync(container_id, cmd, timeout)
        status = await self.container_status(container_id)
        pod = status.labels[POD_NAME]
        answer = self.says(pod, cmd, status.metadata.attempt)
        self.calls.append(("exec", pod, cmd, answer.exit_code))
        return answer

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        """With the memory that the scene says it uses."""
        stats = await super().container_stats(container_id)
        status = await self.container_status(container_id)
        used = self.uses.get((status.labels[POD_NAME], status.metadata.name), 0)
        value = {"value": used}
        memory = {**stats["memory"], "working_set_bytes": value, "usage_bytes": value}
        return {**stats, "memory": memory}

    async def image_fs_info(self) -> list[dict[str, Any]]:
        """Of the folder, if there is one."""
        [info] = await super().image_fs_info()
        if self.disk is not None:
            info = {**info, "fs_id": {"mountpoint": str(self.disk)}}
        return [info]
