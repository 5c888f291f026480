"""Containers, as a runtime is asked for them and tells of them.

Times are nanoseconds since 1970, 0 for "not yet", as on the wire.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`ContainerConfig`,
`ContainerStatus`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lifecycle.cri.apis.message import NOTHING, Fields


class ContainerState(Enum):
    """`runtime.v1.ContainerState`."""

    CREATED = "CONTAINER_CREATED"
    RUNNING = "CONTAINER_RUNNING"
    EXITED = "CONTAINER_EXITED"
    UNKNOWN = "CONTAINER_UNKNOWN"


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
