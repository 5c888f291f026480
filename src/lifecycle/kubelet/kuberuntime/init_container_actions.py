"""Which init containers have to be started or stopped.

They run one after the other, each when the one before it has done its work. A sidecar
has done its work once it has started, which means: once its startup probe has passed,
if it has one; it goes on running and is started again whenever it ends. The list is
gone through backwards: the last one of which anything is known tells how far the pod
has come, for the remains of those before it may have been cleaned up.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_container.go`
(`computeInitContainerActions`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import is_restartable_init_container
from lifecycle.api.pods.restart_policy import (
    container_should_restart,
    restart_policy,
    should_restart,
)
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.kubelet.container.container_facts import LOST_KILLED
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kuberuntime.container_config import hash_container


@dataclass(slots=True)
class InitContainerActions:
    """`initialized`: the other containers may start. `pod_failed`: they never will.
    `to_kill`: container id → why.
    """

    initialized: bool = False
    pod_failed: bool = False
    to_start: list[Object] = field(default_factory=list)
    to_kill: dict[str, str] = field(default_factory=dict)


def definition_changed(container: Object, run: ContainerStatus) -> bool:
    """Whether the container was made from another name or image than the spec has
    now.
    """
    container_hash = run.annotations.get("io.kubernetes.container.hash")
    return container_hash is not None and container_hash != hash_container(container)


def compute_init_container_actions(
    spec: Object,
    runtime: PodStatus,
    unhealthy: Mapping[str, str],
    probed: Mapping[str, bool],
) -> InitContainerActions:
    """`unhealthy` and `probed` as for `compute_pod_actions`."""
    containers = spec.get("initContainers") or []
    latest: dict[str, ContainerStatus] = {}
    for run in runtime.active:
        latest.setdefault(run.metadata.name, run)
    begun = (ContainerState.CREATED, ContainerState.RUNNING)
    initialized = any(
        c["name"] in latest and latest[c["name"]].state in begun
        for c in spec["containers"]
    )
    actions = InitContainerActions(initialized=initialized or not containers)
    reached = initialized
    for i in reversed(range(len(containers))):
        container, last_run = containers[i], latest.get(containers[i]["name"])
        sidecar = is_restartable_init_container(container)
        if last_run is None:
            if reached and sidecar:
                actions.to_start.insert(0, container)
            continue
        if reached and not sidecar:
            continue  # done long ago
        if _done(container, last_run, actions, unhealthy, probed):
            if i == len(containers) - 1:
                actions.initialized = True
            elif not reached:
                actions.to_start.insert(0, containers[i + 1])
        elif last_run.state is ContainerState.EXITED and not sidecar:
            if not container_should_restart(spec, container, last_run.exit_code):
                return InitContainerActions(pod_failed=True)
            actions.to_start.insert(0, container)
        if sidecar:
            _keep_running(container, last_run, actions, unhealthy)
        elif last_run.state is ContainerState.CREATED:
            actions.to_start.insert(0, container)
        elif last_run.state is ContainerState.UNKNOWN:
            if not should_restart(restart_policy(spec, container), LOST_KILLED):
                return InitContainerActions(pod_failed=True)
            _kill_before_restart(container, last_run, actions)
        reached = True
    if containers and not reached:
        actions.to_start.append(containers[0])
    return actions


def _done(
    container: Object,
    run: ContainerStatus,
    actions: InitContainerActions,
    unhealthy: Mapping[str, str],
    probed: Mapping[str, bool],
) -> bool:
    """Whether the next one's time has come."""
    if is_restartable_init_container(container):
        started = probed.get(run.id, not container.get("startupProbe"))
        return (
            run.state is ContainerState.RUNNING
            and started
            and unhealthy.get(run.id) != "startup"
        )
    return run.state is ContainerState.EXITED and run.exit_code == 0


def _keep_running(
    container: Object,
    run: ContainerStatus,
    actions: InitContainerActions,
    unhealthy: Mapping[str, str],
) -> None:
    """A sidecar that ended is started again, one that is ill or outdated is
    replaced.
    """
    if run.state is ContainerState.RUNNING:
        message = "definition changed" if definition_changed(container, run) else ""
        if run.id in unhealthy:
            message = message or f"failed {unhealthy[run.id]} probe"
        if not message:
            return
        actions.to_kill[run.id] = f"Init container {container['name']} {message}"
    if run.state is ContainerState.UNKNOWN:
        _kill_before_restart(container, run, actions)
    else:
        actions.to_start.insert(0, container)


def _kill_before_restart(
    container: Object, run: ContainerStatus, actions: InitContainerActions
) -> None:
    """It may still be running, for all that anybody knows."""
    actions.to_kill[run.id] = (
        'Init container is in "unknown" state, try killing it before restart'
    )
    actions.to_start.insert(0, container)
