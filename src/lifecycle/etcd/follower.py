"""Following a real etcd: one watch on everything, many watches here.

The API server's cache must be able to say "I am as new as the store", although somebody
else may have written a moment ago. Every revision of etcd changes at least one key. So
if one watch covers **all keys**, every revision comes by, in order, and the last one
seen says exactly how far everything here is. Then

- a write waits until its revision has come by: who wrote, sees what he wrote, in each
  cache;
- `catch_up` asks etcd for its revision and waits until that one has come by: then a
  read from a cache is as good as one from etcd.

Kubernetes has a watch per resource, where quiet ones learn nothing of what happens
elsewhere; so it asks etcd for progress notifications on those
(`ConsistentListFromCache`). The idea is the same.

When the connection breaks, the watch goes on from the next revision: etcd keeps history
until it is compacted. If it was compacted meanwhile, all watches here fail with
CompactedError, and who reads them starts over.

Upstream: `apiserver/pkg/storage/cacher/lister_watcher.go`,
`storage/cacher/progress/watch_progress.go` (`ConditionalProgressRequester`),
`storage/etcd3/watcher.go`, v1.36.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Iterator

from lifecycle.etcd.client import Client, current_revision
from lifecycle.etcd.messages import event_of
from lifecycle.etcd.store import CompactedError, Event, StoreError, UnavailableError
from lifecycle.etcd.watches import EventWatch, Watches

LOG = 1_000
"""Events kept here for watches that begin a little in the past; further back, etcd is
asked.
"""


class Follower:
    """The watch on all keys, from a revision on, and the watches fed by it."""

    def __init__(self, client: Client, revision: int) -> None:
        self.revision = revision
        self.problem = ""
        self._client = client
        self._log: deque[Event] = deque()
        self._log_start = revision  # all events after it are in the log
        self._watches = Watches()
        self._replays: dict[EventWatch, asyncio.Task[None]] = {}
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._under_way: dict[str, list[asyncio.Future[None]]] = {}
        self._asking = asyncio.Lock()
        self._next_question: asyncio.Task[None] | None = None
        self._task = asyncio.create_task(self._follow(), name="etcd watch")

    # -- how far we are ----------------------------------------------------------------

    async def until(self, revision: int) -> None:
        """Wait until a revision has come by."""
        if revision > self.revision:
            reached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((revision, reached))
            await reached

    async def catch_up(self) -> None:
        """Wait until everything has come by that etcd held when this was called. Many
        callers share one question.
        """
        question = self._next_question
        if question is None:
            question = self._next_question = asyncio.create_task(
                self._ask(), name="etcd revision"
            )
        await asyncio.shield(question)

    async def _ask(self) -> None:
        async with self._asking:
            # for who comes from here on, the answer to this question may be too old
            self._next_question = None
            revision = await current_revision(self._client)
        await self.until(revision)

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[None]:
        """Around a write of ours: its event waits until the write was answered.

        Often etcd tells the watch before it answers the writer. The writer knows the
        object already, so he should hear of it first.
        """
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        under_way = self._under_way.setdefault(key, [])
        under_way.append(answered)
        try:
            yield
        finally:
            if not answered.done():  # who waited for it may have been told to end
                answered.set_result(None)
            under_way.remove(answered)
            if not under_way:
                self._under_way.pop(key, None)

    # -- following ---------------------------------------------------------------------

    async def _follow(self) -> None:
        attempt = 0
        while True:
            try:
                async with contextlib.aclosing(
                    self.history(self.revision + 1)
                ) as history:
                    async for events in history:
                        attempt = 0
                        for event in events:
                            for answered in tuple(
                                self._under_way.get(event.kv.key, ())
                            ):
                                await answered
                        self._feed(events)
            except CompactedError as error:
                await self._start_over(error)
            except StoreError as error:
                self.problem = str(error)
                await asyncio.sleep(min(0.05 * 2**attempt, 1.0))
                attempt += 1

    def _feed(self, events: list[Event]) -> None:
        """Wake the writers, then feed the watches, before anybody runs."""
        self.revision = events[-1].kv.mod_revision
        self._wake()
        for event in events:
            self._watches.tell(event)
        self._log.extend(events)
        if len(self._log) > LOG:
            self.forget(self._log[-LOG - 1].kv.mod_revision)

    def forget(self, revision: int) -> None:
        """Keep nothing up to a revision, because it was compacted, or is enough for
        nobody.
        """
        self._log_start = max(self._log_start, revision)
        while self._log and self._log[0].kv.mod_revision <= revision:
            self._log.popleft()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, deque()
        for revision, reached in waiting:
            if revision > self.revision:
                self._waiting.append((revision, reached))
            elif not reached.done():
                reached.set_result(None)

    async def _start_over(self, error: CompactedError) -> None:
        """What happened since the last event cannot be had any more: all watches fail,
        and it goes on from now.
        """
        with contextlib.suppress(StoreError):
            self.revision = self._log_start = await current_revision(self._client)
            self._log.clear()
            self._watches.end(error)
            self._wake()

    async def history(self, first: int) -> AsyncGenerator[list[Event], None]:
        """What changed from a revision on, as etcd tells it, each revision in one
        piece. Raises CompactedError, StoreError.
        """
        create = {
            "key": b"\0",
            "range_end": b"\0",
            "start_revision": first,
            "prev_kv": True,
            "fragment": True,
        }
        events: list[Event] = []
        async with contextlib.aclosing(self._client.watch(create)) as answers:
            async for answer in answers:
                self.problem = ""
                if answer.compact_revision:
                    raise CompactedError(answer.compact_revision)
                if answer.canceled:
                    raise UnavailableError(
                        f"etcdserver: watch canceled: {answer.cancel_reason}"
                    )
                events += map(event_of, answer.events)
                if events and not answer.fragment:
                    yield events
                    events = []
        raise UnavailableError("etcdserver: watch ended")

    # -- watches -----------------------------------------------------------------------

    def watch(self, start: str, end: str, revision: int) -> EventWatch:
        """Changes in `[start, end)` from a revision on (0: from now on)."""
        watch = EventWatch(self._watches, start, end, revision)
        if not self._join(watch, revision or self.revision + 1):
            self._replays[watch] = asyncio.create_task(
                self._replay(watch), name="etcd history"
            )
        return watch

    def _join(self, watch: EventWatch, first: int) -> bool:
        """Let a watch take part from a revision on, unless that is too long ago for
        what is kept here.
        """
        if first <= self._log_start:
            return False
        watch.feed_all(event for event in self._log if event.kv.mod_revision >= first)
        self._watches.add(watch)
        return True

    async def _replay(self, watch: EventWatch) -> None:
        """Fetch what is further back from etcd, until the rest is kept here."""
        try:
            async with contextlib.aclosing(self.history(watch.first)) as history:
                async for events in history:
                    watch.feed_all(events)
                    if watch.ended or self._join(watch, events[-1].kv.mod_revision + 1):
                        break
        except (CompactedError, StoreError) as error:
            watch.end_of_events(error)
        finally:
            self._replays.pop(watch, None)

    async def close(self) -> None:
        """End all watches."""
        for watch in self._replays:
            watch.end_of_events()
        self._watches.end()
        tasks = [
            self._task,
            *self._replays.values(),
            *([self._next_question] if self._next_question else ()),
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for _, reached in self._waiting:
            reached.cancel()
