"""Pod sandboxes of the sandbox runtime: namespace, network, pause process.

Upstream: containerd `internal/cri/server/sandbox_run.go`, `sandbox_stop.go`,
`sandbox_remove.go`, `sandbox_status.go`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventType
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.cri.id_mappings import id_mappings
from lifecycle.cri.images.small_images import pause_program
from lifecycle.cri.oci_spec import sandbox_spec
from lifecycle.cri.resolv_conf import resolv_conf
from lifecycle.cri.sandbox import syscalls
from lifecycle.cri.sandbox.clean import clean_bundle, unmount_below
from lifecycle.cri.sandbox.containers import Containers
from lifecycle.cri.sandbox.launch import write_json
from lifecycle.cri.sandbox.network import make_network_namespace
from lifecycle.cri.sandbox.processes import launch
from lifecycle.cri.sandbox.records import Sandbox
from lifecycle.cri.sandbox.user_namespace import make_user_namespace

SHM_SIZE = 64 * 1024 * 1024


class PodSandboxes(Containers):
    """The calls that are about sandboxes; one that goes takes its containers along."""

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Namespace, network, pause: in this order. If one fails, everything made so
        far is taken back.
        """
        sandbox_id = token_hex(32)
        directory = self.root / "sandboxes" / sandbox_id
        directory.mkdir()
        sandbox = Sandbox(sandbox_id, config, directory, time.time_ns())
        sandbox.networked = not config.host_network
        sandbox.save()
        self._sandboxes[sandbox_id] = sandbox
        try:
            userns = await self._make_namespaces(sandbox)
            if sandbox.networked:
                await self._connect(sandbox)
            self._write_files(sandbox)
            places = self._netns(sandbox_id), str(directory), self._shm(sandbox_id)
            spec = sandbox_spec(
                config, sandbox_id, *places, nodename=self.nodename, userns=userns
            )
            write_json(f"{directory}/config.json", spec)
            write_json(f"{directory}/shim.json", {})
            sandbox.pid, shim = await launch(directory, self.host_netns)
        except (OSError, RuntimeError, RuntimeServiceError) as error:
            await self.remove_pod_sandbox(sandbox_id)
            if isinstance(error, RuntimeServiceError):
                raise
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to create network namespace"
                f' for sandbox "{sandbox_id}": {error}'
            ) from None
        sandbox.state = PodSandboxState.READY
        sandbox.save()
        self._watch(shim, self._sandbox_ended, sandbox)
        self._emit(ContainerEventType.CREATED, sandbox_id, sandbox_id)
        self._emit(ContainerEventType.STARTED, sandbox_id, sandbox_id)
        return sandbox_id

    async def _make_namespaces(self, sandbox: Sandbox) -> str:
        """The network's, and the users' if the pod has its own; where the latter is."""
        mappings = id_mappings(sandbox.config.namespace_options)
        netns = self._netns(sandbox.id) if sandbox.networked else ""
        if mappings is None:
            if netns:
                make_network_namespace(netns)
            return ""
        await make_user_namespace(self._userns(sandbox.id), netns, mappings)
        return self._userns(sandbox.id)

    async def _connect(self, sandbox: Sandbox) -> None:
        try:
            sandbox.addresses = await self._network.add(
                sandbox.id, self._netns(sandbox.id), sandbox.config
            )
        except (OSError, RuntimeError) as error:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to setup network for sandbox"
                f' "{sandbox.id}": {error}'
            ) from None

    def _write_files(self, sandbox: Sandbox) -> None:
        """Names and name servers that all the pod's containers see, shared memory, and
        the pause program's root.
        """
        config, directory = sandbox.config, sandbox.directory
        name = (
            self._host_name
            if config.host_network
            else config.hostname or config.metadata.name
        )
        (directory / "hostname").write_text(name + "\n")
        hosts = "127.0.0.1 localhost\n::1 localhost\n"
        (directory / "hosts").write_text(
            hosts + "".join(f"{ip} {name}\n" for ip in sandbox.addresses[:1])
        )
        (directory / "resolv.conf").write_text(pod_resolv_conf(config.dns_config))
        program = directory / "rootfs" / "pause"
        program.parent.mkdir()
        program.write_bytes(pause_program())
        program.chmod(0o755)
        os.mkdir(self._shm(sandbox.id))
        if config.namespace_options.get("ipc") != "NODE":
            flags = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
            syscalls.mount(
                "shm",
                self._shm(sandbox.id),
                "tmpfs",
                flags,
                f"mode=1777,size={SHM_SIZE}",
            )
        else:
            syscalls.mount("/dev/shm", self._shm(sandbox.id), flags=syscalls.MS_BIND)

    def _sandbox_ended(self, sandbox: Sandbox) -> None:
        """The pause process is gone, asked or not: the pod needs a new sandbox."""
        sandbox.pid = 0
        sandbox.ended.set()
        if sandbox.state is PodSandboxState.READY:
            sandbox.state = PodSandboxState.NOTREADY
            if sandbox.directory.exists():
                sandbox.save()
            self._emit(ContainerEventType.STOPPED, sandbox.id, sandbox.id)

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Kill what runs in it, disconnect it, end the pause process."""
        sandbox = self._sandbox(pod_sandbox_id)
        sandbox.state = (
            PodSandboxState.NOTREADY
        )  # at once: nobody who hears its containers end starts new ones in it
        inside = [
            c
            for c in self._containers.values()
            if c.status.pod_sandbox_id == pod_sandbox_id
        ]
        await asyncio.gather(*(self._kill(container) for container in inside))
        if sandbox.networked:
            path = self._netns(sandbox.id)
            there = path if path in _mounted() else ""
            with suppress(OSError, RuntimeError):
                await self._network.remove(sandbox.id, there, sandbox.config)
            sandbox.networked = False
        if sandbox.pid:
            with suppress(ProcessLookupError):
                os.kill(sandbox.pid, signal.SIGKILL)
            await sandbox.ended.wait()
        if (
            sandbox.directory.exists()
        ):  # somebody else may have asked for the same, and have removed it by now
            sandbox.save()
        await asyncio.to_thread(self._let_go, sandbox)

    def _let_go(self, sandbox: Sandbox) -> None:
        unmount_below(self._netns(sandbox.id))
        unmount_below(self._userns(sandbox.id))
        unmount_below(self._shm(sandbox.id))
        Path(self._netns(sandbox.id)).unlink(missing_ok=True)
        Path(self._userns(sandbox.id)).unlink(missing_ok=True)
        with suppress(OSError):  # not its contents: they may be the machine's
            os.rmdir(self._shm(sandbox.id))

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """And all its containers."""
        sandbox = self._sandboxes.get(pod_sandbox_id)
        if sandbox is None:
            return
        await self.stop_pod_sandbox(pod_sandbox_id)
        for container in [
            c
            for c in self._containers.values()
            if c.status.pod_sandbox_id == pod_sandbox_id
        ]:
            await self.remove_container(container.status.id)
        await asyncio.to_thread(clean_bundle, sandbox.directory)
        self._sandboxes.pop(pod_sandbox_id, None)
        self._emit(ContainerEventType.DELETED, pod_sandbox_id, pod_sandbox_id)

    def _sandbox_status(self, sandbox: Sandbox) -> PodSandboxStatus:
        addresses = sandbox.addresses if sandbox.state is PodSandboxState.READY else []
        return PodSandboxStatus(
            sandbox.id,
            sandbox.config.metadata,
            sandbox.state,
            sandbox.created_at,
            addresses[0] if addresses else "",
            sandbox.config.labels,
            tuple(addresses[1:]),
            sandbox.config.annotations,
            sandbox.config.namespace_options,
            sandbox.config.runtime_handler,
        )

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatus:
        """By id."""
        return self._sandbox_status(self._sandbox(pod_sandbox_id))

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """Newest first."""
        sandboxes = [
            s
            for s in self._sandboxes.values()
            if not pod_uid or s.config.metadata.uid == pod_uid
        ]
        return [self._sandbox_status(sandbox) for sandbox in reversed(sandboxes)]


def _mounted() -> set[str]:
    with open("/proc/self/mounts") as mounts:
        return {line.split()[1] for line in mounts}


def pod_resolv_conf(dns: Fields) -> str:
    """The pod's name servers; without any, the machine's own."""
    if dns:
        return resolv_conf(dns)
    with suppress(OSError):
        return Path("/etc/resolv.conf").read_text()
    return ""
