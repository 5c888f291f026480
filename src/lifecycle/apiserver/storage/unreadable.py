"""What lies in the store and cannot be read: which objects of a resource, and why.

One object whose key is lost must not look as if it were deleted: controllers would make
it anew, or tidy up after it. So a read of it is an error, a list that it belongs to is
an error, and a watch is refused: nobody is shown a part for the whole.

Upstream: `apiserver/pkg/storage/etcd3/store.go` (`Get`, `GetList`),
`storage/cacher/cacher.go` and `ready.go` (a cache that cannot list is not ready),
v1.36. Left out: the feature AllowUnsafeMalformedObjectDeletion (off by default).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable

from lifecycle.api.go.format import go_quote
from lifecycle.api.resources import Resource, find_resource
from lifecycle.api.status import failure, internal_error
from lifecycle.etcd.store import KeyValue


def retry_after(downtime: float) -> int:
    """Seconds after which a client may ask again for what has not been ready for
    `downtime` seconds. Upstream: `calculateRetryAfterForUnreadyCache`.
    """
    return int(min(30.0, math.exp(min(0.06 * downtime, 10.0))))


class Unreadable:
    """The unreadable objects of one resource."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self._why: dict[str, str] = {}
        self._since = 0.0

    def __contains__(self, key: str) -> bool:
        return key in self._why

    def __bool__(self) -> bool:
        return bool(self._why)

    def __str__(self) -> str:
        """About the first of them."""
        key = min(self._why, default="")
        return _cannot(key, self._why[key]) if key else ""

    def keys(self) -> set[str]:
        """Under which they lie."""
        return set(self._why)

    def add(self, key: str, why: str) -> None:
        """There is one more."""
        if not self._why:
            self._since = asyncio.get_running_loop().time()
        self._why[key] = why

    def discard(self, key: str) -> None:
        """It was written anew, or is gone."""
        self._why.pop(key, None)

    def clear(self) -> None:
        """None is known."""
        self._why.clear()

    def check(self, key: str) -> None:
        """Raises StatusError 500 if it is the object under this key."""
        if key in self._why:
            raise internal_error(self._why[key])

    def check_list(self, prefix: str) -> None:
        """Raises StatusError 500 if one of them is below a prefix."""
        for key in sorted(self._why):
            if key.startswith(prefix):
                raise internal_error(_cannot(key, self._why[key]))

    @staticmethod
    def check_values(kvs: Iterable[KeyValue]) -> None:
        """The same for what was read from the store."""
        for kv in kvs:
            if kv.problem:
                raise internal_error(_cannot(kv.key, kv.problem))

    def check_cache(self) -> None:
        """Raises StatusError 429 if there is one at all: a cache without it would show
        less than there is.
        """
        if self._why:
            message = (
                f"storage is (re)initializing: failed to list {self._go_type}: {self}"
            )
            downtime = asyncio.get_running_loop().time() - self._since
            details = {"retryAfterSeconds": retry_after(downtime)}
            raise failure(429, "TooManyRequests", message, details)

    @property
    def _go_type(self) -> str:
        row = self._resource
        if find_resource(row.group, row.version, row.plural) is None:
            return f"{row.group}/{row.version}, Kind={row.kind}"
        return f"*{row.group.partition('.')[0] or 'core'}.{row.kind}"


def _cannot(key: str, why: str) -> str:
    return f"unable to transform key {go_quote(key)}: {why}"
