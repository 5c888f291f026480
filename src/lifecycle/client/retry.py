"""A write that somebody else was quicker than is tried again, a few times and soon.

Upstream: `client-go/util/retry/util.go` (`RetryOnConflict`, `DefaultRetry`), v1.36.
Left out: the tenth of the wait that is left to chance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from lifecycle.api.status import StatusError

STEPS = 5
"""How often it is tried in all."""
WAIT = 0.01
"""Seconds between two attempts."""

T = TypeVar("T")


async def retry_on_conflict(attempt: Callable[[], Awaitable[T]]) -> T:
    """What `attempt` gives. Raises its StatusError: at once if it is no conflict, and
    the last one if all attempts ended in one.
    """
    for _ in range(STEPS - 1):
        try:
            return await attempt()
        except StatusError as error:
            if error.reason != "Conflict":
                raise
        await asyncio.sleep(WAIT)
    return await attempt()
