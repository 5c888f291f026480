"""What has to be done to make a pod's containers what its spec wants: decided first, done later.

Init containers go one after the other; a sidecar among them only has to have started. When all are done, the others
start together. What ended is started again if the restart policy says so. If nothing is left to run or to start, the
pod is over.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (`computePodActions`), `kuberuntime_container.go`
(`computeInitContainerActions`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.api.wire import Object
from lifecycle.cri.runtime import ContainerState, ContainerStatus
from lifecycle.kubelet.phase import is_sidecar
from lifecycle.kubelet.status import PodStatus


@dataclass(slots=True)
class PodActions:
    """The decision. `containers_to_kill`: container id → why, for the event."""

    create_sandbox: bool = False
    kill_pod: bool = False
    sandbox_id: str = ""
    attempt: int = 0
    init_containers_to_start: list[Object] = field(default_factory=list)
    containers_to_start: list[Object] = field(default_factory=list)
    containers_to_kill: dict[str, str] = field(default_factory=dict)


def should_restart(policy: str, exit_code: int) -> bool:
    """What the restart policy says about a container that ended."""
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def compute_pod_actions(pod: Object, runtime: PodStatus, unhealthy: Mapping[str, str]) -> PodActions:
    """`unhealthy`: containers whose liveness or startup probe failed, by id, and why."""
    spec = pod["spec"]
    policy = spec.get("restartPolicy") or "Always"
    sandbox = runtime.ready_sandbox
    actions = PodActions(attempt=len(runtime.sandboxes))
    if sandbox is None:
        if runtime.sandboxes and policy != "Always" and _all_done(spec, policy, runtime):
            actions.kill_pod = True
            return actions
        actions.create_sandbox = True
    else:
        actions.sandbox_id = sandbox.id
    started = any(runtime.history(container["name"]) for container in spec["containers"])
    if not _init_containers(actions, spec, policy, runtime, started, unhealthy):
        return actions
    keep = 0
    for container in spec["containers"]:
        runs = runtime.history(container["name"])
        if not runs:
            actions.containers_to_start.append(container)
        elif runs[0].state is ContainerState.RUNNING:
            why = unhealthy.get(runs[0].id)
            if why is None:
                keep += 1
                continue
            actions.containers_to_kill[runs[0].id] = why
            if policy != "Never":
                actions.containers_to_start.append(container)
        elif should_restart(policy, runs[0].exit_code):
            actions.containers_to_start.append(container)
    if not keep and not actions.containers_to_start:
        actions.kill_pod = True
        actions.create_sandbox = False
        actions.init_containers_to_start = []
    return actions


def _all_done(spec: Object, policy: str, runtime: PodStatus) -> bool:
    for container in spec["containers"]:
        runs = runtime.history(container["name"])
        if not runs or runs[0].state is not ContainerState.EXITED or should_restart(policy, runs[0].exit_code):
            return False
    return True


def _init_containers(
    actions: PodActions, spec: Object, policy: str, runtime: PodStatus, started: bool, unhealthy: Mapping[str, str]
) -> bool:
    """Whether the turn is the other containers'."""
    for container in spec.get("initContainers") or ():
        runs = runtime.history(container["name"])
        latest: ContainerStatus | None = runs[0] if runs else None
        if is_sidecar(container):
            if latest is None or latest.state is not ContainerState.RUNNING:
                actions.init_containers_to_start.append(container)
                if not started:
                    return False
            elif latest.id in unhealthy:
                actions.containers_to_kill[latest.id] = unhealthy[latest.id]
                actions.init_containers_to_start.append(container)
            continue
        if started:
            continue  # it was done before, or they would not have been started
        if latest is None:
            actions.init_containers_to_start.append(container)
            return False
        if latest.state is ContainerState.RUNNING:
            return False
        if latest.exit_code != 0:
            if policy == "Never":
                actions.kill_pod = True
            else:
                actions.init_containers_to_start.append(container)
            return False
    return True
