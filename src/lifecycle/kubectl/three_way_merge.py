"""The patch of a client-side apply: what to change from *current* to *modified*, and
what to delete because only *original* had it.

Fields that others set are in neither and stay. What is to be deleted is found without a
look at *current*: somebody may have deleted it already, and the patch says it all the
same. With a schema the result is a strategic merge patch, without one a JSON merge
patch (custom resources), in which lists are replaced.

Upstream: `apimachinery/pkg/util/strategicpatch/patch.go` (`CreateThreeWayMergePatch`,
`diffMaps`, `diffLists`), `apimachinery/pkg/util/jsonmergepatch/patch.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import Schema

Map = dict[str, Any]


def three_way_merge_patch(
    original: Map, modified: Map, current: Map, schema: Schema | None
) -> Map:
    """The patch; empty if there is nothing to do. The arguments are not changed."""
    return _diff_maps(original, modified, current, schema)


def _diff_maps(
    original: Map, modified: Map, current: Map, schema: Schema | None
) -> Map:
    patch: Map = {}
    for key, modified_value in modified.items():
        child = schema.child(key) if schema is not None else None
        original_value, current_value = original.get(key), current.get(key)
        if isinstance(modified_value, dict) and isinstance(current_value, dict):
            inner = _diff_maps(
                original_value if isinstance(original_value, dict) else {},
                modified_value,
                current_value,
                child,
            )
            if inner := _retaining(inner, modified_value, current_value, child):
                patch[key] = inner
        elif isinstance(modified_value, list) and isinstance(current_value, list):
            patch.update(
                _diff_lists(
                    key,
                    original_value if isinstance(original_value, list) else [],
                    modified_value,
                    current_value,
                    child,
                )
            )
        elif modified_value != current_value:
            patch[key] = modified_value
    for key in original:
        if key not in modified:
            patch[key] = None
    return patch


def _retaining(patch: Map, modified: Map, current: Map, schema: Schema | None) -> Map:
    """The patch of an object, with the keys to keep if its fields exclude each other,
    as those of a volume do. `schema`: of the field that the object, or the list it is
    in, stands in. Upstream: `diffMaps` (`BuildRetainKeysDirective`).
    """
    kept = sorted(key for key, value in modified.items() if value is not None)
    if schema is None or "retainKeys" not in schema.patch_strategy or not kept:
        return patch
    if not patch and current.keys() <= modified.keys():
        return patch
    return {**patch, "$retainKeys": kept}


def _diff_lists(
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
    current_by_key = {item.get(merge_key): item for item in current}
    original_by_key = {item.get(merge_key): item for item in original}
    items: list[Any] = []
    for item in modified:
        name = item.get(merge_key)
        if name not in current_by_key:
            items.append(item)
            continue
        inner = _diff_maps(
            original_by_key.get(name, {}),
            item,
            current_by_key[name],
            schema.items,
        )
        if inner := _retaining(inner, item, current_by_key[name], schema):
            items.append({**inner, merge_key: name})
    modified_keys = {item.get(merge_key) for item in modified}
    items += [
        {"$patch": "delete", merge_key: name}
        for name in original_by_key
        if name not in modified_keys
    ]
    if not items and _in_order(
        [name for name in current_by_key if name in modified_keys], modified, merge_key
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
    gone = [item for item in original if item not in modified]
    patch: Map = {}
    if added or gone:
        patch[f"$setElementOrder/{key}"] = modified
    if added:
        patch[key] = added
    if gone:
        patch[f"$deleteFromPrimitiveList/{key}"] = gone
    return patch
