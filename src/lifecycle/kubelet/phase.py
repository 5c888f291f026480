"""The phase: a pod's whole state in one word.

Only three things are looked at: what the init containers say, what the containers say, and whether anything may be
restarted.

Upstream: `pkg/kubelet/kubelet_pods.go` (`getPhase`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lifecycle.api.wire import Object
from lifecycle.kubelet.restart_policy import container_should_restart

PENDING = "Pending"
RUNNING = "Running"
SUCCEEDED = "Succeeded"
FAILED = "Failed"


def is_terminal(phase: str | None) -> bool:
    """Whether a pod in this phase is over."""
    return phase in (SUCCEEDED, FAILED)


def is_sidecar(container: Object) -> bool:
    """An init container that stays. Upstream: `IsRestartableInitContainer`."""
    return container.get("restartPolicy") == "Always"


def _last_terminated(status: Object) -> Object | None:
    return (status.get("lastState") or {}).get("terminated")


@dataclass(slots=True)
class _Counted:
    """How many containers are in which state. `for_good`: those of the stopped that will not be started again."""

    pending_init: int = 0
    failed_init: int = 0
    unknown: int = 0
    waiting: int = 0
    running: int = 0
    stopped: int = 0
    for_good: int = 0
    succeeded: int = 0


def _count_init(counted: _Counted, spec: Object, by_name: Mapping[str, Object]) -> None:
    """Init containers: who has not done its work, and who never will. A sidecar that ended does not matter."""
    for container in spec.get("initContainers") or ():
        sidecar = is_sidecar(container)
        status = by_name.get(container["name"])
        if status is None:
            counted.pending_init += not sidecar
            counted.unknown += sidecar
            continue
        ended = status["state"].get("terminated") or _last_terminated(status)
        if "running" in status["state"]:
            counted.pending_init += not (sidecar and status.get("started"))
            counted.running += sidecar
        elif ended is None:
            counted.pending_init += 1
            counted.waiting += sidecar
        elif not sidecar and ended["exitCode"] != 0:
            counted.failed_init += not container_should_restart(spec, container, ended["exitCode"])


def _count(spec: Object, by_name: Mapping[str, Object]) -> _Counted:
    counted = _Counted()
    _count_init(counted, spec, by_name)
    for container in spec["containers"]:
        state = (by_name.get(container["name"]) or {}).get("state") or {}
        ended = state.get("terminated")
        if "running" in state:
            counted.running += 1
        elif "terminated" in state or "waiting" in state:
            counted.succeeded += ended is not None and ended["exitCode"] == 0
            ended = ended or _last_terminated(by_name[container["name"]])
            if ended is None:
                counted.waiting += 1
                continue
            counted.stopped += 1
            counted.for_good += not container_should_restart(spec, container, ended["exitCode"])
        else:
            counted.unknown += 1
    return counted


def get_phase(spec: Object, statuses: Iterable[Object], pod_is_terminal: bool) -> str:
    """The phase for a pod with these container statuses (init containers' included).

    `pod_is_terminal`: nothing runs any more and nothing will be started.
    """
    by_name = {status["name"]: status for status in statuses}
    counted = _count(spec, by_name)
    begun = any(
        (by_name.get(container["name"]) or {}).get("state", {}).keys() & {"running", "terminated"}
        for container in spec["containers"]
    )
    if counted.failed_init:
        return FAILED
    if counted.waiting or (counted.pending_init and not begun):
        return PENDING
    if counted.unknown:
        return PENDING
    if counted.running:
        return RUNNING
    if not counted.stopped:
        return PENDING
    if not pod_is_terminal and counted.stopped != counted.for_good:
        return RUNNING  # something is about to be started again
    return SUCCEEDED if counted.stopped == counted.succeeded else FAILED
