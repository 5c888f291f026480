"""Leader election: one leads, and when it falls silent another takes over – not before."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from tests.asked_first import AskedFirst, Silence
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, conflict, failure
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client, Transport


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


def elector(api: Transport, name: str, clock: Clock) -> LeaderElector:
    return LeaderElector(Client(api, f"{name}/1"), "lock", name, clock=clock)


def test_a_renewal_is_one_write_unless_somebody_else_wrote() -> None:
    async def main() -> None:
        api, clock = FakeAPI(), Clock()
        asked: list[str] = []

        async def note(request: Request) -> None:
            asked.append(request.method)

        one = elector(AskedFirst(api, note), "a", clock)
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


class Moody(FakeAPI):
    """Raises `mood` as long as there is one."""

    mood: Exception | None = None

    async def round_trip(self, request: Request) -> Response:
        if isinstance(self.mood, StatusError):
            return Response(self.mood.code, obj=self.mood.status)
        if self.mood is not None:
            raise self.mood
        return await super().round_trip(request)


MOODS = [
    OSError("away"),
    ConnectionError("away"),
    TimeoutError(),
    failure(500, "InternalError", "no"),
    conflict("leases", "lock"),
]


@pytest.mark.parametrize("mood", MOODS, ids=repr)
def test_whatever_the_server_says_is_no_and_not_the_end(mood: Exception) -> None:
    async def main() -> None:
        api = Moody()
        one = elector(api, "a", Clock())
        api.mood = mood
        assert not await one.try_acquire_or_renew()
        assert not await one.release()
        api.mood = None
        assert await one.try_acquire_or_renew()
        api.mood = mood
        assert not await one.try_acquire_or_renew()
        assert one.is_leader  # it may still be: the lease has not run out
        assert not await one.release()

    run_virtual(main())


@pytest.mark.parametrize("mood", MOODS, ids=repr)
def test_who_cannot_renew_for_ten_seconds_steps_down(mood: Exception) -> None:
    """The ten seconds begin with the first renewal that fails, two seconds after the last one that did not."""

    async def main() -> None:
        api, loop = Moody(), asyncio.get_running_loop()
        one = elector(api, "a", Clock())
        await one.acquire()
        renewing = asyncio.ensure_future(one.renew())
        await asyncio.sleep(7)
        api.mood = mood  # last renewed at 6
        await renewing
        assert loop.time() == pytest.approx(18)
        assert not one.is_leader

    run_virtual(main())


def test_a_short_silence_is_outlived() -> None:
    async def main() -> None:
        api = Moody()
        one = elector(api, "a", Clock())
        await one.acquire()
        renewing = asyncio.ensure_future(one.renew())
        for _ in range(5):
            await asyncio.sleep(3)
            api.mood = OSError("away")
            await asyncio.sleep(8)  # shorter than ten seconds
            api.mood = None
        assert one.is_leader
        assert not renewing.done()
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)

    run_virtual(main())


def test_a_server_that_says_nothing_is_not_waited_for_beyond_the_deadline() -> None:
    """Who hangs in a request must not believe that it leads when another may have taken over: after 15 s."""

    async def main() -> None:
        silence, loop = Silence(), asyncio.get_running_loop()
        one = elector(AskedFirst(FakeAPI(), silence.first), "a", Clock())
        await one.acquire()
        silence.fallen = True
        await one.renew()
        assert loop.time() == pytest.approx(10)
        assert not one.is_leader

    run_virtual(main())


def test_it_knows_who_holds_the_lease() -> None:
    async def main() -> None:
        api, clock = FakeAPI(), Clock()
        first, second = elector(api, "a", clock), elector(api, "b", clock)
        assert second.holder == ""
        await first.acquire()
        assert not await second.try_acquire_or_renew()
        assert (first.holder, second.holder) == ("a", "a")

    run_virtual(main())


async def robbed(duration: int) -> tuple[LeaderElector, asyncio.Future[None]]:
    """One who has led for five seconds, and whose lease has another's name in it now, for so long."""
    api = FakeAPI()
    one = elector(api, "a", Clock())
    await one.acquire()
    renewing = asyncio.ensure_future(one.renew())
    await asyncio.sleep(5)
    [lease] = api.items(LEASES)
    stolen = {**lease["spec"], "holderIdentity": "b", "leaseDurationSeconds": duration}
    await Client(api, "b").update(LEASES, {**lease, "spec": stolen})
    return one, renewing


def test_a_lease_that_another_one_took_ends_the_leadership_at_the_deadline() -> None:
    async def main() -> None:
        one, renewing = await robbed(duration=15)
        await asyncio.sleep(2)  # it has looked at 6
        assert (one.is_leader, one.holder, renewing.done()) == (False, "b", False)
        await renewing
        assert asyncio.get_running_loop().time() == pytest.approx(16)
        assert (one.is_leader, one.holder) == (False, "b")

    run_virtual(main())


def test_who_gets_its_lease_back_before_the_deadline_leads_on() -> None:
    async def main() -> None:
        one, renewing = await robbed(duration=7)
        await asyncio.sleep(60)
        assert not renewing.done()
        assert (one.is_leader, one.holder) == (True, "a")
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)

    run_virtual(main())


def test_who_waits_looks_every_two_seconds_and_up_to_two_point_four_later() -> None:
    async def main() -> list[float]:
        api, clock, times = FakeAPI(), Clock(), list[float]()
        await elector(api, "a", clock).acquire()
        await elector(api, "z", clock).try_acquire_or_renew()

        class Timed(FakeAPI):
            async def round_trip(self, request: Request) -> Response:
                times.append(asyncio.get_running_loop().time())
                return await api.round_trip(request)

        waiting = asyncio.ensure_future(elector(Timed(), "b", clock).acquire())
        await asyncio.sleep(14)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        return times

    times = run_virtual(main())
    pauses = [after - before for before, after in itertools.pairwise(times)]
    assert len(pauses) >= 3
    assert all(2.0 <= pause < 2.0 * (1 + 1.2) for pause in pauses)
    assert len(set(pauses)) == len(pauses)


def test_other_times_and_another_namespace() -> None:
    async def main() -> None:
        api, loop = Moody(), asyncio.get_running_loop()
        one = LeaderElector(
            Client(api, "a/1"), "lock", "a", clock=Clock(), namespace="ns", lease_duration=60.9, renew_deadline=30.0,
            retry_period=5.0,
        )  # fmt: skip
        await one.acquire()
        [lease] = api.items(LEASES)
        assert (lease["metadata"]["namespace"], lease["spec"]["leaseDurationSeconds"]) == ("ns", 60)
        renewing = asyncio.ensure_future(one.renew())
        await asyncio.sleep(6)
        api.mood = OSError("away")
        await renewing
        assert loop.time() == pytest.approx(40)
        api.mood = None
        assert await one.try_acquire_or_renew()
        assert await one.release()

    run_virtual(main())


def test_renewing_keeps_since_when_it_leads_and_giving_up_says_now() -> None:
    async def main() -> None:
        api, clock = FakeAPI(), Clock()
        one, two = elector(api, "a", clock), elector(api, "b", clock)
        await one.acquire()
        [first] = api.items(LEASES)
        await asyncio.sleep(3)
        await one.try_acquire_or_renew()
        [renewed] = api.items(LEASES)
        assert renewed["spec"]["acquireTime"] == first["spec"]["acquireTime"] < renewed["spec"]["renewTime"]
        await asyncio.sleep(3)
        assert await one.release()
        [free] = api.items(LEASES)
        assert free["spec"] == {
            "holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 0,
            "acquireTime": free["spec"]["renewTime"], "renewTime": free["spec"]["renewTime"],
        }  # fmt: skip
        assert free["spec"]["renewTime"] > renewed["spec"]["renewTime"]
        await asyncio.sleep(3)
        assert await two.try_acquire_or_renew()
        [taken] = api.items(LEASES)
        assert taken["spec"]["acquireTime"] == taken["spec"]["renewTime"] > free["spec"]["renewTime"]
        assert taken["spec"]["leaseTransitions"] == 1
        assert not await one.try_acquire_or_renew()

    run_virtual(main())


@pytest.mark.parametrize("spec", [{}, {"holderIdentity": "b"}, {"holderIdentity": "b", "leaseDurationSeconds": None}])
def test_a_lease_that_says_little_may_be_taken(spec: dict[str, str]) -> None:
    """Without a duration it has run out already. Upstream: `isLeaseValid`."""

    async def main() -> None:
        api = FakeAPI()
        body = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "lock"}, "spec": spec}
        await Client(api, "b").create(LEASES, body, "kube-system")
        assert await elector(api, "a", Clock()).try_acquire_or_renew()
        [lease] = api.items(LEASES)
        assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseTransitions"]) == ("a", 1)

    run_virtual(main())
