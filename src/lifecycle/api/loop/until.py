"""Work that may take until a moment, and no longer.

Upstream: Go's `context` (`WithDeadline`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def until(deadline: float, work: Awaitable[T]) -> T:
    """What `work` returns. Raises TimeoutError if it waits for longer than until
    `deadline`, in the loop's seconds. The clock is set when it first waits: most
    requests never do, and what does not wait cannot be interrupted.
    """
    steps: Generator[Any, Any, T] = work.__await__()
    try:
        waits_for = steps.send(None)
    except StopIteration as finished:
        return finished.value
    try:
        async with asyncio.timeout_at(deadline):
            return await _begun(steps, waits_for)
    finally:
        del waits_for  # it may hold the error that holds this frame (`spent_error`)


@coroutine
def _begun(steps: Generator[Any, Any, T], waits_for: Any) -> Generator[Any, Any, T]:
    """The rest of what has begun, and waits already."""
    try:
        while True:
            try:
                sent = yield waits_for
            except (Exception, asyncio.CancelledError) as error:
                waits_for = steps.throw(error)
            else:
                waits_for = steps.send(sent)
    except StopIteration as finished:
        return finished.value
    finally:
        steps.close()
        waits_for = sent = None
