"""A container that runs is given more, or less.

What it has says the runtime; what it is to have says the pod as it was promised. They
are compared whenever the pod is looked at, so nothing has to be remembered, and a call
that failed is simply made again. Some programs have to be told: a container whose
policy says so is started anew instead.

The pod's own group stands around its containers'. So it grows before they do, and
shrinks after them: at no time may a part have more than the whole.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (`computePodResizeAction`,
`doPodResizeAction`, `updatePodContainerResources`, `IsPodResizeInProgress`), v1.36.
Left out: refusing a memory limit below what is in use (the kernel refuses it), and a
request of memory as a reason to start anew: no group knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.cri.apis.services import RuntimeService
from lifecycle.kubelet.container.runtime import PodStatus

Fields = Mapping[str, Any]
DesiredResources = Callable[[Object, Object], Fields]
"""Pod, container → `LinuxContainerResources` that it would be created with."""

CPU = ("cpu_shares", "cpu_quota", "cpu_period")
MEMORY = ("memory_limit_in_bytes", "memory_swap_limit_in_bytes")


class Resize(Enum):
    """What a running container needs."""

    NOTHING = "nothing"
    UPDATE = "update"
    RESTART = "restart"


def _limit(fields: Fields, name: str) -> int:
    """A number; 0 for none at all."""
    return max(int(str(fields.get(name) or 0)), 0)


def resize_action(container: Object, run: ContainerStatus, desired: Fields) -> Resize:
    """Compare what a running container has with what it is to have."""
    if not run.resources:  # a runtime that does not tell
        return Resize.NOTHING
    changed = {
        name
        for name, keys in (("cpu", CPU[:2]), ("memory", MEMORY[:1]))
        if any(_limit(run.resources, key) != _limit(desired, key) for key in keys)
    }
    if not changed:
        return Resize.NOTHING
    policies = {
        policy["resourceName"]: policy["restartPolicy"]
        for policy in container.get("resizePolicy") or ()
    }
    if any(policies.get(name) == "RestartContainer" for name in changed):
        return Resize.RESTART
    return Resize.UPDATE


class PodResizer:
    """One per node. `desired` says what a container is to have."""

    def __init__(self, runtime: RuntimeService, desired: DesiredResources) -> None:
        self._runtime = runtime
        self._desired = desired

    def action(self, pod: Object, container: Object, run: ContainerStatus) -> Resize:
        """See `resize_action`. A pod that was never changed is not looked at."""
        if int(pod["metadata"].get("generation") or 1) < 2:
            return Resize.NOTHING
        return resize_action(container, run, self._desired(pod, container))

    def is_in_progress(self, pod: Object, runtime: PodStatus) -> bool:
        """Whether one of its running containers has not got what it is to have."""
        spec = pod["spec"]
        return any(
            run.state is ContainerState.RUNNING
            and self.action(pod, container, run) is not Resize.NOTHING
            for container in [
                *(spec.get("initContainers") or ()),
                *spec["containers"],
            ]
            for run in runtime.history(container["name"])[:1]
        )

    async def update(self, pod: Object, updates: Mapping[str, Object]) -> None:
        """Give containers what they are to have; `updates`: by id of the run. Raises
        RuntimeServiceError. Upstream: `updatePodContainerResources`.
        """
        for container_id, container in updates.items():
            desired = self._desired(pod, container)
            resources = {
                name: desired[name] for name in (*CPU, *MEMORY) if desired.get(name)
            }
            await self._runtime.update_container_resources(container_id, resources)
