"""What a probe has found, put into a pod's status: the container's entry, and the
conditions that follow from it.

Upstream: `pkg/kubelet/status/status_manager.go` (`SetContainerReadiness`,
`SetContainerStartup`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.kubelet.status.generate import (
    KUBELET_CONDITIONS,
    containers_ready,
    ready,
)

_LISTS = ("containerStatuses", "initContainerStatuses")


def with_container_field(
    pod: Object, status: Object, container_id: str, field: str, value: bool
) -> Object:
    """The status with a container's `ready` or `started` in it; the very same one if it
    says nothing new.
    """
    changed = dict(status)
    is_new = False
    for key in _LISTS:
        entries = []
        for entry in status.get(key) or ():
            if (
                entry.get("containerID", "").endswith(f"//{container_id}")
                and entry.get(field) != value
            ):
                entry, is_new = {**entry, field: value}, True
            entries.append(entry)
        if key in status:
            changed[key] = entries
    if not is_new:
        return status
    if field == "ready":
        changed["conditions"] = _conditions(pod, changed)
    return changed


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
