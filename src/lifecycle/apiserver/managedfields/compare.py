"""What changed between two objects, as two sets of fields: those that are new or
different, and those that are gone.

Equal parts are skipped with one comparison, so an update of a status costs what the
status costs. Where a whole part appears (or disappears), every place in it counts, the
part itself included.

Upstream: `structured-merge-diff/typed/compare.go` (`compareWalker`), v6. Upstream tells
*added* from *modified*; nobody who asks needs to know, so here they are one set.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fieldpath.field_sets import LEAF, Fields, union
from lifecycle.api.fieldpath.path_elements import SELF, sorted_elements, value_element
from lifecycle.api.go.same_value import same_value
from lifecycle.apiserver.managedfields.typed import KEYED, SET, STRUCT, Type

_ABSENT: Any = object()


def whole(t: Type, value: Any) -> Fields:
    """The set of all places in a part that has no counterpart. Raises ValueError for
    list items without their keys.
    """
    if t.leaf or not value:
        return LEAF
    kind = type(value)
    out: Fields = {SELF: LEAF}
    if kind is dict:
        if t.shape == STRUCT:
            for name in sorted(value):
                known = t.field(name)
                if known is None:
                    out[f"f:{name}"] = LEAF
                else:
                    element, child = known
                    below = value[name]
                    out[element] = (
                        LEAF if child.leaf or not below else whole(child, below)
                    )
        else:
            child = t.element
            leaf = child.leaf
            for name in sorted(value):
                out[f"f:{name}"] = LEAF if leaf else whole(child, value[name])
        return out
    if kind is list and t.shape == KEYED:
        items = _by_key(t, value)
        for element in sorted_elements(items) if len(items) > 1 else items:
            same = items[element]
            out[element] = whole(t.element, same[0]) if len(same) == 1 else LEAF
        return out
    if kind is list and t.shape == SET:
        for element in sorted_elements({value_element(item) for item in value}):
            out[element] = LEAF
        return out
    return LEAF


def _by_key(t: Type, items: list[Any]) -> dict[str, list[Any]]:
    by_key: dict[str, list[Any]] = {}
    element_of = t.item_element if t.shape == KEYED else value_element
    for item in items:
        element = element_of(item)
        same = by_key.get(element)
        if same is None:
            by_key[element] = [item]
        else:
            same.append(item)
    return by_key


def compare(t: Type, old: Any, new: Any) -> tuple[Fields, Fields]:
    """(changed, gone) below a place that exists on both sides; `"."` is in `changed` if
    the place itself is one differing value, or was and is no more. Both are empty if
    nothing differs.

    Raises ValueError for list items without their keys.
    """
    if not t.leaf and (old or new):
        kind = type(old if new is None else new)
        alike = old is None or type(old) is kind
        if alike and kind is dict:
            return _dicts(t, old or {}, new or {})
        if alike and kind is list and t.shape in (KEYED, SET):
            return _lists(t, _by_key(t, old or []), _by_key(t, new or []))
    if same_value(old, new):
        return LEAF, LEAF
    if t.leaf:
        return {SELF: LEAF}, LEAF
    inside = {key: part for key, part in whole(t, old).items() if key != SELF}
    return {SELF: LEAF, **whole(t, new)}, inside


def _dicts(t: Type, old: dict[str, Any], new: dict[str, Any]) -> tuple[Fields, Fields]:
    changed: Fields = {}
    gone: Fields = {}
    struct = t.shape == STRUCT
    # most is as it was, and only what differs is put in order
    loose = t.loose
    different = [
        name
        for name, value in new.items()
        if (before := old.get(name, _ABSENT)) is not value
        and (loose or before != value)
    ]
    for name in sorted(different):
        value, before = new[name], old.get(name, _ABSENT)
        if struct:
            known = t.field(name)
            if known is None:
                continue
            element, child = known
        else:
            element, child = f"f:{name}", t.element
        if loose and not child.loose and before == value:
            continue
        if before is _ABSENT:
            changed[element] = whole(child, value)
        else:
            _enter(child, element, before, value, changed, gone)
    if not old.keys() <= new.keys():
        for name in sorted(old.keys() - new.keys()):
            if struct:
                known = t.field(name)
                if known is None:
                    continue
                gone[known[0]] = whole(known[1], old[name])
            else:
                gone[f"f:{name}"] = whole(t.element, old[name])
    return changed, gone


def _enter(
    child: Type, element: str, old: Any, new: Any, changed: Fields, gone: Fields
) -> None:
    more, less = compare(child, old, new)
    if more:
        changed[element] = LEAF if list(more) == [SELF] else more
    if less:
        gone[element] = less


def _lists(
    t: Type, old: dict[str, list[Any]], new: dict[str, list[Any]]
) -> tuple[Fields, Fields]:
    changed: Fields = {}
    gone: Fields = {}
    child = t.element if t.shape == KEYED else None
    for element in sorted_elements(old.keys() | new.keys()):
        before, after = old.get(element, []), new.get(element, [])
        if not t.loose and before == after:
            continue
        if len(before) > 1 or len(after) > 1:
            if not same_value(before, after):
                _duplicates(child, element, before, after, changed, gone)
        elif not before:
            changed[element] = whole(child, after[0]) if child else LEAF
        elif not after:
            gone[element] = whole(child, before[0]) if child else LEAF
        elif child:
            _enter(child, element, before[0], after[0], changed, gone)
    return changed, gone


def _duplicates(
    child: Type | None,
    element: str,
    before: list[Any],
    after: list[Any],
    changed: Fields,
    gone: Fields,
) -> None:
    """Items that share their key: as long as there are several, they are owned as
    one.
    """
    if len(before) > 1 and len(after) > 1:
        changed[element] = LEAF
    elif len(before) > 1:
        gone[element] = LEAF
        if after:
            changed[element] = whole(child, after[0]) if child else LEAF
    else:
        changed[element] = LEAF
        if before:
            gone[element] = union(LEAF, whole(child, before[0])) if child else LEAF
