"""The Container Runtime Interface, as the kubelet sees a runtime.

The kubelet never starts a process itself. It asks a runtime, in terms of two nested
things: a *pod sandbox* and *containers* in it. The names of calls and fields are those
of CRI v1; a client for a real containerd and the in-memory runtime of `hollow/` both
answer them.

Calls raise `RuntimeServiceError` with the text that the kubelet passes on to users.

Upstream: `cri-api/pkg/apis/services.go` (`RuntimeService`, `ImageManagerService`),
`cri-api/pkg/apis/runtime/v1/api.proto`, v1.36. Left out: checkpoints, metric
descriptors, the streaming forms of the list calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.events import ContainerEventResponse
from lifecycle.cri.apis.image import AuthConfig, Image
from lifecycle.cri.apis.message import Fields
from lifecycle.cri.apis.pod_sandbox import (
    PodSandboxConfig,
    PodSandboxState,
    PodSandboxStatus,
)
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams


@dataclass(slots=True, frozen=True)
class VersionResponse:
    """What the runtime calls itself."""

    runtime_name: str
    runtime_version: str
    runtime_api_version: str = "v1"


class RuntimeService(Protocol):
    """Sandboxes and containers."""

    async def version(self) -> VersionResponse:
        """Name and version."""
        ...

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """Which addresses pods on this node get."""
        ...

    async def status(self) -> dict[str, Any]:
        """`conditions`: a list of `type` (`RuntimeReady`, `NetworkReady`), `status`,
        `reason`, `message`. `runtime_handlers`: `name` and `features`
        (`recursive_read_only_mounts`, `user_namespaces`) each; `features`:
        `supplemental_groups_policy`.
        """
        ...

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> str:
        """Create and start a sandbox, network and all; its id."""
        ...

    async def stop_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Stop whatever runs in it and give its address back. Again does no harm."""
        ...

    async def remove_pod_sandbox(self, pod_sandbox_id: str) -> None:
        """Forget it and its containers. Again does no harm."""
        ...

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> PodSandboxStatus:
        """Raises RuntimeServiceError if there is none."""
        ...

    async def list_pod_sandbox(self, pod_uid: str = "") -> list[PodSandboxStatus]:
        """All, or those of a pod; newest first."""
        ...

    async def create_container(
        self,
        pod_sandbox_id: str,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig | None = None,
    ) -> str:
        """Its id. `sandbox_config` is what the sandbox was made from; None: the runtime
        remembers.
        """
        ...

    async def start_container(self, container_id: str) -> None:
        """Raises RuntimeServiceError if its program cannot be run."""
        ...

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """Ask it to end; kill it after `timeout` seconds. Returns when it has ended."""
        ...

    async def remove_container(self, container_id: str) -> None:
        """Forget it."""
        ...

    async def list_containers(self, pod_sandbox_id: str = "") -> list[ContainerStatus]:
        """All, or those of a sandbox; newest first."""
        ...

    async def container_status(self, container_id: str) -> ContainerStatus:
        """Raises RuntimeServiceError if there is none."""
        ...

    async def exec_sync(
        self, container_id: str, cmd: tuple[str, ...], timeout: float
    ) -> ExecSyncResponse:
        """Run a command in the container and wait for it."""
        ...

    async def update_container_resources(
        self, container_id: str, resources: Fields
    ) -> None:
        """New limits for a running container: the fields of `linux.resources` that
        change.
        """
        ...

    async def reopen_container_log(self, container_id: str) -> None:
        """The log file was moved away: write to a new one from now on."""
        ...

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        """What it uses: `attributes`, `cpu.usage_core_nano_seconds.value`,
        `memory.working_set_bytes.value` ….
        """
        ...

    async def list_container_stats(
        self, pod_sandbox_id: str = ""
    ) -> list[dict[str, Any]]:
        """Of all running containers, or those of a sandbox."""
        ...

    async def exec(
        self,
        container_id: str,
        cmd: tuple[str, ...],
        streams: Streams,
        tty: bool = False,
    ) -> int:
        """Run a command in the container, connected to `streams`; its exit code."""
        ...

    async def attach(
        self, container_id: str, streams: Streams, tty: bool = False
    ) -> None:
        """Connect to the container's own process; returns when it ends or the caller's
        side is closed.
        """
        ...

    async def port_forward(
        self, pod_sandbox_id: str, port: int, streams: Streams
    ) -> None:
        """One connection to a port on the sandbox's loopback: `stdin` goes there,
        `stdout` comes from there.
        """
        ...

    def get_container_events(
        self, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        """Tell `handler` of every event from now on (a stream on the wire). What the
        evented PLEG listens to.
        """
        ...


class ImageService(Protocol):
    """Images on the node."""

    async def list_images(self) -> list[Image]:
        """All images."""
        ...

    async def image_status(self, image: str) -> Image | None:
        """The image of that name, or None if it is not here."""
        ...

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """Fetch it; its reference. Raises RuntimeServiceError."""
        ...

    async def remove_image(self, image: str) -> None:
        """Delete it."""
        ...

    async def image_fs_info(self) -> list[dict[str, Any]]:
        """Where images live and what they take: `timestamp`, `fs_id.mountpoint`,
        `used_bytes`, `inodes_used`.
        """
        ...


@runtime_checkable
class StateLister(Protocol):
    """A runtime where each status is a question of its own, or a copy: what lists tell
    already is enough to see that something has changed.
    """

    async def list_states(self) -> list[ObjectState]:
        """Of all sandboxes and containers."""
        ...


@dataclass(slots=True, frozen=True)
class ObjectState:
    """One sandbox or container of a pod, as a list shows it."""

    id: str
    pod_uid: str
    state: PodSandboxState | ContainerState
