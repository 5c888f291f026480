"""What the runtime knows of a pod, and what else goes into the status that is made of
it.

Upstream: `pkg/kubelet/container/runtime.go` (`PodStatus`, `FindContainerStatusByName`,
`ActiveContainerStatuses`), `pkg/kubelet/reason_cache.go` (`reasonItem`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.cri.apis.container import ContainerStatus
from lifecycle.cri.apis.pod_sandbox import PodSandboxState, PodSandboxStatus


@dataclass(slots=True)
class PodStatus:
    """What the runtime knows of a pod. Upstream: `kubecontainer.PodStatus`. Both lists
    newest first; neither changes once somebody has asked for a container's runs.
    """

    sandboxes: list[PodSandboxStatus] = field(default_factory=list)
    containers: list[ContainerStatus] = field(default_factory=list)
    _by_name: dict[str, list[ContainerStatus]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    @property
    def ready_sandbox(self) -> PodSandboxStatus | None:
        """The sandbox in use."""
        if self.sandboxes and self.sandboxes[0].state is PodSandboxState.READY:
            return self.sandboxes[0]
        return None

    def history(self, name: str) -> list[ContainerStatus]:
        """All that is left of a container's runs, newest first."""
        if self._by_name is None:  # a pod may have thousands, and each is asked for
            self._by_name = {}
            for status in self.containers:
                self._by_name.setdefault(status.metadata.name, []).append(status)
        return self._by_name.get(name, [])

    def latest(self, name: str) -> ContainerStatus | None:
        """The newest run of a container. Upstream: `FindContainerStatusByName`."""
        return next(iter(self.history(name)), None)

    @property
    def active(self) -> list[ContainerStatus]:
        """The containers of the sandbox in use: what was done in an earlier one has to
        be done again.
        """
        sandbox = self.ready_sandbox
        return [
            status
            for status in self.containers
            if sandbox is not None and status.pod_sandbox_id == sandbox.id
        ]


@dataclass(slots=True, frozen=True)
class StartFailure:
    """Why a container could not be started, as its `waiting` state says. Upstream:
    `reasonItem`.
    """

    reason: str
    message: str = ""
    retry_after: float = 10.0
    """Seconds until trying again makes sense."""
