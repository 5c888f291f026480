"""A worker with a long queue lets the others go on."""

from __future__ import annotations

import asyncio

from lifecycle.api.clock import VirtualTimeLoop
from lifecycle.client.keyed_worker import TURN, run_workers
from lifecycle.client.workqueue import RateLimitingQueue

KEYS = 100


class SetByHand(asyncio.SelectorEventLoop):
    """A loop whose time is what the test says."""

    now = 0.0

    def time(self) -> float:
        return self.now


async def longest_turn(takes: float) -> int:
    """How many keys are worked on without anybody else having a turn, if none of them waits for anything."""
    loop = asyncio.get_running_loop()
    queue: RateLimitingQueue[str] = RateLimitingQueue()
    for number in range(KEYS):
        queue.add(str(number))
    in_a_row = longest = worked = 0

    async def sync(key: str) -> None:
        nonlocal in_a_row, longest, worked
        if isinstance(loop, SetByHand):
            loop.now += takes
        in_a_row, worked = in_a_row + 1, worked + 1
        longest = max(longest, in_a_row)

    working = asyncio.ensure_future(run_workers(queue, sync, workers=1, name="busy"))
    while worked < KEYS:
        await asyncio.sleep(0)
        in_a_row = 0
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    return longest


def run(loop: type[asyncio.AbstractEventLoop], takes: float) -> int:
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(longest_turn(takes))


def test_a_worker_steps_back_after_its_turn() -> None:
    assert run(SetByHand, TURN / 3.5) == 4


def test_on_virtual_time_which_stands_still_it_goes_on() -> None:
    assert run(VirtualTimeLoop, TURN) == KEYS
