"""What is stored and who watches it, as far as flow control wants to know before it
lets a request in.

Upstream: `apiserver/pkg/util/flowcontrol/request/object_count_tracker.go`,
`pkg/util/flowcontrol/watch_tracker.go` (`GetInterestedWatchCount`), v1.36. The average
size is that of a few objects, and not of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lifecycle.api.http.wire import RequestInfo
from lifecycle.apiserver.storage.cacher.cacher import Cacher

SAMPLE = 10


class Stats(NamedTuple):
    """How many objects of a resource there are, and how many bytes one has on average
    (0: unknown).
    """

    objects: int
    average_size: int


class StorageStats:
    """Looks into the caches, which are kept by group and plural."""

    def __init__(self, cachers: Mapping[tuple[str, str], Cacher]) -> None:
        self._cachers = cachers

    def stats(self, group: str, plural: str) -> Stats | None:
        """How many objects there are, and how large; None for a resource that is not
        stored here.
        """
        cacher = self._cachers.get((group, plural))
        if cacher is None:
            return None
        sample = cacher.first(SAMPLE)
        size = (
            sum(len(cached.json) for cached in sample) // len(sample) if sample else 0
        )
        return Stats(len(cacher), size)

    def watchers(self, info: RequestInfo) -> int:
        """How many may hear of what a request writes."""
        cacher = self._cachers.get((info.group, info.resource))
        return cacher.interested(info.namespace, info.name) if cacher is not None else 0
