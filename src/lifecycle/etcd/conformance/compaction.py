"""Compaction: what it forgets, and whom it refuses."""

from __future__ import annotations

from lifecycle.etcd.conformance.check import check, flat, next_events, refusal, write
from lifecycle.etcd.store import CompactedError, KeyValue, Store, prefix_end


@check
async def compaction_forgets_the_past_and_nothing_else(
    store: Store, prefix: str
) -> None:
    """Before the line: CompactedError, which names the line. The state at the line, and
    all after it, stays.
    """
    base = store.revision
    for i in range(6):
        await write(store, f"{prefix}{i % 2}", b"%d" % i)
    await store.delete(prefix + "0")  # base + 7
    await write(store, prefix + "1", b"last")
    line = base + 4
    await store.compact(line)
    for refused in (
        await refusal(store.get(prefix + "0", line - 1), CompactedError),
        await refusal(
            store.range(prefix, prefix_end(prefix), revision=line - 1), CompactedError
        ),
        await refusal(store.compact(line), CompactedError),
    ):
        assert refused.compact_revision == line
    page = await store.range(prefix, prefix_end(prefix), revision=line)
    assert [kv.value for kv in page.kvs] == [b"2", b"3"]
    watch = store.watch(prefix, prefix_end(prefix), revision=line + 1)
    assert [flat(event)[2:] for event in await next_events(watch, 4)] == [
        (b"4", base + 5, b"2"),
        (b"5", base + 6, b"3"),
        (b"", base + 7, b"4"),
        (b"last", base + 8, b"5"),
    ]
    await watch.close()
    await store.compact(store.revision)
    assert [kv.value for kv in (await store.range(prefix, prefix_end(prefix))).kvs] == [
        b"last"
    ]
    kv = await store.get(prefix + "1")
    assert kv is not None
    assert (kv.create_revision, kv.version) == (base + 2, 4)


@check
async def a_watch_from_before_the_compaction_fails(store: Store, prefix: str) -> None:
    """CompactedError out of the iteration; watches that are open already go on."""
    base = store.revision
    for i in range(5):
        await write(store, prefix + "a", b"%d" % i)
    follower = store.watch(prefix, prefix_end(prefix), revision=base + 1)
    assert len(await next_events(follower, 5)) == 5
    await store.compact(base + 4)
    late = store.watch(prefix, prefix_end(prefix), revision=base + 2)
    assert (
        await refusal(next_events(late, 1), CompactedError)
    ).compact_revision == base + 4
    await late.close()
    await write(store, prefix + "a", b"5")
    assert [event.kv.value for event in await next_events(follower, 1)] == [b"5"]
    await follower.close()


@check
async def what_was_deleted_before_the_line_is_gone_and_begins_anew(
    store: Store, prefix: str
) -> None:
    """A key made again after its deletion has a new creation and version 1, and only
    that life is left after compaction.
    """
    base = store.revision
    await write(store, prefix + "a", b"1")
    assert await store.delete(prefix + "a") == base + 2
    assert await store.delete(prefix + "a") is None
    assert await store.put(prefix + "a", b"2", expected=base + 1) is None, (
        "the first life's revision still counts"
    )
    assert await store.put(prefix + "a", b"2", expected=base + 2) is None, (
        "a deletion is no state to build on"
    )
    assert await store.put(prefix + "a", b"2", expected=0) == base + 3
    await store.compact(base + 2)
    assert await store.get(prefix + "a", base + 2) is None
    assert await store.get(prefix + "a", base + 3) == KeyValue(
        prefix + "a", b"2", base + 3, base + 3, 1
    )
