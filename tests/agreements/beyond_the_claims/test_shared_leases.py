"""What is to be gone after a while is written with a lease that it shares with others."""

from __future__ import annotations

import asyncio

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd.lease_manager import LeaseManager
from lifecycle.etcd.memory import MemoryStore


async def _leases() -> list[int]:
    """The leases, numbered as they are granted, of events that live for an hour: four
    within a minute, where no more than three may share one; two more that share with the
    fourth, and one that may not; one two minutes later; and one that is to live longer.
    """
    granted: list[int] = []

    class Lessor(MemoryStore):
        async def grant(self, ttl: int) -> int:
            """See `Store`."""
            granted.append(await super().grant(ttl))
            return granted[-1]

    hour, manager, given = 3600, LeaseManager(Lessor(), max_attached=3), []
    for pause, ttl in (
        *[(0, hour), (20, hour), (20, hour), (0, hour)],
        *[(0, hour), (0, hour), (0, hour)],
        *[(120, hour), (0, 2 * hour)],
    ):
        await asyncio.sleep(pause)
        given.append(await manager.get_lease(ttl))
    return [granted.index(lease) + 1 for lease in given]


def test_events_share_leases_as_long_as_few_do_and_they_end_at_about_the_same_time() -> None:
    assert on_virtual_time(_leases()) == [1, 1, 1, 2, 2, 2, 3, 4, 5]


def test_who_shares_a_lease_lives_as_long_as_was_wished_and_hardly_longer() -> None:
    """One is written at once, the other fifty seconds later with the same lease: its hour is not over before it is."""

    async def main() -> list[list[str]]:
        store, left = MemoryStore(), list[list[str]]()
        manager, loop = LeaseManager(store), asyncio.get_running_loop()
        begin = loop.time()
        for at, key in ((0, "/early"), (50, "/late")):
            await asyncio.sleep(begin + at - loop.time())
            await store.put(key, b"", lease=await manager.get_lease(3600))
        for at in (3599, 3649, 3680):
            await asyncio.sleep(begin + at - loop.time())
            left.append([kv.key for kv in (await store.range("/", "0")).kvs])
        return left

    assert on_virtual_time(main()) == [["/early", "/late"], ["/early", "/late"], []]


def test_an_event_is_gone_after_an_hour_and_a_config_map_is_not() -> None:
    async def scene(server: GenericAPIServer, client: Client) -> list[tuple[int, int]]:
        about = {"kind": "Pod", "namespace": "default", "name": "p"}
        event = {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}, "involvedObject": about}
        await client.create(resource("events"), event, "default")
        await client.create(
            resource("configmaps"), {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "m"}}, "default"
        )
        counted = []
        for seconds in (3500, 300):
            await asyncio.sleep(seconds)
            lists = [await client.list(resource(plural), "default") for plural in ("events", "configmaps")]
            counted.append(tuple(len(each["items"]) for each in lists))
        return counted

    assert on_a_server(scene) == [(1, 1), (0, 1)]
