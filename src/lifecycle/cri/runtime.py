"""The Container Runtime Interface, as the kubelet sees a runtime.

The kubelet never starts a process itself. It asks a runtime, in terms of two nested
things: a *pod sandbox* (what the containers of a pod share: network, and a pause
process that holds it) and *containers* in it. The names of calls and fields are those
of CRI v1; a client for a real containerd and the in-memory runtime of `hollow.py` both
answer them.

Times are nanoseconds since 1970, 0 for "not yet", as on the wire. Calls raise
`RuntimeServiceError` with the text that the kubelet passes on to users.

What is nested deeper than a config's own fields (`linux`, `mounts`, `dns_config` …) are
plain dicts with the message's field names, enums by name, fields left out for their
zero value: what `crictl inspect` shows, in snake_case. Example:
`linux={"security_context": {"namespace_options": {"pid": "CONTAINER"}}, "resources":
{"cpu_shares": 102}}`.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`RuntimeService`, `ImageService`),
`cri-api/pkg/apis/services.go`, v1.36. Left out: checkpoints, metric descriptors, the
streaming forms of the list calls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

Fields = Mapping[str, Any]
"""A nested message: field names in snake_case, enums by name."""

NOTHING: Fields = {}


class RuntimeServiceError(Exception):
    """A call failed; the text is the gRPC error as upstream prints it."""

    @property
    def code(self) -> str:
        """gRPC's name for the kind of failure, such as `NotFound`; `Unknown` if the
        text does not tell.
        """
        _, found, rest = str(self).partition("code = ")
        return rest.partition(" desc = ")[0] if found else "Unknown"

    @property
    def message(self) -> str:
        """What the runtime itself said, without gRPC's words before it. Upstream:
        `status.FromError(err).Message()`.
        """
        before, found, rest = str(self).partition(" desc = ")
        return rest if found and before.startswith("rpc error: code = ") else str(self)


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
    """What a sandbox is to be.

    `dns_config`: `servers`, `searches`, `options`. `port_mappings`: `protocol`,
    `container_port`, `host_port`, `host_ip` each. `linux`: `cgroup_parent`,
    `security_context` (`namespace_options`: `network`, `pid`, `ipc` are `POD`,
    `CONTAINER` or `NODE`), `sysctls`, `overhead`, `resources`. `host_network` and
    `linux.security_context.namespace_options.network == "NODE"` say the same; either
    will do.
    """

    metadata: PodSandboxMetadata
    hostname: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    host_network: bool = False
    log_directory: str = ""
    dns_config: Fields = field(default_factory=dict)
    port_mappings: tuple[Fields, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    linux: Fields = field(default_factory=dict)
    runtime_handler: str = ""

    def __post_init__(self) -> None:
        if self.namespace_options.get("network") == "NODE":
            object.__setattr__(self, "host_network", True)

    @property
    def namespace_options(self) -> Fields:
        """`linux.security_context.namespace_options`, or nothing."""
        return (self.linux.get("security_context") or NOTHING).get(
            "namespace_options"
        ) or NOTHING


@dataclass(slots=True)
class PodSandboxStatus:
    """What a sandbox is. `ip` is empty for host network."""

    id: str
    metadata: PodSandboxMetadata
    state: PodSandboxState
    created_at: int
    ip: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    additional_ips: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    namespace_options: Fields = field(default_factory=dict)
    runtime_handler: str = ""


@dataclass(slots=True, frozen=True)
class ContainerMetadata:
    """Identifies a container within its sandbox; `attempt` is the number of its
    restarts.
    """

    name: str
    attempt: int = 0


@dataclass(slots=True, frozen=True)
class ContainerConfig:
    """What a container is to be.

    `image` is what to run (a name or an id), `user_specified_image` what the pod said.
    `memory_limit` in bytes, 0 for none, is `linux.resources.memory_limit_in_bytes`;
    either will do. `mounts`: `container_path`, `host_path`, `readonly`, `propagation`
    (`PROPAGATION_PRIVATE`, `PROPAGATION_HOST_TO_CONTAINER`,
    `PROPAGATION_BIDIRECTIONAL`), `selinux_relabel` each. `devices`: `container_path`,
    `host_path`, `permissions`. `log_path` is relative to the sandbox's log directory.
    `linux`: `resources` (`cpu_period`, `cpu_quota`, `cpu_shares`,
    `memory_limit_in_bytes`, `oom_score_adj`, `cpuset_cpus`, `cpuset_mems`,
    `hugepage_limits`, `unified`) and `security_context` (`capabilities`, `privileged`,
    `namespace_options`, `run_as_user`, `run_as_group`, `run_as_username`,
    `readonly_rootfs`, `supplemental_groups`, `no_new_privs`, `masked_paths`,
    `readonly_paths`, `seccomp` …).
    """

    metadata: ContainerMetadata
    image: str
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    memory_limit: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    working_dir: str = ""
    envs: tuple[tuple[str, str], ...] = ()
    mounts: tuple[Fields, ...] = ()
    devices: tuple[Fields, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    log_path: str = ""
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    linux: Fields = field(default_factory=dict)
    user_specified_image: str = ""
    stop_signal: str = ""

    def __post_init__(self) -> None:
        limit = self.resources.get("memory_limit_in_bytes")
        if limit:
            object.__setattr__(self, "memory_limit", int(limit))

    @property
    def resources(self) -> Fields:
        """`linux.resources`, or nothing."""
        return self.linux.get("resources") or NOTHING

    @property
    def security_context(self) -> Fields:
        """`linux.security_context`, or nothing."""
        return self.linux.get("security_context") or NOTHING


@dataclass(slots=True)
class ContainerStatus:
    """What a container is. `image` is the runtime's name for it, `image_ref` what was
    really run, `image_id` its id.
    """

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
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Fields, ...] = ()
    log_path: str = ""
    image_id: str = ""
    resources: Fields = field(default_factory=dict)
    user: Fields = field(default_factory=dict)
    stop_signal: str = ""


@dataclass(slots=True, frozen=True)
class ContainerEventResponse:
    """Something happened to a container (or, if `container_id` is the sandbox's, to a
    sandbox).
    """

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
    uid: int | None = None
    username: str = ""
    pinned: bool = False


@dataclass(slots=True, frozen=True)
class AuthConfig:
    """What to show a registry. All empty: nothing. `auth` is base64 of
    `username:password`.
    """

    username: str = ""
    password: str = ""
    auth: str = ""
    server_address: str = ""
    identity_token: str = ""
    registry_token: str = ""


async def _ignore(data: bytes) -> None:
    return None


@dataclass(slots=True)
class Streams:
    """The ends of an interactive call, as the caller holds them.

    `stdin` yields what to send, None for no input at all; when it ends, the other side
    sees end of file. `stdout` and `stderr` are awaited with every piece that arrives
    (with a terminal everything is stdout). `resize` yields (width, height) in
    characters.
    """

    stdin: AsyncIterator[bytes] | None = None
    stdout: Callable[[bytes], Awaitable[None]] = _ignore
    stderr: Callable[[bytes], Awaitable[None]] = _ignore
    resize: AsyncIterator[tuple[int, int]] | None = None


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

    async def status(self) -> dict[str, Any]:
        """`conditions`: a list of `type` (`RuntimeReady`, `NetworkReady`), `status`,
        `reason`, `message`.
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


NO_TLS = "http: server gave HTTP response to HTTPS client"
"""Why there is no answer over HTTPS from a server that speaks plainly."""


@dataclass(slots=True, frozen=True)
class HTTPRequest:
    """One request, without a body. `path` with its query; `headers` are sent as they
    are, and no others.
    """

    host: str
    port: int
    path: str = "/"
    scheme: str = "http"
    headers: tuple[tuple[str, str], ...] = ()
    method: str = "GET"

    @property
    def url(self) -> str:
        """As it is shown."""
        return f"{self.scheme}://{self.host}:{self.port}{self.path}"


@dataclass(slots=True, frozen=True)
class HTTPAnswer:
    """`status` 0: there is none, and `text` says why. Else `text` is the beginning of
    the body, and `location` where a redirect leads.
    """

    status: int
    text: str = ""
    location: str = ""


class PodNetwork(Protocol):
    """How the kubelet reaches a container's ports, for probes. On a real node that is
    the network itself.
    """

    async def tcp_connect(self, ip: str, port: int, timeout: float) -> str:
        """Empty, or why not."""
        ...

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        """Ask once; redirects are not followed. `timeout` in seconds, 0: none."""
        ...


class LogFiles(Protocol):
    """How the kubelet reads container logs (`log_format.py`). On a real node these are
    files.
    """

    def read_log(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        """At most `size` bytes (-1: all) of a container's log from `offset` on. Raises
        FileNotFoundError.
        """
        ...

    def log_size(self, path: str) -> int:
        """Bytes. Raises FileNotFoundError."""
        ...

    async def log_grown(self, path: str, size: int) -> None:
        """Return when the log is longer than `size` bytes."""
        ...


class Runtime(RuntimeService, ImageService, PodNetwork, LogFiles, Protocol):
    """All that the kubelet needs of a runtime."""
