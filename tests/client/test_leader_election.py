"""Leader election: one leads, and when it falls silent another takes over – not before."""

from __future__ import annotations

import asyncio

from tests.fake_api import FakeAPI

from lifecycle.api.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client


def test_the_second_takes_over_when_the_first_falls_silent() -> None:
    async def main() -> None:
        api = FakeAPI()
        clock = Clock()
        first, second = (LeaderElector(Client(api, f"{name}/1"), "lock", name, clock=clock) for name in ("a", "b"))
        await first.acquire()
        renewing = asyncio.ensure_future(first.renew())
        waiting = asyncio.ensure_future(second.acquire())
        await asyncio.sleep(120)
        assert first.is_leader
        assert not waiting.done()
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        silent = asyncio.get_running_loop().time()
        await waiting
        assert 13 <= asyncio.get_running_loop().time() - silent <= 20
        assert second.is_leader
        [lease] = api.items(resource("leases.coordination.k8s.io"))
        assert lease["spec"]["holderIdentity"] == "b"
        assert lease["spec"]["leaseTransitions"] == 1
        await asyncio.wait_for(first.renew(), 60)  # the first wakes up, sees that it has lost, and stops
        assert not first.is_leader

    run_virtual(main())
