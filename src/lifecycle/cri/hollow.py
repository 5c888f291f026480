"""A container runtime without containers: everything a kubelet asks for happens in memory, at once.

Sandboxes get addresses from the node's range as CNI's host-local plugin gives them (from `.2` up, the next after the
last one given); containers "run" as long as `hollow_programs.py` says and then exit, which is a timer and an event. A
thousand nodes with ten pods each are a few megabytes.

`latency` stretches sandbox creation and container starts to real-looking times (seconds, each between half and one and a
half times of it), for those who want to watch the states in between.

Ours, after the idea of kubemark's hollow nodes (`pkg/kubemark/hollow_kubelet.go`, `cri-client/pkg/fake`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from ipaddress import ip_network
from random import Random

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.cri.hollow_images import KIND_IMAGES, HollowImages
from lifecycle.cri.hollow_programs import SIGKILLED, Program, program_of, run_to_end
from lifecycle.cri.runtime import (
    ContainerConfig,
    ContainerEventResponse,
    ContainerEventType,
    ContainerState,
    ContainerStatus,
    ExecSyncResponse,
    Image,
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
    RuntimeServiceError,
    VersionResponse,
)

START_ERROR = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
    "unable to start container process: error during container init: {}"
)


class _Container:
    """A container's status and its make-believe process."""

    __slots__ = ("config", "done", "pod_uid", "program", "status", "timer")

    def __init__(self, status: ContainerStatus, config: ContainerConfig, program: Program, pod_uid: str) -> None:
        self.status = status
        self.config = config
        self.program = program
        self.pod_uid = pod_uid
        self.timer: asyncio.TimerHandle | None = None
        self.done: asyncio.Future[None] | None = None


class HollowRuntime:
    """Implements `Runtime`. One per node."""

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        names: NameSource | None = None,
        latency: float = 0.0,
        images: Iterable[tuple[int, tuple[str, ...]] | Image] = KIND_IMAGES,
        missing_images: Iterable[str] = (),
    ) -> None:
        self._clock = clock or Clock()
        self._names = names or NameSource()
        self.latency = latency
        self._rng = Random(0)
        self.images = HollowImages(images, missing_images)
        self._sandboxes: dict[str, PodSandboxStatus] = {}
        self._by_pod: dict[str, list[str]] = {}
        self._containers: dict[str, _Container] = {}
        self._in_sandbox: dict[str, list[str]] = {}
        self._handlers: list[Callable[[ContainerEventResponse], None]] = []
        self._pod_cidr = ""
        self._first = self._count = self._last = 0
        self._addresses: dict[str, str] = {}
        """Address to sandbox id."""

    # -- the runtime itself -------------------------------------------------------------------------------------------

    async def version(self) -> VersionResponse:
        """It says what kind's runtime says; nobody is to notice."""
        return VersionResponse("containerd", "2.3.4")

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """Addresses come from this range from now on."""
        network = ip_network(pod_cidr)
        self._pod_cidr = pod_cidr
        self._rng.seed(pod_cidr)  # each node at a pace of its own
        self._first = int(network.network_address) + 2  # .0 is the network, .1 the gateway
        self._count = network.num_addresses - 3
        self._last = -1

    def get_container_events(self, handler: Callable[[ContainerEventResponse], None]) -> None:
        """Handlers are called on the loop, at once."""
        self._handlers.append(handler)

    async def _take_time(self) -> None:
        if self.latency:  # no two starts on a real machine take equally long
            await asyncio.sleep(self.latency * (0.5 + self._rng.random()))

    def _now(self) -> int:
        return int(self._clock.now() * 1_000_000_000)

    def _id(self) -> str:
        return (self._names.uid() + self._names.uid()).replace("-", "")

    def _emit(self, kind: ContainerEventType, container_id: str, sandbox_id: str, pod_uid: str) -> None:
        event = ContainerEventResponse(container_id, kind, self._now(), sandbox_id, pod_uid)
        for handler in self._handlers:
            handler(event)

    # -- addresses ----------------------------------------------------------------------------------------------------

    def _allocate(self, sandbox_id: str) -> str:
        if not self._count:
            raise RuntimeServiceError(
                'rpc error: code = Unknown desc = failed to setup network for sandbox "'
                + sandbox_id
                + '": cni plugin not initialized'
            )
        for _ in range(self._count):
            self._last = (self._last + 1) % self._count
            number = self._first + self._last
            address = f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            if address not in self._addresses:
                self._addresses[address] = sandbox_id
                return address
        raise RuntimeServiceError(
            f'rpc error: code = Unknown desc = failed to setup network for sandbox "{sandbox_id}": plugin type="host-local" failed (add): '
            f"failed to allocate for range 0: no IP addresses available in range set: {self._pod_cidr}"
        )

    # -- sandboxes ----------------------------------------------------------------------------------------------------

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Its id: 64 hexadecimal digits, as containerd's."""
        await self._take_time()
        sandbox_id = self._id()
        address = "" if config.host_network else self._allocate(sandbox_id)
        uid = config.metadata.uid
        status = PodSandboxStatus(
            sandbox_id, config.metadata, PodSandboxState.READY, self._now(), address, config.labels
        )
        self._sandboxes[sandbox_id] = status
        self._by_pod.setdefault(uid, []).append(sandbox_id)
        self._in_sandbox[sandbox_id] = []
        self._emit(ContainerEventType.STARTED, sandbox_id, sandbox_id, uid)
        return sandbox_id

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Kills what still runs in it."""
        sandbox = self._sandboxes.get(pod_sandbox_id)
        if sandbox is None or sandbox.state is PodSandboxState.NOTREADY:
            return
        for container_id in self._in_sandbox[pod_sandbox_id]:
            self._end(self._containers[container_id], SIGKILLED)
        sandbox.state = PodSandboxState.NOTREADY
        self._addresses.pop(sandbox.ip, None)
        self._emit(ContainerEventType.STOPPED, pod_sandbox_id, pod_sandbox_id, sandbox.metadata.uid)

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """And all its containers."""
        await self.stop_pod_sandbox(pod_sandbox_id)
        sandbox = self._sandboxes.pop(pod_sandbox_id, None)
        if sandbox is None:
            return
        for container_id in self._in_sandbox.pop(pod_sandbox_id):
            self._containers.pop(container_id, None)
        uid = sandbox.metadata.uid
        self._by_pod[uid].remove(pod_sandbox_id)
        if not self._by_pod[uid]:
            del self._by_pod[uid]

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatus:
        """By id."""
        try:
            return self._sandboxes[pod_sandbox_id]
        except KeyError:
            raise RuntimeServiceError(
                f'rpc error: code = NotFound desc = an error occurred when try to find sandbox: "{pod_sandbox_id}": not found'
            ) from None

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """Newest first."""
        ids = self._by_pod.get(pod_uid, []) if pod_uid else list(self._sandboxes)
        return [replace(self._sandboxes[i]) for i in reversed(ids)]

    # -- containers ---------------------------------------------------------------------------------------------------

    async def create_container(self, pod_sandbox_id: str, config: ContainerConfig) -> str:
        """The image must be here."""
        sandbox = await self.pod_sandbox_status(pod_sandbox_id)
        image = self.images.image_status(config.image)
        if image is None:
            raise RuntimeServiceError(f'failed to resolve image "{config.image}": not found')
        container_id = self._id()
        status = ContainerStatus(
            container_id,
            pod_sandbox_id,
            config.metadata,
            ContainerState.CREATED,
            self._now(),
            image.repo_tags[0] if image.repo_tags else image.id,
            image.repo_digests[0] if image.repo_digests else image.id,
        )
        program = program_of(config.image, config.command, config.args)
        self._containers[container_id] = _Container(status, config, program, sandbox.metadata.uid)
        self._in_sandbox[pod_sandbox_id].append(container_id)
        return container_id

    def _container(self, container_id: str) -> _Container:
        try:
            return self._containers[container_id]
        except KeyError:
            raise RuntimeServiceError(
                f'rpc error: code = NotFound desc = an error occurred when try to find container "{container_id}": not found'
            ) from None

    async def start_container(self, container_id: str) -> None:
        """Its program begins, and ends when it will."""
        await self._take_time()
        container = self._container(container_id)
        status, program = container.status, container.program
        if program.start_error:
            status.state = ContainerState.EXITED
            status.exit_code = 128
            status.reason = "StartError"
            status.message = START_ERROR.format(program.start_error)
            status.finished_at = self._now()
            raise RuntimeServiceError(status.message)
        status.state = ContainerState.RUNNING
        status.started_at = self._now()
        self._emit(ContainerEventType.STARTED, container_id, status.pod_sandbox_id, container.pod_uid)
        loop = asyncio.get_running_loop()
        if program.oom and container.config.memory_limit:
            container.timer = loop.call_later(0.0, self._end, container, SIGKILLED, "OOMKilled")
        elif program.runs_for is not None:
            container.timer = loop.call_later(program.runs_for, self._end, container, program.exit_code)

    def _end(self, container: _Container, exit_code: int, reason: str = "") -> None:
        status = container.status
        if container.timer is not None:
            container.timer.cancel()
            container.timer = None
        if status.state is not ContainerState.RUNNING:
            return
        status.state = ContainerState.EXITED
        status.exit_code = exit_code
        status.reason = reason or ("Completed" if exit_code == 0 else "Error")
        status.finished_at = self._now()
        if container.done is not None and not container.done.done():
            container.done.set_result(None)
        self._emit(ContainerEventType.STOPPED, status.id, status.pod_sandbox_id, container.pod_uid)

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """SIGTERM; a program that does not listen is killed after the timeout, unless it ends by itself before."""
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            return
        if container.program.on_term is not None:
            self._end(container, container.program.on_term)
            return
        if timeout > 0:
            container.done = asyncio.get_running_loop().create_future()
            await asyncio.wait([container.done], timeout=timeout)
        self._end(container, SIGKILLED)

    async def remove_container(self, container_id: str) -> None:
        """Again does no harm."""
        container = self._containers.pop(container_id, None)
        if container is not None:
            self._end(container, SIGKILLED)
            siblings = self._in_sandbox.get(container.status.pod_sandbox_id, [])
            if container_id in siblings:
                siblings.remove(container_id)

    async def list_containers(self, pod_sandbox_id: str = "") -> list[ContainerStatus]:
        """Newest first."""
        ids = self._in_sandbox.get(pod_sandbox_id, []) if pod_sandbox_id else list(self._containers)
        return [replace(self._containers[i].status) for i in reversed(ids)]

    async def container_status(self, container_id: str) -> ContainerStatus:
        """By id."""
        return replace(self._container(container_id).status)

    async def exec_sync(self, container_id: str, cmd: tuple[str, ...], timeout: float) -> ExecSyncResponse:
        """Runs nothing; takes the time and gives the code that the command would."""
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = container is in {container.status.state.value} state"
            )
        seconds, code = run_to_end(cmd)
        if timeout and seconds > timeout:
            await asyncio.sleep(timeout)
            raise RuntimeServiceError(
                "rpc error: code = DeadlineExceeded desc = failed to exec in container: "
                f"timeout {timeout:g}s exceeded: context deadline exceeded"
            )
        if seconds:
            await asyncio.sleep(seconds)
        return ExecSyncResponse(code)

    # -- images -------------------------------------------------------------------------------------------------------

    async def list_images(self) -> list[Image]:
        """Largest first."""
        return self.images.list_images()

    async def image_status(self, image: str) -> Image | None:
        """By any name."""
        return self.images.image_status(image)

    async def pull_image(self, image: str) -> str:
        """At once, unless the name says that there is no such image."""
        await self._take_time()
        pulled = self.images.pull_image(image)
        return pulled.repo_digests[0] if pulled.repo_digests else pulled.id

    async def remove_image(self, image: str) -> None:
        """By any name."""
        self.images.remove_image(image)

    # -- network, for probes ------------------------------------------------------------------------------------------

    def _listening(self, ip: str, port: int) -> _Container | None:
        """Who accepts connections there. An address that no pod has is taken for one of the node's own: the host network's."""
        sandbox_id = self._addresses.get(ip)
        hosts = [sandbox_id] if sandbox_id else [key for key, sandbox in self._sandboxes.items() if not sandbox.ip]
        for host in hosts:
            for container_id in self._in_sandbox.get(host, ()):
                container = self._containers[container_id]
                if container.status.state is ContainerState.RUNNING and port in container.program.listens:
                    return container
        return None

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """Works where the program listens."""
        return "" if self._listening(ip, port) else f"dial tcp {ip}:{port}: connect: connection refused"

    async def http_get(self, ip: str, port: int, path: str, timeout: float) -> tuple[int, str]:
        """Hollow servers have a start page, or tell that they are well, and nothing else."""
        server = self._listening(ip, port)
        if server is None:
            return 0, f'Get "http://{ip}:{port}{path}": dial tcp {ip}:{port}: connect: connection refused'
        return (200, "") if path in server.program.pages else (404, "")
