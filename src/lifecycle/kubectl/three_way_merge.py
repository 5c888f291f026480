"""The patch of a client-side apply: what to change from *current* to *modified*, and
what to delete because only *original* had it.

Fields that others set are in neither and stay. With a schema the result is a strategic
merge patch, without one a JSON merge patch (custom resources), in which lists are
replaced.

Upstream: `apimachinery/pkg/util/strategicpatch/patch.go` (`CreateThreeWayMergePatch`,
`diffMaps`, `diffLists`), `apimachinery/pkg/util/jsonmergepatch/patch.go`, v1.36. Left
out: `$retainKeys`.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import Schema

Map = dict[str, Any]


def three_way_merge_patch(
    original: Map, modified: Map, current: Map, schema: Schema | None
) -> Map:
    """The patch; empty if there is nothing to do. The arguments are not changed."""
    return _maps(original, modified, current, schema)


def _maps(original: Map, modified: Map, current: Map, schema: Schema | None) -> Map:
    patch: Map = {}
    for key, wanted in modified.items():
        child = schema.child(key) if schema is not None else None
        before, now = original.get(key), current.get(key)
        if isinstance(wanted, dict) and isinstance(now, dict):
            inner = _maps(
                before if isinstance(before, dict) else {}, wanted, now, child
            )
            if inner:
                patch[key] = inner
        elif isinstance(wanted, list) and isinstance(now, list):
            patch.update(
                _list(
                    key, before if isinstance(before, list) else [], wanted, now, child
                )
            )
        elif wanted != now:
            patch[key] = wanted
    for key in original:
        if key not in modified and key in current:
            patch[key] = None
    return patch


def _list(
    key: str,
    original: list[Any],
    modified: list[Any],
    current: list[Any],
    schema: Schema | None,
) -> Map:
    if schema is None or "merge" not in schema.patch_strategy:
        return {key: modified} if modified != current else {}
    merge_key = schema.patch_merge_key
    if not merge_key:
        return _scalars(key, original, modified, current)
    now = {item.get(merge_key): item for item in current}
    before = {item.get(merge_key): item for item in original}
    items: list[Any] = []
    for item in modified:
        name = item.get(merge_key)
        if name not in now:
            items.append(item)
            continue
        inner = _maps(before.get(name, {}), item, now[name], schema.items)
        if inner:
            items.append({**inner, merge_key: name})
    wanted = {item.get(merge_key) for item in modified}
    items += [
        {"$patch": "delete", merge_key: name}
        for name in before
        if name not in wanted and name in now
    ]
    if not items and _in_order(
        [name for name in now if name in wanted], modified, merge_key
    ):
        return {}
    patch: Map = {
        f"$setElementOrder/{key}": [
            {merge_key: item.get(merge_key)} for item in modified
        ]
    }
    if items:
        patch[key] = items
    return patch


def _in_order(names: list[Any], modified: list[Any], merge_key: str) -> bool:
    return names == [
        item.get(merge_key) for item in modified if item.get(merge_key) in names
    ]


def _scalars(
    key: str, original: list[Any], modified: list[Any], current: list[Any]
) -> Map:
    added = [item for item in modified if item not in current]
    gone = [item for item in original if item not in modified and item in current]
    patch: Map = {}
    if added or gone:
        patch[f"$setElementOrder/{key}"] = modified
    if added:
        patch[key] = added
    if gone:
        patch[f"$deleteFromPrimitiveList/{key}"] = gone
    return patch
