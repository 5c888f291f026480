"""Working only while leading, on virtual time."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.alone.leading import (
    LeaderElectionConfiguration,
    LeaderElectionLost,
    new_elector,
    run_as_leader,
)
from tests.asked_first import AskedFirst, Silence
from tests.fake_api import FakeAPI

LEASES = resource("leases.coordination.k8s.io")


class Replica:
    """One of several; `story` is what happened to it."""

    def __init__(self, api: Transport, **config: float) -> None:
        settings = replace(LeaderElectionConfiguration(), **config)  # type: ignore[arg-type]
        self.elector: LeaderElector = new_elector(Client(api, "x/1"), settings, "component", Clock())
        self.story: list[str] = []
        self.working = asyncio.Event()

    async def work(self) -> None:
        self.story.append("works")
        self.working.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            self.story.append("stops")

    async def run(self) -> None:
        await run_as_leader(
            self.elector, self.work, lambda: self.story.append("stands by"), lambda: self.story.append("leads")
        )


def test_the_second_stands_by_and_works_as_soon_as_the_first_is_told_to_end() -> None:
    async def main() -> None:
        api, loop = FakeAPI(), asyncio.get_running_loop()
        first, second = Replica(api), Replica(api)
        one = asyncio.ensure_future(first.run())
        await asyncio.sleep(1)
        two = asyncio.ensure_future(second.run())
        await asyncio.sleep(60)
        assert (first.story, second.story) == (["leads", "works"], ["stands by"])
        one.cancel()
        await asyncio.gather(one, return_exceptions=True)
        ended = loop.time()
        await second.working.wait()
        assert loop.time() - ended < 5  # not fifteen: it was given back
        assert first.story == ["leads", "works", "stops"]
        assert first.elector.identity != second.elector.identity
        two.cancel()
        await asyncio.gather(two, return_exceptions=True)
        [lease] = api.items(LEASES)
        assert (lease["metadata"]["namespace"], lease["metadata"]["name"]) == ("kube-system", "component")
        assert lease["spec"]["holderIdentity"] == ""

    run_virtual(main())


def test_who_does_not_get_a_lost_lease_back_in_time_stops() -> None:
    async def main() -> None:
        api = FakeAPI()
        one = Replica(api)
        running = asyncio.ensure_future(one.run())
        await asyncio.sleep(5)
        [lease] = api.items(LEASES)
        taken = {**lease, "spec": {**lease["spec"], "holderIdentity": "other"}}
        await Client(api, "y/1").update(LEASES, taken)
        with pytest.raises(LeaderElectionLost, match=r"leaderelection lost$"):
            await running
        assert asyncio.get_running_loop().time() == pytest.approx(16)  # it looked at 6, and for ten seconds
        assert one.story == ["leads", "works", "stops"]
        [lease] = api.items(LEASES)
        assert lease["spec"]["holderIdentity"] == "other"  # nothing was given back that is not ours

    run_virtual(main())


def test_a_silent_server_does_not_hold_up_the_end() -> None:
    async def main() -> None:
        silence, loop = Silence(), asyncio.get_running_loop()
        one = Replica(AskedFirst(FakeAPI(), silence.first))
        running = asyncio.ensure_future(one.run())
        await asyncio.sleep(1)
        silence.fallen = True
        began = loop.time()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        assert loop.time() - began == pytest.approx(2)

    run_virtual(main())


def test_what_the_work_raises_is_raised() -> None:
    async def main() -> None:
        one = Replica(FakeAPI())

        async def work() -> None:
            raise KeyError("bug")

        one.work = work  # type: ignore[method-assign]
        with pytest.raises(KeyError, match="bug"):
            await one.run()

    run_virtual(main())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"lease_duration": 10.0}, "leaseDuration must be greater than renewDeadline"),
        ({"renew_deadline": 2.4}, "renewDeadline must be greater than retryPeriod*1.2"),
        ({"retry_period": 9.0}, "renewDeadline must be greater than retryPeriod*1.2"),
        ({"retry_period": 0.0}, "leaseDuration must be at least 1 s, retryPeriod more than nothing"),
        (
            {"lease_duration": 0.9, "renew_deadline": 0.5, "retry_period": 0.1},
            "leaseDuration must be at least 1 s, retryPeriod more than nothing",
        ),
    ],
)
def test_times_with_which_two_could_lead_are_refused(settings: dict[str, float], said: str) -> None:
    LeaderElectionConfiguration().check()
    LeaderElectionConfiguration(lease_duration=1, renew_deadline=0.5, retry_period=0.1).check()
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        replace(LeaderElectionConfiguration(), **settings).check()  # type: ignore[arg-type]


def test_a_leader_whose_lease_ran_out_long_ago_is_not_healthy() -> None:
    async def main() -> None:
        one = Replica(FakeAPI()).elector
        assert one.check() == ""
        await one.acquire()
        await asyncio.sleep(34)
        assert one.check() == ""
        await asyncio.sleep(2)
        assert one.check() == "failed election to renew leadership on lease component"

    run_virtual(main())
