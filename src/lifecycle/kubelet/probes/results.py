"""What a probe has found, put into a pod's status: the container's entry, and the
conditions that follow from it.

Upstream: `pkg/kubelet/status/status_manager.go` (`SetContainerReadiness`,
`SetContainerStartup`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.kubelet.conditions import KUBELET_CONDITIONS, containers_ready, ready
from lifecycle.kubelet.probes.worker import READINESS, STARTUP

FIELDS = {READINESS: "ready", STARTUP: "started"}
"""What of a container's status a kind of probe answers for. Liveness is nobody's
business but the kubelet's.
"""

_LISTS = ("containerStatuses", "initContainerStatuses")


def with_probe_result(
    pod: Object, status: Object, kind: str, container_id: str, passed: bool
) -> Object:
    """The status with the result in it; the very same one if it says nothing new."""
    field = FIELDS.get(kind)
    made = dict(status)
    found = False
    for key in _LISTS if field else ():
        entries = []
        for entry in status.get(key) or ():
            if (
                entry.get("containerID", "").endswith(f"//{container_id}")
                and entry.get(str(field)) != passed
            ):
                entry, found = {**entry, str(field): passed}, True
            entries.append(entry)
        if key in status:
            made[key] = entries
    if not found:
        return status
    if kind == READINESS:
        made["conditions"] = _conditions(pod, made)
    return made


def _conditions(pod: Object, status: Object) -> list[Object]:
    """`Ready` and `ContainersReady` anew, the others as they are."""
    spec = pod["spec"]
    containers = containers_ready(
        spec,
        status.get("containerStatuses") or [],
        status.get("initContainerStatuses") or [],
        status["phase"],
    )
    others = [
        c
        for c in (pod.get("status") or {}).get("conditions") or []
        if c["type"] not in KUBELET_CONDITIONS
    ]
    anew = {c["type"]: c for c in (ready(spec, others, containers), containers)}
    return [anew.get(c["type"], c) for c in status["conditions"]]
