"""What has to be done to make a pod's containers what its spec wants: decided first,
done later.

First come the init containers (`init_container_actions`). When they are done, the
others start together. What ended is started again if the restart policy says so. If
nothing is left to run or to start, the pod is over.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_manager.go` (`computePodActions`),
`pkg/kubelet/container/helpers.go` (`ShouldContainerBeRestarted`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.restart_policy import container_should_restart
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.kubelet.container.restart_all import containers_to_reset
from lifecycle.kubelet.container.runtime import PodStatus
from lifecycle.kubelet.kuberuntime.init_container_actions import (
    compute_init_container_actions,
    definition_changed,
)
from lifecycle.kubelet.kuberuntime.resize_actions import Resize

NOT_PROBED: Mapping[str, bool] = {}


@dataclass(slots=True)
class PodActions:
    """The decision. `containers_to_kill`: container id → why, for the event.
    `containers_to_reset`: to be stopped and removed, in this order, so that the pod can
    begin anew.
    """

    create_sandbox: bool = False
    kill_pod: bool = False
    sandbox_id: str = ""
    attempt: int = 0
    ephemeral_containers_to_start: list[Object] = field(default_factory=list)
    init_containers_to_start: list[Object] = field(default_factory=list)
    containers_to_start: list[Object] = field(default_factory=list)
    containers_to_kill: dict[str, str] = field(default_factory=dict)
    containers_to_reset: list[ContainerStatus] = field(default_factory=list)
    containers_to_update: dict[str, Object] = field(default_factory=dict)
    """By container id: those that run and are to have more or less than they have."""
    update_pod_resources: bool = False
    """The pod's own group has to follow."""

    def note_resize(self, container: Object, run: ContainerStatus, do: Resize) -> None:
        """What a running container needs to have what it was promised."""
        if do is Resize.NOTHING:
            return
        self.update_pod_resources = True
        if do is Resize.UPDATE:
            self.containers_to_update[run.id] = container
        else:
            self.containers_to_kill[run.id] = (
                f"Container {container['name']} resize requires restart"
            )

    def kill_unknown(self, run: ContainerStatus | None) -> None:
        """Who is to be replaced may still be running, for all that anybody knows."""
        if run is not None and run.state is ContainerState.UNKNOWN:
            self.containers_to_kill[run.id] = (
                'Container is in "unknown" state, try killing it before restart'
            )


def never_resized(container: Object, run: ContainerStatus) -> Resize:
    """For a kubelet that lets containers keep what they began with."""
    return Resize.NOTHING


def compute_pod_actions(
    pod: Object,
    runtime: PodStatus,
    unhealthy: Mapping[str, str],
    probed: Mapping[str, bool] = NOT_PROBED,
    *,
    restart_all: bool = False,
    resize: Callable[[Object, ContainerStatus], Resize] = never_resized,
) -> PodActions:
    """`unhealthy`: which probe condemned a container, by id: `liveness` or `startup`.
    `probed`: whether a startup probe has passed. `restart_all`: a rule demands that all
    containers start again. `resize`: what a running container needs to have what it was
    promised.
    """
    spec = pod["spec"]
    policy = spec.get("restartPolicy") or "Always"
    sandbox = runtime.ready_sandbox
    actions = PodActions(
        attempt=runtime.sandboxes[0].metadata.attempt + 1 if runtime.sandboxes else 0
    )
    if restart_all:
        actions.containers_to_reset = containers_to_reset(spec, runtime)
        return actions
    if sandbox is None:
        actions.create_sandbox = True
        return _from_the_start(actions, spec, policy, runtime)
    actions.sandbox_id = sandbox.id
    # one that has been started is never started again
    ephemeral = spec.get("ephemeralContainers") or ()
    actions.ephemeral_containers_to_start = [
        c for c in ephemeral if not runtime.history(c["name"])
    ]
    init = compute_init_container_actions(spec, runtime, unhealthy, probed)
    actions.init_containers_to_start = init.to_start
    actions.containers_to_kill = init.to_kill
    actions.kill_pod = init.pod_failed
    for container in spec.get("initContainers") or ():
        for run in runtime.history(container["name"])[:1]:
            if (
                container.get("restartPolicy") == "Always"
                and run.state is ContainerState.RUNNING
                and run.id not in init.to_kill
            ):
                do = resize(container, run)
                actions.note_resize(container, run, do)
                if do is Resize.RESTART:
                    actions.init_containers_to_start.append(container)
    if init.pod_failed or not init.initialized:
        return actions
    keep = 0
    for container in spec["containers"]:
        latest = next(iter(runtime.history(container["name"])), None)
        if latest is None or latest.state is not ContainerState.RUNNING:
            if latest is None or should_be_restarted(spec, container, latest):
                actions.containers_to_start.append(container)
                actions.kill_unknown(latest)
            continue
        changed = definition_changed(container, latest)
        if not changed and latest.id not in unhealthy:
            do = resize(container, latest)
            actions.note_resize(container, latest, do)
            if do is Resize.RESTART:
                actions.containers_to_start.append(container)
            else:
                keep += 1
            continue
        kill_message = (
            "definition changed" if changed else f"failed {unhealthy[latest.id]} probe"
        )
        message = f"Container {container['name']} {kill_message}"
        if changed or (container.get("restartPolicy") or policy) != "Never":
            message = f"{message}, will be restarted"
            actions.containers_to_start.append(container)
        actions.containers_to_kill[latest.id] = message
    if not keep and not actions.containers_to_start:
        actions.kill_pod = True
        actions.init_containers_to_start = []  # sidecars do not keep a pod alive
    return actions


def should_be_restarted(spec: Object, container: Object, run: ContainerStatus) -> bool:
    """Whether a container that does not run is to be started again. One that was made
    and never started is, whatever the policy.
    """
    return run.state is not ContainerState.EXITED or container_should_restart(
        spec, container, run.exit_code
    )


def _from_the_start(
    actions: PodActions, spec: Object, policy: str, runtime: PodStatus
) -> PodActions:
    """What begins in a new sandbox: the first init container, or else all that is not
    done for good.

    A pod that is never to be restarted does not get a second sandbox once anything of
    it has run, nor does one whose containers have all done their work.
    """
    if policy == "Never" and runtime.sandboxes and runtime.containers:
        return PodActions(kill_pod=True)
    latest = {
        container["name"]: runtime.latest(container["name"])
        for container in spec["containers"]
    }
    to_start = [
        c
        for c in spec["containers"]
        if not _succeeded_once(c, latest[c["name"]], policy)
    ]
    if not to_start and any(latest.values()):
        return PodActions(kill_pod=True)
    if spec.get("initContainers"):
        actions.init_containers_to_start = [spec["initContainers"][0]]
    else:
        actions.containers_to_start = to_start
    return actions


def _succeeded_once(
    container: Object, run: ContainerStatus | None, policy: str
) -> bool:
    """Whether it is to succeed once, and has."""
    once = (container.get("restartPolicy") or policy) == "OnFailure"
    return (
        once
        and run is not None
        and run.state is ContainerState.EXITED
        and not run.exit_code
    )
