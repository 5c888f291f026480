"""`/containerLogs`: which run of a container is meant, and why there may be nothing to
show.

Upstream: `pkg/kubelet/server/server.go` (`getContainerLogs`), `kubelet_pods.go`
(`GetKubeletContainerLogs`, `validateContainerLogStatus`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object

WAITING = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


class NoLogsError(Exception):
    """There is no log; the text says why."""


def find_container(pod: Object, name: str) -> Object | None:
    """A container of the pod's spec, of whichever kind."""
    spec = pod["spec"]
    for key in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(key) or ():
            if container["name"] == name:
                return dict(container)
    return None


def container_for_logs(pod: str, status: Object, name: str, previous: bool) -> str:
    """The id of the run whose log is meant, without `containerd://`. Raises
    NoLogsError.
    """
    which = f'container "{name}" in pod "{pod}"'
    entries = [
        entry
        for key in (
            "containerStatuses",
            "initContainerStatuses",
            "ephemeralContainerStatuses",
        )
        for entry in status.get(key) or ()
        if entry["name"] == name
    ]
    if not entries:
        raise NoLogsError(f"{which} is not available")
    state = entries[0].get("state") or {}
    last = (entries[0].get("lastState") or {}).get("terminated")
    if previous:
        if not last or not last.get("containerID"):
            raise NoLogsError(f"previous terminated {which} not found")
        container_id = last["containerID"]
    elif "running" in state:
        container_id = entries[0]["containerID"]
    elif (
        "terminated" in state
    ):  # the next run could not be started: then there is only the one before
        container_id = state["terminated"].get("containerID") or (last or {}).get(
            "containerID"
        )
        if not container_id:
            raise NoLogsError(f"{which} is terminated")
    elif last is not None:
        container_id = last.get("containerID")
        if not container_id:
            raise NoLogsError(f"{which} is terminated")
    elif "waiting" in state:
        reason = state["waiting"].get("reason", "")
        raise NoLogsError(f"{which} is waiting to start: {WAITING.get(reason, reason)}")
    else:
        raise NoLogsError(f"{which} is waiting to start - no logs yet")
    return str(container_id).partition("://")[2] or str(container_id)
