"""The phase: a pod's whole state in one word.

Only three things are looked at: what the init containers say, what the containers say, and whether anything may be
restarted.

Upstream: `pkg/kubelet/kubelet_pods.go` (`getPhase`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.wire import Object

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


def get_phase(spec: Object, statuses: Iterable[Object], pod_is_terminal: bool) -> str:
    """The phase for a pod with these container statuses (init containers' included).

    `pod_is_terminal`: nothing runs any more and nothing will be started.
    """
    by_name = {status["name"]: status for status in statuses}
    restart_policy = spec.get("restartPolicy") or "Always"
    pending_init = failed_init = sidecars_running = 0
    for container in spec.get("initContainers") or ():
        status = by_name.get(container["name"])
        if status is None:
            pending_init += 1
            continue
        state = status["state"]
        if is_sidecar(container):
            if "running" in state:
                pending_init += not status.get("started")
                sidecars_running += 1
            elif "terminated" not in state and _last_terminated(status) is None:
                pending_init += 1
        elif "running" in state:
            pending_init += 1
        elif "terminated" in state:
            failed_init += state["terminated"]["exitCode"] != 0
        else:
            last = _last_terminated(status)
            if last is None:
                pending_init += 1
            else:
                failed_init += last["exitCode"] != 0
    unknown = running = waiting = stopped = succeeded = 0
    for container in spec["containers"]:
        status = by_name.get(container["name"])
        if status is None:
            unknown += 1
            continue
        state = status["state"]
        if "running" in state:
            running += 1
        elif "terminated" in state:
            stopped += 1
            succeeded += state["terminated"]["exitCode"] == 0
        elif "waiting" in state:
            if _last_terminated(status) is not None:
                stopped += 1
            else:
                waiting += 1
        else:
            unknown += 1
    if failed_init and restart_policy == "Never":
        return FAILED
    if pending_init or waiting:
        return PENDING
    if running and not unknown:
        return RUNNING
    if stopped and not unknown:
        if pod_is_terminal:
            return SUCCEEDED if stopped == succeeded else FAILED
        if restart_policy == "Always" or sidecars_running:
            return RUNNING
        if stopped == succeeded:
            return SUCCEEDED
        return FAILED if restart_policy == "Never" else RUNNING
    return PENDING
