"""Ranges: order, pages, the past."""

from __future__ import annotations

import asyncio

from lifecycle.etcd.conformance.check import check, refusal, write
from lifecycle.etcd.store import CompactedError, FutureRevisionError, Store, prefix_end


@check
async def a_range_is_ordered_and_ends_before_its_end(store: Store, prefix: str) -> None:
    """Keys in byte order; neighbours with a common beginning stay out."""
    names = ["a/2", "a/1", "b/1", "ab/1", "a", "a/10"]
    for name in names:
        await write(store, prefix + name, name.encode())
    page = await store.range(prefix, prefix_end(prefix))
    assert [kv.key for kv in page.kvs] == sorted(prefix + name for name in names)
    assert page.revision == store.revision
    within = await store.range(prefix + "a/", prefix_end(prefix + "a/"))
    assert [kv.value for kv in within.kvs] == [b"a/1", b"a/10", b"a/2"]
    nothing = await store.range(prefix + "z/", prefix_end(prefix + "z/"))
    assert (nothing.kvs, nothing.count, nothing.more) == ([], 0, False)


@check
async def pages_count_what_they_leave_out(store: Store, prefix: str) -> None:
    """`limit`, `count` and `more`, now and at a revision."""
    for i in range(10):
        await write(store, f"{prefix}{i}", b"")
    page = await store.range(prefix, prefix_end(prefix), limit=3)
    assert ([kv.key[-1] for kv in page.kvs], page.count, page.more) == (
        ["0", "1", "2"],
        10,
        True,
    )
    past = await store.range(
        prefix, prefix_end(prefix), limit=3, revision=page.revision - 6
    )
    assert ([kv.key[-1] for kv in past.kvs], past.count, past.more) == (
        ["0", "1", "2"],
        4,
        True,
    )
    rest = await store.range(page.kvs[-1].key + "\0", prefix_end(prefix), limit=7)
    assert (len(rest.kvs), rest.count, rest.more) == (7, 7, False)


@check
async def pages_of_one_reading_are_one_picture(store: Store, prefix: str) -> None:
    """Later pages read at the first one's revision miss and repeat nothing, whatever is
    written meanwhile; until compaction.
    """
    for i in range(6):
        await write(store, f"{prefix}{i}", b"old")
    end = prefix_end(prefix)
    first = await store.range(prefix, end, limit=2)
    at = first.revision
    await store.delete(prefix + "0")
    await store.delete(prefix + "3")
    await write(store, prefix + "1a", b"new")
    await write(store, prefix + "4", b"new")
    second = await store.range(first.kvs[-1].key + "\0", end, revision=at, limit=2)
    third = await store.range(second.kvs[-1].key + "\0", end, revision=at, limit=2)
    pages = [
        [(kv.key[-1], kv.value) for kv in page.kvs] for page in (first, second, third)
    ]
    assert pages == [[(str(n), b"old"), (str(n + 1), b"old")] for n in (0, 2, 4)]
    assert [(page.count, page.more) for page in (first, second, third)] == [
        (6, True),
        (4, True),
        (2, False),
    ]
    assert second.revision == store.revision
    await store.compact(store.revision)
    again = store.range(second.kvs[-1].key + "\0", end, revision=at, limit=2)
    assert (await refusal(again, CompactedError)).compact_revision == store.revision


@check
async def ranges_may_be_empty_or_a_single_key(store: Store, prefix: str) -> None:
    """The key after a key is that key and a zero byte; a limit of exactly what there is
    leaves nothing out.
    """
    for name in ("a", "a\0", "ab", "b"):
        await write(store, prefix + name, b"")
    for start, end, count in (("a", "a\0", 1), ("a", "a", 0), ("c", "d", 0)):
        page = await store.range(prefix + start, prefix + end, limit=2)
        assert (len(page.kvs), page.count, page.more) == (count, count, False)
    for limit, more in ((3, True), (4, False), (5, False)):
        page = await store.range(prefix, prefix_end(prefix), limit=limit)
        assert (len(page.kvs), page.count, page.more) == (min(limit, 4), 4, more)


@check
async def the_past_stays_as_it_was(store: Store, prefix: str) -> None:
    """Every revision since the start can be read again, ranges and single keys,
    deletions included.
    """
    states: dict[int, dict[str, bytes]] = {}
    state: dict[str, bytes] = {}
    for step in range(12):
        key = f"{prefix}{step % 4}"
        if step % 5 == 4 and key in state:
            revision = await store.delete(key)
            del state[key]
        else:
            revision = await store.put(key, b"%d" % step)
            state[key] = b"%d" % step
        assert revision is not None
        states[revision] = dict(state)
    for revision, then in states.items():
        page = await store.range(prefix, prefix_end(prefix), revision=revision)
        assert {kv.key: kv.value for kv in page.kvs} == then, f"at {revision}"
        for number in range(4):
            kv = await store.get(f"{prefix}{number}", revision)
            assert (kv.value if kv else None) == then.get(f"{prefix}{number}"), (
                f"{number} at {revision}"
            )


@check
async def the_future_cannot_be_read(store: Store, prefix: str) -> None:
    """FutureRevisionError says how far it goes."""
    future = store.revision + 100
    for refused in (
        await refusal(store.get(prefix + "a", future), FutureRevisionError),
        await refusal(
            store.range(prefix, prefix_end(prefix), revision=future),
            FutureRevisionError,
        ),
        await refusal(store.compact(future), FutureRevisionError),
    ):
        assert refused.current == store.revision


@check
async def many_keys_come_back_whole(store: Store, prefix: str) -> None:
    """1,500 keys written by 50 tasks; a range of several megabytes."""
    gate = asyncio.Semaphore(50)

    async def write_one(number: int) -> int:
        async with gate:
            return await write(store, f"{prefix}{number:05}", b"%05d" % number * 800)

    base = store.revision
    revisions = await asyncio.gather(*(write_one(n) for n in range(1_500)))
    assert sorted(revisions) == list(range(base + 1, base + 1_501)), (
        "revisions are not counted one by one"
    )
    page = await store.range(prefix, prefix_end(prefix))
    assert [kv.value[:5] for kv in page.kvs] == [b"%05d" % n for n in range(1_500)]
    assert (page.count, page.more, len(page.kvs[7].value)) == (1_500, False, 4_000)
