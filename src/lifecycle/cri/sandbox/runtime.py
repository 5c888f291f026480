"""A container runtime of our own: pods as Linux makes them.

`run_pod_sandbox` makes a network namespace, has it connected, and starts the pause
process, which makes the other namespaces of the pod and holds them. `create_container`
only writes things down; `start_container` starts a launcher that puts the image's
layers together, joins the pod's namespaces and becomes the program. Each process has a
shim that keeps its log and waits for its end, so the runtime itself can stop, crash and
come back: what it knows is on disk, and `recover` finds the rest.

Upstream: containerd `internal/cri/server` (`sandbox_run.go`, `sandbox_stop.go`,
`container_create.go`, `container_start.go`, `container_stop.go`, `restart.go`), pause,
runc. Left out: AppArmor, SELinux, runtime handlers other than one, port mappings (the
network's matter).
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.apis.pod_sandbox import PodSandboxState
from lifecycle.cri.apis.services import VersionResponse
from lifecycle.cri.disk_usage import disk_usage
from lifecycle.cri.node_access import NodeAccess
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.clean import clean_bundle
from lifecycle.cri.sandbox.container_streams import ContainerStreams
from lifecycle.cri.sandbox.launch import read_json
from lifecycle.cri.sandbox.pod_sandboxes import PodSandboxes
from lifecycle.cri.sandbox.records import load_containers, load_sandboxes, running_pid
from lifecycle.cri.sandbox.user_namespace import why_no_user_namespaces


class SandboxRuntime(PodSandboxes, ContainerStreams, NodeAccess):
    """Implements `Runtime`. `root`: where everything is kept; `network`: who connects
    pods. `recover` it first, `close` it last.

    `host_netns`, `nodename`: the node's network namespace and its name, if they are not
    ours.
    """

    async def recover(self) -> None:
        """Find what a former runtime left: go on watching what runs, note what ended,
        undo what was half made.
        """
        self._sandboxes = load_sandboxes(self.root / "sandboxes")
        self._containers = load_containers(self.root / "containers")
        for sandbox in list(self._sandboxes.values()):
            sandbox.pid, shim = running_pid(sandbox.directory)
            if sandbox.pid and shim and sandbox.state is PodSandboxState.READY:
                self._watch(shim, self._sandbox_ended, sandbox)
            elif sandbox.state is PodSandboxState.READY:
                sandbox.state = PodSandboxState.NOTREADY
                sandbox.save()
            elif not (
                sandbox.directory / "pid.json"
            ).exists():  # the crash came before its pause process
                await self.remove_pod_sandbox(sandbox.id)
        for container in self._containers.values():
            container.pid, shim = running_pid(container.directory)
            if shim and container.pid:
                container.status.state = ContainerState.RUNNING
                self._watch(shim, self._container_ended, container)
            elif (
                container.status.state is ContainerState.RUNNING
                or (container.directory / "pid.json").exists()
            ):
                container.read_exit()
        known = {*self._sandboxes, *self._containers}
        for kind in ("sandboxes", "containers"):
            for directory in (self.root / kind).iterdir():
                if directory.name not in known:
                    await asyncio.to_thread(clean_bundle, directory)

    async def version(self) -> VersionResponse:
        """What node status shows as `sandbox://0.1.0`."""
        return VersionResponse("sandbox", "0.1.0")

    async def status(self) -> dict[str, object]:
        """The network's readiness is the network's to say."""
        why = await self._network.ready()
        ready = {"type": "RuntimeReady", "status": True, "reason": "", "message": ""}
        network = {
            "type": "NetworkReady",
            "status": not why,
            "reason": "",
            "message": "",
        }
        if why:
            network |= {
                "reason": "NetworkPluginNotReady",
                "message": f"Network plugin returns error: {why}",
            }
        features = {"user_namespaces": not why_no_user_namespaces()}
        handlers = [{"name": "", "features": features}]
        return {"conditions": [ready, network], "runtime_handlers": handlers}

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """The network reads its own configuration."""

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        """From its cgroup, and from its layer of the disk."""
        container = self._container(container_id)
        status = container.status
        cpu, memory = Cgroup(
            read_json(f"{container.directory}/config.json")["linux"]["cgroupsPath"]
        ).usage()
        # without an overlay the image lies there as well, and nothing tells them apart
        written = await asyncio.to_thread(disk_usage, container.directory / "upper")
        now = time.time_ns()
        metadata = {"name": status.metadata.name, "attempt": status.metadata.attempt}
        attributes = {
            "id": container_id,
            "metadata": metadata,
            "labels": dict(status.labels),
        }
        return {
            "attributes": {**attributes, "annotations": dict(status.annotations)},
            "cpu": {"timestamp": now, "usage_core_nano_seconds": {"value": cpu}},
            "memory": {"timestamp": now, "working_set_bytes": {"value": memory}},
            "writable_layer": {"timestamp": now, "used_bytes": {"value": written}},
        }

    async def list_container_stats(
        self, pod_sandbox_id: str = ""
    ) -> list[dict[str, Any]]:
        """Of what runs, and still does once it is measured."""
        found = []
        for container in list(self._containers.values()):
            status = container.status
            if status.state is not ContainerState.RUNNING:
                continue
            if pod_sandbox_id and status.pod_sandbox_id != pod_sandbox_id:
                continue
            try:
                found.append(await self.container_stats(status.id))
            except (RuntimeServiceError, OSError):  # it went meanwhile
                continue
        return found

    async def list_images(self) -> list[Image]:
        """Largest first."""
        return self.images.list()

    async def image_status(self, image: str) -> Image | None:
        """By any name."""
        stored = self.images.find(image)
        return self.images.describe(stored) if stored else None

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """Its id, as containerd answers."""
        return await self.images.pull(image, auth)

    async def remove_image(self, image: str) -> None:
        """With all its names."""
        self.images.remove(image)

    async def image_fs_info(self) -> list[dict[str, Any]]:
        """What the image store takes."""
        size, inodes = await asyncio.to_thread(self.images.usage)
        where = {"mountpoint": str(self.images.root)}
        used = {"used_bytes": {"value": size}, "inodes_used": {"value": inodes}}
        return [{"timestamp": time.time_ns(), "fs_id": where, **used}]
