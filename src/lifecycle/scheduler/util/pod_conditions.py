"""Changing one condition of a pod by the smallest patch.

The patch is what upstream computes by comparing the pod before and after (a two-way
strategic merge patch): an object without conditions gets the whole condition; one that
has the condition gets only what changed, and the order of all.

Upstream: `pkg/scheduler/util/utils.go` (`PatchPodStatus`), `pkg/api/v1/pod/util.go`
(`UpdatePodCondition`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.wire import Object


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
    new = {"lastProbeTime": None, "lastTransitionTime": now, **condition}
    generation = pod["metadata"].get("generation")
    if generation:
        new["observedGeneration"] = generation
    changed: Object = {
        key: value
        for key, value in (more or {}).items()
        if (status.get(key) or "") != (value or "")
    }
    existing = next((c for c in conditions if c["type"] == condition["type"]), None)
    if existing is None:
        changed["conditions"] = [new]
        if conditions:
            changed["$setElementOrder/conditions"] = [
                *_types(conditions),
                {"type": condition["type"]},
            ]
    else:
        if existing.get("status") == new["status"]:
            new["lastTransitionTime"] = existing.get("lastTransitionTime")
        different: dict[str, Any] = {
            key: value for key, value in new.items() if existing.get(key) != value
        }
        if different:
            changed["conditions"] = [{**different, "type": condition["type"]}]
            changed["$setElementOrder/conditions"] = _types(conditions)
    return {"status": changed} if changed else {}


def _types(conditions: list[Object]) -> list[Object]:
    return [{"type": c["type"]} for c in conditions]
