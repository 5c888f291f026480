"""Sets of fields, in the form in which they are stored: FieldsV1.

A set is a nested dict from path element to what is in the set below it. An empty dict
means *this place*; a dict with children means *only what is below*, unless it also
holds `"."`:

    {"f:data": {".": {}, "f:k": {}}}   holds .data and .data.k
    {"f:data": {"f:k": {}}}            holds .data.k
    {"f:data": {}}                     holds .data

The operations work on this form directly, so nothing has to be converted on the way in
or out. Sets are never changed in place; results share their unchanged parts with the
operands. The empty set is `{}`. Keys are kept in upstream's order.

Upstream: `structured-merge-diff/fieldpath/set.go` (`Set.Union`, `Difference`,
`RecursiveDifference`, `Intersection`, `Iterate`), `serialize.go`, v6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.fieldpath.path_elements import SELF, order, sorted_elements

Fields = dict[str, Any]

LEAF: Fields = {}
"""The one shared empty dict: a place without children. Never to be changed, as
everything stored.
"""


def in_order(node: Fields) -> Fields:
    """The same node with its keys in order. Fields sort as strings; items of lists by
    their keys.
    """
    named = all(key[0] in "f." for key in node)
    keys = sorted(node) if named else sorted_elements(node)
    return {k: node[k] for k in keys}


_shared: BoundedCache[bytes, Fields] = BoundedCache(entries=1024, longest=4096)
"""Few are shared by many. Most are one pod's alone, whose address is in them, and would
be kept when the pod has long gone: so there is not much room, and none for long ones.
"""


def shared(fields: Fields) -> Fields:
    """One copy of each set: the ten thousand pods of a deployment own the same fields,
    and need not own ten thousand dicts.
    """
    key = fast_json.dumps(fields)
    known = _shared.get(key)
    if known is None:
        known = fields
        _shared.put(fast_json.trimmed(key), fields)
    return known


def is_member(node: Fields) -> bool:
    """Whether a node holds its own place."""
    return not node or SELF in node


def union(a: Fields, b: Fields) -> Fields:
    """Everything in either set."""
    if not b or a is b:
        return a
    if not a:
        return b
    out: Fields | None = None
    grown = False
    for key, theirs in b.items():
        mine = a.get(key)
        if mine is None:
            grown = True
            joined = theirs
        else:
            joined = _join(mine, theirs)
            if joined is mine:
                continue
        if out is None:
            out = dict(a)
        out[key] = joined
    if out is None:
        return a
    return in_order(out) if grown else out


def _join(x: Fields, y: Fields) -> Fields:
    if x is y or not (x or y):
        return x
    if not x:
        return y if SELF in y else {SELF: LEAF, **y}
    if not y:
        return x if SELF in x else {SELF: LEAF, **x}
    return union(x, y)


def difference(a: Fields, b: Fields) -> Fields:
    """What is in `a` and not in `b`, place by place: taking `.spec` away leaves
    `.spec.replicas`.
    """
    if not b:
        return a
    out: Fields | None = None
    for key, theirs in b.items():
        mine = a.get(key)
        if mine is None:
            continue
        rest = _minus(mine, theirs)
        if rest is mine:
            continue
        if out is None:
            out = dict(a)
        if rest is None:
            del out[key]
        else:
            out[key] = rest
    return a if out is None else out


def _minus(x: Fields, y: Fields) -> Fields | None:
    taken = is_member(y)
    if not x:
        return None if taken else x
    member = SELF in x
    below = difference(
        {k: v for k, v in x.items() if k != SELF},
        {k: v for k, v in y.items() if k != SELF},
    )
    if member and not taken:
        if not below:
            return LEAF
        return (
            x
            if len(below) == len(x) - 1 and all(below[k] is x[k] for k in below)
            else {SELF: LEAF, **below}
        )
    if not below:
        return None
    return (
        x
        if not member and len(below) == len(x) and all(below[k] is x[k] for k in below)
        else below
    )


def recursive_difference(a: Fields, b: Fields) -> Fields:
    """What is in `a` and neither in `b` nor anywhere below a place in `b`."""
    out: Fields = {}
    for key, mine in a.items():
        theirs = b.get(key)
        if theirs is None:
            out[key] = mine
        elif not is_member(theirs):
            rest = recursive_difference(mine, theirs) if mine else mine
            if rest or not mine:
                out[key] = LEAF if list(rest) == [SELF] else rest
    return out


def intersection(a: Fields, b: Fields) -> Fields:
    """What is in both sets."""
    out: Fields = {}
    for key, mine in a.items():
        theirs = b.get(key)
        if theirs is None:
            continue
        both = is_member(mine) and is_member(theirs)
        below = intersection(
            {k: v for k, v in mine.items() if k != SELF},
            {k: v for k, v in theirs.items() if k != SELF},
        )
        if below:
            out[key] = {SELF: LEAF, **below} if both else below
        elif both:
            out[key] = LEAF
    return out


def paths(fields: Fields, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every place in a set, level by level: first the places at this depth, then those
    below each of them.
    """
    for key, node in fields.items():
        if key != SELF and is_member(node):
            yield (*prefix, key)
    for key, node in fields.items():
        if key != SELF and node:
            yield from paths(node, (*prefix, key))


def has(fields: Fields, path: tuple[str, ...]) -> bool:
    """Whether a place is in a set."""
    node: Fields | None = fields
    for element in path:
        if not node:
            return False
        node = node.get(element)
    return node is not None and bool(path) and is_member(node)


def from_paths(*element_paths: tuple[str, ...]) -> Fields:
    """The set of the places named."""
    out: Fields = {}
    for path in element_paths:
        single: Fields = LEAF
        for element in reversed(path):
            single = {element: single}
        out = union(out, single)
    return out


def normalized(fields: Any) -> Fields:
    """A set as sent by a client, in normal form: `{".": {}}` is `{}`, unknown elements
    dropped, keys in order.

    Raises ValueError for elements that are not of a known form.
    """
    if type(fields) is not dict:
        raise ValueError("fields must be an object")
    out: Fields = {}
    for key, node in fields.items():
        if key != SELF:
            if len(key) < 2 or key[1] != ":":
                raise ValueError(f"missing colon: {key}")
            if key[0] not in "fkvi":
                continue
            order(key)  # raises ValueError for a malformed element
        out[key] = normalized(node)
    if list(out) == [SELF]:
        return LEAF
    return in_order(out)
