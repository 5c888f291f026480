"""Tests that start over a furnished store find what a first start would have written, and nothing is left to be written."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import Store
from tests.furnished import restored

OWN = ("uid", "creationTimestamp", "managedFields")


def started(restore: Callable[[Store], Awaitable[None]] | None = None) -> tuple[dict[str, Object], int]:
    """What lies in the store, but for times and uids, and how many revisions it took."""

    async def play() -> tuple[dict[str, Object], int]:
        store = MemoryStore()
        server = create_server_chain(store)
        await server.start(restore)
        found = {kv.key: fast_json.loads(kv.value) for kv in (await store.range("/", "0")).kvs if kv.value[:1] == b"{"}
        await server.stop()
        return found, store.revision

    found, revision = asyncio.run(play())
    for obj in found.values():
        for key in OWN:
            obj["metadata"].pop(key, None)
        for condition in (obj.get("status") or {}).get("conditions") or ():
            condition.pop("lastTransitionTime", None)
    return found, revision


def before_the_start() -> list[str]:
    async def play() -> list[str]:
        store = MemoryStore()
        await restored(store)
        return [kv.key for kv in (await store.range("/", "0")).kvs]

    return asyncio.run(play())


def test_it_is_what_a_first_start_writes() -> None:
    first, _ = started()
    again, revision = started(restored)
    assert again == first
    assert set(before_the_start()) == set(first)
    assert len(first) > 150
    assert revision == 1 + len(first), "each was put there once, and not written again"
