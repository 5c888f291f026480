"""Shared leases, and another root for the keys."""

from __future__ import annotations

import asyncio

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd.lease_manager import LeaseManager
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.prefixed import PrefixedStore


def test_one_lease_serves_for_a_minute_and_lasts_long_enough_for_all() -> None:
    async def main() -> None:
        store = MemoryStore()
        manager = LeaseManager(store)
        first = await manager.get_lease(3600)
        await store.put("/e/0", b"", lease=first)
        await asyncio.sleep(59)
        assert await manager.get_lease(3600) == first
        await store.put("/e/59", b"", lease=first)
        await asyncio.sleep(2)
        assert await manager.get_lease(3600) != first
        await asyncio.sleep(3597)  # the last of them has had its hour, all but a second or two
        assert (await store.range("/e/", "/e0")).count == 2
        await asyncio.sleep(60)
        assert (await store.range("/e/", "/e0")).count == 0

    run_virtual(main())


def test_a_lease_takes_no_more_than_so_many_keys() -> None:
    async def main() -> None:
        manager = LeaseManager(MemoryStore(), max_attached=3)
        leases = [await manager.get_lease(3600) for _ in range(7)]
        assert [leases.count(each) for each in sorted(set(leases))] == [3, 3, 1]

    run_virtual(main())


def test_another_root_is_seen_by_nobody_above_it() -> None:
    async def main() -> None:
        inner = MemoryStore()
        store = PrefixedStore(inner, "/book")
        watch = store.watch("/registry/", "/registry0")
        await store.put("/registry/pods/default/a", b"1", expected=0)
        await inner.put("/registry/pods/default/b", b"2")
        assert [kv.key for kv in (await store.range("/registry/", "/registry0")).kvs] == ["/registry/pods/default/a"]
        assert [kv.key for kv in (await inner.range("/book/", "/book0")).kvs] == ["/book/pods/default/a"]
        assert [event.kv.key for event in watch.take()] == ["/registry/pods/default/a"]
        await watch.close()

    run_virtual(main())
