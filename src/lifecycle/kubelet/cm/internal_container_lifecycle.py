"""The last word on a container's resources before it is created.

Upstream: `pkg/kubelet/cm/internal_container_lifecycle.go`
(`InternalContainerLifecycle`), `internal_container_lifecycle_linux.go`
(`PreCreateContainer`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager


class InternalContainerLifecycle:
    """`cpu_manager`: whose CPUs a container may use, None where nobody has any to give
    away. `unified`: what every container's cgroup gets of version 2's files.
    """

    def __init__(
        self,
        cpu_manager: CPUManager | None = None,
        unified: Mapping[str, str] | None = None,
    ) -> None:
        self._cpu_manager = cpu_manager
        self._unified = dict(unified or {})

    def pre_create_container(
        self, pod: Object, container: Object, resources: dict[str, Any]
    ) -> dict[str, Any]:
        """The resources as the runtime gets them."""
        if self._unified:
            resources = {**resources, "unified": dict(self._unified)}
        if self._cpu_manager is not None:
            resources = self._cpu_manager.pre_create_container(
                pod, container, resources
            )
        return resources
