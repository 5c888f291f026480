"""The storage under faults: in memory, in a file, in a real etcd; by itself and under API servers."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from lifecycle.api.http.wire import MASTERS, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.version import user_agent
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Client
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import Store
from tests.etcd.real_etcd import RealEtcd
from tests.linearizability import members
from tests.linearizability.operations import History
from tests.linearizability.subjects import ServerSubject, StoreSubject, Subject
from tests.linearizability.weather import Weather
from tests.linearizability.workload import Workload

ADMIN = UserInfo("admin", (MASTERS, "system:authenticated"))
Wrap = Callable[[Store], Store]


def unchanged(store: Store) -> Store:
    """No sabotage."""
    return store


@contextlib.asynccontextmanager
async def api_servers(stores: Sequence[Store], seed: int) -> AsyncIterator[list[Subject]]:
    """One over each store; who leaves, stops them and their stores."""
    async with contextlib.AsyncExitStack() as stack:
        subjects: list[Subject] = []
        for number, store in enumerate(stores):
            server = create_server_chain(store, clock=Clock(), names=NameSource(seed + number))
            stack.push_async_callback(server.stop)
            await server.start()
            subjects.append(ServerSubject(Client(server.in_process_transport(ADMIN), user_agent("lifecycle"))))
        yield subjects


async def on_store(store: Store, seed: int, wrap: Wrap = unchanged, **workload: int) -> History:
    """Any store of this process, by itself, on virtual time. It is closed at the end."""
    try:
        return await Workload(seed, **workload).play([StoreSubject(wrap(Weather(store, seed)))])
    finally:
        await store.close()


async def under_server(store: Store, seed: int, wrap: Wrap = unchanged, **workload: int) -> History:
    """The same store under an API server. The weather becomes bad when that has started."""
    weather = Weather(store, seed, lost=0.0)
    async with api_servers([wrap(weather)], seed) as subjects:
        weather.lost = 0.08
        try:
            return await Workload(seed, **workload).play(subjects)
        finally:
            weather.lost = 0.0


async def through_reopening(path: Path, seed: int, **workload: int) -> History:
    """A file that is closed in the middle of everything and opened again, several times: what was acknowledged is in it."""
    history = History()
    for times in range(3):
        store = SQLiteStore(path)
        one = Workload(seed + times, **workload)
        try:
            await one.play([StoreSubject(Weather(store, seed + times))], history)
        finally:
            await store.close()
    return history


async def on_etcd(
    etcds: list[RealEtcd],
    seed: int,
    *,
    servers: bool,
    count: int,
    **workload: int,
) -> tuple[History, Counter[str]]:
    """`count` clients of a real etcd, or as many API servers over it, in a storm. And how often what went wrong."""
    async with contextlib.AsyncExitStack() as stack:
        opened = await stack.enter_async_context(members.stores(etcds, count, seed))
        stores = [store for store, _ in opened]
        subjects: list[Subject] = [StoreSubject(store) for store in stores]
        if servers:
            subjects = await stack.enter_async_context(api_servers(stores, seed))
        work = Workload(seed, patience=3.0, pause=0.02, **workload)
        async with members.Storm(etcds, [proxy for _, proxy in opened], seed) as storm:
            history = await work.play(subjects)
        return history, storm.faults


async def near_and_far(etcds: list[RealEtcd], seed: int, latency: float, wrap: Wrap = unchanged) -> History:
    """Two API servers over a real etcd in good weather. What one writes, the other hears of `latency` seconds later or more."""
    async with contextlib.AsyncExitStack() as stack:
        opened = await stack.enter_async_context(members.stores(etcds, 2, seed))
        subjects = await stack.enter_async_context(api_servers([wrap(store) for store, _ in opened], seed))
        opened[-1][1].latency = latency
        return await Workload(seed, pause=0.02, operations=12).play(subjects)
