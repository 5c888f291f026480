"""Pods: readiness, the one-word status, restarts.

The STATUS column is not a field of the pod. It is a digest: the phase, overruled by the
pod's own reason, by gates, by the first init container that is not through, by what the
containers wait for or died of, and at last by deletion.

Upstream: `pkg/printers/internalversion/printers.go` (`printPod`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age, human_duration
from lifecycle.api.loop.clock import parse_time
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)

_COLUMNS = (
    NAME,
    Column("Ready", "The aggregate readiness state of this pod for accepting traffic."),
    Column("Status", "The aggregate status of the containers in this pod."),
    Column(
        "Restarts",
        "The number of times the containers in this pod have been restarted and when"
        " the last container in this pod has restarted.",
    ),
    AGE,
    Column("IP", field("core/v1.PodStatus", "podIP"), priority=1),
    Column("Node", field("core/v1.PodSpec", "nodeName"), priority=1),
    Column(
        "Nominated Node", field("core/v1.PodStatus", "nominatedNodeName"), priority=1
    ),
    Column("Readiness Gates", field("core/v1.PodSpec", "readinessGates"), priority=1),
)


class _Digest:
    """What the containers add up to while they are gone through."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.ready = 0
        self.restarts = 0
        self.last_restart = 0.0

    def restarted(self, status: Object) -> None:
        """Count a container's restarts and remember the latest end of life."""
        self.restarts += status.get("restartCount", 0)
        finished = ((status.get("lastState") or {}).get("terminated") or {}).get(
            "finishedAt"
        )
        if finished:
            self.last_restart = max(self.last_restart, parse_time(finished))


def print_pod(pod: Object, now: float) -> Cells:
    """The cells of `kubectl get pods`."""
    spec, status, metadata = (
        pod.get("spec") or {},
        pod.get("status") or {},
        pod["metadata"],
    )
    phase, conditions = status.get("phase", ""), status.get("conditions") or []
    digest = _Digest(status.get("reason") or phase)
    if any(
        c["type"] == "PodScheduled" and c.get("reason") == "SchedulingGated"
        for c in conditions
    ):
        digest.reason = "SchedulingGated"

    sidecars = {
        c["name"]
        for c in spec.get("initContainers") or ()
        if c.get("restartPolicy") == "Always"
    }
    total = len(spec.get("containers") or ()) + len(sidecars)
    initializing = _init_containers(digest, spec, status, sidecars)
    if not initializing or _is_true(conditions, "Initialized"):
        _containers(digest, status, conditions, sidecars)
    if metadata.get("deletionTimestamp"):
        if status.get("reason") == "NodeLost":
            digest.reason = "Unknown"
        elif phase not in ("Failed", "Succeeded"):
            digest.reason = "Terminating"

    restarts = str(digest.restarts)
    if digest.restarts and digest.last_restart:
        restarts = (
            f"{digest.restarts} ({human_duration(now - digest.last_restart)} ago)"
        )
    ips = status.get("podIPs") or []
    return [
        metadata["name"],
        f"{digest.ready}/{total}",
        digest.reason,
        restarts,
        age(pod, now),
        (ips[0].get("ip") if ips else "") or "<none>",
        spec.get("nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        _readiness_gates(spec, conditions),
    ]


def _init_containers(
    digest: _Digest, spec: Object, status: Object, sidecars: set[str]
) -> bool:
    """The first init container that is not through says what the pod waits for. Returns
    whether there is one.
    """
    for index, container in enumerate(status.get("initContainerStatuses") or ()):
        digest.restarted(container)
        state = container.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if container["name"] in sidecars and container.get("started"):
            digest.ready += bool(container.get("ready"))
            continue
        if terminated is not None:
            digest.reason = "Init:" + (terminated.get("reason") or _death(terminated))
        elif (
            waiting and waiting.get("reason") and waiting["reason"] != "PodInitializing"
        ):
            digest.reason = "Init:" + waiting["reason"]
        else:
            digest.reason = f"Init:{index}/{len(spec.get('initContainers') or ())}"
        return True
    return False


def _containers(
    digest: _Digest, status: Object, conditions: list[Object], sidecars: set[str]
) -> None:
    """The containers, last to first, so that the first one's trouble is what shows.

    Restarts are counted anew: of init containers only those of sidecars matter now.
    """
    digest.restarts, digest.last_restart = 0, 0.0
    for container in status.get("initContainerStatuses") or ():
        if container["name"] in sidecars:
            digest.restarted(container)
    running = False
    for container in reversed(status.get("containerStatuses") or ()):
        digest.restarted(container)
        state = container.get("state") or {}
        waiting, terminated = state.get("waiting"), state.get("terminated")
        if waiting and waiting.get("reason"):
            digest.reason = waiting["reason"]
        elif terminated is not None:
            digest.reason = terminated.get("reason") or _death(terminated)
        elif container.get("ready") and state.get("running") is not None:
            running = True
            digest.ready += 1
    if digest.reason == "Completed" and running:
        digest.reason = "Running" if _is_true(conditions, "Ready") else "NotReady"


def _death(terminated: Object) -> str:
    """How a container died that gives no reason."""
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _is_true(conditions: list[Object], type: str) -> bool:
    return any(c["type"] == type and c["status"] == "True" for c in conditions)


def _readiness_gates(spec: Object, conditions: list[Object]) -> str:
    gates = spec.get("readinessGates")
    if not gates:
        return "<none>"
    status_of: dict[str, str] = {}
    for condition in conditions:
        status_of.setdefault(condition["type"], condition["status"])
    return (
        f"{sum(status_of.get(gate['conditionType']) == 'True' for gate in gates)}/"
        f"{len(gates)}"
    )


_OVER = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def _row_conditions(pod: Object) -> list[Object] | None:
    phase = (pod.get("status") or {}).get("phase")
    message = _OVER.get(phase or "")
    return (
        [{"type": "Completed", "status": "True", "reason": phase, "message": message}]
        if message
        else None
    )


PRINTER = Printer(_COLUMNS, print_pod, conditions=_row_conditions)
