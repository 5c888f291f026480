"""What a write to a pod's `resize` may touch: resources and resize policies, nothing
else.

Upstream: `pkg/registry/core/pod/strategy.go` (`podResizeStrategy`,
`dropNonResizeUpdates`, `dropNonResizeUpdatesForContainers`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.wire import Object

_FROM_CLIENT = ("name", "namespace", "uid", "resourceVersion", "managedFields")


def prepare_resize(new: Object, old: Object) -> None:
    """Take over everything else. Containers that come, go or change places are left for
    validation to find.
    """
    spec, before = new.get("spec") or {}, old["spec"]
    groups = {
        group: (spec.get(group) or [], before.get(group) or [])
        for group in ("containers", "initContainers")
    }
    if any(len(after) != len(known) for after, known in groups.values()):
        return
    given = new["metadata"]
    new["metadata"] = {
        **{
            key: value
            for key, value in old["metadata"].items()
            if key not in _FROM_CLIENT
        },
        **{key: given[key] for key in _FROM_CLIENT if key in given},
    }
    new["status"] = old.get("status") or {}
    resized = dict(before)
    _put(resized, "resources", spec.get("resources"))
    for group, (after, known) in groups.items():
        _put(resized, group, _resized(after, known) or None)
    new["spec"] = resized


def _resized(after: list[Object], known: list[Object]) -> list[Object]:
    if any(
        container.get("name") != old.get("name") for container, old in zip(after, known)
    ):
        return after
    containers = [dict(old) for old in known]
    for container, given in zip(containers, after):
        for key in ("resources", "resizePolicy"):
            _put(container, key, given.get(key))
    return containers


def _put(holder: Object, key: str, value: Any) -> None:
    if value is None:
        holder.pop(key, None)
    else:
        holder[key] = value
