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

Upstream's algorithm consumes the patch while it works, and what is left of it is what
clients are shown when the result cannot be read. So does `consume_patch`.

Upstream: `apimachinery/pkg/util/strategicpatch/patch.go` (`StrategicMergeMapPatch`,
`mergeMap`, `applyRetainKeysDirective`, `mergePatchIntoOriginal`), v1.36. Lists are in
`strategic_lists`. Left out: merging two patches (`MergeParallelList: false`).
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.format import go_json_type, go_quote
from lifecycle.api.go.json.decode import as_go_values
from lifecycle.api.patch.strategic_errors import (
    DIRECTIVE,
    SET_ORDER,
    bad_type,
    hashable,
    unexpected,
    unknown_directive,
)
from lifecycle.api.patch.strategic_lists import (
    check_order,
    element_type,
    merge_list,
    put_in_order,
)
from lifecycle.api.schema import Schema
from lifecycle.api.status import bad_request

RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList"


def strategic_merge_patch(
    doc: dict[str, Any], patch: dict[str, Any], schema: Schema
) -> dict[str, Any]:
    """A new object: `doc` with `patch` merged in as `schema` says. Shares unchanged
    parts with `doc`, changes neither. Raises as `consume_patch`.
    """
    return consume_patch(doc, as_go_values(patch), schema)


def consume_patch(
    doc: dict[str, Any], patch: dict[str, Any], schema: Schema
) -> dict[str, Any]:
    """A new object, which shares unchanged parts with `doc` and new ones with `patch`.
    What remains of `patch` is what was not an instruction.

    Raises StatusError 400 for malformed directives, 500 for items without their merge
    key and the like (as upstream does), and PanicError where upstream panics.
    """
    if not isinstance(patch, dict):
        raise bad_request("invalid JSON document")
    return merge_map(doc, patch, schema)


def merge_map(
    original: dict[str, Any], patch: dict[str, Any], schema: Schema | None
) -> dict[str, Any]:
    """One object merged; a new one. Consumes `patch`."""
    if DIRECTIVE in patch:
        directive = patch[DIRECTIVE]
        if directive == "replace":
            del patch[DIRECTIVE]
            return patch
        if directive == "delete":
            return {}
        raise unknown_directive(directive, patch)
    original = dict(original)
    _retain_keys(original, patch)
    _set_element_orders(original, patch, schema)
    for key, value in list(patch.items()):
        deleting = key.startswith(DELETE_FROM)
        if deleting:
            key = _plain_key(key, DELETE_FROM, "invalid patch format of primitive list")
        if value is None:
            original.pop(key, None)
            continue
        current = original.get(key)
        if current is None or go_json_type(current) != go_json_type(value):
            if not deleting:
                _discard_nulls(value)
                _put(original, key, value)
        elif isinstance(value, dict):
            child = _child(schema, key)
            original[key] = (
                value
                if _strategy(child) == "replace"
                else merge_map(current, value, child)
            )
        elif isinstance(value, list):
            child = _list_child(schema, key)
            original[key] = _merge_field(current, value, child, deleting)
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
    if schema is None:
        return None
    if schema.kind not in ("object", "any"):  # Go keeps any value in a bare struct
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


def _list_child(schema: Schema | None, key: str) -> Schema | None:
    child = _child(schema, key)
    if child is not None and child.kind in ("object", "map"):
        raise unexpected("expected slice or array type, but got: struct")
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


def _retain_keys(original: dict[str, Any], patch: dict[str, Any]) -> None:
    if RETAIN_KEYS not in patch:
        return
    retained = patch.pop(RETAIN_KEYS)
    if not isinstance(retained, list):
        raise bad_request("invalid patch format of retainKeys")
    keys = set(map(hashable, retained))
    for key, value in patch.items():
        if (
            value is not None
            and not key.startswith((DELETE_FROM, SET_ORDER))
            and hashable(key) not in keys
        ):
            raise bad_request("invalid patch format of retainKeys")
    for key in list(original):
        if hashable(key) not in keys:
            del original[key]


def _set_element_orders(
    original: dict[str, Any], patch: dict[str, Any], schema: Schema | None
) -> None:
    """Merge and order the lists for which the patch gives an order, and take both out
    of the patch. Changes both arguments.
    """
    for key in [key for key in patch if key.startswith(SET_ORDER)]:
        order = patch.pop(key)
        _need_list(order)
        name = _plain_key(
            key, SET_ORDER, "invalid patch format of setElementOrder list"
        )
        current, patch_list = original.get(name), patch.get(name)
        if current is not None:
            _need_list(current)
        if name in patch:
            _need_list(patch_list)
        child = _list_child(schema, name)
        merge_key = _merge_key(child)
        check_order(patch_list or [], order, merge_key)
        if current is None and patch_list is None:
            continue
        if current is None:
            _, merged = _without_directives(patch_list)
        elif patch_list is None:
            merged = current
        else:
            merged = _merge_field(current, patch_list, child, False)
        kind = element_type([current or [], patch_list or []])
        original[name] = put_in_order(merged, order, current or [], merge_key, kind)
        patch.pop(name, None)


def _need_list(value: Any) -> None:
    if not isinstance(value, list):
        raise bad_type("[]interface {}", value)


def _discard_nulls(value: Any) -> None:
    """What arrives where nothing was: nulls in objects have nothing to delete."""
    if isinstance(value, dict):
        for key, item in list(value.items()):
            if item is None:
                del value[key]
            else:
                _discard_nulls(item)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)


def _without_directives(value: Any) -> tuple[bool, Any]:
    """(whether anything stays, what stays) of a value that arrives where nothing was:
    objects with a directive do not. Objects are changed, lists made anew.
    """
    if isinstance(value, dict):
        if DIRECTIVE in value:
            return False, None
        for key, item in list(value.items()):
            kept, value[key] = _without_directives(item)
            if not kept:
                del value[key]
    elif isinstance(value, list):
        return True, [item for kept, item in map(_without_directives, value) if kept]
    return True, value
