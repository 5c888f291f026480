"""Leases: keys that do not outlive a promise.

A lease is a number with a time to live. Keys written under it go with it. Kubernetes
uses that for one kind only: Events, which would otherwise pile up for ever. (The
`Lease` objects with which nodes show that they live are ordinary objects.)

Upstream: etcd `server/lease/lessor.go` (`lessor.Grant`, `Revoke`), v3.6. Left out:
keeping alive, checkpoints of what is left of a lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lifecycle.etcd.store import LeaseNotFoundError


class Leases:
    """The leases of a store. `expire` is called with each lease whose time is up."""

    def __init__(self, expire: Callable[[int], None]) -> None:
        self._expire = expire
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._newest = 0

    def grant(self, ttl: int) -> int:
        """A new lease that ends in `ttl` seconds."""
        self.resume(self._newest + 1, ttl)
        return self._newest

    def resume(self, lease: int, ttl: int) -> None:
        """Begin a lease, or go on with one from before a restart: its time starts anew,
        as in etcd after an election.
        """
        self._newest = max(self._newest, lease)
        self._timers[lease] = asyncio.get_running_loop().call_later(
            ttl, self._time_is_up, lease
        )

    def check(self, lease: int) -> None:
        """Raises LeaseNotFoundError unless the lease is there; 0 stands for none."""
        if lease and lease not in self._timers:
            raise LeaseNotFoundError

    def end(self, lease: int) -> None:
        """Forget a lease. Raises LeaseNotFoundError."""
        self.check(lease)
        self._timers.pop(lease).cancel()

    def _time_is_up(self, lease: int) -> None:
        self._timers.pop(lease, None)
        self._expire(lease)

    def close(self) -> None:
        """No lease expires any more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
