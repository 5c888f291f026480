"""Versions of an object share what did not change from one to the next, and the objects
of one owner what they have in common.

The watch cache keeps the versions of the last minute, and most writes change a
condition or two. Each version was read from what a client sent, so it is another
object from top to bottom; but where a part says the same as in the version before,
that part can stand in both. Objects in the cache never change.

A Deployment's pods are read from ten thousand bodies that differ in a name. What a new
object says in the same words as the one that was made before it stands in both.

Upstream has no such thing: `apiserver/pkg/storage/cacher/watch_cache.go` keeps each
version as it was decoded.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.http.wire import Object

DEPTH = 3
"""Steps down in which parts are looked for: `.status.conditions[2]` is three. Each step
compares again what differs, so a deep object costs no more than that many times a flat
one.
"""

OWNERS = 256
"""For so many owners an object is remembered, ..."""
SMALL = 8 << 10
"""... if it has no more bytes than that."""


class Siblings:
    """Of each owner the object of one resource that was made last."""

    def __init__(self) -> None:
        self._newest: BoundedCache[str, Object] = BoundedCache(OWNERS)

    def shared(self, obj: Object, size: int) -> Object:
        """A new object of so many bytes, with its sibling's lists and maps in the
        places of those that say the same. What is handed in does not change.
        """
        if size > SMALL:
            return obj
        owners = obj["metadata"].get("ownerReferences") or ()
        owner = owners[0].get("uid", "") if owners else ""
        sibling = self._newest.get(owner)
        if sibling is not None:
            obj = with_parts_of(sibling, obj)
        self._newest.put(owner, obj)
        return obj


def with_parts_of(old: Object, new: Object, depth: int = DEPTH) -> Object:
    """The new version, with the old one's lists and maps in the places of those that
    say the same, in the same order. What is handed in does not change.
    """
    return {
        key: _part(value, old.get(key), depth) if type(value) in _WITH_PARTS else value
        for key, value in new.items()
    }


_WITH_PARTS = frozenset({dict, list})


def _part(new: Any, old: Any, depth: int) -> Any:
    kind = type(new)
    if new is old or kind is not type(old) or kind not in _WITH_PARTS:
        return new
    if new == old and fast_json.dumps(new) == fast_json.dumps(old):
        return old  # the second question, as 1 and true are equal in Python
    if not depth:
        return new
    if isinstance(old, dict):
        return with_parts_of(old, new, depth - 1)
    items = [_part(item, before, depth - 1) for item, before in zip(new, old)]
    return [*items, *new[len(items) :]]
