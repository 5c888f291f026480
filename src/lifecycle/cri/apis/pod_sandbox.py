"""Pod sandboxes: what the containers of a pod share, network first of all, and the
pause process that holds it.

Times are nanoseconds since 1970, 0 for "not yet", as on the wire.

Upstream: `cri-api/pkg/apis/runtime/v1/api.proto` (`PodSandboxConfig`,
`PodSandboxStatus`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from lifecycle.cri.apis.message import NOTHING, Fields


class PodSandboxState(Enum):
    """`runtime.v1.PodSandboxState`."""

    READY = "SANDBOX_READY"
    NOTREADY = "SANDBOX_NOTREADY"


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
