"""The loop every controller is: take a key, make the world match it, take the next.

A sync that fails puts its key back, later each time; a sync that works forgets the
failures. Workers of one queue run side by side, but never on the same key. The sync
itself always starts from the informers' caches, never from the event that caused it:
this is what "level-triggered" means.

A request within one process need not wait for anything, so a worker with a long queue
would go through all of it while nobody else does anything, the informers neither: it
would work from what they believed when it began, and do much of it twice. So workers
take turns (`lifecycle.api.loop.pauses`).

Upstream: the `processNextWorkItem` of every controller, for example
`pkg/controller/replicaset/replica_set.go`, v1.36.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.tracing import span
from lifecycle.client.rest import REQUEST_ERRORS
from lifecycle.client.workqueue import RateLimitingQueue, ShutDown

log = logging.getLogger(__name__)

T = TypeVar("T", bound=Hashable)


async def run_workers(
    queue: RateLimitingQueue[T],
    sync: Callable[[T], Awaitable[None]],
    *,
    workers: int,
    name: str,
    max_retries: int | None = None,
) -> None:
    """Process keys until cancelled. `max_retries`: give a key up after so many failures
    in a row (None: never).
    """
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(workers):
                group.create_task(
                    _worker(queue, sync, name, max_retries), name=f"{name} {number}"
                )
    finally:
        queue.shut_down()


async def _worker(
    queue: RateLimitingQueue[T],
    sync: Callable[[T], Awaitable[None]],
    name: str,
    max_retries: int | None,
) -> None:
    pauses = Pauses()
    while True:
        await pauses.pause()
        try:
            key = await queue.get()
        except ShutDown:
            return
        try:
            with span(name, "sync", key=str(key)):
                await sync(key)
        except Exception as error:
            if isinstance(error, REQUEST_ERRORS):
                log.debug("%s: sync of %s: %s", name, key, error)
            elif not isinstance(error, RetryError):
                log.exception("%s: sync of %s failed", name, key)
            if max_retries is None or queue.num_requeues(key) < max_retries:
                queue.add_rate_limited(key)
            else:
                log.warning("%s: dropping %s out of the queue: %s", name, key, error)
                queue.forget(key)
        else:
            queue.forget(key)
        finally:
            queue.done(key)


class RetryError(Exception):
    """A sync that cannot go on now and wants to be tried again, without that being
    worth a word in the log.
    """
