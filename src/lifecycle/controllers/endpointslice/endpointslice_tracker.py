"""Knowing whether the cache has caught up with our own writes of slices.

Endpoints move between slices, so a sync on a stale cache could drop or double them. The
tracker remembers the generation of every slice this controller has written; as long as
the cache is behind one of them, syncs of that Service are put off.

Upstream: `endpointslice/util/endpointslice_tracker.go` (`EndpointSliceTracker`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object

DELETION_EXPECTED = -1


class EndpointSliceTracker:
    """Generations per slice uid, per Service key."""

    def __init__(self) -> None:
        self._generations: dict[str, dict[str, int]] = {}

    def update(self, key: str, written: Object) -> None:
        """A slice was written; this is the server's answer."""
        meta = written["metadata"]
        self._generations.setdefault(key, {})[meta["uid"]] = meta.get("generation", 0)

    def expect_deletion(self, key: str, deleted: Object) -> None:
        """A slice was deleted by us."""
        self._generations.setdefault(key, {})[deleted["metadata"]["uid"]] = (
            DELETION_EXPECTED
        )

    def handle_deletion(self, key: str, deleted: Object) -> bool:
        """A deletion was seen. Whether it was expected; nothing was expected of a slice
        that we never wrote.
        """
        generation = self._generations.get(key, {}).pop(
            deleted["metadata"]["uid"], None
        )
        return generation in (None, DELETION_EXPECTED)

    def should_sync(self, key: str, seen: Object) -> bool:
        """Whether somebody else changed the slice: this is not a state that we
        wrote.
        """
        meta = seen["metadata"]
        known = self._generations.get(key, {}).get(meta["uid"])
        return known is None or meta.get("generation", 0) > known

    def stale_slices(self, key: str, cached: Iterable[Object]) -> bool:
        """Whether the cache is behind what was written."""
        by_uid = {
            s["metadata"]["uid"]: s["metadata"].get("generation", 0) for s in cached
        }
        for uid, generation in self._generations.get(key, {}).items():
            if generation == DELETION_EXPECTED:
                if uid in by_uid:
                    return True
            elif by_uid.get(uid, DELETION_EXPECTED) < generation:
                return True
        return False

    def delete_service(self, key: str) -> None:
        """The Service is gone."""
        self._generations.pop(key, None)
