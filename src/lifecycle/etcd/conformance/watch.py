"""Watches: every change once, in order, without a gap."""

from __future__ import annotations

import asyncio

from lifecycle.etcd.conformance.check import check, flat, next_events, write
from lifecycle.etcd.store import Event, Store, prefix_end


@check
async def a_watch_tells_each_change_once_in_order(store: Store, prefix: str) -> None:
    """With the value before; only keys in range; nothing from before it began."""
    await write(store, prefix + "in/a", b"0")
    watch = store.watch(prefix + "in/", prefix_end(prefix + "in/"))
    base = store.revision
    await write(store, prefix + "in/a", b"1")
    await write(store, prefix + "in-between", b"other")
    await write(store, prefix + "in/b", b"2")
    await store.delete(prefix + "in/a")
    assert [flat(event) for event in await next_events(watch, 3)] == [
        ("PUT", prefix + "in/a", b"1", base + 1, b"0"),
        ("PUT", prefix + "in/b", b"2", base + 3, None),
        ("DELETE", prefix + "in/a", b"", base + 4, b"1"),
    ]
    await watch.close()


@check
async def a_watch_from_the_past_has_no_gap(store: Store, prefix: str) -> None:
    """From any revision: what was, then what comes, no event twice or missing, also
    where both meet under load.
    """
    base = store.revision
    for i in range(20):
        await write(store, prefix + f"{i % 3}", b"%d" % i)
    watches = {
        first: store.watch(prefix, prefix_end(prefix), revision=first)
        for first in range(base + 1, base + 22)
    }

    async def more(number: int) -> None:
        for i in range(5):
            await write(store, f"{prefix}w{number}", b"%d" % i)

    await asyncio.gather(*(more(n) for n in range(4)))
    for first, watch in watches.items():
        seen = [
            event.kv.mod_revision
            for event in await next_events(watch, base + 41 - first)
        ]
        assert seen == list(range(first, base + 41)), f"from {first}"
        await watch.close()


@check
async def a_watch_of_the_future_begins_there(store: Store, prefix: str) -> None:
    """What happens before its first revision is not told."""
    base = store.revision
    watch = store.watch(prefix, prefix_end(prefix), revision=base + 3)
    for i in range(4):
        await write(store, prefix + "a", b"%d" % i)
    assert [event.kv.mod_revision for event in await next_events(watch, 2)] == [
        base + 3,
        base + 4,
    ]
    await watch.close()


@check
async def a_write_is_in_the_watches_when_it_returns(store: Store, prefix: str) -> None:
    """`take()` hands over without waiting what was acknowledged to a writer of this
    store, and `revision` is there too.
    """
    watch = store.watch(prefix, prefix_end(prefix))
    for i in range(5):
        revision = await write(store, prefix + "a", b"%d" % i)
        assert store.revision == revision
        assert [event.kv.value for event in watch.take()] == [b"%d" % i]
    assert watch.take() == []
    await store.catch_up()
    assert store.revision == revision
    await watch.close()


@check
async def an_ended_watch_is_over(store: Store, prefix: str) -> None:
    """Closed by its reader, it tells no more; closing the store ends those who wait,
    after what had arrived.
    """
    closed, waiting, unread = (
        store.watch(prefix, prefix_end(prefix)) for _ in range(3)
    )
    await closed.close()
    await write(store, prefix + "a", b"")
    assert closed.take() == []
    assert [batch async for batch in closed] == []
    assert len(await next_events(waiting, 1)) == 1

    async def read_on() -> list[list[Event]]:
        return [batch async for batch in waiting]

    reader = asyncio.create_task(read_on())
    await asyncio.sleep(0)
    await store.close()
    assert await reader == []
    assert [len(batch) async for batch in unread] == [1]
