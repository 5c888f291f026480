"""A container runtime without containers: everything a kubelet asks for happens in
memory, at once.

Sandboxes get addresses from the node's range as CNI's host-local plugin gives them
(from `.2` up, the next after the last one given); containers "run" as long as
`hollow_programs.py` says and then exit, which is a timer and an event. A thousand nodes
with ten pods each are a few megabytes.

`latency` stretches sandbox creation and container starts to real-looking times
(seconds, each between half and one and a half times of it), for those who want to watch
the states in between.

Ours, after the idea of kubemark's hollow nodes (`pkg/kubemark/hollow_kubelet.go`,
`cri-client/pkg/fake`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.cri import hollow_streams
from lifecycle.cri.hollow_addresses import HollowAddresses
from lifecycle.cri.hollow_commands import asks_to_end
from lifecycle.cri.hollow_container import HollowContainer
from lifecycle.cri.hollow_images import KIND_IMAGES, HollowImages
from lifecycle.cri.hollow_logs import HollowLogs
from lifecycle.cri.hollow_process import SIGKILLED, SIGTERMED, Output, expand
from lifecycle.cri.hollow_programs import program_of
from lifecycle.cri.runtime import (
    AuthConfig,
    ContainerConfig,
    ContainerEventResponse,
    ContainerEventType,
    ContainerState,
    ContainerStatus,
    ExecSyncResponse,
    Fields,
    HTTPAnswer,
    HTTPRequest,
    Image,
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
    RuntimeServiceError,
    Streams,
    VersionResponse,
)

START_ERROR = (
    "failed to create containerd task: failed to create shim task: OCI runtime create"
    " failed: runc create failed: unable to start container process: error during"
    " container init: {}"
)


TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath"
"""The annotation that says where a container writes its last words. The file is in
memory, and `read_log` gives it.
"""

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


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
        log_root: Path | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._names = names or NameSource()
        self.latency = latency
        self._rng = Random(0)
        self.images = HollowImages(images, missing_images)
        self._sandboxes: dict[str, PodSandboxStatus] = {}
        self._by_pod: dict[str, list[str]] = {}
        self._containers: dict[str, HollowContainer] = {}
        self._in_sandbox: dict[str, list[str]] = {}
        self._handlers: list[Callable[[ContainerEventResponse], None]] = []
        self._addresses = HollowAddresses()
        self._configs: dict[str, PodSandboxConfig] = {}
        self.logs = HollowLogs(log_root)

    # -- the runtime itself ------------------------------------------------------------

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
        return {"conditions": [ready, network]}

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """Addresses come from this range from now on."""
        self._addresses.use(pod_cidr)
        self._rng.seed(pod_cidr)  # each node at a pace of its own

    def get_container_events(
        self, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        """Handlers are called on the loop, at once."""
        self._handlers.append(handler)

    async def _take_time(self) -> None:
        if self.latency:  # no two starts on a real machine take equally long
            await asyncio.sleep(self.latency * (0.5 + self._rng.random()))

    def _now(self) -> int:
        return int(self._clock.now() * 1_000_000_000)

    def _id(self) -> str:
        return (self._names.uid() + self._names.uid()).replace("-", "")

    def _emit(
        self, kind: ContainerEventType, container_id: str, sandbox_id: str, pod_uid: str
    ) -> None:
        event = ContainerEventResponse(
            container_id, kind, self._now(), sandbox_id, pod_uid
        )
        for handler in self._handlers:
            handler(event)

    # -- sandboxes ---------------------------------------------------------------------

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Its id: 64 hexadecimal digits, as containerd's."""
        await self._take_time()
        sandbox_id = self._id()
        address = "" if config.host_network else self._addresses.allocate(sandbox_id)
        uid = config.metadata.uid
        options = dict(config.namespace_options) or {
            "network": "NODE" if config.host_network else "POD"
        }
        status = PodSandboxStatus(
            sandbox_id,
            config.metadata,
            PodSandboxState.READY,
            self._now(),
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
        return sandbox_id

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
                "rpc error: code = NotFound desc = an error occurred when try to find"
                f' sandbox: "{pod_sandbox_id}": not found'
            ) from None

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """Newest first."""
        ids = self._by_pod.get(pod_uid, []) if pod_uid else list(self._sandboxes)
        return [replace(self._sandboxes[i]) for i in reversed(ids)]

    # -- containers --------------------------------------------------------------------

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """The image must be here."""
        sandbox = await self.pod_sandbox_status(pod_sandbox_id)
        image = self.images.image_status(config.image)
        if image is None:
            raise RuntimeServiceError(
                f'failed to resolve image "{config.image}": not found'
            )
        container_id = self._id()
        status = ContainerStatus(
            container_id,
            pod_sandbox_id,
            config.metadata,
            ContainerState.CREATED,
            self._now(),
            image.repo_tags[0] if image.repo_tags else image.id,
            image.repo_digests[0] if image.repo_digests else image.id,
            labels=config.labels,
            annotations=config.annotations,
            mounts=config.mounts,
            log_path=self._log_path(pod_sandbox_id, config),
            image_id=image.id,
            resources=config.resources,
            stop_signal=config.stop_signal,
        )
        message_path = config.annotations.get(TERMINATION_MESSAGE_PATH)
        if message_path and not any(
            mount.get("container_path") == message_path for mount in config.mounts
        ):
            where = {
                "container_path": message_path,
                "host_path": f"/{container_id}{message_path}",
            }
            status.mounts = (*config.mounts, where)
        envs = self._environment(pod_sandbox_id, config)
        program = program_of(
            config.user_specified_image or config.image,
            config.command,
            config.args,
            envs,
        )
        self._containers[container_id] = HollowContainer(
            status, config, program, sandbox.metadata.uid
        )
        self._in_sandbox[pod_sandbox_id].append(container_id)
        return container_id

    def _log_path(self, pod_sandbox_id: str, config: ContainerConfig) -> str:
        directory = self._configs[pod_sandbox_id].log_directory
        return f"{directory}/{config.log_path}" if directory and config.log_path else ""

    def _container(self, container_id: str) -> HollowContainer:
        try:
            return self._containers[container_id]
        except KeyError:
            raise RuntimeServiceError(
                "rpc error: code = NotFound desc = an error occurred when try to find"
                f' container "{container_id}": not found'
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
            self._emit(
                ContainerEventType.STOPPED,
                container_id,
                status.pod_sandbox_id,
                container.pod_uid,
            )
            raise RuntimeServiceError(status.message)
        status.state = ContainerState.RUNNING
        status.started_at = self._now()
        self.logs.create(status.log_path)
        self._emit(
            ContainerEventType.STARTED,
            container_id,
            status.pod_sandbox_id,
            container.pod_uid,
        )
        loop = asyncio.get_running_loop()
        if program.oom and container.config.memory_limit:
            container.timer = loop.call_later(
                0.0, self._end, container, SIGKILLED, "OOMKilled"
            )
        elif program.runs_for is not None:
            container.timer = loop.call_later(
                program.runs_for, self._end, container, program.exit_code
            )
        for line in program.output:
            if line.after:
                loop.call_later(line.after, self._say, container, line)
            else:
                self._say(container, line)

    def _say(self, container: HollowContainer, line: Output) -> None:
        """The program writes a line now, and perhaps again later."""
        status = container.status
        if status.state is not ContainerState.RUNNING:
            return
        text = expand(
            line.text, self._environment(status.pod_sandbox_id, container.config)
        )
        if line.stream.startswith(">"):
            path = line.stream.lstrip(">")
            if path == status.annotations.get(TERMINATION_MESSAGE_PATH):
                self.logs.put(
                    f"/{status.id}{path}",
                    (text + "\n").encode(),
                    append=line.stream.startswith(">>"),
                )
        else:
            self.logs.append(
                status.log_path or status.id, self._now(), line.stream, text + "\n"
            )
        if line.every:
            asyncio.get_running_loop().call_later(
                line.every, self._say, container, line
            )

    def _environment(
        self, pod_sandbox_id: str, config: ContainerConfig
    ) -> dict[str, str]:
        sandbox = self._configs[pod_sandbox_id]
        hostname = sandbox.hostname or sandbox.metadata.name
        return {
            "PATH": DEFAULT_PATH,
            "HOME": "/root",
            "HOSTNAME": hostname,
            **dict(config.envs),
        }

    def _end(
        self, container: HollowContainer, exit_code: int, reason: str = ""
    ) -> None:
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
        for watcher in container.watchers:
            watcher.put_nowait(None)
        self._emit(
            ContainerEventType.STOPPED,
            status.id,
            status.pod_sandbox_id,
            container.pod_uid,
        )

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """SIGTERM; a program that does not listen is killed after the timeout, unless
        it ends by itself before.
        """
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            return
        code, seconds = self._sigterm(container)
        if code is not None and seconds <= 0:
            self._end(container, code)
            return
        if timeout > 0:
            container.done = asyncio.get_running_loop().create_future()
            hears = code is not None and seconds < timeout
            await asyncio.wait([container.done], timeout=seconds if hears else timeout)
            if code is not None and hears:
                self._end(container, code)
        self._end(container, SIGKILLED)

    def _sigterm(self, container: HollowContainer) -> tuple[int | None, float]:
        """How it ends when it is asked to, None for not at all, and in how many
        seconds. Only process 1 can be deaf.
        """
        program = container.program
        security = container.config.linux.get("security_context") or {}
        alone = (security.get("namespace_options") or {}).get("pid") in (
            None,
            "CONTAINER",
        )
        if program.on_term is None:
            return (None, 0.0) if alone else (SIGTERMED, 0.0)
        return (
            program.on_term,
            program.hears_after(self._age(container)) + program.term_seconds,
        )

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
        ids = (
            self._in_sandbox.get(pod_sandbox_id, [])
            if pod_sandbox_id
            else list(self._containers)
        )
        return [replace(self._containers[i].status) for i in reversed(ids)]

    async def container_status(self, container_id: str) -> ContainerStatus:
        """By id."""
        return replace(self._container(container_id).status)

    def _age(self, container: HollowContainer) -> float:
        """Seconds since its start."""
        return (self._now() - container.status.started_at) / 1e9

    async def exec_sync(
        self, container_id: str, cmd: tuple[str, ...], timeout: float
    ) -> ExecSyncResponse:
        """Runs nothing; takes the time and gives the code that the command would."""
        container = self._container(container_id)
        envs = self._environment(container.status.pod_sandbox_id, container.config)
        answer = await hollow_streams.exec_sync(
            container, envs, cmd, timeout, self._age(container)
        )
        self._asked_to_end(container, cmd)
        return answer

    async def exec(
        self,
        container_id: str,
        cmd: tuple[str, ...],
        streams: Streams,
        tty: bool = False,
    ) -> int:
        """What `exec_sync` would say, as it says it."""
        container = self._container(container_id)
        envs = self._environment(container.status.pod_sandbox_id, container.config)
        code = await hollow_streams.exec_stream(
            container, envs, cmd, streams, tty, self._age(container)
        )
        self._asked_to_end(container, cmd)
        return code

    def _asked_to_end(self, container: HollowContainer, cmd: tuple[str, ...]) -> None:
        """From within, by a command."""
        if asks_to_end(cmd):
            code, seconds = self._sigterm(container)
            if code is not None:
                asyncio.get_running_loop().call_later(
                    seconds, self._end, container, code
                )

    async def attach(
        self, container_id: str, streams: Streams, tty: bool = False
    ) -> None:
        """Hear what the program says from now on, until it ends."""
        await hollow_streams.attach(
            self._container(container_id), self.logs, streams, tty
        )

    async def port_forward(
        self, pod_sandbox_id: str, port: int, streams: Streams
    ) -> None:
        """A hollow web server answers the requests it is sent; nothing else listens."""
        sandbox = await self.pod_sandbox_status(pod_sandbox_id)
        await hollow_streams.port_forward(
            self._listening(sandbox.ip, port), port, streams
        )

    async def update_container_resources(
        self, container_id: str, resources: Fields
    ) -> None:
        """Kept, and believed by what runs out of memory."""
        container = self._container(container_id)
        linux = {
            **container.config.linux,
            "resources": {**container.config.resources, **resources},
        }
        container.config = replace(container.config, linux=linux)
        container.status.resources = container.config.resources

    async def reopen_container_log(self, container_id: str) -> None:
        """Begin a new file."""
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = container is not running"
            )
        self.logs.reopen(container.status.log_path)

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

    # -- logs --------------------------------------------------------------------------

    def read_log(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        """From memory."""
        return self.logs.read(path, offset, size)

    def log_size(self, path: str) -> int:
        """Of what is in memory."""
        return self.logs.size(path)

    async def log_grown(self, path: str, size: int) -> None:
        """Woken by the next line."""
        await self.logs.grown(path, size)

    # -- images ------------------------------------------------------------------------

    async def list_images(self) -> list[Image]:
        """Largest first."""
        return self.images.list_images()

    async def image_status(self, image: str) -> Image | None:
        """By any name."""
        return self.images.image_status(image)

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """At once, unless the name says that there is no such image."""
        await self._take_time()
        pulled = self.images.pull_image(image, auth)
        return pulled.repo_digests[0] if pulled.repo_digests else pulled.id

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

    # -- network, for probes -----------------------------------------------------------

    def _listening(self, ip: str, port: int) -> HollowContainer | None:
        """Who accepts connections there. An address that no pod has is taken for one of
        the node's own: the host network's.
        """
        sandbox_id = self._addresses.owner(ip)
        hosts = (
            [sandbox_id]
            if sandbox_id
            else [key for key, sandbox in self._sandboxes.items() if not sandbox.ip]
        )
        for host in hosts:
            for container_id in self._in_sandbox.get(host, ()):
                container = self._containers[container_id]
                if (
                    container.status.state is ContainerState.RUNNING
                    and port in container.program.listens
                ):
                    return container
        return None

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """Works where the program listens."""
        return (
            ""
            if self._listening(ip, port)
            else f"dial tcp {ip}:{port}: connect: connection refused"
        )

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        """Hollow servers have a start page, or tell that they are well, and nothing
        else. They speak no TLS.
        """
        return hollow_streams.http_answer(
            self._listening(request.host, request.port), request
        )
