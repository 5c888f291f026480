"""The Container Runtime Interface, as the kubelet sees a runtime.

The kubelet never starts a process itself. It asks a runtime, in terms of two nested things: a *pod sandbox* (what the
containers of a pod share: network, and a pause process that holds it) and *containers* in it. The names of calls and
fields are those of CRI v1; a client for a real containerd and the in-memory runtime of `hollow.py` both answer them.

Times are nanoseconds since 1970, 0 for "not yet", as on the wire. Calls raise `RuntimeServiceError` with the text
that the kubelet passes on to users.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`RuntimeService`, `ImageService`), `cri-api/pkg/apis/services.go`,
v1.36. Left out: streaming (exec, attach, port forward), stats, checkpoints, security contexts, devices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol


class RuntimeServiceError(Exception):
    """A call failed; the text is the gRPC error as upstream prints it."""


class PodSandboxState(Enum):
    """`runtime.v1.PodSandboxState`."""

    READY = "SANDBOX_READY"
    NOTREADY = "SANDBOX_NOTREADY"


class ContainerState(Enum):
    """`runtime.v1.ContainerState`."""

    CREATED = "CONTAINER_CREATED"
    RUNNING = "CONTAINER_RUNNING"
    EXITED = "CONTAINER_EXITED"
    UNKNOWN = "CONTAINER_UNKNOWN"


class ContainerEventType(Enum):
    """`runtime.v1.ContainerEventType`."""

    CREATED = "CONTAINER_CREATED_EVENT"
    STARTED = "CONTAINER_STARTED_EVENT"
    STOPPED = "CONTAINER_STOPPED_EVENT"
    DELETED = "CONTAINER_DELETED_EVENT"


@dataclass(slots=True, frozen=True)
class PodSandboxMetadata:
    """Identifies a sandbox: `attempt` counts the sandboxes that a pod has had."""

    name: str
    uid: str
    namespace: str
    attempt: int = 0


@dataclass(slots=True, frozen=True)
class PodSandboxConfig:
    """What a sandbox is to be."""

    metadata: PodSandboxMetadata
    hostname: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False


@dataclass(slots=True)
class PodSandboxStatus:
    """What a sandbox is. `ip` is empty for host network."""

    id: str
    metadata: PodSandboxMetadata
    state: PodSandboxState
    created_at: int
    ip: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class ContainerMetadata:
    """Identifies a container within its sandbox; `attempt` is the number of its restarts."""

    name: str
    attempt: int = 0


@dataclass(slots=True, frozen=True)
class ContainerConfig:
    """What a container is to be. `image` is what the pod says; `memory_limit` in bytes, 0 for none."""

    metadata: ContainerMetadata
    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    memory_limit: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class ContainerStatus:
    """What a container is. `image` is the runtime's name for it, `image_ref` what was really run, `image_id` its id."""

    id: str
    pod_sandbox_id: str
    metadata: ContainerMetadata
    state: ContainerState
    created_at: int
    image: str
    image_ref: str
    started_at: int = 0
    finished_at: int = 0
    exit_code: int = 0
    reason: str = ""
    message: str = ""


@dataclass(slots=True, frozen=True)
class ContainerEventResponse:
    """Something happened to a container (or, if `container_id` is the sandbox's, to a sandbox)."""

    container_id: str
    type: ContainerEventType
    created_at: int
    pod_sandbox_id: str
    pod_uid: str


@dataclass(slots=True, frozen=True)
class Image:
    """An image on the node: `repo_tags` and `repo_digests` are its names."""

    id: str
    repo_tags: tuple[str, ...]
    repo_digests: tuple[str, ...]
    size: int


@dataclass(slots=True, frozen=True)
class VersionResponse:
    """What the runtime calls itself."""

    runtime_name: str
    runtime_version: str
    runtime_api_version: str = "v1"


@dataclass(slots=True, frozen=True)
class ExecSyncResponse:
    """How a command in a container ended."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""


class RuntimeService(Protocol):
    """Sandboxes and containers."""

    async def version(self) -> VersionResponse:
        """Name and version."""
        ...

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """Which addresses pods on this node get."""
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

    async def create_container(self, pod_sandbox_id: str, config: ContainerConfig) -> str:
        """Its id."""
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

    async def exec_sync(self, container_id: str, cmd: tuple[str, ...], timeout: float) -> ExecSyncResponse:
        """Run a command in the container and wait for it."""
        ...

    def get_container_events(self, handler: Callable[[ContainerEventResponse], None]) -> None:
        """Tell `handler` of every event from now on (a stream on the wire). What the evented PLEG listens to."""
        ...


class ImageService(Protocol):
    """Images on the node."""

    async def list_images(self) -> list[Image]:
        """All images."""
        ...

    async def image_status(self, image: str) -> Image | None:
        """The image of that name, or None if it is not here."""
        ...

    async def pull_image(self, image: str) -> str:
        """Fetch it; its reference. Raises RuntimeServiceError."""
        ...

    async def remove_image(self, image: str) -> None:
        """Delete it."""
        ...


class PodNetwork(Protocol):
    """How the kubelet reaches a container's ports, for probes. On a real node that is the network itself."""

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """Empty, or why not."""
        ...

    async def http_get(self, ip: str, port: int, path: str, timeout: float) -> tuple[int, str]:
        """The status code, or 0 and why not."""
        ...


class Runtime(RuntimeService, ImageService, PodNetwork, Protocol):
    """All that the kubelet needs of a runtime."""
