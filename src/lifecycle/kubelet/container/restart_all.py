"""One container's end starts the whole pod again: the rule action
`RestartAllContainers`.

The sandbox stays, with its address and its volumes; everything in it is stopped and
removed, and then the pod begins from its first init container. Three syncs do it: one
sees the exit code and says so in a condition of the pod, the next carries it out, the
third finds nothing left of the old runs and takes the condition back.

What is removed cannot be asked any more, so the status remembers: how often each
container was started, and how it ended.

Upstream: `pkg/kubelet/container/helpers.go` (`ShouldAllContainersRestart`,
`AllContainersRestartCleanedUp`), `kuberuntime_manager.go` (`getContainersToReset`),
`pkg/kubelet/status/generate.go` (`GenerateAllContainersRestartingCondition`), v1.36
(feature gate RestartAllContainersOnContainerExits, on by default since 1.36).
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.conditions import is_status_condition_true
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import FAILED, SUCCEEDED
from lifecycle.api.pods.restart_policy import (
    RESTART_ALL_CONTAINERS,
    all_containers_could_restart,
    matching_rule,
)
from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.kubelet.container.runtime import PodStatus

CONDITION = "AllContainersRestarting"
RESTARTING_ALL_CONTAINERS = "RestartingAllContainers"
"""The reason of a container's end that was nothing but a part of starting the whole pod
again.
"""
REMOVED_MESSAGE = "The container is removed because RestartAllContainers in place"


def _containers(spec: Object) -> Iterator[Object]:
    yield from spec.get("initContainers") or ()
    yield from spec["containers"]


def _demanded(container: Object, exit_code: int) -> bool:
    rule = matching_rule(container, exit_code)
    return rule is not None and rule.get("action") == RESTART_ALL_CONTAINERS


def should_all_containers_restart(
    spec: Object, runtime: PodStatus | None, status: Object
) -> bool:
    """Whether a container ended in a way that ends all. `status`: the pod's, as last
    reported; it holds on to the condition.
    """
    if is_status_condition_true(status.get("conditions"), CONDITION):
        return True
    if not all_containers_could_restart(spec):
        return False
    entries = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    reported = {entry["name"]: entry for entry in entries}
    for container in _containers(spec):
        if runtime is not None:
            run = runtime.latest(container["name"])
            if run is None or run.state is not ContainerState.EXITED:
                continue
            if _demanded(container, run.exit_code):
                return True
        ended = ((reported.get(container["name"]) or {}).get("state") or {}).get(
            "terminated"
        )
        if ended is not None and _demanded(container, ended["exitCode"]):
            return True
    return False


def cleaned_up(spec: Object, runtime: PodStatus) -> bool:
    """Whether nothing is left of any container: from here the pod begins anew.
    Upstream: `AllContainersRestartCleanedUp`.
    """
    return all(
        runtime.latest(container["name"]) is None for container in _containers(spec)
    )


def containers_to_reset(spec: Object, runtime: PodStatus) -> list[ContainerStatus]:
    """All runs, those to be stopped among them; the ones whose end is the cause go
    last.

    As long as these are there, a kubelet that starts again in between sees what was
    begun.
    """
    sources: list[ContainerStatus] = []
    targets: list[ContainerStatus] = []
    for container in [*spec["containers"], *(spec.get("initContainers") or ())]:
        for run in runtime.history(container["name"]):
            cause = run.state is ContainerState.EXITED and _demanded(
                container, run.exit_code
            )
            (sources if cause else targets).append(run)
    return [*targets, *sources]


def all_containers_restarting(
    spec: Object, runtime: PodStatus, status: Object, phase: str
) -> Object:
    """The condition. `status`: the pod's, as last reported. Upstream:
    `GenerateAllContainersRestartingCondition`.
    """
    reasons = {SUCCEEDED: "PodCompleted", FAILED: "PodFailed"}
    if phase in reasons:
        return {"type": CONDITION, "status": "False", "reason": reasons[phase]}
    if not should_all_containers_restart(spec, runtime, status) or cleaned_up(
        spec, runtime
    ):
        return {"type": CONDITION, "status": "False"}
    return {
        "type": CONDITION,
        "status": "True",
        "reason": "RestartAllContainersStarted",
        "message": "container exited with restart policy rule",
    }
