"""Leases for what must not stay, shared by what is written at about the same time.

Events live for an hour. A lease for each would be as much to keep as the events
themselves, so one lease serves all that is written within a minute: it is asked for
with a little more time than wanted, and used again as long as enough of it is left.

Upstream: `apiserver/pkg/storage/etcd3/lease_manager.go` (`leaseManager.GetLease`),
v1.36.
"""

from __future__ import annotations

import asyncio

from lifecycle.etcd.store import Store

REUSE_SECONDS = 60
REUSE_SHARE = 0.05
MAX_ATTACHED = 1000


class LeaseManager:
    """Hands out leases of one store."""

    def __init__(
        self,
        store: Store,
        *,
        reuse_seconds: int = REUSE_SECONDS,
        max_attached: int = MAX_ATTACHED,
    ) -> None:
        self._store = store
        self._reuse_seconds, self._max_attached = reuse_seconds, max_attached
        self._lease, self._expires, self._attached = 0, 0.0, 0

    async def get_lease(self, ttl: int) -> int:
        """A lease with at least `ttl` seconds left, and not many more. Raises
        StoreError.
        """
        now = asyncio.get_running_loop().time()
        reuse = min(int(ttl * REUSE_SHARE), self._reuse_seconds)
        lasts = now + ttl < self._expires
        not_too_long = now + ttl + reuse >= self._expires
        self._attached += 1
        if lasts and not_too_long and self._attached <= self._max_attached:
            return self._lease
        self._lease = await self._store.grant(ttl + reuse)
        self._expires, self._attached = now + ttl + reuse, 1
        return self._lease
