"""Conditional writes: compare and swap, alone and in a race."""

from __future__ import annotations

import asyncio

from lifecycle.etcd.conformance.check import check, write
from lifecycle.etcd.store import Store


@check
async def a_write_happens_only_if_its_condition_holds(
    store: Store, prefix: str
) -> None:
    """`expected` 0: absent; a number: that mod_revision; a refused write changes
    nothing.
    """
    key = prefix + "a"
    first = await store.put(key, b"1", expected=0)
    assert first is not None
    assert await store.put(key, b"x", expected=0) is None, "created twice"
    assert await store.put(key, b"x", expected=first + 1) is None
    second = await store.put(key, b"2", expected=first)
    assert second == first + 1
    assert await store.put(key, b"x", expected=first) is None, "an old condition held"
    assert store.revision == second, "a refused write made a revision"
    assert await store.delete(key, expected=first) is None
    assert await store.delete(key, expected=second) == second + 1
    assert await store.delete(key, expected=second) is None, "deleted twice"
    assert await store.delete(key) is None
    assert await store.put(key, b"x", expected=second) is None, (
        "wrote over a key that is gone"
    )
    assert store.revision == second + 1


@check
async def one_of_many_racing_writers_wins(store: Store, prefix: str) -> None:
    """Compare and swap is one step, whoever else is under way; whoever lost can see at
    once what beat him.
    """
    key = prefix + "a"
    first = await write(store, key, b"0")

    async def attempt(number: int) -> int | None:
        revision = await store.put(key, b"%d" % number, expected=first)
        assert store.revision > first, (
            "a loser came back before the winner's write could be seen"
        )
        return revision

    won = [
        revision
        for revision in await asyncio.gather(*(attempt(n) for n in range(20)))
        if revision is not None
    ]
    assert won == [first + 1]
    kv = await store.get(key)
    assert kv is not None
    assert (kv.mod_revision, kv.version) == (first + 1, 2)


@check
async def concurrent_counters_lose_no_step(store: Store, prefix: str) -> None:
    """Eight tasks count up one key by read, compare and swap, retry."""
    key = prefix + "counter"
    await write(store, key, b"0")

    async def count() -> None:
        done = 0
        while done < 5:
            kv = await store.get(key)
            assert kv is not None
            done += (
                await store.put(
                    key, b"%d" % (int(kv.value) + 1), expected=kv.mod_revision
                )
                is not None
            )

    await asyncio.gather(*(count() for _ in range(8)))
    kv = await store.get(key)
    assert kv is not None
    assert (kv.value, kv.version) == (b"40", 41)
