"""Try one, then two, then four: how many pods to ask for at once.

If the first create fails – a quota, a broken webhook – the rest would most likely fail
the same way. So the batches start at one and double with each batch that succeeds
entirely; the first failure ends it. A thousand pods take ten round trips, a hopeless
thousand takes one.

Upstream: `pkg/controller/replicaset/replica_set.go` (`slowStartBatch`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

SLOW_START_INITIAL_BATCH_SIZE = 1


async def slow_start_batch(
    count: int, initial_batch_size: int, create: Callable[[], Awaitable[None]]
) -> tuple[int, Exception | None]:
    """Call `create` up to `count` times, each batch concurrently. How many succeeded,
    and the first error of the batch that failed.
    """
    remaining, successes = count, 0
    batch_size = min(remaining, initial_batch_size)
    while batch_size > 0:
        results = await asyncio.gather(
            *(create() for _ in range(batch_size)), return_exceptions=True
        )
        errors = [result for result in results if isinstance(result, BaseException)]
        successes += batch_size - len(errors)
        for error in errors:
            if not isinstance(
                error, Exception
            ):  # a cancellation is not a failed create
                raise error
            return successes, error
        remaining -= batch_size
        batch_size = min(2 * batch_size, remaining)
    return successes, None
