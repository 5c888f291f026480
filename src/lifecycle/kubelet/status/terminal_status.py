"""The last word on a pod of which nothing runs any more: it is over, and so is every
container that may have been started.

A pod that was deleted while its image could not be had, or its volume, has containers
that still wait. They will not be started, and nobody knows whether they would have
succeeded: so they have failed, and with them the pod.

Upstream: `pkg/kubelet/status/status_manager.go` (`TerminatePod`, `hasPodInitialized`,
`initializedContainers`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.pods.pod_util import (
    FAILED,
    is_pod_phase_terminal,
    is_restartable_init_container,
)
from lifecycle.kubelet.container.container_facts import (
    LOST_KILLED,
    STATUS_UNKNOWN,
    ended_unseen,
)
from lifecycle.kubelet.types.pod_update import is_static_pod

MESSAGE = "The container could not be located when the pod was terminated"


def has_pod_initialized(pod: Object) -> bool:
    """Whether one of the pod's own containers may have been started, as far as the API
    server knows.
    """
    init_containers = pod["spec"].get("initContainers") or ()
    if not init_containers:
        return True
    status = pod.get("status") or {}
    for entry in status.get("containerStatuses") or ():
        if (entry.get("lastState") or {}).get("terminated") or "waiting" not in (
            entry.get("state") or {}
        ):
            return True
    reported = status.get("initContainerStatuses") or ()
    if not reported:
        return False
    last = reported[-1]
    state = last.get("state") or {}
    container = next((c for c in init_containers if c["name"] == last["name"]), None)
    if container is None:
        return False
    if is_restartable_init_container(container):
        return "running" in state and bool(last.get("started"))
    return (state.get("terminated") or {}).get("exitCode") == 0


def initialized_containers(statuses: list[Object]) -> int:
    """How many init containers, from the first, have been tried: at least one."""
    for i in reversed(range(len(statuses))):
        if "waiting" not in statuses[i]["state"] or (
            statuses[i].get("lastState") or {}
        ).get("terminated"):
            return i + 1
    return min(len(statuses), 1)


def _over(entry: Object) -> Object:
    if "terminated" in entry["state"]:
        return entry
    return {**entry, "state": ended_unseen(STATUS_UNKNOWN, MESSAGE, LOST_KILLED)}


def terminal_status(pod: Object, status: Object) -> Object:
    """The status with nothing left open. `status`: as last reported."""
    terminal = dict(status)
    if has_pod_initialized(pod) and terminal.get("containerStatuses"):
        terminal["containerStatuses"] = [
            _over(entry) for entry in terminal["containerStatuses"]
        ]
    init_statuses = terminal.get("initContainerStatuses") or []
    if init_statuses:
        tried = initialized_containers(init_statuses)
        terminal["initContainerStatuses"] = [
            *map(_over, init_statuses[:tried]),
            *init_statuses[tried:],
        ]
    if not is_pod_phase_terminal(terminal.get("phase")) and not is_static_pod(pod):
        terminal["phase"] = FAILED
    return terminal
