"""The pods that an object stands for: itself, or what its selector picks.

Upstream: `kubectl/pkg/polymorphichelpers/helpers.go` (`GetPodList`, `GetFirstPod`,
`SelectorsForObject`), `attachablepodforobject.go`,
`kubectl/pkg/util/podutils/podutils.go` (`ByLogging`, `ActivePods`), v1.36.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import selector_from_label_selector, selector_from_labels
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.session import Session

BY_LABEL_SELECTOR = {
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("batch", "Job"),
}


def selector_of(obj: Object) -> str:
    """The selector of the pods behind an object. Raises CommandError if it has none."""
    group, _, version = obj["apiVersion"].rpartition("/")
    kind, name = obj["kind"], obj["metadata"]["name"]
    selector = (obj.get("spec") or {}).get("selector")
    if (group, kind) in BY_LABEL_SELECTOR:
        return str(selector_from_label_selector(selector))
    if (group, kind) in (("", "ReplicationController"), ("", "Service")):
        if not selector and kind == "Service":
            raise CommandError(
                f"invalid service '{name}': Service is defined without a selector"
            )
        return str(selector_from_labels(selector or {}))
    raise CommandError(f"selector for *{version}.{kind} not implemented")


async def pods_of(
    obj: Object, timeout: float, order: Callable[[Object], Any], session: Session
) -> list[Object]:
    """The pods behind an object, the best first; if there are none, the first that
    comes within `timeout` seconds. Raises CommandError, StatusError.
    """
    selector = selector_of(obj)
    path = f"/api/v1/namespaces/{obj['metadata']['namespace']}/pods"
    listed = await session.send("GET", path, {"labelSelector": selector})
    kind = {"apiVersion": "v1", "kind": "Pod"}
    pods = [{**kind, **item} for item in listed.get("items") or ()]
    if pods:
        return sorted(pods, key=order)
    revision = listed["metadata"]["resourceVersion"]
    try:
        async with asyncio.timeout(timeout):
            return [await _first(path, selector, revision, session)]
    except TimeoutError:
        raise CommandError("timed out waiting for the condition") from None


async def _first(path: str, selector: str, revision: str, session: Session) -> Object:
    frames = session.watch_path(
        path, {"labelSelector": selector, "resourceVersion": revision}
    )
    async with aclosing(frames):
        async for frame in frames:
            if frame.type in ("ADDED", "MODIFIED"):
                return frame.object
    raise CommandError("watch closed before UntilWithoutRetry timeout")


def by_logging(pod: Object) -> tuple[Any, ...]:
    """A key that sorts the pod with most to tell first."""
    ready, since = _ready(pod)
    return (
        not pod["spec"].get("nodeName"),
        _phase(pod),
        not ready,
        since or "~",
        -_restarts(pod),
        pod["metadata"].get("creationTimestamp") or "~",
    )


def active_first(pod: Object) -> tuple[Any, ...]:
    """A key that sorts the pod that works best first: the reverse of the order in which
    controllers delete them. Upstream: `sort.Reverse(ActivePods)`.
    """
    ready, since = _ready(pod)
    return (
        not pod["spec"].get("nodeName"),
        _phase(pod),
        not ready,
        since or "~",
        _restarts(pod),
        pod["metadata"].get("creationTimestamp") or "~",
    )


def _phase(pod: Object) -> int:
    phase = (pod.get("status") or {}).get("phase", "")
    return {"Unknown": 1, "Pending": 2}.get(phase, 0)


def _ready(pod: Object) -> tuple[bool, str]:
    """(whether it is ready, since when)."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "True":
            return True, str(condition.get("lastTransitionTime") or "")
    return False, ""


def _restarts(pod: Object) -> int:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return max((int(each.get("restartCount") or 0) for each in statuses), default=0)
