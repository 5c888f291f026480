"""What a node adds to a container's configuration, as those who make containers ask for
it.

Upstream: `pkg/kubelet/container/helpers.go` (`RuntimeHelper`), v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from lifecycle.api.http.wire import Object

GetObject = Callable[[str, str, str], Awaitable[Object]]
"""Takes plural (`configmaps`, `secrets`), name and namespace. Raises LookupError with
upstream's text.
"""


RecordEvent = Callable[[str, str, str], None]
"""Takes type, reason and message."""


class ContainerEnvironmentError(Exception):
    """The environment cannot be made; the text is what `CreateContainerConfigError`
    says.
    """


Mount = dict[str, Any]
"""`container_path`, `host_path`, and `readonly`, `propagation` where they are not the
default: CRI's `Mount`.
"""


class RuntimeHelper(Protocol):
    """A node's own part of sandboxes and containers."""

    def sandbox(self, pod: Object, warn: Callable[[str], None]) -> dict[str, Any]:
        """Of a pod's sandbox: `hostname`, `dns_config`, `cgroup_parent` and `logs`,
        where the node has them. `warn`: told of limits exceeded.
        """
        ...

    async def generate(
        self, pod: Object, container: Object, pod_ip: str, event: RecordEvent
    ) -> tuple[tuple[tuple[str, str], ...], tuple[Mount, ...]]:
        """Environment and mounts. Raises ContainerEnvironmentError, whose text is what
        `CreateContainerConfigError` says.
        """
        ...
