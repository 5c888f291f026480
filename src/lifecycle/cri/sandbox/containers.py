"""Containers of the sandbox runtime, from their creation to their removal.

Upstream: containerd `internal/cri/server/container_create.go`, `container_start.go`,
`container_stop.go`, `container_remove.go`, `container_update_resources.go`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from secrets import token_hex

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventType
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxState
from lifecycle.cri.id_mappings import id_mappings
from lifecycle.cri.images.users import resolve_user
from lifecycle.cri.oci_spec import container_spec, resources
from lifecycle.cri.removal import remove_tree
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.clean import clean_bundle
from lifecycle.cri.sandbox.image_volumes import image_volumes
from lifecycle.cri.sandbox.launch import read_json, write_json
from lifecycle.cri.sandbox.processes import launch
from lifecycle.cri.sandbox.records import Container
from lifecycle.cri.sandbox.state import RuntimeState


class Containers(RuntimeState):
    """The calls that are about containers and need nothing said to them."""

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """Everything but the process."""
        sandbox = self._sandbox(pod_sandbox_id)
        if sandbox.state is not PodSandboxState.READY:
            raise RuntimeServiceError(
                f'rpc error: code = Unknown desc = sandbox container "{pod_sandbox_id}"'
                " is not running"
            )
        security = config.security_context
        options = security.get("namespace_options") or {}
        if id_mappings(options) != id_mappings(sandbox.config.namespace_options):
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = user namespace config for sandbox is"
                " different from container"
            )
        image_id = self.images.find(config.image)
        if not image_id:
            raise RuntimeServiceError(
                "rpc error: code = NotFound desc = failed to resolve image"
                f' "{config.image}": not found'
            )
        image = self.images.get(image_id)
        container_id = token_hex(32)
        try:
            user = resolve_user(
                security,
                image["config"].get("User", ""),
                lambda name: self.images.read_file(image_id, name),
            )
        except ValueError as error:  # a file of users that is none
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to generate container"
                f' "{container_id}" spec: {error}'
            ) from None
        target = self._containers.get(
            (security.get("namespace_options") or {}).get("target_id") or ""
        )
        spec = container_spec(
            config,
            sandbox.config,
            container_id,
            sandbox.id,
            sandbox.pid,
            image["config"],
            str(sandbox.directory),
            self._shm(sandbox.id),
            self._host_name if sandbox.config.host_network else "",
            target.pid if target else 0,
            user=user,
        )
        spec["devices"] = list(config.devices)
        directory = self.root / "containers" / container_id
        for name in ("rootfs", "upper", "work"):
            (directory / name).mkdir(parents=True)
        if self.images.overlay:
            spec["root"] |= {
                "store": str(self.images.layers),
                "layers": image["layers"],
            }
            spec["root"] |= {"upper": f"{directory}/upper", "work": f"{directory}/work"}
        else:
            await asyncio.to_thread(self.images.lay_out, image_id, directory / "rootfs")
        try:
            spec["mounts"] += await image_volumes(config.mounts, self.images, directory)
        except RuntimeServiceError:
            await asyncio.to_thread(remove_tree, directory)
            raise
        log = (
            f"{sandbox.config.log_directory}/{config.log_path}"
            if config.log_path
            else ""
        )
        write_json(f"{directory}/config.json", spec)
        options = {
            "log_path": log,
            "tty": config.tty,
            "stdin": config.stdin,
            "stdin_once": config.stdin_once,
        }
        write_json(f"{directory}/shim.json", options)
        described = self.images.describe(image_id)
        status = ContainerStatus(
            container_id,
            pod_sandbox_id,
            config.metadata,
            ContainerState.CREATED,
            time.time_ns(),
            described.repo_tags[0] if described.repo_tags else image_id,
            described.repo_digests[0] if described.repo_digests else image_id,
            labels=config.labels,
            annotations=config.annotations,
            mounts=config.mounts,
            log_path=log,
            image_id=image_id,
            resources=config.resources,
            user={
                "uid": user["uid"],
                "gid": user["gid"],
                "supplemental_groups": user["additionalGids"],
            },
            stop_signal=config.stop_signal,
        )
        container = Container(status, config, directory)
        container.save()
        self._containers[container_id] = container
        self._emit(ContainerEventType.CREATED, container_id, pod_sandbox_id)
        return container_id

    async def start_container(self, container_id: str) -> None:
        """Launch it. One that cannot be started counts as ended with code 128."""
        container = self._container(container_id)
        status = container.status
        if status.state is not ContainerState.CREATED:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to set starting state for"
                f' container "{container_id}": container is in {status.state.value}'
                " state"
            )
        try:
            container.pid, shim = await launch(container.directory, self.host_netns)
        except RuntimeServiceError as error:
            status.state, status.exit_code, status.reason = (
                ContainerState.EXITED,
                128,
                "StartError",
            )
            status.message, status.finished_at = str(error), time.time_ns()
            container.save()
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = {error}"
            ) from None
        status.state, status.started_at = ContainerState.RUNNING, time.time_ns()
        container.save()
        self._emit(ContainerEventType.STARTED, container_id, status.pod_sandbox_id)
        self._watch(shim, self._container_ended, container)

    def _container_ended(self, container: Container) -> None:
        container.read_exit()
        container.ended.set()
        self._emit(
            ContainerEventType.STOPPED,
            container.status.id,
            container.status.pod_sandbox_id,
        )

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """Ask, wait, kill. Process 1 of a namespace only hears what it has a handler
        for; SIGKILL it always hears.
        """
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            return
        if timeout > 0:
            image = (
                self.images.get(container.status.image_id)["config"]
                if self.images.find(container.status.image_id)
                else {}
            )
            name = (
                container.config.stop_signal.removeprefix("RUNTIME_DEFAULT")
                or image.get("StopSignal")
                or "SIGTERM"
            )
            with suppress(ProcessLookupError):
                os.kill(container.pid, getattr(signal, str(name), signal.SIGTERM))
            with suppress(TimeoutError):
                await asyncio.wait_for(container.ended.wait(), timeout)
                return
        await self._kill(container)

    async def _kill(self, container: Container) -> None:
        if container.status.state is not ContainerState.RUNNING:
            return
        with suppress(ProcessLookupError):
            if container.pid:
                os.kill(container.pid, signal.SIGKILL)
        await container.ended.wait()

    async def remove_container(self, container_id: str) -> None:
        """Again does no harm."""
        container = self._containers.get(container_id)
        if container is None:
            return
        await self._kill(container)
        await asyncio.to_thread(clean_bundle, container.directory)
        self._containers.pop(container_id, None)
        self._emit(
            ContainerEventType.DELETED, container_id, container.status.pod_sandbox_id
        )

    async def list_containers(self, pod_sandbox_id: str = "") -> list[ContainerStatus]:
        """Newest first."""
        statuses = [c.status for c in self._containers.values()]
        return [
            status
            for status in reversed(statuses)
            if not pod_sandbox_id or status.pod_sandbox_id == pod_sandbox_id
        ]

    async def container_status(self, container_id: str) -> ContainerStatus:
        """By id."""
        return self._container(container_id).status

    async def update_container_resources(
        self, container_id: str, resources_: Fields
    ) -> None:
        """Write the limits that changed into its cgroup."""
        container = self._container(container_id)
        path = read_json(f"{container.directory}/config.json")["linux"]["cgroupsPath"]
        if container.status.state is ContainerState.RUNNING:
            try:
                Cgroup(path).update(resources(resources_))
            except OSError as error:
                raise RuntimeServiceError(
                    "rpc error: code = Unknown desc = failed to update resources:"
                    f" {error}"
                ) from None
        container.status.resources = {**container.status.resources, **resources_}
        container.save()
