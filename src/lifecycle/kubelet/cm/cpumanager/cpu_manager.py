"""The CPU manager: allocates at admission, writes into the config before creation, and
keeps correcting afterwards.

Exclusive CPUs are chosen when the pod is admitted, so that a pod which does not fit can
still be refused. When a container is created its config carries them: it never runs a
moment elsewhere. But the shared pool shrinks and grows as others come and go, and
containers that share it are already running. That is what the reconcile loop is for:
every ten seconds it compares and calls `UpdateContainerResources` where something
changed. (Until 1.21 that call was also made for each container, between its creation
and its start.)

Upstream: `pkg/kubelet/cm/cpumanager/cpu_manager.go` (`manager.Allocate`,
`reconcileState`, `removeStaleState`),
`pkg/kubelet/cm/internal_container_lifecycle_linux.go` (`PreCreateContainer`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.services import RuntimeService
from lifecycle.kubelet.cm.cpumanager.cpu_assignment import (
    NotEnoughCPUsError,
    SMTAlignmentError,
)
from lifecycle.kubelet.cm.cpumanager.cpu_set import CPUSet, format_cpu_set
from lifecycle.kubelet.cm.cpumanager.state import CPUState

RECONCILE_PERIOD = 10.0


class Policy(Protocol):
    """What a policy has to decide."""

    name: str

    def start(self, state: CPUState) -> None:
        """Prepare, or check what was restored."""
        ...

    def allocate(self, state: CPUState, pod: Object, container: Object) -> None:
        """Raises NotEnoughCPUsError."""
        ...

    def remove(self, state: CPUState, uid: str, container: str) -> None:
        """The container is gone."""
        ...


UNLIMITED = -1
"""The kernel's word for no quota."""


class CPUManager:
    """One per node. `active_pods()`: the pods that may run."""

    def __init__(
        self,
        policy: Policy,
        state: CPUState,
        runtime: RuntimeService,
        active_pods: Callable[[], Iterable[Object]],
    ) -> None:
        self.policy = policy
        self.state = state
        self._runtime = runtime
        self._active_pods = active_pods
        self._last_update: dict[str, CPUSet] = {}
        policy.start(state)

    def admit(self, pod: Object) -> str:
        """Allocate for all of a pod's containers: why it cannot be admitted, or
        nothing.
        """
        return self.allocate(pod)[1]

    def allocate(self, pod: Object) -> tuple[str, str]:
        """The same: reason and message of a refusal, or twice nothing. Init containers
        first. Upstream: also `GetPodAdmitResult` of `pkg/kubelet/cm/admission`.
        """
        self.remove_stale_state()
        for container in [
            *(pod["spec"].get("initContainers") or ()),
            *pod["spec"]["containers"],
        ]:
            try:
                self.policy.allocate(self.state, pod, container)
            except NotEnoughCPUsError as error:
                self.remove_pod(pod["metadata"]["uid"])
                if isinstance(error, SMTAlignmentError):
                    return "SMTAlignmentError", str(error)
                message = f"Allocate failed due to {error}, which is unexpected"
                return "UnexpectedAdmissionError", message
        return "", ""

    def pre_create_container(
        self, pod: Object, container: Object, resources: dict[str, Any]
    ) -> dict[str, Any]:
        """The resources of a container that is about to be created, with its CPUs.
        Whoever has some for itself needs no quota on them. Upstream: the feature
        `DisableCPUQuotaWithExclusiveCPUs`.
        """
        uid, name = pod["metadata"]["uid"], container["name"]
        cpus = self.state.get_or_default(uid, name)
        if self.state.assignments.get(uid, {}).get(name):
            resources = {**resources, "cpu_quota": UNLIMITED}
        return {**resources, "cpuset_cpus": format_cpu_set(cpus)} if cpus else resources

    def remove_pod(self, uid: str) -> None:
        """The pod is over."""
        for container in list(self.state.assignments.get(uid, {})):
            self.policy.remove(self.state, uid, container)

    def remove_stale_state(self) -> None:
        """Forget pods that are not there any more."""
        if not self.state.assignments:
            return
        active = {pod["metadata"]["uid"] for pod in self._active_pods()}
        for uid in [uid for uid in self.state.assignments if uid not in active]:
            self.remove_pod(uid)

    async def reconcile_state(self) -> list[tuple[str, str]]:
        """Tell the runtime where it differs from the state; containers told, and what
        they were told.
        """
        self.remove_stale_state()
        updated = []
        for pod in self._active_pods():
            uid = pod["metadata"]["uid"]
            for sandbox in await self._runtime.list_pod_sandbox(uid):
                for status in await self._runtime.list_containers(sandbox.id):
                    if status.state is not ContainerState.RUNNING:
                        self._last_update.pop(status.id, None)
                        continue
                    cpus = self.state.get_or_default(uid, status.metadata.name)
                    if not cpus or self._last_update.get(status.id) == cpus:
                        continue
                    try:
                        await self._runtime.update_container_resources(
                            status.id, {"cpuset_cpus": format_cpu_set(cpus)}
                        )
                    except RuntimeServiceError:
                        continue  # tried again next time
                    self._last_update[status.id] = cpus
                    updated.append((status.metadata.name, format_cpu_set(cpus)))
        return updated

    async def run(self) -> None:
        """Reconcile until cancelled; without a policy there is nothing to do."""
        while self.policy.name != "none":
            await asyncio.sleep(RECONCILE_PERIOD)
            await self.reconcile_state()
