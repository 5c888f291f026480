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

from lifecycle.compare.masked import Mark, Masked, as_optional

RETRIED_START = "container start retried"
UNLIMITED_MEMORY = "unlimited memory read back"
BOOT = "order of start-up"
BOOKMARK = "bookmarks sent by the clock"
START_FAILED = re.compile(
    r"failed to (create|start) containerd task|failed to create shim task"
)
_UNLIMITED = {"memory": "9007199254740988Ki"}


@dataclass(slots=True, frozen=True)
class Accident:
    """`sees` looks at a raw map (and the kind of its object); `soften` makes the traces
    in the normalised map optional.
    """

    name: str
    why: str
    sees: Callable[[dict[str, Any], str, str], bool]
    soften: Callable[[dict[str, Any]], dict[str, Any]]


def _failed_start(value: dict[str, Any], key: str, kind: str) -> bool:
    last = (
        (value.get("lastState") or {}).get("terminated") or {}
        if "containerID" in value
        else {}
    )
    return last.get("reason") == "StartError" and value.get("restartCount", 0) > 0


def _soften_failed_start(status: dict[str, Any]) -> dict[str, Any]:
    count = status["restartCount"]
    last = {"terminated": as_optional(status["lastState"]["terminated"], RETRIED_START)}
    masked = Masked(
        f"{count}, one start retried",
        [Mark(RETRIED_START, str(count), None, count - 1)],
        count,
    )
    return status | {"restartCount": masked, "lastState": last}


def _failed_start_event(value: dict[str, Any], key: str, kind: str) -> bool:
    return (
        kind == "Event"
        and value.get("reason") == "Failed"
        and bool(START_FAILED.search(value.get("message", "")))
    )


def _unlimited(value: dict[str, Any], key: str, kind: str) -> bool:
    return kind == "Pod" and key == "resources" and value.get("limits") == _UNLIMITED


def _unlimited_managed(value: dict[str, Any], key: str, kind: str) -> bool:
    limits = value.get("f:limits") if key == "f:resources" else None
    return (
        kind == "Pod"
        and isinstance(limits, dict)
        and not set(limits) - {".", "f:memory"}
    )


def _soften_managed(fields: dict[str, Any]) -> dict[str, Any]:
    if not set(fields) - {".", "f:limits"}:
        return {
            key: as_optional(item, UNLIMITED_MEMORY) for key, item in fields.items()
        }
    return fields | {"f:limits": as_optional(fields["f:limits"], UNLIMITED_MEMORY)}


def _told_not_ready(value: dict[str, Any], key: str, kind: str) -> bool:
    told = value.get("reason") == "NodeNotReady" or (
        key == "rows" and "NodeNotReady" in value["cells"]
    )
    return kind == "Event" and told


def _periodic_bookmark(value: dict[str, Any], key: str, kind: str) -> bool:
    if value.get("type") != "BOOKMARK" or "object" not in value:
        return False
    return "k8s.io/initial-events-end" not in (
        value["object"]["metadata"].get("annotations") or {}
    )


ACCIDENTS = (
    Accident(
        BOOT,
        "while a cluster comes up, the node controller sees some static pods before"
        " their node is ready and says so",
        _told_not_ready,
        lambda event: as_optional(event, BOOT),
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
    ),
    Accident(
        UNLIMITED_MEMORY,
        "the kubelet read the sandbox's cgroup before its limit was written and reports"
        " cgroup v1's largest number as a limit",
        _unlimited,
        lambda resources: (
            resources | {"limits": as_optional(resources["limits"], UNLIMITED_MEMORY)}
        ),
    ),
    Accident(
        UNLIMITED_MEMORY,
        "the managed fields of that report",
        _unlimited_managed,
        _soften_managed,
    ),
)


def soften(
    raw: dict[str, Any], normalised: dict[str, Any], key: str, kind: str
) -> dict[str, Any]:
    """The normalised map with the traces of accidents made optional."""
    for accident in ACCIDENTS:
        if accident.sees(raw, key, kind):
            normalised = accident.soften(normalised)
    return normalised
