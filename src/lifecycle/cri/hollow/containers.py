"""Containers of a hollow node, from their creation to their removal.

Upstream: `cri-api/pkg/apis/services.go` (`ContainerManager`); the errors are
containerd's (`internal/cri/server/container_*.go`, v2.x).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventType
from lifecycle.cri.apis.image import Image
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.cri.apis.services import ObjectState
from lifecycle.cri.hollow.agnhost.certificate import localhost_crt, localhost_key
from lifecycle.cri.hollow.agnhost.demos import files_of_demo
from lifecycle.cri.hollow.commands.applets import short_name
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.network.network import NetworkOfPod
from lifecycle.cri.hollow.process.filesystem import (
    ROOT_DIRECTORIES,
    Content,
    Credentials,
    FileSystem,
    Mount,
)
from lifecycle.cri.hollow.process.process import SIGKILLED
from lifecycle.cri.hollow.programs import StartError
from lifecycle.cri.hollow.state import HollowState
from lifecycle.cri.hollow.step_times import CREATE, LISTEN, START, STOP
from lifecycle.cri.resolv_conf import resolv_conf

START_ERROR = (
    "failed to create containerd task: failed to create shim task: OCI runtime create"
    " failed: runc create failed: unable to start container process: error during"
    " container init: {}"
)


TERMINATION_MESSAGE_PATH = "io.kubernetes.container.terminationMessagePath"
"""The annotation that says where a container writes its last words. The file is in
memory, and `read_log` gives it.
"""

IMAGE_FILES: Mapping[str, Mapping[str, Content]] = {
    "agnhost": {"/localhost.crt": localhost_crt, "/localhost.key": localhost_key}
}
"""What is known to be in images, by their short names."""

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class HollowContainers(HollowState):
    """The calls that are about containers and need nothing said to them."""

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """The image must be here. Raises RuntimeServiceError for a volume that is an
        image: this runtime has images by name only, and no files of theirs.
        """
        for mount in config.mounts:
            if mount.get("image"):
                name = mount["image"].get("image")
                raise RuntimeServiceError(
                    "rpc error: code = Unimplemented desc = image volumes are not"
                    f' modelled: "{name}"'
                )
        await self._take_time(CREATE)
        container_id = self._id()
        self._add_container(container_id, pod_sandbox_id, config)
        return container_id

    def resume_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        container_id: str,
        started_at: int,
    ) -> None:
        """A container that runs since before this node was looked at."""
        self._add_container(container_id, pod_sandbox_id, config)
        container = self._containers[container_id]
        container.prepare()
        container.status.state = ContainerState.RUNNING
        container.status.created_at = container.status.started_at = started_at
        self.logs.create(container.status.log_path)
        container.start()

    def _add_container(
        self, container_id: str, pod_sandbox_id: str, config: ContainerConfig
    ) -> None:
        sandbox = self._sandbox(pod_sandbox_id)
        image = self.images.image_status(config.image)
        if image is None:
            raise RuntimeServiceError(
                f'failed to resolve image "{config.image}": not found'
            )
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
            user=self._user(config, image),
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
        self._containers[container_id] = HollowContainer(
            status,
            config,
            sandbox.metadata.uid,
            self._hostname(pod_sandbox_id),
            self._environment(pod_sandbox_id, config),
            self._files(pod_sandbox_id, config, status.user),
            self._programs,
            now=self._clock.now,
            write=self._write,
            end=self._end,
            network=NetworkOfPod(
                self._network,
                self._way,
                self._sandboxes[pod_sandbox_id].ip,
                self._configs[pod_sandbox_id].dns_config,
            ),
        )
        self._in_sandbox[pod_sandbox_id].append(container_id)

    def _hostname(self, pod_sandbox_id: str) -> str:
        sandbox = self._configs[pod_sandbox_id]
        return sandbox.hostname or sandbox.metadata.name

    def _user(self, config: ContainerConfig, image: Image) -> Fields:
        """Whom its first process would run as: what the config says, root where it does
        not; the group is one of the groups, as in a real one.
        """
        context = config.security_context

        def number(key: str) -> int | None:
            value = context.get(key)
            return value.get("value", 0) if isinstance(value, dict) else value

        uid = int(number("run_as_user") or 0)
        asked = number("run_as_group")
        gid = self.images.group_of(image, uid) if asked is None else int(asked)
        groups = sorted({gid, *(context.get("supplemental_groups") or ())})
        return {"uid": uid, "gid": gid, "supplemental_groups": groups}

    def _files(
        self, pod_sandbox_id: str, config: ContainerConfig, user: Fields
    ) -> FileSystem:
        sandbox = self._configs[pod_sandbox_id]
        image = config.user_specified_image or config.image
        etc: dict[str, Content] = {
            **(IMAGE_FILES.get(short_name(image)) or {}),
            **files_of_demo(image),
        }
        etc["/etc/hostname"] = f"{self._hostname(pod_sandbox_id)}\n".encode()
        if sandbox.dns_config:
            etc["/etc/resolv.conf"] = resolv_conf(sandbox.dns_config).encode()
        for name, value in (sandbox.linux.get("sysctls") or {}).items():
            etc["/proc/sys/" + name.replace(".", "/")] = f"{value}\n".encode()
        message_path = config.annotations.get(TERMINATION_MESSAGE_PATH)
        mounts = [
            Mount(
                "/" + str(mount["container_path"]).strip("/"),
                *self.volumes.open(str(mount["host_path"])),
                bool(mount.get("readonly")),
            )
            for mount in config.mounts
            if mount["container_path"] != message_path
        ]
        return FileSystem(
            etc,
            mounts,
            ROOT_DIRECTORIES.get(short_name(image)),
            user=Credentials(
                user["uid"], user["gid"], frozenset(user["supplemental_groups"])
            ),
            read_only=bool(config.security_context.get("readonly_rootfs")),
        )

    def _log_path(self, pod_sandbox_id: str, config: ContainerConfig) -> str:
        directory = self._configs[pod_sandbox_id].log_directory
        return f"{directory}/{config.log_path}" if directory and config.log_path else ""

    async def start_container(self, container_id: str) -> None:
        """Its program begins, and ends when it will."""
        await self._take_time(START)
        container = self._container(container_id)
        status = container.status
        try:
            container.prepare()
        except StartError as error:
            status.state = ContainerState.EXITED
            status.exit_code = 128
            status.reason = "StartError"
            status.message = START_ERROR.format(error)
            status.finished_at = self._now()
            self._emit(
                ContainerEventType.STOPPED,
                container_id,
                status.pod_sandbox_id,
                container.pod_uid,
            )
            raise RuntimeServiceError(status.message) from None
        status.state = ContainerState.RUNNING
        status.started_at = self._now()
        listens_after = int(self._step_times.draw(LISTEN) * 1_000_000_000)
        container.listens_at = status.started_at + listens_after
        self.logs.create(status.log_path)
        self._emit(
            ContainerEventType.STARTED,
            container_id,
            status.pod_sandbox_id,
            container.pod_uid,
        )
        container.start()

    def _write(self, container: HollowContainer, stream: str, data: bytes) -> None:
        status = container.status
        self.logs.append(status.log_path or status.id, self._now(), stream, data)

    def _environment(
        self, pod_sandbox_id: str, config: ContainerConfig
    ) -> dict[str, str]:
        return {
            "PATH": DEFAULT_PATH,
            "HOME": "/root",
            "HOSTNAME": self._hostname(pod_sandbox_id),
            **dict(config.envs),
        }

    def _end(
        self, container: HollowContainer, exit_code: int, reason: str = ""
    ) -> None:
        status = container.status
        if status.state is not ContainerState.RUNNING:
            return
        self.logs.flush(status.log_path, self._now())
        status.state = ContainerState.EXITED
        status.exit_code = exit_code
        status.reason = reason or ("Completed" if exit_code == 0 else "Error")
        status.finished_at = self._now()
        container.stop_processes()
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
        if not container.running:
            return
        await self._take_time(STOP)
        container.signal()
        if timeout <= 0 or not await container.wait(timeout):
            self._end(container, SIGKILLED)

    async def remove_container(self, container_id: str) -> None:
        """Again does no harm."""
        container = self._containers.pop(container_id, None)
        if container is not None:
            self._end(container, SIGKILLED)
            container.forget_process()
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

    async def list_states(self) -> list[ObjectState]:
        """Of all sandboxes and containers."""
        sandboxes = [
            ObjectState(each.id, each.metadata.uid, each.state)
            for each in self._sandboxes.values()
        ]
        containers = [
            ObjectState(container_id, each.pod_uid, each.status.state)
            for container_id, each in self._containers.items()
        ]
        return sandboxes + containers

    async def container_status(self, container_id: str) -> ContainerStatus:
        """By id."""
        return replace(self._container(container_id).status)

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
