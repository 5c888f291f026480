"""Freedoms that are whole subtrees: something happened on one cluster that may as well
not have happened.

A machine hiccups, the kubelet retries, and the retry leaves a trace. Granting that is
only honest if it is narrow: each rule here recognises one kind of trace by its content,
and every leaf of it becomes an optional placeholder, counted when it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lifecycle.compare.entities import Entities
from lifecycle.compare.masked import Mark, Masked, as_optional

RETRIED_START = "container start retried"
UNLIMITED_MEMORY = "unlimited memory read back"
BOOT = "order of start-up"
BOOKMARK = "bookmarks sent by the clock"
START_FAILED = re.compile(
    r"(failed to (create|start) containerd task|failed to create shim task)"
    r"(?!.*\bexec: )",
    re.DOTALL,
)
"""The runtime's own trouble. That the program is not there (`exec: …`) is none: it will
not be there the next time either.
"""
_FAILED_CODE = 128
_REVISION = re.compile(r"[1-9][0-9]*")
_NOT_READY = "Node is not ready"
_STATIC = ("etcd-", "kube-apiserver-", "kube-controller-manager-", "kube-scheduler-")
_OF_A_BOOKMARK = ("kind", "apiVersion", "metadata")
_UNLIMITED = {"memory": "9007199254740988Ki"}


@dataclass(slots=True, frozen=True)
class Accident:
    """`sees` looks at a raw map, its key and who is who; `soften` makes the traces in
    the normalised map optional. `kind`: the only kind of objects that it is looked for
    in.
    """

    name: str
    why: str
    sees: Callable[[dict[str, Any], str, Entities], bool]
    soften: Callable[[dict[str, Any]], dict[str, Any]]
    kind: str = ""


def _failed_start(value: dict[str, Any], key: str, known: Entities) -> bool:
    return "containerID" in value and _was_retried(value)


def _was_retried(status: dict[str, Any]) -> bool:
    last = (status.get("lastState") or {}).get("terminated") or {}
    return (
        last.get("reason") == "StartError"
        and last.get("exitCode") == _FAILED_CODE
        and bool(START_FAILED.search(last.get("message", "")))
        and status.get("restartCount", 0) > 0
    )


def _soften_failed_start(status: dict[str, Any]) -> dict[str, Any]:
    count = status["restartCount"]
    last = {"terminated": as_optional(status["lastState"]["terminated"], RETRIED_START)}
    masked = Masked(
        f"{count}, one start retried",
        [Mark(RETRIED_START, str(count), None, count - 1)],
        count,
    )
    return status | {"restartCount": masked, "lastState": last}


def _failed_start_event(value: dict[str, Any], key: str, known: Entities) -> bool:
    """Told once, of a pod that says so itself, if it is still there to say anything."""
    subject = value.get("involvedObject") or {}
    seen = known.pods.get((subject.get("namespace", ""), subject.get("name", "")), ())
    statuses = [each for pod in seen for each in pod.get("containerStatuses") or ()]
    return (
        value.get("reason") == "Failed"
        and value.get("type") == "Warning"
        and value.get("count") == 1
        and subject.get("kind") == "Pod"
        and bool(START_FAILED.search(value.get("message", "")))
        and (not seen or any(map(_was_retried, statuses)))
    )


def _unlimited(value: dict[str, Any], key: str, known: Entities) -> bool:
    if not isinstance(value.get("status"), dict):
        return False
    return "metadata" in value and _reads_unlimited(value["status"])


def _reads_unlimited(status: dict[str, Any]) -> bool:
    return (status.get("resources") or {}).get("limits") == _UNLIMITED


def _metadata_only(value: dict[str, Any], key: str, known: Entities) -> bool:
    about = value.get("metadata") or {}
    seen = known.pods.get((about.get("namespace", ""), about.get("name", "")), ())
    return (
        value.get("kind") == "PartialObjectMetadata"
        and bool(about.get("managedFields"))
        and (not seen or any(map(_reads_unlimited, seen)))
    )


def _soften_metadata(pod: dict[str, Any]) -> dict[str, Any]:
    entries = [_soften_entry(entry) for entry in pod["metadata"]["managedFields"]]
    return pod | {"metadata": pod["metadata"] | {"managedFields": entries}}


def _soften_unlimited(pod: dict[str, Any]) -> dict[str, Any]:
    """The limit in the pod's status, and what the kubelet's own entry says of it."""
    status = pod["status"]
    resources = status["resources"]
    softened = resources | {
        "limits": as_optional(resources["limits"], UNLIMITED_MEMORY)
    }
    if "managedFields" in pod["metadata"]:
        pod = _soften_metadata(pod)
    return pod | {"status": status | {"resources": softened}}


def _soften_entry(entry: dict[str, Any]) -> dict[str, Any]:
    of_status = (entry.get("fieldsV1") or {}).get("f:status") or {}
    fields = of_status.get("f:resources") or {}
    limits = fields.get("f:limits") or {}
    if (
        entry.get("manager") != "kubelet"
        or entry.get("subresource") != "status"
        or set(limits) - {".", "f:memory"}
        or not limits
    ):
        return entry
    if not set(fields) - {".", "f:limits"}:
        # the kubelet said nothing else of resources: the whole entry is due to it
        softened = {
            key: as_optional(item, UNLIMITED_MEMORY) for key, item in fields.items()
        }
    else:
        softened = fields | {"f:limits": as_optional(limits, UNLIMITED_MEMORY)}
    return entry | {
        "fieldsV1": entry["fieldsV1"]
        | {"f:status": of_status | {"f:resources": softened}}
    }


def _reported_not_ready(value: dict[str, Any], key: str, known: Entities) -> bool:
    if key == "rows":
        about = (value.get("object") or {}).get("metadata") or {}
        cells = [str(cell) for cell in value["cells"]]
        pod = next((c[4:] for c in cells if c.startswith("pod/")), "")
        reported = {"Warning", "NodeNotReady", _NOT_READY} <= set(cells)
        return reported and _of_the_control_plane(about.get("namespace", ""), pod)
    subject = value.get("involvedObject") or {}
    return (
        value.get("type") == "Warning"
        and value.get("reason") == "NodeNotReady"
        and value.get("message") == _NOT_READY
        and value.get("count") == 1
        and (value.get("source") or {}).get("component") == "node-controller"
        and subject.get("kind") == "Pod"
        and _of_the_control_plane(subject.get("namespace", ""), subject.get("name", ""))
    )


def _of_the_control_plane(namespace: str, name: str) -> bool:
    """Whether it is one of the static pods that are there before their node is."""
    return namespace == "kube-system" and name.startswith(_STATIC)


def _periodic_bookmark(value: dict[str, Any], key: str, known: Entities) -> bool:
    obj = value.get("object") if value.get("type") == "BOOKMARK" else None
    if not isinstance(obj, dict):
        return False
    metadata = obj.get("metadata") or {}
    more = {name: item for name, item in metadata.items() if name != "resourceVersion"}
    rest = {name: item for name, item in obj.items() if name not in _OF_A_BOOKMARK}
    revision = metadata.get("resourceVersion")
    return (
        bool(obj.get("kind") and obj.get("apiVersion"))
        and isinstance(revision, str)
        and bool(_REVISION.fullmatch(revision))
        and _says_nothing(more)
        and _says_nothing(rest)
    )


def _says_nothing(value: Any) -> bool:
    """Whether a value is one that Go writes for a field that was not set."""
    if isinstance(value, dict):
        return all(map(_says_nothing, value.values()))
    return not value


ACCIDENTS = (
    Accident(
        BOOT,
        "while a cluster comes up, the node controller sees some static pods before"
        " their node is ready and says so",
        _reported_not_ready,
        lambda event: as_optional(event, BOOT),
        kind="Event",
    ),
    Accident(
        BOOKMARK,
        "the watch cache sends bookmarks at a random point of time before a watch ends",
        _periodic_bookmark,
        lambda event: as_optional(event, BOOKMARK),
    ),
    Accident(
        RETRIED_START,
        "the runtime failed to start a container once, the kubelet started it again",
        _failed_start,
        _soften_failed_start,
    ),
    Accident(
        RETRIED_START,
        "the event that says so",
        _failed_start_event,
        lambda event: as_optional(event, RETRIED_START),
        kind="Event",
    ),
    Accident(
        UNLIMITED_MEMORY,
        "the kubelet read the sandbox's cgroup before its limit was written and reports"
        " cgroup v1's largest number as a limit",
        _unlimited,
        _soften_unlimited,
        kind="Pod",
    ),
    Accident(
        UNLIMITED_MEMORY,
        "the managed fields of that report, where only an object's metadata is shown",
        _metadata_only,
        _soften_metadata,
        kind="Pod",
    ),
)
_ANYWHERE = tuple(each for each in ACCIDENTS if not each.kind)
_OF_KIND = {
    kind: tuple(each for each in ACCIDENTS if each.kind in ("", kind))
    for kind in {each.kind for each in ACCIDENTS}
}


def soften(
    raw: dict[str, Any],
    normalised: dict[str, Any],
    key: str,
    kind: str,
    known: Entities,
) -> dict[str, Any]:
    """The normalised map with the traces of accidents made optional."""
    for accident in _OF_KIND.get(kind, _ANYWHERE):
        if accident.sees(raw, key, known):
            normalised = accident.soften(normalised)
    return normalised
