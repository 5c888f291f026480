"""One of several replicas works, the others wait: leader election on a Lease.

The leader renews the lease every two seconds; the others look at it as often and take
it over when they have not seen it change for fifteen seconds *by their own clock* – no
two clocks are ever compared. A leader tries to renew for ten seconds, whatever stands
in the lease meanwhile; then it steps down, before anybody could take over. While all is
well a renewal is one write: the leader knows the lease as it left it. Only if that
write fails does it read the lease first.

Upstream: `client-go/tools/leaderelection/leaderelection.go` (`LeaderElector`, `renew`,
`tryAcquireOrRenew`, `isLeaseValid`, `release`), `resourcelock/leaselock.go`, v1.36.
Left out: coordinated election, events.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client

JITTER = 1.2
_LEASES = resource("leases.coordination.k8s.io")


class LeaderElector:
    """Competes for a lease under an identity. `is_leader` tells how it stands."""

    def __init__(
        self,
        client: Client,
        name: str,
        identity: str,
        *,
        clock: Clock,
        namespace: str = "kube-system",
        lease_duration: float = 15.0,
        renew_deadline: float = 10.0,
        retry_period: float = 2.0,
    ) -> None:
        self._client = client
        self._name = name
        self._namespace = namespace
        self.identity = identity
        self._clock = clock
        self._lease_duration = lease_duration
        self._renew_deadline = renew_deadline
        self._retry_period = retry_period
        self._observed: Object | None = None
        self._observed_at = 0.0
        self._rng = random.Random(identity)
        self.is_leader = False
        self.problem = ""
        """Why the last attempt that failed did, where nobody else holds the lease."""

    @property
    def holder(self) -> str:
        """Who held the lease when it was last looked at; empty: nobody."""
        spec = (self._observed or {}).get("spec") or {}
        return str(spec.get("holderIdentity") or "")

    def check(self, max_tolerable_expired_lease: float = 20.0) -> str:
        """What is wrong if it still takes itself for the leader so many seconds after
        its lease has run out; else empty. Upstream: `LeaderElector.Check`.
        """
        late = asyncio.get_running_loop().time() - self._observed_at
        if self.is_leader and late > self._lease_duration + max_tolerable_expired_lease:
            return f"failed election to renew leadership on lease {self._name}"
        return ""

    async def acquire(self) -> None:
        """Wait until this one leads."""
        while not await self.try_acquire_or_renew():  # noqa: ASYNC110 - others hold the lease; looking is the protocol
            await asyncio.sleep(
                self._retry_period * (1.0 + JITTER * self._rng.random())
            )

    async def renew(self) -> None:
        """Keep renewing; returns when leadership is lost."""
        while await self._renewed_in_time():  # noqa: ASYNC110 - time is what it is about
            await asyncio.sleep(self._retry_period)
        self.is_leader = False

    async def _renewed_in_time(self) -> bool:
        """Try until it succeeds: for so long as the deadline says, and no longer, also
        in the middle of a request that nobody answers.
        """
        try:
            async with asyncio.timeout(self._renew_deadline):
                while not await self.try_acquire_or_renew():  # noqa: ASYNC110 - as above
                    await asyncio.sleep(self._retry_period)
        except TimeoutError:
            return False
        return True

    async def try_acquire_or_renew(self) -> bool:
        """One attempt; whether this one leads now."""
        kept: Object | None = None
        try:
            if self.is_leader and self._observed is not None and self._lease_valid():
                kept = self._observed["spec"]
                try:
                    return self._hold(await self._write(self._observed))
                except (StatusError, OSError):
                    pass  # somebody else wrote, or worse: look first
            try:
                lease = await self._client.get(_LEASES, self._name, self._namespace)
            except StatusError as error:
                if error.code != 404:
                    raise
                lease = self._new_lease(self._clock.micro_timestamp(), kept)
                return self._hold(
                    await self._client.create(_LEASES, lease, self._namespace)
                )
            self._observe(lease)
            if (
                lease["spec"].get("holderIdentity")
                and not self.is_leader
                and self._lease_valid()
            ):
                return False
            return self._hold(await self._write(lease))
        except (StatusError, OSError) as error:
            self.problem = str(error)
            return False  # lost a race, or the server is away: the caller tries again

    async def release(self) -> bool:
        """Give the lease up, so that nobody has to wait for it to run out. False if it
        could not be written.
        """
        try:
            lease = await self._client.get(_LEASES, self._name, self._namespace)
            if self.is_leader:
                now, old = self._clock.micro_timestamp(), lease["spec"]
                spec = {
                    **self._spec(now, now, old.get("leaseTransitions", 0)),
                    "leaseDurationSeconds": 1,
                }
                self._observe(
                    await self._client.update(
                        _LEASES, {**lease, "spec": {**spec, "holderIdentity": ""}}
                    )
                )
        except (StatusError, OSError):
            return False
        return True

    async def _write(self, lease: Object) -> Object:
        return await self._client.update(
            _LEASES, self._taken(lease, self._clock.micro_timestamp())
        )

    def _lease_valid(self) -> bool:
        """Whether the lease, as long as its holder said it would last, has not run out
        since it was last seen to change.
        """
        seconds = float(
            ((self._observed or {}).get("spec") or {}).get("leaseDurationSeconds") or 0
        )
        return self._observed_at + seconds > asyncio.get_running_loop().time()

    def _hold(self, lease: Object) -> bool:
        self._observe(lease)
        self._observed_at = asyncio.get_running_loop().time()
        return self.is_leader

    def _observe(self, lease: Object) -> None:
        if self._observed is None or self._observed["spec"] != lease["spec"]:
            self._observed_at = asyncio.get_running_loop().time()
        self._observed = lease
        self.is_leader = lease["spec"].get("holderIdentity") == self.identity

    def _spec(self, acquired: str, renewed: str, transitions: int) -> dict[str, Any]:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self._lease_duration),
            "acquireTime": acquired,
            "renewTime": renewed,
            "leaseTransitions": transitions,
        }

    def _new_lease(self, now: str, kept: Object | None) -> Object:
        """`kept`: what a leader said of itself in the lease that is gone."""
        acquired, transitions = now, 0
        if kept is not None:
            acquired, transitions = kept["acquireTime"], kept["leaseTransitions"]
        return {
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": self._spec(acquired, now, transitions),
        }

    def _taken(self, lease: Object, now: str) -> Object:
        old = lease["spec"]
        if old.get("holderIdentity") == self.identity:
            spec = self._spec(old["acquireTime"], now, old.get("leaseTransitions", 0))
        else:
            spec = self._spec(now, now, old.get("leaseTransitions", 0) + 1)
        return {**lease, "spec": spec}
