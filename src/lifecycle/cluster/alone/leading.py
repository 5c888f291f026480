"""Work only while leading: of several replicas of a component, one.

Who loses the lease, and does not get it back before the renew deadline, stops and
leaves the process, as upstream does: whatever started it starts it again, with empty
caches. Who is told to end gives the lease back, so that the next one need not wait
until it has run out.

Upstream: `client-go/tools/leaderelection/leaderelection.go` (`RunOrDie`),
`component-base/config/types.go` (`LeaderElectionConfiguration`),
`config/v1alpha1/defaults.go`, v1.36.
"""

from __future__ import annotations

import asyncio
import socket
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lifecycle.api.loop.clock import Clock
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client

RELEASE_WITHIN = 2.0
"""Seconds that giving the lease back may take."""


class LeaderElectionLost(ValueError):
    """Somebody else leads now, or the lease could not be renewed in time."""


@dataclass(slots=True, frozen=True)
class LeaderElectionConfiguration:
    """Times in seconds. `resource_name` empty: the component's own."""

    leader_elect: bool = True
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    resource_name: str = ""
    resource_namespace: str = "kube-system"

    def check(self) -> None:
        """Raises ValueError for times with which two could lead. Upstream:
        `NewLeaderElector`.
        """
        if self.lease_duration <= self.renew_deadline:
            raise ValueError("leaseDuration must be greater than renewDeadline")
        if self.renew_deadline <= 1.2 * self.retry_period:
            raise ValueError("renewDeadline must be greater than retryPeriod*1.2")
        if self.lease_duration < 1 or self.retry_period <= 0:
            raise ValueError(
                "leaseDuration must be at least 1 s, retryPeriod more than nothing"
            )


def new_elector(
    client: Client, config: LeaderElectionConfiguration, component: str, clock: Clock
) -> LeaderElector:
    """An elector under a name that no other replica has: `HOST_UUID`."""
    return LeaderElector(
        client,
        config.resource_name or component,
        f"{socket.gethostname()}_{uuid.uuid4()}",
        clock=clock,
        namespace=config.resource_namespace,
        lease_duration=config.lease_duration,
        renew_deadline=config.renew_deadline,
        retry_period=config.retry_period,
    )


async def run_as_leader(
    elector: LeaderElector,
    run: Callable[[], Awaitable[None]],
    standing_by: Callable[[], None],
    leading: Callable[[], None],
) -> None:
    """Stand by, lead, work, until cancelled. Raises LeaderElectionLost, and what `run`
    raises.
    """
    if not await elector.try_acquire_or_renew():
        standing_by()
        await elector.acquire()
    leading()
    working = asyncio.ensure_future(run())
    renewing = asyncio.ensure_future(elector.renew())
    try:
        await asyncio.wait([working, renewing], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
        else:
            raise LeaderElectionLost("leaderelection lost")
    finally:
        for task in (working, renewing):
            task.cancel()
        await asyncio.gather(working, renewing, return_exceptions=True)
        if elector.is_leader:
            await asyncio.wait({asyncio.ensure_future(_release(elector))})


async def _release(elector: LeaderElector) -> None:
    try:
        async with asyncio.timeout(RELEASE_WITHIN):
            await elector.release()
    except TimeoutError:
        pass  # it runs out by itself
