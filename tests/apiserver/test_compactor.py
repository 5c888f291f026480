"""What is older than five minutes is forgotten, once, however many API servers there are."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.storage.compactor import COMPACT_INTERVAL, COMPACT_REV_KEY, LOOKS, Compactor
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import CompactedError
from tests.apiserver.admission_server import Asker, config_map, play


async def page(asker: Asker, **query: str) -> tuple[int, Any]:
    answer = await asker.ask("GET", "/api/v1/namespaces/default/configmaps", **query)
    return answer.status, answer.obj


def test_a_continue_token_expires_within_ten_minutes_and_the_rest_can_be_had_all_the_same() -> None:
    async def scene(asker: Asker) -> list[Any]:
        for number in range(6):
            await asker.made(config_map(f"m{number}"))
        _, first = await page(asker, limit="2")
        token = first["metadata"]["continue"]
        await asker.made(config_map("later"))
        await asyncio.sleep(COMPACT_INTERVAL - 1)
        early = await page(asker, **{"limit": "2", "continue": token})
        await asyncio.sleep(COMPACT_INTERVAL + 2)
        late = await page(asker, **{"limit": "2", "continue": token})
        rest = await page(asker, **{"limit": "2", "continue": late[1]["metadata"]["continue"]})
        return [first, early, late, rest]

    first, early, late, rest = play(scene)
    assert early[0] == 200
    assert early[1]["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert (late[0], late[1]["reason"]) == (410, "Expired")
    assert late[1]["message"].startswith("The provided continue parameter is too old to display a consistent list")
    assert rest[0] == 200
    assert rest[1]["metadata"]["resourceVersion"] != first["metadata"]["resourceVersion"]
    assert [each["metadata"]["name"] for each in rest[1]["items"]] == ["m2", "m3"]
    assert rest[1]["metadata"]["remainingItemCount"] == 2


def test_a_store_of_ones_own_keeps_five_minutes_and_no_more_than_six() -> None:
    async def main() -> None:
        store = MemoryStore()
        compactor = Compactor(store)
        compactor.start()
        revisions = []
        for _ in range(20 * 60):
            revisions.append(await store.put("/a", b"1"))
            await asyncio.sleep(1)
        await store.range("/a", "/b", revision=revisions[-299])
        with pytest.raises(CompactedError):
            await store.range("/a", "/b", revision=revisions[-362])
        await compactor.stop()

    run_virtual(main())


class SharedStore(MemoryStore):
    """As an etcd is: others write to it."""

    remote = True

    def __init__(self) -> None:
        super().__init__()
        self.compactions: list[int] = []

    async def compact(self, revision: int) -> None:
        self.compactions.append(revision)
        await super().compact(revision)


def test_of_two_servers_one_compacts_and_when_it_is_gone_the_other() -> None:
    async def main() -> None:
        store = SharedStore()
        first, second = Compactor(store), Compactor(store)
        first.start()
        await asyncio.sleep(1)
        second.start()
        await asyncio.sleep(COMPACT_INTERVAL)
        assert store.compactions == []  # both have only looked
        key = await store.get(COMPACT_REV_KEY)
        assert key is not None
        assert (key.value, key.version) == (b"0", 1)
        looked = store.revision
        await store.put("/a", b"1")
        await asyncio.sleep(COMPACT_INTERVAL)
        assert store.compactions == [looked]
        await first.stop()
        await asyncio.sleep(2 * COMPACT_INTERVAL)
        assert len(store.compactions) == 2
        await second.stop()
        await store.close()

    run_virtual(main())


def test_a_store_of_ones_own_gets_no_key_and_one_that_has_compacted_further_is_left_alone() -> None:
    async def main() -> None:
        store = MemoryStore()
        compactor = Compactor(store)
        await store.put("/a", b"1")
        for _ in range(LOOKS):
            await compactor.compact()
        assert await store.get(COMPACT_REV_KEY) is None
        await store.put("/a", b"2")
        await store.compact(store.revision)
        with pytest.raises(CompactedError):
            await compactor.compact()
        compactor.start()
        await asyncio.sleep(3 * COMPACT_INTERVAL)  # it goes on
        await store.put("/a", b"3")
        before = store.revision
        await asyncio.sleep(2 * COMPACT_INTERVAL)
        with pytest.raises(CompactedError):
            await store.get("/a", before - 1)
        await compactor.stop()
        await store.close()

    run_virtual(main())
