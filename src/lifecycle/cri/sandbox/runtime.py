"""A container runtime of our own: pods as Linux makes them.

`run_pod_sandbox` makes a network namespace, has it connected, and starts the pause
process, which makes the other namespaces of the pod and holds them. `create_container`
only writes things down; `start_container` starts a launcher that puts the image's
layers together, joins the pod's namespaces and becomes the program. Each process has a
shim that keeps its log and waits for its end, so the runtime itself can stop, crash and
come back: what it knows is on disk, and `recover` finds the rest.

Upstream: containerd `internal/cri/server` (`sandbox_run.go`, `sandbox_stop.go`,
`container_create.go`, `container_start.go`, `container_stop.go`, `restart.go`), pause,
runc. Left out: seccomp, AppArmor, SELinux, user namespaces, runtime handlers other than
one, port mappings (the network's matter).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from lifecycle.cri.images.small_images import pause_program
from lifecycle.cri.images.store import ImageStore
from lifecycle.cri.images.users import resolve_user
from lifecycle.cri.oci_spec import container_spec, resources, sandbox_spec
from lifecycle.cri.runtime import (
    ContainerConfig,
    ContainerEventResponse,
    ContainerEventType,
    ContainerState,
    ContainerStatus,
    Fields,
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
    RuntimeServiceError,
    VersionResponse,
)
from lifecycle.cri.sandbox import syscalls
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.clean import clean_bundle, unmount_below
from lifecycle.cri.sandbox.launch import read_json, write_json
from lifecycle.cri.sandbox.network import (
    LoopbackOnly,
    PodNetworkSetup,
    make_network_namespace,
)
from lifecycle.cri.sandbox.node_side import NodeSide
from lifecycle.cri.sandbox.overlay import overlay_works
from lifecycle.cri.sandbox.processes import forget, launch, wait_for
from lifecycle.cri.sandbox.records import (
    Container,
    Sandbox,
    load_containers,
    load_sandboxes,
    running_pid,
)

SHM_SIZE = 64 * 1024 * 1024


def not_found(kind: str, name: str) -> RuntimeServiceError:
    """As containerd says it."""
    return RuntimeServiceError(
        f"rpc error: code = NotFound desc = an error occurred when try to find {kind}"
        f' "{name}": not found'
    )


class SandboxRuntime(NodeSide):
    """Implements `Runtime`. `root`: where everything is kept; `network`: who connects
    pods. `recover` it first, `close` it last.

    `host_netns`: the node's network namespace, if that is not ours.
    """

    def __init__(
        self, root: Path, network: PodNetworkSetup | None = None, host_netns: str = ""
    ) -> None:
        self.root = root
        self.host_netns = host_netns
        for name in ("sandboxes", "containers", "netns", "shm"):
            (root / name).mkdir(parents=True, exist_ok=True)
        self._network = network or LoopbackOnly()
        self.images = ImageStore(root / "images", overlay_works(root))
        self._sandboxes: dict[str, Sandbox] = {}
        self._containers: dict[str, Container] = {}
        self._handlers: list[Callable[[ContainerEventResponse], None]] = []
        self._watches: set[asyncio.Task[None]] = set()

    # -- the runtime itself ------------------------------------------------------------

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

    async def close(self) -> None:
        """Stop watching. What runs goes on."""
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)

    def _watch(
        self, pid: int, ended: Callable[..., None], what: Sandbox | Container
    ) -> None:
        async def watch() -> None:
            await wait_for(pid)
            ended(what)

        def done(task: asyncio.Task[None]) -> None:
            self._watches.discard(task)
            forget(pid)

        task = asyncio.get_running_loop().create_task(watch())
        self._watches.add(task)
        task.add_done_callback(done)

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
        return {"conditions": [ready, network]}

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """The network reads its own configuration."""

    def get_container_events(
        self, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        """Handlers are called on the loop, at once."""
        self._handlers.append(handler)

    def _emit(
        self, kind: ContainerEventType, container_id: str, sandbox_id: str
    ) -> None:
        sandbox = self._sandboxes.get(sandbox_id)
        uid = sandbox.config.metadata.uid if sandbox else ""
        event = ContainerEventResponse(
            container_id, kind, time.time_ns(), sandbox_id, uid
        )
        for handler in self._handlers:
            handler(event)

    # -- sandboxes ---------------------------------------------------------------------

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
            if sandbox.networked:
                make_network_namespace(self._netns(sandbox_id))
                await self._connect(sandbox)
            self._write_files(sandbox)
            spec = sandbox_spec(
                config,
                sandbox_id,
                self._netns(sandbox_id),
                str(directory),
                self._shm(sandbox_id),
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

    def _netns(self, sandbox_id: str) -> str:
        return str(self.root / "netns" / sandbox_id)

    def _shm(self, sandbox_id: str) -> str:
        return str(self.root / "shm" / sandbox_id)

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
            os.uname().nodename
            if config.host_network
            else config.hostname or config.metadata.name
        )
        (directory / "hostname").write_text(name + "\n")
        hosts = "127.0.0.1 localhost\n::1 localhost\n"
        (directory / "hosts").write_text(
            hosts + "".join(f"{ip} {name}\n" for ip in sandbox.addresses[:1])
        )
        (directory / "resolv.conf").write_text(resolv_conf(config.dns_config))
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

    def _sandbox(self, pod_sandbox_id: str) -> Sandbox:
        try:
            return self._sandboxes[pod_sandbox_id]
        except KeyError:
            raise not_found("sandbox", pod_sandbox_id) from None

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
        unmount_below(self._shm(sandbox.id))
        Path(self._netns(sandbox.id)).unlink(missing_ok=True)
        shutil.rmtree(self._shm(sandbox.id), ignore_errors=True)

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
        found = [
            s
            for s in self._sandboxes.values()
            if not pod_uid or s.config.metadata.uid == pod_uid
        ]
        return [self._sandbox_status(sandbox) for sandbox in reversed(found)]

    # -- containers --------------------------------------------------------------------

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
        image_id = self.images.find(config.image)
        if not image_id:
            raise RuntimeServiceError(
                "rpc error: code = NotFound desc = failed to resolve image"
                f' "{config.image}": not found'
            )
        image = self.images.get(image_id)
        container_id = token_hex(32)
        security = config.security_context
        user = resolve_user(
            security,
            image["config"].get("User", ""),
            lambda name: self.images.read_file(image_id, name),
        )
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
            os.uname().nodename if sandbox.config.host_network else "",
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

    def _container(self, container_id: str) -> Container:
        try:
            return self._containers[container_id]
        except KeyError:
            raise not_found("container", container_id) from None

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
        found = [c.status for c in self._containers.values()]
        return [
            status
            for status in reversed(found)
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


def _mounted() -> set[str]:
    with open("/proc/self/mounts") as mounts:
        return {line.split()[1] for line in mounts}


def resolv_conf(dns: Fields) -> str:
    """The pod's name servers; without any, the machine's own."""
    if not dns:
        with suppress(OSError):
            return Path("/etc/resolv.conf").read_text()
        return ""
    lines = [f"search {' '.join(dns['searches'])}"] if dns.get("searches") else []
    lines += [f"nameserver {server}" for server in dns.get("servers") or ()]
    if dns.get("options"):
        lines.append(f"options {' '.join(dns['options'])}")
    return "".join(line + "\n" for line in lines)
