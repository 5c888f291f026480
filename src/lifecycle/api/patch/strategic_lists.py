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

from lifecycle.api.go.format import go_json_type, go_value
from lifecycle.api.patch.strategic_errors import (
    DIRECTIVE,
    SET_ORDER,
    bad_type,
    equal,
    hashable,
    no_merge_key,
    unexpected,
    unknown_directive,
)
from lifecycle.api.schema import Schema
from lifecycle.api.status import PanicError, failure

MergeMap = Callable[[dict[str, Any], dict[str, Any], Schema | None], dict[str, Any]]

MAP = "map[string]interface {}"


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
    500 for items without their merge key. Consumes the items of `patch`.
    """
    if not original and not patch:
        return original
    kind = element_type([original, patch])
    if kind != MAP:
        if deleting:
            gone = set(map(hashable, patch))
            return [item for item in original if hashable(item) not in gone]
        merged = list({hashable(item): item for item in [*original, *patch]}.values())
        return put_in_order(merged, patch, original, key, kind)
    if not key:
        raise unexpected(f"cannot merge lists without merge key for {_go_kind(items)}")
    original, patch = _apply_item_directives(original, patch, key)
    keyed = _Keyed(original, key)
    for item in patch:
        if key not in item:
            raise no_merge_key(item, key)
        at = keyed.find(item[key])
        if at < 0:
            keyed.append(item)
        else:
            keyed.items[at] = merge_map(keyed.items[at], item, items)
    return put_in_order(keyed.items, patch, original, key, kind)


def _go_kind(items: Schema | None) -> str:
    """What kind of Go type a list holds; of values, strings are all there are."""
    if items is None or items.kind == "object":
        return "struct"
    return items.kind


def element_type(lists: list[list[Any]]) -> str:
    """The type that all items of the lists have. Raises StatusError. Upstream:
    `sliceElementType`.
    """
    kind = ""
    for item in (item for each in lists for item in each):
        if not kind:
            if item is None:
                raise PanicError("invalid memory address or nil pointer dereference")
            kind = go_json_type(item)
            if isinstance(item, list):
                raise failure(
                    422,
                    "Invalid",
                    "the server rejected our request due to an error in our request",
                    {},
                )
        elif go_json_type(item) != kind:
            raise unexpected(f"list element types are not identical: {go_value(lists)}")
    if not kind:
        raise unexpected("no elements in any patch_list slices")
    return kind


def check_order(patch_list: list[Any], order: list[Any], key: str) -> None:
    """The items that the patch gives must come in the order that the patch asks for.
    Upstream: `validatePatchWithSetOrderList`.
    """
    if not patch_list or not order:
        return
    kept = _not_deleted(patch_list) if key else patch_list
    at = placed = 0
    while at < len(kept) and placed < len(order):
        item = kept[at]
        if isinstance(item, dict) and DIRECTIVE in item:
            at += 1
            continue
        at += _same_item(item, order[placed], key)
        placed += 1
    if at < len(kept) and placed >= len(order):
        raise unexpected(
            f"The order in patch list:\n{go_value(patch_list)}\n doesn't match"
            f" {SET_ORDER} list:\n{go_value(order)}\n"
        )


def _same_item(item: Any, other: Any, key: str) -> bool:
    if not key:
        return equal(item, other)
    for one in (item, other):
        if not isinstance(one, dict):
            raise bad_type(MAP, one)
    for one in (item, other):
        if key not in one:
            raise no_merge_key(one, key)
    return equal(item[key], other[key])


def put_in_order(
    merged: list[Any],
    patch_order: list[Any],
    server_order: list[Any],
    key: str,
    kind: str,
) -> list[Any]:
    """`merged` with the items named in `patch_order` in that order, and the server's
    own woven in where they were.
    """
    if _stands_in_order(merged, patch_order, server_order, key):
        return merged
    by_patch, own = _partition(merged, patch_order, key)
    by_patch = _sorted_like(by_patch, patch_order, key, kind)
    own = _sorted_like(own, server_order, key, kind)
    out: list[Any] = []
    i = j = 0
    left = _places(own, server_order, key, kind) if by_patch else []
    right = _places(by_patch, server_order, key, kind) if own else []
    while i < len(own) and j < len(by_patch):
        if 0 <= left[i] < right[j]:
            out.append(own[i])
            i += 1
        else:
            out.append(by_patch[j])
            j += 1
    return [*out, *own[i:], *by_patch[j:]]


def _stands_in_order(
    merged: list[Any], patch_order: list[Any], server_order: list[Any], key: str
) -> bool:
    """Whether the patch names each item once, as they stand: a client that writes a
    list whole does so, and there is nothing to weave.
    """
    names = _names(merged, key)
    return (
        names is not None
        and len(set(names)) == len(names)
        and names == _names(patch_order, key)
        and _names(server_order, key) is not None
    )


def _names(items: list[Any], key: str) -> list[str] | None:
    """The merge keys of items that are plain objects with a text for a key; None if
    there are others.
    """
    names = []
    for item in items:
        if type(item) is not dict or DIRECTIVE in item:
            return None
        name = item.get(key)
        if type(name) is not str:
            return None
        names.append(name)
    return names


def _partition(
    items: list[Any], named: list[Any], key: str
) -> tuple[list[Any], list[Any]]:
    """(the items that are among the named, the others)."""
    if not key:
        names = set(map(hashable, named))
        present = [hashable(item) in names for item in items]
    else:
        present, keyed = [], _Keyed(named, key)
        for item in items:
            if not isinstance(item, dict):
                raise bad_type(MAP, item)
            if key not in item:
                raise no_merge_key(item, key)
            present.append(keyed.find(item[key]) >= 0)
    return (
        [item for item, is_named in zip(items, present) if is_named],
        [item for item, is_named in zip(items, present) if not is_named],
    )


def _sorted_like(items: list[Any], order: list[Any], key: str, kind: str) -> list[Any]:
    """The items as they come in `order`, those to be deleted last. Upstream:
    `normalizeSliceOrder`.
    """
    deleted: list[Any] = []
    if kind == MAP:
        for each in (items, order):
            for item in each:
                if not isinstance(item, dict):
                    raise bad_type(MAP, item)
                if key not in item:
                    raise no_merge_key(item, key)
        deleted = [item for item in items if item.get(DIRECTIVE) == "delete"]
        items = _not_deleted(items)
    places = _places(items, order, key, kind)
    return [*(items[at] for at in _stable_order(places)), *deleted]


def _stable_order(places: list[int]) -> list[int]:
    """The indices of `places` sorted by place. One without a place (-1) is less than
    any, and any is less than it: Go's insertion sort moves the later one forward.
    """
    if min(places, default=0) >= 0:  # as nearly always
        return sorted(range(len(places)), key=places.__getitem__)
    out: list[int] = []
    for index, place in enumerate(places):
        at = len(out)
        while at and (
            place < 0 or places[out[at - 1]] < 0 or place < places[out[at - 1]]
        ):
            at -= 1
        out.insert(at, index)
    return out


def _not_deleted(items: list[Any]) -> list[Any]:
    for item in items:
        if not isinstance(item, dict):
            raise bad_type(MAP, item)
    return [item for item in items if item.get(DIRECTIVE) != "delete"]


def _places(items: list[Any], order: list[Any], key: str, kind: str) -> list[int]:
    """Where in `order` each item is, or -1."""

    def name(item: Any) -> Any:
        if kind != MAP:
            return item
        return item.get(key) if isinstance(item, dict) else None

    names, ordered = list(map(name, items)), list(map(name, order))
    if any(isinstance(each, (dict, list)) for each in (*names, *ordered)):
        # whether Go would come to compare two of them, only comparing can tell
        return [
            next((at for at, other in enumerate(ordered) if equal(each, other)), -1)
            for each in names
        ]
    first: dict[tuple[str, Any], int] = {}
    for at, each in enumerate(ordered):
        first.setdefault(hashable(each), at)
    return [first.get(hashable(each), -1) for each in names]


class _Keyed:
    """The items of a list, and where the first with a merge key is. Upstream looks
    through all of them each time: `findMapInSliceBasedOnKeyValue`.
    """

    def __init__(self, items: list[Any], key: str) -> None:
        self.items: list[Any] = []
        self._key = key
        self._first: dict[tuple[str, Any], int] = {}
        self._odd = False
        """Whether there is an item of which only looking through them can tell."""
        for item in items:
            self.append(item)

    def append(self, item: Any) -> None:
        """One more."""
        if not isinstance(item, dict) or isinstance(item.get(self._key), (dict, list)):
            self._odd = True
        elif self._key in item:
            self._first.setdefault(hashable(item[self._key]), len(self.items))
        self.items.append(item)

    def find(self, value: Any) -> int:
        """Its place, or -1. Raises StatusError 500, PanicError."""
        if not self._odd:
            scalar = not isinstance(value, (dict, list))
            return self._first.get(hashable(value), -1) if scalar else -1
        for at, item in enumerate(self.items):
            if not isinstance(item, dict):
                raise unexpected(f"value for key {at} is not a map")
            if self._key in item and equal(item[self._key], value):
                return at
        return -1


def _apply_item_directives(
    original: list[Any], patch: list[Any], key: str
) -> tuple[list[Any], list[Any]]:
    """Items that carry `$patch` take effect on the list: (what is left of the original,
    the plain items of the patch).
    """
    plain, gone = [], []
    replace = False
    for item in patch:
        directive = item.get(DIRECTIVE)
        if DIRECTIVE not in item:
            plain.append(item)
        elif directive == "delete":
            if key not in item:
                raise no_merge_key(item, key)
            gone.append(item)
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise unexpected("merging lists cannot yet be specified in the patch")
        else:
            raise unknown_directive(directive, item)
    if replace:
        return plain, []
    deleted = _Keyed(gone, key)
    left = [item for item in original if key not in item or deleted.find(item[key]) < 0]
    return left, plain
