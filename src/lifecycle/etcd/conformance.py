"""What every store must do, as checks that anybody can run on his own.

Each check is a coroutine function that takes a way to open a store, and raises
AssertionError with what went wrong. A store need not be empty: a check writes below a
prefix of its own and counts revisions from where it finds them. Nobody else may write
meanwhile.

```python
from lifecycle.etcd.conformance import CHECKS, run_check


async def my_store() -> Store: ...


for name in CHECKS:
    asyncio.run(run_check(name, my_store))
```

The contract itself is `etcd.store`. Upstream:
`apiserver/pkg/storage/testing/store_tests.go` and `watcher_tests.go` play this role for
the implementations of `storage.Interface`, v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from lifecycle.etcd.store import (
    MAX_REQUEST_BYTES,
    CompactedError,
    Event,
    FutureRevisionError,
    KeyValue,
    LeaseNotFoundError,
    RequestTooLargeError,
    Store,
    Watch,
    prefix_end,
)

E = TypeVar("E", bound=Exception)
StoreFactory = Callable[[], Awaitable[Store]]
Check = Callable[[Store, str], Awaitable[None]]

CHECKS: dict[str, Check] = {}
"""All checks, by name. A check gets an open store and a prefix that is its own."""

PATIENCE = 10.0
"""Seconds that a check may take. A store that loses an event is found out by this."""


def _check(check: Check) -> Check:
    CHECKS[check.__name__] = check
    return check


async def run_check(name: str, open_store: StoreFactory) -> None:
    """Run one check on a store opened for it. Raises AssertionError; TimeoutError if
    the store leaves it waiting.
    """
    async with asyncio.timeout(PATIENCE), _opened(open_store) as store:
        prefix = f"/registry/{name}/"
        for kv in (
            await store.range(prefix, prefix_end(prefix))
        ).kvs:  # left by an earlier run
            await store.delete(kv.key)
        await CHECKS[name](store, prefix)


@asynccontextmanager
async def _opened(open_store: StoreFactory) -> AsyncIterator[Store]:
    store = await open_store()
    try:
        yield store
    finally:
        await store.close()


async def _events(watch: Watch, count: int) -> list[Event]:
    """The next `count` events."""
    events: list[Event] = []
    async for batch in watch:
        events += batch
        if len(events) >= count:
            break
    assert len(events) == count, f"{len(events)} events instead of {count}"
    return events


def _flat(event: Event) -> tuple[str, str, bytes, int, bytes | None]:
    return (
        event.type,
        event.kv.key,
        event.kv.value,
        event.kv.mod_revision,
        event.prev.value if event.prev else None,
    )


async def _refusal(attempt: Awaitable[object], kind: type[E]) -> E:
    """The error that an attempt must raise."""
    try:
        await attempt
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


async def _write(store: Store, key: str, value: bytes) -> int:
    revision = await store.put(key, value)
    assert revision is not None, "an unconditional write was refused"
    return revision


# -- keys, versions, conditions --------------------------------------------------------


@_check
async def a_key_keeps_its_history_of_versions(store: Store, prefix: str) -> None:
    """create_revision stays, mod_revision and version move; deleted and made again, it
    starts anew.
    """
    key = prefix + "a"
    base = store.revision
    assert await store.get(key) is None
    assert await _write(store, key, b"1") == base + 1
    assert await _write(store, key, b"2") == base + 2
    assert await store.get(key) == KeyValue(key, b"2", base + 1, base + 2, 2)
    assert await store.delete(key) == base + 3
    assert await store.get(key) is None
    assert await _write(store, key, b"") == base + 4
    assert await store.get(key) == KeyValue(key, b"", base + 4, base + 4, 1)
    assert store.revision == base + 4


@_check
async def values_are_any_bytes_and_keys_any_text(store: Store, prefix: str) -> None:
    """Zero bytes, bytes that are no UTF-8, long values; keys with other letters."""
    for name, value in (
        ("zero", b"k8s\x00\x00"),
        ("high", bytes(range(256))),
        ("große-Straße", "ü".encode()),
        ("long", b"x" * 300_000),
    ):
        await _write(store, prefix + name, value)
        kv = await store.get(prefix + name)
        assert kv is not None
        assert kv.value == value, name


@_check
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


@_check
async def a_write_has_a_largest_size(store: Store, prefix: str) -> None:
    """Up to 1.5 MB is taken. More is refused, and nothing is written."""
    key = prefix + "large"
    await _write(store, key, b"x" * (MAX_REQUEST_BYTES - 2048))
    for size in (MAX_REQUEST_BYTES, 2 * MAX_REQUEST_BYTES):
        await _refusal(store.put(key, b"y" * size), RequestTooLargeError)
    kept = await store.get(key)
    assert kept is not None, "a write that was refused has taken something away"
    assert kept.value[:1] == b"x", "a write that was refused has left something"


@_check
async def one_of_many_racing_writers_wins(store: Store, prefix: str) -> None:
    """Compare and swap is one step, whoever else is under way; whoever lost can see at
    once what beat him.
    """
    key = prefix + "a"
    first = await _write(store, key, b"0")

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


@_check
async def concurrent_counters_lose_no_step(store: Store, prefix: str) -> None:
    """Eight tasks count up one key by read, compare and swap, retry."""
    key = prefix + "counter"
    await _write(store, key, b"0")

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


# -- ranges ----------------------------------------------------------------------------


@_check
async def a_range_is_ordered_and_ends_before_its_end(store: Store, prefix: str) -> None:
    """Keys in byte order; neighbours with a common beginning stay out."""
    names = ["a/2", "a/1", "b/1", "ab/1", "a", "a/10"]
    for name in names:
        await _write(store, prefix + name, name.encode())
    page = await store.range(prefix, prefix_end(prefix))
    assert [kv.key for kv in page.kvs] == sorted(prefix + name for name in names)
    assert page.revision == store.revision
    within = await store.range(prefix + "a/", prefix_end(prefix + "a/"))
    assert [kv.value for kv in within.kvs] == [b"a/1", b"a/10", b"a/2"]
    nothing = await store.range(prefix + "z/", prefix_end(prefix + "z/"))
    assert (nothing.kvs, nothing.count, nothing.more) == ([], 0, False)


@_check
async def pages_count_what_they_leave_out(store: Store, prefix: str) -> None:
    """`limit`, `count` and `more`, now and at a revision."""
    for i in range(10):
        await _write(store, f"{prefix}{i}", b"")
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


@_check
async def pages_of_one_reading_are_one_picture(store: Store, prefix: str) -> None:
    """Later pages read at the first one's revision miss and repeat nothing, whatever is
    written meanwhile; until compaction.
    """
    for i in range(6):
        await _write(store, f"{prefix}{i}", b"old")
    end = prefix_end(prefix)
    first = await store.range(prefix, end, limit=2)
    at = first.revision
    await store.delete(prefix + "0")
    await store.delete(prefix + "3")
    await _write(store, prefix + "1a", b"new")
    await _write(store, prefix + "4", b"new")
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
    assert (await _refusal(again, CompactedError)).compact_revision == store.revision


@_check
async def ranges_may_be_empty_or_a_single_key(store: Store, prefix: str) -> None:
    """The key after a key is that key and a zero byte; a limit of exactly what there is
    leaves nothing out.
    """
    for name in ("a", "a\0", "ab", "b"):
        await _write(store, prefix + name, b"")
    for start, end, count in (("a", "a\0", 1), ("a", "a", 0), ("c", "d", 0)):
        page = await store.range(prefix + start, prefix + end, limit=2)
        assert (len(page.kvs), page.count, page.more) == (count, count, False)
    for limit, more in ((3, True), (4, False), (5, False)):
        page = await store.range(prefix, prefix_end(prefix), limit=limit)
        assert (len(page.kvs), page.count, page.more) == (min(limit, 4), 4, more)


@_check
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


@_check
async def the_future_cannot_be_read(store: Store, prefix: str) -> None:
    """FutureRevisionError says how far it goes."""
    future = store.revision + 100
    for refused in (
        await _refusal(store.get(prefix + "a", future), FutureRevisionError),
        await _refusal(
            store.range(prefix, prefix_end(prefix), revision=future),
            FutureRevisionError,
        ),
        await _refusal(store.compact(future), FutureRevisionError),
    ):
        assert refused.current == store.revision


@_check
async def many_keys_come_back_whole(store: Store, prefix: str) -> None:
    """1,500 keys written by 50 tasks; a range of several megabytes."""
    gate = asyncio.Semaphore(50)

    async def write(number: int) -> int:
        async with gate:
            return await _write(store, f"{prefix}{number:05}", b"%05d" % number * 800)

    base = store.revision
    revisions = await asyncio.gather(*(write(n) for n in range(1_500)))
    assert sorted(revisions) == list(range(base + 1, base + 1_501)), (
        "revisions are not counted one by one"
    )
    page = await store.range(prefix, prefix_end(prefix))
    assert [kv.value[:5] for kv in page.kvs] == [b"%05d" % n for n in range(1_500)]
    assert (page.count, page.more, len(page.kvs[7].value)) == (1_500, False, 4_000)


# -- watches ---------------------------------------------------------------------------


@_check
async def a_watch_tells_each_change_once_in_order(store: Store, prefix: str) -> None:
    """With the value before; only keys in range; nothing from before it began."""
    await _write(store, prefix + "in/a", b"0")
    watch = store.watch(prefix + "in/", prefix_end(prefix + "in/"))
    base = store.revision
    await _write(store, prefix + "in/a", b"1")
    await _write(store, prefix + "in-between", b"other")
    await _write(store, prefix + "in/b", b"2")
    await store.delete(prefix + "in/a")
    assert [_flat(event) for event in await _events(watch, 3)] == [
        ("PUT", prefix + "in/a", b"1", base + 1, b"0"),
        ("PUT", prefix + "in/b", b"2", base + 3, None),
        ("DELETE", prefix + "in/a", b"", base + 4, b"1"),
    ]
    await watch.close()


@_check
async def a_watch_from_the_past_has_no_gap(store: Store, prefix: str) -> None:
    """From any revision: what was, then what comes, no event twice or missing, also
    where both meet under load.
    """
    base = store.revision
    for i in range(20):
        await _write(store, prefix + f"{i % 3}", b"%d" % i)
    watches = {
        first: store.watch(prefix, prefix_end(prefix), revision=first)
        for first in range(base + 1, base + 22)
    }

    async def more(number: int) -> None:
        for i in range(5):
            await _write(store, f"{prefix}w{number}", b"%d" % i)

    await asyncio.gather(*(more(n) for n in range(4)))
    for first, watch in watches.items():
        seen = [
            event.kv.mod_revision for event in await _events(watch, base + 41 - first)
        ]
        assert seen == list(range(first, base + 41)), f"from {first}"
        await watch.close()


@_check
async def a_watch_of_the_future_begins_there(store: Store, prefix: str) -> None:
    """What happens before its first revision is not told."""
    base = store.revision
    watch = store.watch(prefix, prefix_end(prefix), revision=base + 3)
    for i in range(4):
        await _write(store, prefix + "a", b"%d" % i)
    assert [event.kv.mod_revision for event in await _events(watch, 2)] == [
        base + 3,
        base + 4,
    ]
    await watch.close()


@_check
async def a_write_is_in_the_watches_when_it_returns(store: Store, prefix: str) -> None:
    """`take()` hands over without waiting what was acknowledged to a writer of this
    store, and `revision` is there too.
    """
    watch = store.watch(prefix, prefix_end(prefix))
    for i in range(5):
        revision = await _write(store, prefix + "a", b"%d" % i)
        assert store.revision == revision
        assert [event.kv.value for event in watch.take()] == [b"%d" % i]
    assert watch.take() == []
    await store.catch_up()
    assert store.revision == revision
    await watch.close()


@_check
async def an_ended_watch_is_over(store: Store, prefix: str) -> None:
    """Closed by its reader, it tells no more; closing the store ends those who wait,
    after what had arrived.
    """
    closed, waiting, unread = (
        store.watch(prefix, prefix_end(prefix)) for _ in range(3)
    )
    await closed.close()
    await _write(store, prefix + "a", b"")
    assert closed.take() == []
    assert [batch async for batch in closed] == []
    assert len(await _events(waiting, 1)) == 1

    async def read_on() -> list[list[Event]]:
        return [batch async for batch in waiting]

    reader = asyncio.create_task(read_on())
    await asyncio.sleep(0)
    await store.close()
    assert await reader == []
    assert [len(batch) async for batch in unread] == [1]


# -- history and leases ----------------------------------------------------------------


@_check
async def compaction_forgets_the_past_and_nothing_else(
    store: Store, prefix: str
) -> None:
    """Before the line: CompactedError, which names the line. The state at the line, and
    all after it, stays.
    """
    base = store.revision
    for i in range(6):
        await _write(store, f"{prefix}{i % 2}", b"%d" % i)
    await store.delete(prefix + "0")  # base + 7
    await _write(store, prefix + "1", b"last")
    line = base + 4
    await store.compact(line)
    for refused in (
        await _refusal(store.get(prefix + "0", line - 1), CompactedError),
        await _refusal(
            store.range(prefix, prefix_end(prefix), revision=line - 1), CompactedError
        ),
        await _refusal(store.compact(line), CompactedError),
    ):
        assert refused.compact_revision == line
    page = await store.range(prefix, prefix_end(prefix), revision=line)
    assert [kv.value for kv in page.kvs] == [b"2", b"3"]
    watch = store.watch(prefix, prefix_end(prefix), revision=line + 1)
    assert [_flat(event)[2:] for event in await _events(watch, 4)] == [
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


@_check
async def a_watch_from_before_the_compaction_fails(store: Store, prefix: str) -> None:
    """CompactedError out of the iteration; watches that are open already go on."""
    base = store.revision
    for i in range(5):
        await _write(store, prefix + "a", b"%d" % i)
    follower = store.watch(prefix, prefix_end(prefix), revision=base + 1)
    assert len(await _events(follower, 5)) == 5
    await store.compact(base + 4)
    late = store.watch(prefix, prefix_end(prefix), revision=base + 2)
    assert (
        await _refusal(_events(late, 1), CompactedError)
    ).compact_revision == base + 4
    await late.close()
    await _write(store, prefix + "a", b"5")
    assert [event.kv.value for event in await _events(follower, 1)] == [b"5"]
    await follower.close()


@_check
async def what_was_deleted_before_the_line_is_gone_and_begins_anew(
    store: Store, prefix: str
) -> None:
    """A key made again after its deletion has a new creation and version 1, and only
    that life is left after compaction.
    """
    base = store.revision
    await _write(store, prefix + "a", b"1")
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


@_check
async def a_lease_takes_its_keys_along(store: Store, prefix: str) -> None:
    """Revoked, it deletes what was written under it and is not under another now;
    watches are told.
    """
    lease, other = await store.grant(600), await store.grant(600)
    for name in ("a", "b", "c", "d"):
        assert await store.put(prefix + name, b"", lease=lease)
    await _write(store, prefix + "b", b"free")
    assert await store.put(prefix + "c", b"", lease=other)
    await store.delete(prefix + "d")
    kv = await store.get(prefix + "a")
    assert kv is not None
    assert kv.lease == lease
    watch = store.watch(prefix, prefix_end(prefix))
    await store.revoke(lease)
    assert [(event.type, event.kv.key) for event in await _events(watch, 1)] == [
        ("DELETE", prefix + "a")
    ]
    assert [kv.key for kv in (await store.range(prefix, prefix_end(prefix))).kvs] == [
        prefix + "b",
        prefix + "c",
    ]
    await _refusal(store.revoke(lease), LeaseNotFoundError)
    await _refusal(store.put(prefix + "e", b"", lease=lease), LeaseNotFoundError)
    await store.revoke(other)
    await watch.close()
