"""A real etcd of one or several members, in which members die, stand still and lose their connections while clients ask."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lifecycle.etcd.etcd import EtcdStore
from lifecycle.etcd.store import Store
from tests.etcd.real_etcd import RealEtcd
from tests.linearizability.dropping_proxy import DroppingProxy
from tests.loopback import free_ports

SHARE = 0.004
"""Of all pieces that pass, these are the last on their connection."""


@contextlib.contextmanager
def members(directory: Path, count: int) -> Iterator[list[RealEtcd]]:
    """Running, and one cluster. Nobody waits for the disk: only processes die here, not the machine."""
    peers = free_ports(count)
    etcds = [RealEtcd(directory, "--unsafe-no-fsync", number=number, peers=peers) for number in range(count)]
    try:
        for etcd in etcds:
            etcd.launch()
        for etcd in etcds:
            etcd.wait()
        yield etcds
    finally:
        for etcd in etcds:
            etcd.kill()


@contextlib.asynccontextmanager
async def stores(etcds: list[RealEtcd], count: int, seed: int) -> AsyncIterator[list[tuple[Store, DroppingProxy]]]:
    """`count` stores over the members in turn, each behind a proxy of its own that drops nothing yet."""
    async with contextlib.AsyncExitStack() as stack:
        opened: list[tuple[Store, DroppingProxy]] = []
        for number in range(count):
            proxy = DroppingProxy(etcds[number % len(etcds)].url, 0.0, seed + number)
            await stack.enter_async_context(proxy)
            store = await EtcdStore.open(proxy.url)
            stack.push_async_callback(store.close)
            opened.append((store, proxy))
        yield opened


@dataclass
class Storm:
    """`async with`: faults follow each other until the block ends; then every member runs again."""

    etcds: list[RealEtcd]
    proxies: list[DroppingProxy]
    seed: int
    faults: Counter[str] = field(default_factory=Counter)

    async def __aenter__(self) -> Storm:
        for proxy in self.proxies:
            proxy.share = SHARE
        self._task = asyncio.create_task(self._rage(), name="storm")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        for etcd in self.etcds:
            await asyncio.to_thread(etcd.wait)
        for proxy in self.proxies:
            proxy.share = 0.0
            self.faults["connection dropped"] += proxy.dropped

    async def _rage(self) -> None:
        rng = random.Random(self.seed)
        while True:
            await asyncio.sleep(rng.uniform(0.2, 0.6))
            etcd = rng.choice(self.etcds)
            kind = rng.choice(("killed", "paused", "cut"))
            self.faults[kind] += 1
            lasts = rng.uniform(0.1, 0.8)
            if kind == "cut":
                for proxy in self.proxies:
                    proxy.cut()
            elif kind == "paused":
                etcd.pause()
                try:
                    await asyncio.sleep(lasts)
                finally:
                    etcd.resume()
            else:
                etcd.kill()
                try:
                    await asyncio.sleep(lasts)
                finally:
                    etcd.launch()
                await asyncio.to_thread(etcd.wait)
