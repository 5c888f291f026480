"""`--etcd-prefix`: the same keys below another root, whatever is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.prefixed import PrefixedStore
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import Bell, CompactedError, Event


@pytest.mark.parametrize("prefix", ["book", "", "/"])
def test_a_prefix_without_a_slash_or_a_name_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match=f"^the prefix must begin with a slash and a name, not '{prefix}'$"):
        PrefixedStore(MemoryStore(), prefix)


@pytest.mark.parametrize("prefix", ["/book", "/book/"])
def test_every_verb_means_the_same_key(prefix: str) -> None:
    async def main() -> None:
        inner = MemoryStore()
        store = PrefixedStore(inner, prefix)
        assert await store.put("/registry/pods/a", b"1", expected=0) == 2
        assert await store.put("/registry/pods/a", b"1", expected=0) is None
        kv = await store.get("/registry/pods/a")
        assert kv is not None
        assert (kv.key, kv.value) == ("/registry/pods/a", b"1")
        assert (await inner.get("/book/pods/a")) is not None
        assert await store.get("/registry/pods/b") is None
        await store.put("/registry/pods/a", b"2", lease=0)
        old = await store.get("/registry/pods/a", 2)
        assert old is not None
        assert old.value == b"1"
        await store.put("/registry/pods/b", b"3")
        page = await store.range("/registry/", "/registry0", revision=3, limit=1)
        assert ([(kv.key, kv.value) for kv in page.kvs], page.revision) == ([("/registry/pods/a", b"2")], 4)
        page = await store.range("/registry/pods/", "/registry/pods0", limit=1)
        assert ([kv.key for kv in page.kvs], page.count) == (["/registry/pods/a"], 2)
        assert await store.delete("/registry/pods/a", expected=2) is None
        assert await store.delete("/registry/pods/a", expected=3) == 5
        assert store.revision == 5
        await inner.put("elsewhere", b"")
        elsewhere = await store.get("elsewhere")
        assert elsewhere is not None

    run_virtual(main())


def test_a_watch_sees_its_own_names_and_ends_when_it_is_closed() -> None:
    async def main() -> None:
        inner = MemoryStore()
        store = PrefixedStore(inner, "/book")
        await store.put("/registry/pods/a", b"1")
        await store.delete("/registry/pods/a")
        watch = store.watch("/registry/pods/", "/registry/pods0", revision=2)
        seen = [(event.type, event.kv.key, event.prev.key if event.prev else None) for event in watch.take()]
        assert seen == [("PUT", "/registry/pods/a", None), ("DELETE", "/registry/pods/a", "/registry/pods/a")]
        later: list[Event] = []

        async def follow(events: AsyncIterator[list[Event]]) -> None:
            async for some in events:
                later.extend(some)

        task = asyncio.create_task(follow(aiter(watch)))
        await asyncio.sleep(0)
        await store.put("/registry/pods/b", b"1")
        for _ in range(5):
            await asyncio.sleep(0)
        assert [event.kv.key for event in later] == ["/registry/pods/b"]
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await watch.close()
        await store.put("/registry/pods/c", b"1")
        assert watch.take() == []

    run_virtual(main())


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_what_was_compacted_cannot_be_read_or_watched(kind: str, tmp_path: Path) -> None:
    """A range may be read at the line, a watch begins after it."""

    async def main() -> None:
        store = MemoryStore() if kind == "memory" else SQLiteStore(tmp_path / "store.db")
        for value in (b"1", b"2", b"3", b"4"):
            await store.put("/registry/a", value)  # revisions 2 to 5
        await store.compact(4)
        for revision, readable, watchable in ((3, False, False), (4, True, False), (5, True, True)):
            watch = store.watch("/registry/", "/registry0", revision=revision)
            if watchable:
                assert [event.kv.value for event in watch.take()] == [b"4"]
            else:
                with pytest.raises(CompactedError) as caught:
                    await anext(aiter(watch))
                assert caught.value.compact_revision == 4
            if readable:
                page = await store.range("/registry/", "/registry0", revision=revision)
                assert [kv.mod_revision for kv in page.kvs] == [revision]
            else:
                with pytest.raises(CompactedError):
                    await store.range("/registry/", "/registry0", revision=revision)
        with pytest.raises(CompactedError):
            await store.compact(4)
        await store.close()

    asyncio.run(main())


def test_a_watch_rings_the_bells_of_whoever_reads() -> None:
    async def main() -> None:
        store = PrefixedStore(MemoryStore(), "/book")
        watch, bell = store.watch("/registry/pods/", "/registry/pods0"), Bell()
        watch.bells = [bell]
        await store.put("/registry/pods/a", b"1")
        assert bell.count() == 1
        await watch.close()

    run_virtual(main())
