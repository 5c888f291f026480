"""`kill -9` under load: whatever was acknowledged is there afterwards, and nothing is half there."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from lifecycle.api.loop.clock import run_virtual
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import prefix_end

PREFIX = "/registry/pods/crash/"

WRITER = """
import asyncio, os, sys
from lifecycle.etcd.sqlite import SQLiteStore

async def main():
    store = SQLiteStore(sys.argv[1])
    async def write(number):
        for i in range(1_000_000):
            key = f"/registry/pods/crash/{number}-{i % 50}"
            if i % 10 == 9:
                revision, value = await store.delete(key), "-"
            else:
                value = f"{number}.{i}"
                revision = await store.put(key, value.encode() * 100)
            os.write(1, f"{revision} {key} {value}\\n".encode())   # the acknowledgement: unbuffered, in one piece
    await asyncio.gather(*(write(number) for number in range(16)))

asyncio.run(main())
"""

ROUNDS = 3
ACKNOWLEDGED_BEFORE_THE_KILL = 1_500


def write_until_killed(path: Path, acknowledgements: int) -> dict[int, tuple[str, str]]:
    """What a writer acknowledged before it was killed: revision → key and value. It is killed in the middle of its work."""
    child = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    assert child.stdout is not None
    lines: list[bytes] = []
    deadline = time.monotonic() + 20
    try:
        for line in child.stdout:
            lines.append(line)
            if len(lines) >= acknowledgements or time.monotonic() > deadline:
                child.kill()  # SIGKILL to this very process; what it had said before is still in the pipe
                break
        lines += child.stdout.readlines()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert len(lines) >= acknowledgements
    said = (line.decode().split() for line in lines if line.endswith(b"\n"))
    return {int(revision): (key, value) for revision, key, value in said if revision != "None"}


def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    async def read() -> tuple[int, dict[int, tuple[str, str]], dict[str, bytes]]:
        store = SQLiteStore(tmp_path / "s.db")
        history = store.watch(PREFIX, prefix_end(PREFIX), revision=2).take()
        log = {
            event.kv.mod_revision: (event.kv.key, event.kv.value.decode()[: len(event.kv.value) // 100] or "-")
            for event in history
        }
        now = {kv.key: kv.value for kv in (await store.range(PREFIX, prefix_end(PREFIX))).kvs}
        last = store.revision
        await store.close()
        return last, log, now

    acknowledged: dict[int, tuple[str, str]] = {}
    for _ in range(ROUNDS):
        acknowledged |= write_until_killed(tmp_path / "s.db", ACKNOWLEDGED_BEFORE_THE_KILL)
        last, log, now = run_virtual(read())
        missing = {revision: said for revision, said in acknowledged.items() if log.get(revision) != said}
        assert missing == {}, f"{len(missing)} of {len(acknowledged)} acknowledged writes are lost"
        assert sorted(log) == list(range(2, last + 1)), "a revision is missing"
        replayed: dict[str, str] = {}
        for key, value in log.values():
            replayed[key] = value
        assert {key: value.decode()[: len(value) // 100] for key, value in now.items()} == {
            key: value for key, value in replayed.items() if value != "-"
        }
    assert len(acknowledged) >= ROUNDS * ACKNOWLEDGED_BEFORE_THE_KILL * 0.9
