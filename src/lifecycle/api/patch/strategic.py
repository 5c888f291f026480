"""Strategic merge patch: a merge patch that knows the types, so that lists merge by key
instead of being replaced.

`{"spec": {"containers": [{"name": "c", "image": "i"}]}}` changes one container's image.
Which lists merge, and by which key, is published with the types
(`x-kubernetes-patch-strategy`, `-merge-key`). Directives say what the plain form
cannot:

    {"$patch": "replace" | "delete"}          for an object or, as an item, for a list
    or an item of it
    "$deleteFromPrimitiveList/finalizers"      items to take out of a list of scalars
    "$setElementOrder/containers"              the order in which the client wants to
    see the items
    "$retainKeys"                              the only keys that may survive in an
    object (a union such as a volume)

Upstream: `apimachinery/pkg/util/strategicpatch/patch.go` (`StrategicMergeMapPatch`,
`mergeMap`, `applyRetainKeysDirective`, `mergePatchIntoOriginal`), v1.36. Lists are in
`strategic_lists`. Left out: merging two patches (`MergeParallelList: false`).
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go_format import go_quote, go_value
from lifecycle.api.patch.strategic_lists import merge_list, ordered_list
from lifecycle.api.schema import Schema
from lifecycle.api.status import StatusError, bad_request, failure

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList"
SET_ORDER = "$setElementOrder"


def strategic_merge_patch(
    doc: dict[str, Any], patch: dict[str, Any], schema: Schema
) -> dict[str, Any]:
    """A new object: `doc` with `patch` merged in as `schema` says. Shares unchanged
    parts with both, changes neither.

    Raises StatusError 400 for malformed directives, 500 for items without their merge
    key and the like (as upstream does).
    """
    if not isinstance(patch, dict):
        raise bad_request("invalid JSON document")
    return merge_map(doc, patch, schema)


def unexpected(message: str) -> StatusError:
    """500: errors of the algorithm that upstream does not classify."""
    return failure(500, "", message)


def merge_map(
    original: dict[str, Any], patch: dict[str, Any], schema: Schema | None
) -> dict[str, Any]:
    """One object merged."""
    if DIRECTIVE in patch:
        directive = patch[DIRECTIVE]
        if directive == "replace":
            return {key: value for key, value in patch.items() if key != DIRECTIVE}
        if directive == "delete":
            return {}
        raise unexpected(
            f"unknown patch type: {go_value(directive)} in map: {go_value(patch)}"
        )
    original, patch = _retain_keys(dict(original), patch)
    patch = _set_element_orders(original, patch, schema)
    for key, value in patch.items():
        deleting = key.startswith(DELETE_FROM)
        if deleting:
            key = _plain_key(key, DELETE_FROM, "invalid patch format of primitive list")
        if value is None:
            original.pop(key, None)
            continue
        current = original.get(key)
        if current is None or type(current) is not type(value):
            if not deleting:
                _put(original, key, _without_nulls(value))
        elif isinstance(value, dict):
            child = _child(schema, key)
            original[key] = (
                value
                if _strategy(child) == "replace"
                else merge_map(current, value, child)
            )
        elif isinstance(value, list):
            original[key] = _merge_field(current, value, _child(schema, key), deleting)
        else:
            original[key] = value
    return original


def _put(original: dict[str, Any], key: str, value: Any) -> None:
    kept, value = _without_directives(value)
    if kept:
        original[key] = value
    else:
        original.pop(key, None)


def _merge_field(
    current: list[Any], value: list[Any], child: Schema | None, deleting: bool
) -> list[Any]:
    if _strategy(child) == "merge" or deleting:
        return merge_list(
            current,
            value,
            _merge_key(child),
            child.items if child else None,
            merge_map,
            deleting=deleting,
        )
    return value


def _child(schema: Schema | None, key: str) -> Schema | None:
    if schema is None or schema.kind == "any":
        return None
    if schema.kind != "object":
        raise unexpected(
            "merging an object in json but data type is not struct, instead is:"
            f" {schema.kind}"
        )
    child = schema.fields.get(key)
    if child is None:
        name = schema.name.rpartition(".")[2]
        raise unexpected(
            f"unable to find api field in struct {name} for the json field"
            f" {go_quote(key)}"
        )
    return child


def _strategy(schema: Schema | None) -> str:
    """`merge`, `replace` or nothing, `retainKeys` aside."""
    strategies = (
        [s for s in schema.patch_strategy if s != "retainKeys"]
        if schema is not None
        else []
    )
    return strategies[0] if strategies else ""


def _merge_key(schema: Schema | None) -> str:
    return schema.patch_merge_key if schema is not None else ""


def _plain_key(key: str, prefix: str, message: str) -> str:
    directive, slash, name = key.partition("/")
    if not slash or directive != prefix:
        raise bad_request(message)
    return name


def _retain_keys(
    original: dict[str, Any], patch: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    if RETAIN_KEYS not in patch:
        return original, patch
    patch = dict(patch)
    retained = patch.pop(RETAIN_KEYS)
    if not isinstance(retained, list):
        raise bad_request("invalid patch format of retainKeys")
    for key, value in patch.items():
        if (
            value is not None
            and not key.startswith((DELETE_FROM, SET_ORDER))
            and key not in retained
        ):
            raise bad_request("invalid patch format of retainKeys")
    return {key: value for key, value in original.items() if key in retained}, patch


def _set_element_orders(
    original: dict[str, Any], patch: dict[str, Any], schema: Schema | None
) -> dict[str, Any]:
    """Merge and order the lists for which the patch gives an order; what remains of the
    patch. Changes `original`, a copy.
    """
    orders = {key: order for key, order in patch.items() if key.startswith(SET_ORDER)}
    if not orders:
        return patch
    rest = {key: value for key, value in patch.items() if key not in orders}
    for key, order in orders.items():
        _need_list(order)
        name = _plain_key(
            key, SET_ORDER, "invalid patch format of setElementOrder list"
        )
        current, patch_list = original.get(name), rest.get(name)
        for value in (current, patch_list):
            if value is not None:
                _need_list(value)
        child = _child(schema, name)
        merge_key = _merge_key(child)
        _check_order(patch_list or [], order, merge_key)
        if current is None and patch_list is None:
            continue
        if current is None:
            _, merged = _without_directives(patch_list)
        elif patch_list is None:
            merged = current
        else:
            merged = _merge_field(current, patch_list, child, False)
        original[name] = ordered_list(merged, order, current or [], merge_key)
        rest.pop(name, None)
    return rest


def _need_list(value: Any) -> None:
    if not isinstance(value, list):
        kinds = {
            dict: "map[string]interface {}",
            str: "string",
            bool: "bool",
            int: "int64",
            float: "float64",
        }
        raise unexpected(
            "expected a []interface {}, but received a"
            f" {kinds.get(type(value), '%!s(<nil>)')}"
        )


def _check_order(patch_list: list[Any], order: list[Any], merge_key: str) -> None:
    """The items that the patch gives must come in the order that the patch asks for."""
    if not patch_list or not order:
        return
    items = iter(order)
    for item in patch_list:
        if isinstance(item, dict) and DIRECTIVE in item:
            continue
        if not any(_same_item(item, ordered, merge_key) for ordered in items):
            message = (
                f"The order in patch list:\n{go_value(patch_list)}\n doesn't match"
                f" {SET_ORDER} list:\n{go_value(order)}\n"
            )
            raise unexpected(message)


def _same_item(item: Any, ordered: Any, merge_key: str) -> bool:
    if not merge_key:
        return bool(item == ordered)
    for one in (item, ordered):
        if not isinstance(one, dict) or merge_key not in one:
            raise unexpected(
                f"map: {go_value(one)} does not contain declared merge key: {merge_key}"
            )
    return bool(item[merge_key] == ordered[merge_key])


def _without_nulls(value: Any) -> Any:
    """What arrives where nothing was: nulls in objects have nothing to delete."""
    if isinstance(value, dict):
        return {
            key: _without_nulls(item) for key, item in value.items() if item is not None
        }
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _without_directives(value: Any) -> tuple[bool, Any]:
    """(whether anything stays, what stays) of a value that arrives where nothing was:
    objects with a directive do not.
    """
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return False, None
        parts = {key: _without_directives(item) for key, item in value.items()}
        return True, {key: item for key, (kept, item) in parts.items() if kept}
    if isinstance(value, list):
        return True, [item for kept, item in map(_without_directives, value) if kept]
    return True, value
