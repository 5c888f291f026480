"""Leader election: one leads, and when it falls silent another takes over – not before."""

from __future__ import annotations

import asyncio

import pytest
from tests.fake_api import FakeAPI

from lifecycle.api.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.wire import Request, Response
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


LEASES = resource("leases.coordination.k8s.io")


def elector(api: FakeAPI, name: str, clock: Clock) -> LeaderElector:
    return LeaderElector(Client(api, f"{name}/1"), "lock", name, clock=clock)


def test_a_renewal_is_one_write_unless_somebody_else_wrote() -> None:
    async def main() -> None:
        api, clock = FakeAPI(), Clock()
        asked: list[str] = []
        inner = api.round_trip

        async def round_trip(request: Request) -> Response:
            asked.append(request.method)
            return await inner(request)

        api.round_trip = round_trip  # type: ignore[method-assign]
        one = elector(api, "a", clock)
        assert await one.try_acquire_or_renew()
        assert asked == ["GET", "POST"]
        asked.clear()
        await asyncio.sleep(2)
        assert await one.try_acquire_or_renew()
        assert asked == ["PUT"]
        asked.clear()
        [lease] = api.items(LEASES)
        await Client(api, "meddler").update(LEASES, {**lease, "metadata": {**lease["metadata"], "labels": {"a": "b"}}})
        asked.clear()
        assert await one.try_acquire_or_renew()
        assert asked == ["PUT", "GET", "PUT"]
        [lease] = api.items(LEASES)
        assert lease["metadata"]["labels"] == {"a": "b"}
        assert lease["spec"]["leaseTransitions"] == 0
        await asyncio.sleep(20)  # its own lease has run out: it looks before it writes
        asked.clear()
        assert await one.try_acquire_or_renew()
        assert asked == ["GET", "PUT"]

    run_virtual(main())


@pytest.mark.parametrize(
    ("holder", "duration", "waited", "taken"),
    [
        ("b", 15, 0, False),
        ("b", 15, 14, False),
        ("b", 15, 16, True),
        ("b", 60, 16, False),  # its holder said how long
        ("b", 1, 2, True),
        ("", 15, 0, True),  # given up
        ("a", 15, 0, True),  # our own, from an earlier life
    ],
)
def test_when_a_lease_may_be_taken(holder: str, duration: int, waited: float, taken: bool) -> None:
    async def main() -> None:
        api, clock = FakeAPI(), Clock()
        now = clock.micro_timestamp()
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": duration,
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": 4,
        }
        body = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "lock"}, "spec": spec}
        await Client(api, "b").create(LEASES, body, "kube-system")
        one = elector(api, "a", clock)
        first = await one.try_acquire_or_renew()  # the clock starts when the lease is first seen
        await asyncio.sleep(waited)
        assert (first or await one.try_acquire_or_renew()) is taken
        [lease] = api.items(LEASES)
        assert lease["spec"]["leaseTransitions"] == (4 if not taken or holder == "a" else 5)

    run_virtual(main())


def test_a_lease_that_is_given_up_is_taken_at_the_next_look() -> None:
    async def main() -> None:
        api, clock = FakeAPI(), Clock()
        first, second = elector(api, "a", clock), elector(api, "b", clock)
        await first.acquire()
        assert not await second.try_acquire_or_renew()
        assert await first.release()
        assert not first.is_leader
        [lease] = api.items(LEASES)
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == ("", 1)
        assert await second.try_acquire_or_renew()
        assert await first.release()  # not its own: nothing to do
        [lease] = api.items(LEASES)
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]) == ("b", 1)

    run_virtual(main())


def test_a_lease_is_made_with_all_that_the_next_one_has_to_know() -> None:
    async def main() -> None:
        api = FakeAPI()
        await elector(api, "a", Clock()).acquire()
        [sent] = [change[3] for change in api.log]
        spec = sent["spec"]
        assert (sent["kind"], sent["apiVersion"]) == ("Lease", "coordination.k8s.io/v1")
        assert (sent["metadata"]["name"], sent["metadata"]["namespace"]) == ("lock", "kube-system")
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("a", 15, 0)
        assert spec["acquireTime"] == spec["renewTime"]

    run_virtual(main())
