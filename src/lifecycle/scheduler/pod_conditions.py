"""Changing one condition of a pod by the smallest patch.

The patch is what upstream computes by comparing the pod before and after (a two-way
strategic merge patch): an object without conditions gets the whole condition; one that
has the condition gets only what changed, and the order of all.

Upstream: `pkg/scheduler/util/utils.go` (`PatchPodStatus`), `pkg/api/v1/pod/util.go`
(`UpdatePodCondition`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.conditions import (
    find_status_condition,
    new_pod_condition,
    says_something_else,
)
from lifecycle.api.http.wire import Object


def condition_patch(
    pod: Object, condition: Object, now: str, more: Object | None = None
) -> Object:
    """The patch that sets a condition, and other status fields in `more`; empty if
    nothing changes.

    `condition`: `type`, `status`, `reason`, `message`; `lastTransitionTime` moves only
    with the status.
    """
    status = pod.get("status") or {}
    conditions = status.get("conditions") or []
    new = new_pod_condition(pod, condition, now)
    changed: Object = {
        key: value
        for key, value in (more or {}).items()
        if (status.get(key) or "") != (value or "")
    }
    existing = find_status_condition(conditions, condition["type"])
    if existing is None:
        changed["conditions"] = [new]
        if conditions:
            changed["$setElementOrder/conditions"] = [
                *_types(conditions),
                {"type": condition["type"]},
            ]
    else:
        different: dict[str, Any] = {
            key: value for key, value in new.items() if existing.get(key) != value
        }
        if different and (changed or says_something_else(existing, new)):
            changed["conditions"] = [{**different, "type": condition["type"]}]
            changed["$setElementOrder/conditions"] = _types(conditions)
    return {"status": changed} if changed else {}


def _types(conditions: list[Object]) -> list[Object]:
    return [{"type": c["type"]} for c in conditions]
