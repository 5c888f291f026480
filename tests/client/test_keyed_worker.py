"""A worker with a long queue lets the others go on."""

from __future__ import annotations

import asyncio
from unittest.mock import patch

from lifecycle.api.clock import run_virtual
from lifecycle.client.keyed_worker import TURN, run_workers
from lifecycle.client.workqueue import RateLimitingQueue

KEYS = 100


async def longest_turn(takes: float) -> int:
    """How many keys are worked on without anybody else having a turn, if none of them waits for anything and each
    takes so many seconds of the loop's time."""
    queue: RateLimitingQueue[str] = RateLimitingQueue()
    for number in range(KEYS):
        queue.add(str(number))
    in_a_row = longest = worked = 0

    async def sync(key: str) -> None:
        nonlocal in_a_row, longest, worked
        in_a_row, worked = in_a_row + 1, worked + 1
        longest = max(longest, in_a_row)

    with patch.object(asyncio.get_running_loop(), "time", lambda: worked * takes):
        working = asyncio.ensure_future(run_workers(queue, sync, workers=1, name="busy"))
        while worked < KEYS:
            await asyncio.sleep(0)
            in_a_row = 0
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return longest


def test_a_worker_steps_back_after_its_turn() -> None:
    assert run_virtual(longest_turn(takes=TURN / 3.5)) == 4


def test_on_virtual_time_which_stands_still_it_goes_on() -> None:
    assert run_virtual(longest_turn(takes=0)) == KEYS
