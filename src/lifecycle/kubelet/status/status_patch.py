"""The smallest patch from one pod status to another.

A strategic merge patch: what did not change is not there; what is gone is null;
conditions (and addresses) are merged by their key, so only the changed ones are named,
with only the changed fields, and `$setElementOrder` says in which order all are to
stand; other lists are replaced whole. The uid goes along, so that a patch never hits a
namesake.

Upstream: `pkg/util/pod/pod.go` (`PatchPodStatus`, `preparePatchBytesForPodStatus`),
`apimachinery/pkg/util/strategicpatch/patch.go` (`CreateTwoWayMergePatch`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object

MERGE_KEYS = {"conditions": "type", "podIPs": "ip", "hostIPs": "ip"}
"""Lists of a pod's status that merge, and their keys."""

_MISSING = object()


def status_patch(uid: str, old: Object, new: Object) -> Object:
    """The patch for the `status` subresource; empty if there is nothing to change."""
    changes = _diff(old, new, top=True)
    return {"metadata": {"uid": uid}, "status": changes} if changes else {}


def _diff(old: Object, new: Object, *, top: bool = False) -> Object:
    changes: Object = {}
    for key, value in new.items():
        before = old.get(key, _MISSING)
        if before is _MISSING:
            changes[key] = value
        elif before != value:
            if (
                top
                and key in MERGE_KEYS
                and isinstance(before, list)
                and isinstance(value, list)
            ):
                _diff_list(changes, key, before, value, MERGE_KEYS[key])
            elif isinstance(before, dict) and isinstance(value, dict):
                changes[key] = _diff(before, value)
            else:
                changes[key] = value
    for key in old:
        if key not in new:
            changes[key] = None
    return changes


def _diff_list(
    changes: Object, name: str, old: list[Object], new: list[Object], key: str
) -> None:
    before = {item[key]: item for item in old}
    after = {item[key]: item for item in new}
    items: list[Any] = []
    for value, item in after.items():
        known = before.get(value)
        if known is None:
            items.append(item)
        elif known != item:
            items.append({**_diff(known, item), key: value})
    items += [
        {"$patch": "delete", key: value} for value in before if value not in after
    ]
    order = [{key: value} for value in after]
    if items or list(before) != list(after):
        changes[f"$setElementOrder/{name}"] = order
    if items:
        changes[name] = items
