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
from lifecycle.kubelet.container_config import hash_container
from lifecycle.kubelet.phase import is_sidecar
from lifecycle.kubelet.restart_policy import container_should_restart
from lifecycle.kubelet.status import PodStatus

NOT_PROBED: Mapping[str, bool] = {}


@dataclass(slots=True)
class PodActions:
    """The decision. `containers_to_kill`: container id → why, for the event."""

    create_sandbox: bool = False
    kill_pod: bool = False
    sandbox_id: str = ""
    attempt: int = 0
    ephemeral_containers_to_start: list[Object] = field(default_factory=list)
    init_containers_to_start: list[Object] = field(default_factory=list)
    containers_to_start: list[Object] = field(default_factory=list)
    containers_to_kill: dict[str, str] = field(default_factory=dict)


def definition_changed(container: Object, run: ContainerStatus) -> bool:
    """Whether the container was made from another name or image than the spec has now."""
    made_from = run.annotations.get("io.kubernetes.container.hash")
    return made_from is not None and made_from != hash_container(container)


def compute_pod_actions(
    pod: Object, runtime: PodStatus, unhealthy: Mapping[str, str], probed: Mapping[str, bool] = NOT_PROBED
) -> PodActions:
    """`unhealthy`: containers whose liveness or startup probe failed, by id, and why. `probed`: whether a startup probe has passed."""
    spec = pod["spec"]
    policy = spec.get("restartPolicy") or "Always"
    sandbox = runtime.ready_sandbox
    actions = PodActions(attempt=runtime.sandboxes[0].metadata.attempt + 1 if runtime.sandboxes else 0)
    if sandbox is None:
        if runtime.sandboxes and policy != "Always" and _all_done(spec, policy, runtime):
            actions.kill_pod = True
            return actions
        actions.create_sandbox = True
        return _from_the_start(actions, spec, policy, runtime)
    else:
        actions.sandbox_id = sandbox.id
        # one that has been started is never started again
        ephemeral = spec.get("ephemeralContainers") or ()
        actions.ephemeral_containers_to_start = [c for c in ephemeral if not runtime.history(c["name"])]
    names = {status.metadata.name for status in runtime.active}
    started = any(container["name"] in names for container in spec["containers"])
    if not _init_containers(actions, spec, policy, runtime, started, unhealthy, probed):
        return actions
    keep = 0
    for container in spec["containers"]:
        runs = runtime.history(container["name"])
        if not runs:
            actions.containers_to_start.append(container)
        elif runs[0].state is ContainerState.RUNNING:
            changed = definition_changed(container, runs[0])
            why = unhealthy.get(runs[0].id)
            if changed:
                why = f"Container {container['name']} definition changed, will be restarted"
            if why is None:
                keep += 1
                continue
            actions.containers_to_kill[runs[0].id] = why
            if changed or (container.get("restartPolicy") or policy) != "Never":
                actions.containers_to_start.append(container)
        elif container_should_restart(spec, container, runs[0].exit_code):
            actions.containers_to_start.append(container)
    if not keep and not actions.containers_to_start:
        actions.kill_pod = True
        actions.create_sandbox = False
        actions.init_containers_to_start = []
    return actions


def _from_the_start(actions: PodActions, spec: Object, policy: str, runtime: PodStatus) -> PodActions:
    """What begins in a new sandbox: the first init container, or else all that is not done for good.

    A pod that is never to be restarted does not get a second sandbox once anything of it has run.
    """
    if policy == "Never" and runtime.containers:
        return PodActions(kill_pod=True)
    if spec.get("initContainers"):
        actions.init_containers_to_start = [spec["initContainers"][0]]
        return actions
    for container in spec["containers"]:
        runs = runtime.history(container["name"])
        ended = runs[0] if runs and runs[0].state is ContainerState.EXITED else None
        if ended is None or ended.exit_code or (container.get("restartPolicy") or policy) != "OnFailure":
            actions.containers_to_start.append(container)
    return actions if actions.containers_to_start else PodActions(kill_pod=True)


def _all_done(spec: Object, policy: str, runtime: PodStatus) -> bool:
    for container in spec["containers"]:
        runs = runtime.history(container["name"])
        if (
            not runs
            or runs[0].state is not ContainerState.EXITED
            or container_should_restart(spec, container, runs[0].exit_code)
        ):
            return False
    return True


def _init_containers(
    actions: PodActions,
    spec: Object,
    policy: str,
    runtime: PodStatus,
    started: bool,
    unhealthy: Mapping[str, str],
    probed: Mapping[str, bool],
) -> bool:
    """Whether the turn is the other containers'."""
    for container in spec.get("initContainers") or ():
        latest = next((run for run in runtime.active if run.metadata.name == container["name"]), None)
        if is_sidecar(container):
            if latest is None or latest.state is not ContainerState.RUNNING:
                actions.init_containers_to_start.append(container)
                if not started:
                    return False
            elif latest.id in unhealthy:
                actions.containers_to_kill[latest.id] = unhealthy[latest.id]
                actions.init_containers_to_start.append(container)
            elif not started and not probed.get(latest.id, True):
                return False  # it runs, but what comes after it waits for its startup probe
            continue
        if started:
            continue  # it was done before, or they would not have been started
        if latest is None:
            actions.init_containers_to_start.append(container)
            return False
        if latest.state is ContainerState.RUNNING:
            return False
        if latest.exit_code != 0:
            if not container_should_restart(spec, container, latest.exit_code):
                actions.kill_pod = True
            else:
                actions.init_containers_to_start.append(container)
            return False
    return True
