"""Lists in a strategic merge patch: merged by key (or by value), and put in an order
that surprises neither side.

The patch's items come in the patch's order, the server's own items keep theirs; where
the two must be interleaved, an item that stood before another keeps standing before it.

Upstream: `apimachinery/pkg/util/strategicpatch/patch.go` (`mergeSlice`,
`normalizeElementOrder`, `mergeSortedSlice`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.api.go_format import go_value
from lifecycle.api.schema import Schema
from lifecycle.api.status import StatusError, failure

MergeMap = Callable[[dict[str, Any], dict[str, Any], Schema | None], dict[str, Any]]


def _unexpected(message: str) -> StatusError:
    return failure(500, "", message)


def merge_list(
    original: list[Any],
    patch: list[Any],
    key: str,
    items: Schema | None,
    merge_map: MergeMap,
    *,
    deleting: bool,
) -> list[Any]:
    """A new list. `deleting`: the patch names scalars to take out. Raises StatusError
    500 for items without their merge key.
    """
    if not original and not patch:
        return original
    if not _is_maps(original, patch):
        if deleting:
            return [item for item in original if item not in patch]
        merged = list(dict.fromkeys([*original, *patch]))
        return ordered_list(merged, patch, original, "")
    if not key:
        raise _unexpected(
            "cannot merge lists without merge key for"
            f" {items.name if items else 'Struct'}"
        )
    original, patch = _apply_item_directives(list(original), patch, key)
    merged = list(original)
    for item in patch:
        value = _key_of(item, key)
        at = _find(merged, key, value)
        if at < 0:
            merged.append(item)
        else:
            merged[at] = merge_map(merged[at], item, items)
    return ordered_list(merged, patch, original, key)


def ordered_list(
    merged: list[Any], patch_order: list[Any], server_order: list[Any], key: str
) -> list[Any]:
    """`merged` with the items named in `patch_order` in that order, and the server's
    own woven in where they were.
    """

    def name(item: Any) -> Any:
        return _key_of(item, key) if key else item

    patch_names = [name(item) for item in patch_order]
    server_names = [name(item) for item in server_order]
    by_patch = sorted(
        (item for item in merged if name(item) in patch_names),
        key=lambda item: patch_names.index(name(item)),
    )
    own = [item for item in merged if name(item) not in patch_names]
    own.sort(
        key=lambda item: (
            server_names.index(name(item))
            if name(item) in server_names
            else len(server_names)
        )
    )
    out: list[Any] = []
    i = j = 0
    while i < len(own) and j < len(by_patch):
        left, right = name(own[i]), name(by_patch[j])
        if (
            left in server_names
            and right in server_names
            and server_names.index(left) < server_names.index(right)
        ):
            out.append(own[i])
            i += 1
        else:
            out.append(by_patch[j])
            j += 1
    return [*out, *own[i:], *by_patch[j:]]


def _is_maps(original: list[Any], patch: list[Any]) -> bool:
    kinds = {type(item) for items in (original, patch) for item in items}
    if list in kinds:
        raise failure(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
            {},
        )
    if len(kinds) > 1:
        raise _unexpected(
            f"list element types are not identical: {go_value([original, patch])}"
        )
    return kinds == {dict}


def _key_of(item: Any, key: str) -> Any:
    if not isinstance(item, dict) or key not in item:
        raise _unexpected(
            f"map: {go_value(item)} does not contain declared merge key: {key}"
        )
    return item[key]


def _find(items: list[Any], key: str, value: Any) -> int:
    return next(
        (i for i, item in enumerate(items) if item.get(key) == value and key in item),
        -1,
    )


def _apply_item_directives(
    original: list[Any], patch: list[Any], key: str
) -> tuple[list[Any], list[Any]]:
    """Items that carry `$patch` take effect on the list: (what is left of the original,
    the plain items of the patch).
    """
    plain = [item for item in patch if "$patch" not in item]
    replace = False
    for item in patch:
        directive = item.get("$patch")
        if "$patch" not in item:
            continue
        if directive == "delete":
            value = _key_of(item, key)
            original = [other for other in original if other.get(key) != value]
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise _unexpected("merging lists cannot yet be specified in the patch")
        else:
            raise _unexpected(
                f"unknown patch type: {go_value(directive)} in map: {go_value(item)}"
            )
    return (plain, []) if replace else (original, plain)
