"""Electors whom the server refuses, does not answer, or whose lease somebody else has: what they ask, and what they believe."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.agreements.own_server import own_server
from lifecycle.api.http.wire import Request
from lifecycle.api.loop.clock import Clock
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, conflict, failure
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client, Transport
from lifecycle.cluster.rehearsal import on_virtual_time
from tests.asked_first import AskedFirst

LEASES = resource("leases.coordination.k8s.io")
REFUSALS = [failure(503, "ServiceUnavailable", "later"), conflict("leases", "lock"), OSError("away"), ConnectionError()]


class _Door:
    """Notes what is asked, and refuses the methods in `shut` with `why`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.shut: frozenset[str] = frozenset()
        self.why: Exception = OSError("away")

    async def first(self, request: Request) -> None:
        self.asked.append(request.method)
        if request.method in self.shut:
            raise self.why


def _elector(transport: Transport, name: str) -> LeaderElector:
    return LeaderElector(Client(transport, name), "lock", name, clock=Clock())


@pytest.mark.parametrize("why", REFUSALS, ids=repr)
def test_nobody_leads_who_could_not_write_it_down(why: Exception) -> None:
    async def main() -> None:
        async with own_server() as server:
            door = _Door()
            one = _elector(AskedFirst(server, door.first), "a")
            door.shut, door.why = frozenset({"POST"}), why
            waiting = asyncio.ensure_future(one.acquire())
            await asyncio.sleep(60)
            assert not waiting.done()
            assert not one.is_leader
            door.shut = frozenset()
            await asyncio.sleep(10)
            assert waiting.done()
            assert one.is_leader

    on_virtual_time(main())


@pytest.mark.parametrize("why", REFUSALS, ids=repr)
def test_who_cannot_renew_steps_down_at_the_deadline(why: Exception) -> None:
    """Ten seconds, from the first renewal that failed."""

    async def main() -> tuple[float, bool]:
        async with own_server() as server:
            door, now = _Door(), asyncio.get_running_loop().time
            one = _elector(AskedFirst(server, door.first), "a")
            await one.acquire()
            renewing = asyncio.ensure_future(one.renew())
            await asyncio.sleep(5)  # renewed at 0, 2 and 4
            shut_at = now()
            door.shut, door.why = frozenset({"PUT"}), why
            await asyncio.wait([renewing], timeout=60)
            return now() - shut_at, one.is_leader

    took, leads = on_virtual_time(main())
    assert took == pytest.approx(11, abs=0.1)
    assert not leads


@pytest.mark.parametrize("why", REFUSALS, ids=repr)
def test_a_renewal_that_fails_is_tried_again_after_a_look(why: Exception) -> None:
    """Whatever was wrong with the write (upstream: "Failed to update lease optimistically, falling back to slow path")."""

    async def main() -> tuple[list[str], list[str]]:
        async with own_server() as server:
            door = _Door()
            one = _elector(AskedFirst(server, door.first), "a")
            await one.acquire()
            door.asked.clear()
            await asyncio.sleep(2)
            assert await one.try_acquire_or_renew()
            well, door.asked = door.asked, []
            await asyncio.sleep(2)
            door.shut, door.why = frozenset({"PUT"}), why
            assert not await one.try_acquire_or_renew()
            return well, door.asked

    well, refused = on_virtual_time(main())
    assert well == ["PUT"]
    assert refused == ["PUT", "GET", "PUT"]


@pytest.mark.parametrize(
    ("holder", "duration", "waited", "taken"),
    [
        ("b", 15, 14, False),
        ("b", 15, 15, True),  # to the second: it lasts until then, and not a moment longer
        ("b", 15, 16, True),
        ("b", 60, 16, False),  # as long as its holder said
        ("b", 2, 3, True),
        ("", 60, 0, True),  # given up
        ("a", 60, 0, True),  # our own, from an earlier life
    ],
)
def test_a_lease_is_anothers_for_as_long_as_that_one_said(holder: str, duration: int, waited: int, taken: bool) -> None:
    """Counted from when it was last seen to change, and not from when it was last looked at."""

    async def main() -> tuple[bool, int]:
        async with own_server() as server:
            now = Clock().micro_timestamp()
            spec = {"holderIdentity": holder, "leaseDurationSeconds": duration, "leaseTransitions": 4}
            spec |= {"acquireTime": now, "renewTime": now}
            body = {"kind": "Lease", "apiVersion": "coordination.k8s.io/v1", "metadata": {"name": "lock"}, "spec": spec}
            admin = Client(server, "admin")
            await admin.create(LEASES, body, "kube-system")
            one = _elector(server, "a")
            leads = await one.try_acquire_or_renew()
            for _ in range(waited):
                await asyncio.sleep(1)
                leads = await one.try_acquire_or_renew()
            lease = await admin.get(LEASES, "lock", "kube-system")
            return leads, lease["spec"]["leaseTransitions"]

    assert on_virtual_time(main()) == (taken, 5 if taken and holder != "a" else 4)


def test_who_is_robbed_asks_and_knows() -> None:
    async def main() -> bool:
        async with own_server() as server:
            one, admin = _elector(server, "a"), Client(server, "admin")
            await one.acquire()
            renewing = asyncio.ensure_future(one.renew())
            await asyncio.sleep(1)
            lease = await admin.get(LEASES, "lock", "kube-system")
            stolen = lease["spec"] | {"holderIdentity": "b", "leaseDurationSeconds": 60}
            await admin.update(LEASES, {**lease, "spec": stolen})
            await asyncio.wait([renewing], timeout=60)
            assert renewing.done()
            return one.is_leader

    assert on_virtual_time(main()) is False


def test_a_refusal_is_kept_as_the_problem() -> None:
    async def main() -> str:
        async with own_server() as server:
            door = _Door()
            one = _elector(AskedFirst(server, door.first), "a")
            door.shut, door.why = frozenset({"GET"}), StatusError(failure(503, "ServiceUnavailable", "later").status)
            assert not await one.try_acquire_or_renew()
            return one.problem

    assert "later" in on_virtual_time(main())
