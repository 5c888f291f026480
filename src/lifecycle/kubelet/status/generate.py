"""The conditions a kubelet answers for, in the order it writes them.

Upstream: `pkg/kubelet/status/generate.go` (`GeneratePodInitializedCondition`,
`GenerateContainersReadyCondition`, `GeneratePodReadyCondition`,
`GeneratePodReadyToStartContainersCondition`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.conditions import find_status_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import FAILED, SUCCEEDED, is_restartable_init_container
from lifecycle.kubelet.status.resize_conditions import IN_PROGRESS, PENDING

KUBELET_CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
    "AllContainersRestarting",
    PENDING,
    IN_PROGRESS,
)

DISRUPTION_TARGET = "DisruptionTarget"
"""Somebody ended the pod, not its containers. Anybody may say so; the kubelet does of
those that it evicts.
"""

_UNKNOWN_STATUS = "containers with unknown status: [{}]"


def condition(kind: str, ok: bool, reason: str = "", message: str = "") -> Object:
    """A condition without times; those are the status manager's."""
    new: Object = {"type": kind, "status": "True" if ok else "False"}
    if reason:
        new["reason"] = reason
    if message:
        new["message"] = message
    return new


def _says(unknown: list[str], bad: list[str], what: str) -> str:
    parts = []
    if unknown:
        parts.append(_UNKNOWN_STATUS.format(" ".join(unknown)))
    if bad:
        parts.append(f"{what}: [{' '.join(bad)}]")
    return ", ".join(parts)


def ready_to_start_containers(sandbox_ready: bool) -> Object:
    """The sandbox is there and has its network."""
    return condition("PodReadyToStartContainers", sandbox_ready)


def initialized(
    spec: Object,
    init_statuses: list[Object],
    any_container_ran: bool,
    phase: str,
    was: bool = False,
) -> Object:
    """Every init container is done (a sidecar: has started). Once containers ran, it
    stays true, and once it was (`was`) it does, too: init containers that start again
    with all others do not take it back.
    """
    by_name = {status["name"]: status for status in init_statuses}
    unknown, incomplete = [], []
    for container in spec.get("initContainers") or ():
        name = container["name"]
        status = by_name.get(name)
        if status is None:
            unknown.append(name)
        elif is_restartable_init_container(container):
            if not status.get("started"):
                incomplete.append(name)
        elif not status.get("ready"):
            incomplete.append(name)
    if phase == SUCCEEDED and not unknown:
        return condition("Initialized", True, "PodCompleted")
    if any_container_ran:
        return condition("Initialized", True)
    if (unknown or incomplete) and not was:
        message = _says(unknown, incomplete, "containers with incomplete status")
        return condition("Initialized", False, "ContainersNotInitialized", message)
    return condition("Initialized", True)


def containers_ready(
    spec: Object, statuses: list[Object], init_statuses: list[Object], phase: str
) -> Object:
    """Every container (and sidecar) is ready."""
    by_name = {status["name"]: status for status in [*init_statuses, *statuses]}
    unknown, unready = [], []
    sidecars = [
        container
        for container in spec.get("initContainers") or ()
        if is_restartable_init_container(container)
    ]
    for container in [*sidecars, *spec["containers"]]:
        name = container["name"]
        status = by_name.get(name)
        if status is None:
            unknown.append(name)
        elif not status.get("ready"):
            unready.append(name)
    if phase == SUCCEEDED and not unknown:
        return condition("ContainersReady", False, "PodCompleted")
    if phase == FAILED:
        return condition("ContainersReady", False, "PodFailed")
    if unknown or unready:
        message = _says(unknown, unready, "containers with unready status")
        return condition("ContainersReady", False, "ContainersNotReady", message)
    return condition("ContainersReady", True)


def ready(spec: Object, conditions: list[Object], containers: Object) -> Object:
    """All containers are ready, and so says everybody else who has a say (readiness
    gates).

    `conditions`: those of the pod's status so far.
    """
    if containers["status"] != "True":
        return {**containers, "type": "Ready"}
    messages = []
    for gate in spec.get("readinessGates") or ():
        kind = gate["conditionType"]
        gate_condition = find_status_condition(conditions, kind)
        if gate_condition is None:
            messages.append(
                f'corresponding condition of pod readiness gate "{kind}" does not'
                " exist."
            )
        elif gate_condition.get("status") != "True":
            messages.append(
                f'the status of pod readiness gate "{kind}" is not "True", but'
                f" {gate_condition.get('status')}"
            )
    if messages:
        return condition("Ready", False, "ReadinessGatesNotReady", ", ".join(messages))
    return condition("Ready", True)
