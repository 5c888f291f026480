"""Versions of an object share what did not change from one to the next.

The watch cache keeps the versions of the last minute, and most writes change a
condition or two. Each version was read from what a client sent, so it is another
object from top to bottom; but where a part says the same as in the version before,
that part can stand in both. Objects in the cache never change.

Upstream has no such thing: `apiserver/pkg/storage/cacher/watch_cache.go` keeps each
version as it was decoded.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.wire import Object


def with_parts_of(old: Object, new: Object) -> Object:
    """The new version, with the old one's lists and maps in the places of those that
    say the same, in the same order. What is handed in does not change.
    """
    return {
        key: _shared(value, old.get(key)) if type(value) in (dict, list) else value
        for key, value in new.items()
    }


def _shared(new: Any, old: Any) -> Any:
    kind = type(new)
    if new is old or not new or kind is not type(old):
        return new
    if new == old and fast_json.dumps(new) == fast_json.dumps(old):
        return old  # the second question, as 1 and true are equal in Python
    if kind is dict:
        return with_parts_of(old, new)
    shared = [
        _shared(item, before) if type(item) in (dict, list) else item
        for item, before in zip(new, old)
    ]
    return [*shared, *new[len(shared) :]]
