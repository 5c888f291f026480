"""The compactor: history older than five minutes is forgotten.

A store keeps every state that ever was, and would grow without end. The API server
decides how much of the past is worth keeping: enough for a client that was away for a
moment, or one that reads a long list page by page. Every five minutes it compacts to
where the store was five minutes ago. So a continue token lives for five to ten minutes.

A store that belongs to one process holds its history in that process's memory, and in
five minutes of much to do that is more than all the rest. There the compactor looks
every minute, and a token lives for five to six minutes.

Several API servers over one etcd must not compact one after the other, for then the
past would be shorter than anyone thinks. They agree on a key, `compact_rev_key`: who
sees it as it was at the last look may write it, and compacts; the others look again in
five minutes. A store of one process needs no such key.

Upstream: `apiserver/pkg/storage/etcd3/compact.go`, v1.36; the interval is
`--etcd-compaction-interval`. Left out: telling the watch caches where history begins
now.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque

from lifecycle.api.freed_memory import give_back_soon
from lifecycle.client.background_tasks import BackgroundTasks
from lifecycle.etcd.store import CompactedError, Store, StoreError

COMPACT_REV_KEY = "compact_rev_key"
COMPACT_INTERVAL = 300.0
"""Seconds. Upstream: `storagebackend.DefaultCompactInterval`."""
LOOKS = 5
"""In one interval, at a store that nobody shares."""


class Compactor:
    """Compacts one store; `start` and `stop` belong to its server."""

    def __init__(self, store: Store, interval: float = COMPACT_INTERVAL) -> None:
        self._store = store
        looks = 1 if store.remote else LOOKS
        self._pause = interval / looks
        self._time = 0  # mod_revision of the key at the last look
        self._revisions: deque[int] = deque(maxlen=looks)  # of the store, at each look
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        """Compact from now on, for the first time after one interval."""
        self._tasks.start(self._run(), "compactor")

    async def stop(self) -> None:
        """No more of it."""
        await self._tasks.stop()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._pause)
            # who cannot be reached, and who has compacted further by itself, is asked
            # again next time
            with contextlib.suppress(StoreError, CompactedError):
                await self.compact()

    async def compact(self) -> None:
        """Compact to where the store was one interval ago, if it is this server's turn.
        The first looks only look. Raises StoreError, CompactedError.
        """
        looks = self._revisions
        revision = looks[0] if len(looks) == looks.maxlen else 0
        won = await self._is_our_turn(revision) if self._store.remote else True
        looks.append(self._store.revision)
        if won and revision:
            await self._store.compact(revision)
            if not self._store.remote:
                give_back_soon()  # minutes of history were here

    async def _is_our_turn(self, revision: int) -> bool:
        value = str(revision).encode()
        written = await self._store.put(COMPACT_REV_KEY, value, expected=self._time)
        if written is not None:
            self._time = written
            return True
        kept = await self._store.get(COMPACT_REV_KEY)
        self._time = kept.mod_revision if kept is not None else 0
        return False
