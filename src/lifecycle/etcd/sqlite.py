"""The store in a file: what was acknowledged is still there after the process died.

One table does it. Each change is a row under its revision, with the state it made and
the revision of the state before it; `(key, revision)` is indexed. "What is there now"
is each key's last row, "what was there at 17" its last row up to 17, "what happened
since 17" the rows after it. Nothing is ever overwritten, so compaction is the only
thing that deletes.

Writes are committed in groups: what several tasks write in the same turn of the loop
becomes one transaction. Only after its commit do the writers get their answer and the
watches their events.

How durable is durable? The commit goes to SQLite's write-ahead log with a `write` call,
so the kernel has it: a process that is killed loses nothing that was acknowledged.
`synchronous="NORMAL"` leaves it to the kernel when that reaches the disk; if the
*machine* loses power, the last moments may be gone (what is left is a consistent
earlier state, never a torn one). `"FULL"` waits for the disk at each commit, as etcd
does; that is about 1 ms for each turn of the loop in which something was written, and
meanwhile the loop stands.

On a full disk everything can be read, also after a restart, and nothing can be written,
not even a deletion: it is one more row, and gives room only when it is compacted. etcd
keeps some room back for deletions (its quota lies below the disk's size); here room has
to be made outside.

Upstream: no part of Kubernetes; kine (`pkg/logstructured/sqllog`) has the idea of a log
as the table. Left out: several processes on one file (the file is locked while it is
open).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lifecycle.etcd.leases import Leases
from lifecycle.etcd.store import (
    CompactedError,
    Event,
    FutureRevisionError,
    KeyValue,
    LeaseNotFoundError,
    NoSpaceError,
    RangeResult,
    StoreError,
    check_request_size,
)
from lifecycle.etcd.watches import EventWatch, Watches

DEFAULT_HISTORY = 20_000
"""Revisions kept before the store compacts by itself, whatever the time: a bound beside
that of the API server's compactor.
"""

COMPACT_EVERY = 1_000
APPLICATION_ID = 0x57485748
"""Marks a file as ours; SQLite keeps it in the file's header."""

SCHEMA = """
CREATE TABLE change (
    revision INTEGER PRIMARY KEY,
    key      TEXT    NOT NULL,
    value    BLOB    NOT NULL,
    created  INTEGER NOT NULL,   -- the revision that made the key
    version  INTEGER NOT NULL,   -- writes since then; 0: this change deleted the key
    lease    INTEGER NOT NULL,
    previous INTEGER NOT NULL    -- revision of the state before; 0: there was none
);
CREATE INDEX change_by_key ON change (key, revision);
CREATE INDEX change_by_lease ON change (lease) WHERE lease > 0;
CREATE TABLE lease (id INTEGER PRIMARY KEY, ttl INTEGER NOT NULL);
CREATE TABLE compaction (revision INTEGER NOT NULL);
INSERT INTO compaction VALUES (0);
"""

STATE = "key, value, created, revision, version, lease"
NEWEST = f"SELECT {STATE} FROM change WHERE key = ? ORDER BY revision DESC LIMIT 1"
AT = (
    f"SELECT {STATE} FROM change WHERE key = ? AND revision <= ? ORDER BY revision DESC"
    " LIMIT 1"
)
# in SQLite the other columns of a group come from the row that holds the maximum
LAST_OF_EACH = (
    "SELECT key, value, created, max(revision), version, lease FROM change "
    "WHERE key >= ? AND key < ? AND revision <= ? GROUP BY key HAVING version > 0"
)
RANGE = f"{LAST_OF_EACH} ORDER BY key LIMIT ?"
COUNT = f"SELECT count(*) FROM ({LAST_OF_EACH})"
SINCE = (
    "SELECT n.key, n.value, n.created, n.revision, n.version, n.lease, p.key, p.value,"
    " p.created, p.revision, p.version, p.lease FROM change AS n LEFT JOIN change AS p"
    " ON p.revision = n.previous WHERE n.revision >= ? AND n.key >= ? AND n.key < ?"
    " ORDER BY n.revision"
)


@dataclass(slots=True, eq=False)
class _Write:
    """A write that waits for the next commit. `value` None: a deletion. `answer` None:
    nobody waits.
    """

    key: str
    value: bytes | None
    expected: int | None
    lease: int
    answer: asyncio.Future[int | None] | None


class SQLiteStore:
    """Implements `etcd.store.Store` on a file. To be made where a loop runs.

    `history` is the number of revisions kept (0: all, until `compact`), `synchronous`
    is explained above. Raises OSError if the file cannot be opened or is in use,
    ValueError if it is something else.
    """

    remote = False
    problem = ""

    def __init__(
        self,
        path: Path | str,
        *,
        history: int = DEFAULT_HISTORY,
        synchronous: str = "NORMAL",
    ) -> None:
        self._path, self._history = Path(path), history
        self._db = _open(self._path, synchronous)
        ((self._compacted,),) = self._db.execute("SELECT revision FROM compaction")
        ((newest,),) = self._db.execute("SELECT coalesce(max(revision), 1) FROM change")
        self._revision = max(
            newest, self._compacted
        )  # the newest row may have been a deletion, and compacted away
        self._queue: list[_Write] = []
        self._watches = Watches()
        self._leases = Leases(self._expire)
        for lease, ttl in self._db.execute("SELECT id, ttl FROM lease").fetchall():
            self._leases.resume(lease, ttl)

    @property
    def revision(self) -> int:
        """The newest revision."""
        return self._revision

    async def catch_up(self) -> None:
        """Nobody else writes here, and a write feeds the watches before it returns."""

    # -- reads -------------------------------------------------------------------------

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """The key now or at a revision."""
        self._check(revision)
        row = self._db.execute(AT, (key, revision or self._revision)).fetchone()
        return KeyValue(*row) if row and row[4] else None

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """Keys in `[start, end)`, in order, of one consistent picture."""
        self._check(revision)
        where = (start, end, revision or self._revision)
        kvs = [KeyValue(*row) for row in self._db.execute(RANGE, (*where, limit or -1))]
        count = (
            self._db.execute(COUNT, where).fetchone()[0]
            if limit and len(kvs) == limit
            else len(kvs)
        )
        return RangeResult(kvs, self._revision, count, len(kvs) < count)

    def _check(self, revision: int) -> None:
        if revision > self._revision:
            raise FutureRevisionError(self._revision)
        if revision and revision < self._compacted:
            raise CompactedError(self._compacted)

    # -- writes ------------------------------------------------------------------------

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """Compare and swap; the new revision, or None if the comparison failed."""
        check_request_size(key, value)
        try:
            self._leases.check(lease)
        except LeaseNotFoundError:  # as in etcd, only what is written needs its lease
            kv = await self.get(key)
            if expected is not None and expected != (kv.mod_revision if kv else 0):
                return None
            raise
        return await self._enqueue(key, value, expected, lease)

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """Compare and delete; the new revision, or None if absent or the comparison
        failed.
        """
        return await self._enqueue(key, None, expected, 0)

    async def _enqueue(
        self, key: str, value: bytes | None, expected: int | None, lease: int
    ) -> int | None:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[int | None] = loop.create_future()
        if not self._queue:
            loop.call_soon(self._commit)
        self._queue.append(_Write(key, value, expected, lease, answer))
        return await answer

    def _commit(self) -> StoreError | None:
        """Everything queued becomes one transaction. The writers are woken first, the
        watches fed next, all before anybody runs.

        What went wrong is told to the writers, and returned.
        """
        writes, self._queue = self._queue, []
        if not writes:
            return None
        revision, events = self._revision, []
        revisions: list[int | None] = []
        try:
            with self._transaction():
                for write in writes:
                    event = self._apply(write, revision + 1)
                    if event is not None:
                        revision += 1
                        events.append(event)
                    revisions.append(revision if event is not None else None)
        except StoreError as error:
            for write in writes:
                if write.answer is not None and not write.answer.done():
                    write.answer.set_exception(error)
            return error
        self._revision = revision
        for write, answer in zip(writes, revisions):
            if write.answer is not None and not write.answer.done():
                write.answer.set_result(answer)
        for event in events:
            self._watches.tell(event)
        line = revision - self._history
        if self._history and line > self._compacted + COMPACT_EVERY:
            with contextlib.suppress(
                StoreError
            ):  # a full disk is for the writers to hear of
                self._forget_before(line)
        return None

    def _apply(self, write: _Write, revision: int) -> Event | None:
        """One write inside the transaction; None if its condition does not hold."""
        key, expected = write.key, write.expected
        row = self._db.execute(NEWEST, (key,)).fetchone()
        before = KeyValue(*row) if row and row[4] else None
        if expected is not None and expected != (before.mod_revision if before else 0):
            return None
        if write.value is None:
            if before is None:
                return None
            kv = KeyValue(key, b"", 0, revision, 0)
        else:
            created, version = (
                (before.create_revision, before.version + 1)
                if before
                else (revision, 1)
            )
            kv = KeyValue(key, write.value, created, revision, version, write.lease)
        previous = before.mod_revision if before else 0
        self._db.execute(
            "INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                revision,
                key,
                kv.value,
                kv.create_revision,
                kv.version,
                kv.lease,
                previous,
            ),
        )
        return Event("DELETE" if write.value is None else "PUT", kv, before)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing. Raises NoSpaceError, StoreError; then nothing was written."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            with contextlib.suppress(
                sqlite3.Error
            ):  # a full disk has rolled back already
                self._db.execute("ROLLBACK")
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
                raise NoSpaceError from None
            raise StoreError(f"{self._path}: {error}") from None

    # -- watches -----------------------------------------------------------------------

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> EventWatch:
        """Changes in `[start, end)` from a revision on (0: from now on)."""
        watch = EventWatch(self._watches, start, end, revision)
        if revision and revision <= self._compacted:
            watch.end_of_events(CompactedError(self._compacted))
            return watch
        if revision and revision <= self._revision:
            for row in self._db.execute(SINCE, (revision, start, end)):
                before = KeyValue(*row[6:]) if row[6] is not None else None
                watch.feed(
                    Event("PUT" if row[4] else "DELETE", KeyValue(*row[:6]), before)
                )
        self._watches.add(watch)
        return watch

    # -- leases ------------------------------------------------------------------------

    async def grant(self, ttl: int) -> int:
        """A lease of `ttl` seconds. After a restart it begins again."""
        lease = self._leases.grant(ttl)
        with self._transaction():
            self._db.execute("INSERT INTO lease VALUES (?, ?)", (lease, ttl))
        return lease

    async def revoke(self, lease: int) -> None:
        """End a lease and delete its keys. Raises LeaseNotFoundError."""
        self._leases.end(lease)
        self._end_lease(lease)

    def _expire(self, lease: int) -> None:
        with contextlib.suppress(
            StoreError
        ):  # the keys stay, and so does the lease, until the next start
            self._end_lease(lease)

    def _end_lease(self, lease: int) -> None:
        keys = self._db.execute(
            "SELECT DISTINCT key FROM change WHERE lease = ? ORDER BY key", (lease,)
        ).fetchall()
        for (key,) in keys:
            row = self._db.execute(NEWEST, (key,)).fetchone()
            if (
                row[4] and row[5] == lease
            ):  # else it was deleted, or written again without it
                self._queue.append(_Write(key, None, row[3], 0, None))
        error = self._commit()
        if error is not None:
            raise error
        with self._transaction():
            self._db.execute("DELETE FROM lease WHERE id = ?", (lease,))

    # -- history -----------------------------------------------------------------------

    async def compact(self, revision: int) -> None:
        """Forget what was before a revision; the state at that revision stays
        readable.
        """
        if revision > self._revision:
            raise FutureRevisionError(self._revision)
        if revision <= self._compacted:
            raise CompactedError(self._compacted)
        self._forget_before(revision)

    def _forget_before(self, revision: int) -> None:
        """A state goes when a later one has come by then; a deletion goes itself. Only
        the rows of the time in between are looked at.
        """
        span = (self._compacted, revision)
        with self._transaction():
            superseded = (
                "SELECT previous FROM change WHERE revision > ? AND revision <= ?"
            )
            self._db.execute(
                f"DELETE FROM change WHERE revision IN ({superseded})", span
            )
            self._db.execute(
                "DELETE FROM change WHERE version = 0 AND revision > ? AND revision"
                " <= ?",
                span,
            )
            self._db.execute("UPDATE compaction SET revision = ?", (revision,))
        self._compacted = revision

    async def close(self) -> None:
        """Write what is queued, end all watches, let go of the file."""
        self._commit()
        self._leases.close()
        self._watches.end()
        self._db.close()


def _open(path: Path, synchronous: str) -> sqlite3.Connection:
    """The file, locked for this process, with our tables in it."""
    if synchronous not in ("NORMAL", "FULL"):
        raise ValueError(f"synchronous is NORMAL or FULL; not {synchronous}")
    _create_private(path)
    try:
        db = sqlite3.connect(path, timeout=0, isolation_level=None)
    except sqlite3.Error as error:
        raise OSError(f"{path}: {error}") from None
    try:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA synchronous = {synchronous}")
        db.execute("BEGIN IMMEDIATE")  # from here on nobody else can open it
        ((mark,),) = db.execute("PRAGMA application_id")
        ((tables,),) = db.execute("SELECT count(*) FROM sqlite_schema")
        if tables and mark != APPLICATION_ID:
            raise ValueError(f"{path} is a database of something else")
        _make_private(path)
        if not tables:
            for statement in SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    except sqlite3.Error as error:
        db.close()
        code = error.sqlite_errorcode
        if code == sqlite3.SQLITE_NOTADB:
            raise ValueError(f"{path} is not an SQLite file") from None
        raise OSError(
            f"{path}:"
            f" {'in use by another process' if code == sqlite3.SQLITE_BUSY else error}"
        ) from None
    except ValueError:
        db.close()
        raise
    return db


def _create_private(path: Path) -> None:
    """An empty file that only its owner can read: it will hold Secrets. SQLite gives
    its log and index the same mode.

    An existing file is not opened: closing it again would take the locks away that
    another store of this process holds on it. Other errors are left for SQLite to
    report.
    """
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _make_private(path: Path) -> None:
    """The same for a file of ours that others could read until now, and for what a
    killed process left beside it.
    """
    for each in (
        path,
        path.with_name(f"{path.name}-wal"),
        path.with_name(f"{path.name}-shm"),
    ):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if each.stat().st_mode & 0o077:
                each.chmod(0o600)
