"""Containers of a hollow node, from their creation to their removal.

Upstream: `cri-api/pkg/apis/services.go` (`ContainerManager`); the errors are
containerd's (`internal/cri/server/container_*.go`, v2.x).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventType
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.process import SIGKILLED, SIGTERMED, Output, expand
from lifecycle.cri.hollow.programs import program_of
from lifecycle.cri.hollow.state import HollowState

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


class HollowContainers(HollowState):
    """The calls that are about containers and need nothing said to them."""

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """The image must be here."""
        sandbox = self._sandbox(pod_sandbox_id)
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
