"""The three numbers that a store keeps of a key, and which of them a comparison is about: as etcd has them."""

from __future__ import annotations

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.etcd.memory import MemoryStore


def test_a_key_knows_when_it_was_made_when_it_was_written_and_how_often() -> None:
    async def main() -> list[tuple[int, int, int]]:
        store, told = MemoryStore(), list[tuple[int, int, int]]()
        begin = store.revision

        async def note() -> None:
            kv = await store.get("/a")
            assert kv is not None
            told.append((kv.create_revision - begin, kv.mod_revision - begin, kv.version))

        await store.put("/a", b"1")
        await note()
        await store.put("/b", b"")
        await store.put("/a", b"2")
        await note()
        await store.put("/a", b"3")
        await note()
        await store.delete("/a")
        await store.put("/a", b"4")  # another one of that name
        await note()
        return told

    assert on_virtual_time(main()) == [(1, 1, 1), (1, 3, 2), (1, 4, 3), (6, 6, 1)]


def test_who_compares_compares_with_the_last_write() -> None:
    async def main() -> list[bool]:
        store, done = MemoryStore(), list[bool]()
        made = await store.put("/a", b"1", expected=0)
        assert made is not None
        written = await store.put("/a", b"2", expected=made)
        assert written is not None
        for expected in (0, made, written + 1, written, 0):
            done.append(await store.put("/a", b"3", expected=expected) is not None)
        return done

    assert on_virtual_time(main()) == [False, False, False, True, False]


def test_whoever_watches_is_told_what_was_there_before() -> None:
    async def main() -> list[tuple[bytes, bytes | None]]:
        store, told = MemoryStore(), list[tuple[bytes, bytes | None]]()
        watch = store.watch("/a", "/b")
        await store.put("/a", b"1")
        await store.put("/a", b"2")
        async for batch in watch:
            told += [(event.kv.value, event.prev.value if event.prev else None) for event in batch]
            if len(told) == 2:
                break
        await watch.close()
        return told

    assert on_virtual_time(main()) == [(b"1", None), (b"2", b"1")]
