"""The store in a file: it goes on where it stopped, says so when it cannot, and loses nothing that was acknowledged."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd import sqlite
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import CompactedError, NoSpaceError, StoreError, prefix_end

PODS = "/registry/pods/"


def test_reopened_it_goes_on_with_the_next_revision(tmp_path: Path) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        for i in range(5):
            await store.put(f"{PODS}{i % 2}", b"%d" % i)
        assert await store.delete(PODS + "0") == 7
        await store.close()
        store = SQLiteStore(tmp_path / "s.db")
        assert store.revision == 7
        watch = store.watch(PODS, prefix_end(PODS), revision=6)
        kv = await store.get(PODS + "1")
        assert kv is not None
        assert (kv.value, kv.create_revision, kv.version) == (b"3", 3, 2)
        assert await store.put(PODS + "1", b"x", expected=kv.mod_revision) == 8
        assert [event.kv.mod_revision for event in watch.take()] == [6, 7, 8]
        await store.close()

    run_virtual(main())


def test_nobody_but_its_owner_can_read_the_file(tmp_path: Path) -> None:
    """Whatever the umask is, and also a file that was readable once."""
    path = tmp_path / "s.db"

    def modes() -> dict[str, int]:
        return {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}

    async def main() -> None:
        store = SQLiteStore(path)
        await store.put("/registry/secrets/default/s", b"x")
        assert modes() == {"s.db": 0o600, "s.db-wal": 0o600}
        await store.close()

    before = os.umask(0)
    try:
        run_virtual(main())
        path.chmod(0o644)
        run_virtual(main())
    finally:
        os.umask(before)


def test_a_file_is_private_before_anything_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    connect = sqlite3.connect

    def noted(path: Path, **options: Any) -> sqlite3.Connection:
        modes.append(path.stat().st_mode & 0o777)
        return connect(path, **options)

    monkeypatch.setattr(sqlite.sqlite3, "connect", noted)

    async def main() -> None:
        await SQLiteStore(tmp_path / "s.db").close()

    run_virtual(main())
    assert modes == [0o600]


def test_a_compacted_deletion_does_not_turn_the_revision_back(tmp_path: Path) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        await store.put(PODS + "a", b"")
        await store.delete(PODS + "a")
        await store.compact(3)
        await store.close()
        store = SQLiteStore(tmp_path / "s.db")
        assert store.revision == 3
        with pytest.raises(CompactedError):
            await store.get(PODS + "a", 2)
        assert await store.put(PODS + "a", b"") == 4
        await store.close()

    run_virtual(main())


def test_what_is_written_in_one_turn_of_the_loop_is_one_transaction(tmp_path: Path) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        statements: list[str] = []
        store._db.set_trace_callback(statements.append)
        await asyncio.gather(*(store.put(f"{PODS}{i}", b"") for i in range(50)))
        assert (statements.count("BEGIN IMMEDIATE"), statements.count("COMMIT")) == (1, 1)
        await store.close()

    run_virtual(main())


def test_history_is_bounded_and_the_file_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "COMPACT_EVERY", 50)

    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db", history=100)
        sizes = []
        for i in range(4_000):
            await store.put(f"{PODS}{i % 10}", b"x" * 1_000)
            if i % 1_000 == 999:
                sizes.append(store._db.execute("PRAGMA page_count").fetchone()[0])
        assert sizes[-1] <= sizes[0] * 1.2
        with pytest.raises(CompactedError):
            await store.get(PODS + "0", 3_000)
        page = await store.range(PODS, prefix_end(PODS), revision=store.revision - 100)
        assert page.count == 10
        await store.close()

    run_virtual(main())


def test_a_full_disk_is_said_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        watch = store.watch(PODS, prefix_end(PODS))
        store._db.execute("PRAGMA max_page_count = 60")  # SQLite's own way to be full
        kept: dict[str, int] = {}
        for i in range(100):
            try:
                revision = await store.put(f"{PODS}{i:03}", b"x" * 4_000)
            except NoSpaceError:
                break
            assert revision is not None
            kept[f"{PODS}{i:03}"] = revision
        else:
            pytest.fail("the disk never filled up")
        assert store.revision == max(kept.values())
        with pytest.raises(NoSpaceError, match=r"etcdserver: mvcc: database space exceeded$"):
            await store.put(PODS + "more", b"x" * 9_000)
        assert [event.kv.mod_revision for event in watch.take()] == list(kept.values())
        assert {kv.key: kv.mod_revision for kv in (await store.range(PODS, prefix_end(PODS))).kvs} == kept
        store._db.execute("PRAGMA max_page_count = 1000")  # somebody cleaned up
        assert await store.put(PODS + "more", b"x" * 9_000) == store.revision == max(kept.values()) + 1
        await store.close()
        store = SQLiteStore(tmp_path / "s.db")
        assert len((await store.range(PODS, prefix_end(PODS))).kvs) == len(kept) + 1
        await store.close()

    run_virtual(main())


def test_a_lease_expires_and_survives_a_restart(tmp_path: Path) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        short, long = await store.grant(10), await store.grant(100)
        await store.put(PODS + "short", b"", lease=short)
        await store.put(PODS + "long", b"", lease=long)
        watch = store.watch(PODS, prefix_end(PODS))
        await asyncio.sleep(11)
        assert [(event.type, event.kv.key) for event in watch.take()] == [("DELETE", PODS + "short")]
        await asyncio.sleep(80)
        await store.close()
        store = SQLiteStore(tmp_path / "s.db")
        await asyncio.sleep(99)
        assert await store.get(PODS + "long") is not None
        await asyncio.sleep(2)
        assert await store.get(PODS + "long") is None
        await store.close()

    run_virtual(main())


def test_files_that_cannot_be_a_store_are_refused_in_one_line(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "text").write_text("not a database, by far " * 100)
        with pytest.raises(ValueError, match=r"is not an SQLite file$"):
            SQLiteStore(tmp_path / "text")
        other = sqlite3.connect(tmp_path / "other.db")
        other.execute("CREATE TABLE songs (title TEXT)")
        other.close()
        with pytest.raises(ValueError, match=r"database of something else$"):
            SQLiteStore(tmp_path / "other.db")
        with pytest.raises(OSError, match=r"unable to open database file$"):
            SQLiteStore(tmp_path / "nowhere" / "s.db")
        with pytest.raises(ValueError, match=r"synchronous is NORMAL or FULL; not OFF$"):
            SQLiteStore(tmp_path / "s.db", synchronous="OFF")

    run_virtual(main())


def test_one_process_at_a_time(tmp_path: Path) -> None:
    script = "import sys, asyncio\nfrom lifecycle.etcd.sqlite import SQLiteStore\n" + (
        "async def main():\n    SQLiteStore(sys.argv[1])\nasyncio.run(main())\n"
    )

    def open_elsewhere() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", script, tmp_path / "s.db"], capture_output=True, text=True)

    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        done = await asyncio.to_thread(open_elsewhere)
        assert "in use by another process" in done.stderr.splitlines()[-1]
        await store.close()
        done = await asyncio.to_thread(open_elsewhere)
        assert done.returncode == 0, done.stderr

    asyncio.run(main())


def test_an_error_of_the_file_is_a_store_error(tmp_path: Path) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db")
        store._db.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match=r"readonly database$"):
            await store.put(PODS + "a", b"")
        await store.close()

    run_virtual(main())


@pytest.mark.parametrize("synchronous", ["NORMAL", "FULL"])
def test_both_ways_to_commit_keep_the_writes(tmp_path: Path, synchronous: str) -> None:
    async def main() -> None:
        store = SQLiteStore(tmp_path / "s.db", synchronous=synchronous)
        await asyncio.gather(*(store.put(f"{PODS}{i}", b"") for i in range(20)))
        await store.close()
        store = SQLiteStore(tmp_path / "s.db")
        assert (await store.range(PODS, prefix_end(PODS))).count == 20
        await store.close()

    run_virtual(main())
