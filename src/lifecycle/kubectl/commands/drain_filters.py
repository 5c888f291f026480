"""Which of a node's pods a drain may take away, which it leaves, and which forbid it.

Each filter says one of four things of a pod; the first that leaves it is the last that
is asked.

Upstream: `kubectl/pkg/drain/filters.go` (`makeFilters`, `PodDeleteList`),
`kubectl/pkg/drain/drain.go` (`GetPodsForDeletion`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import Aggregate, CommandError
from lifecycle.kubectl.flags import Parsed
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import list_refused

DAEMON_SET_FATAL = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
DAEMON_SET_WARNING = "ignoring DaemonSet-managed Pods"
LOCAL_STORAGE_FATAL = "Pods with local storage (use --delete-emptydir-data to override)"
LOCAL_STORAGE_WARNING = "deleting Pods with local storage"
UNMANAGED_FATAL = (
    "cannot delete Pods that declare no controller (use --force to override)"
)
UNMANAGED_WARNING = "deleting Pods that declare no controller"
PODS = Resource("", "v1", "pods", "Pod", "pod", True, ())
MIRROR_POD = "kubernetes.io/config.mirror"


@dataclass(slots=True, frozen=True)
class PodDeleteStatus:
    """What is to become of a pod, and why somebody should know."""

    delete: bool
    reason: Literal["Okay", "Skip", "Warning", "Error"]
    message: str = ""


OKAY = PodDeleteStatus(True, "Okay")
SKIP = PodDeleteStatus(False, "Skip")


class PodDeleteList:
    """All pods of a node, each with its status."""

    def __init__(self, items: Sequence[tuple[Object, PodDeleteStatus]]) -> None:
        self._items = items

    def pods(self) -> list[Object]:
        """Those that are to go."""
        return [pod for pod, status in self._items if status.delete]

    def warnings(self) -> str:
        """All warnings in one line; empty if there are none."""
        by_message = self._by_message("Warning")
        return "; ".join(f"{text}: {pods}" for text, pods in by_message.items())

    def check(self) -> None:
        """Raises Aggregate if there are pods that forbid the drain."""
        errs: list[CommandError | StatusError] = []
        for message, pods in self._by_message("Error").items():
            text = message or "unexpected error"
            if not text.lower().startswith("cannot delete"):
                text = f"cannot delete {text}"
            errs.append(CommandError(f"{text}: {pods}"))
        if errs:
            raise Aggregate(errs)

    def _by_message(self, reason: str) -> dict[str, str]:
        """Message → the pods it is about. Upstream puts them in a map, in no order;
        here the first comes first.
        """
        names: dict[str, list[str]] = {}
        for pod, status in self._items:
            if status.reason == reason:
                metadata = pod["metadata"]
                names.setdefault(status.message, []).append(
                    f"{metadata['namespace']}/{metadata['name']}"
                )
        return {message: ", ".join(pods) for message, pods in names.items()}


async def pods_for_deletion(node: str, p: Parsed, session: Session) -> PodDeleteList:
    """The pods of a node. Raises Aggregate if they cannot be listed."""
    query = {
        "fieldSelector": f"spec.nodeName={node}",
        "labelSelector": p["pod-selector"],
        "limit": str(p["chunk-size"] or ""),
    }
    items: list[tuple[Object, PodDeleteStatus]] = []
    while True:
        try:
            listed = await session.send("GET", "/api/v1/pods", query)
        except StatusError as error:
            raise Aggregate([list_refused(error, PODS, query)]) from None
        for item in listed.get("items") or ():
            pod = {"apiVersion": "v1", "kind": "Pod", **item}
            items.append((pod, await _status_of(pod, p, session)))
        query["continue"] = listed["metadata"].get("continue", "")
        if not query["continue"]:
            return PodDeleteList(items)


async def _status_of(pod: Object, p: Parsed, session: Session) -> PodDeleteStatus:
    status = OKAY
    if should_skip(pod, p["skip-wait-for-delete-timeout"]):
        return SKIP
    status = await _daemon_set(pod, p, session)
    if not status.delete:
        return status
    if MIRROR_POD in (pod["metadata"].get("annotations") or {}):
        return SKIP
    status = _local_storage(pod, p)
    # upstream keeps what the last filter says, so a warning before it is lost
    return _unreplicated(pod, p) if status.delete else status


def should_skip(pod: Object, seconds: int) -> bool:
    """Whether the pod has been about to go for longer than somebody wants to wait."""
    since = pod["metadata"].get("deletionTimestamp")
    if seconds <= 0 or not since:
        return False
    return int(Clock().now() - datetime.fromisoformat(since).timestamp()) > seconds


def controller_of(pod: Object) -> Object | None:
    """The owner that manages it."""
    for reference in pod["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return dict(reference)
    return None


def _finished(pod: Object) -> bool:
    return is_pod_phase_terminal((pod.get("status") or {}).get("phase"))


async def _daemon_set(pod: Object, p: Parsed, session: Session) -> PodDeleteStatus:
    controller = controller_of(pod)
    if controller is None or controller["kind"] != "DaemonSet" or _finished(pod):
        return OKAY
    namespace, name = pod["metadata"]["namespace"], controller["name"]
    try:
        await session.send(
            "GET", f"/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}"
        )
    except StatusError as error:
        if error.code == 404 and p["force"]:
            return PodDeleteStatus(True, "Warning", error.message)
        return PodDeleteStatus(False, "Error", error.message)
    if not p["ignore-daemonsets"]:
        return PodDeleteStatus(False, "Error", DAEMON_SET_FATAL)
    return PodDeleteStatus(False, "Warning", DAEMON_SET_WARNING)


def _local_storage(pod: Object, p: Parsed) -> PodDeleteStatus:
    volumes = pod["spec"].get("volumes") or ()
    if _finished(pod) or not any("emptyDir" in volume for volume in volumes):
        return OKAY
    if not p["delete-emptydir-data"]:
        return PodDeleteStatus(False, "Error", LOCAL_STORAGE_FATAL)
    return PodDeleteStatus(True, "Warning", LOCAL_STORAGE_WARNING)


def _unreplicated(pod: Object, p: Parsed) -> PodDeleteStatus:
    if _finished(pod) or controller_of(pod) is not None:
        return OKAY
    if p["force"]:
        return PodDeleteStatus(True, "Warning", UNMANAGED_WARNING)
    return PodDeleteStatus(False, "Error", UNMANAGED_FATAL)
