"""A worker with a long queue lets the others go on."""

from __future__ import annotations

import asyncio
import logging
from unittest.mock import patch

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.loop.pauses import TURN
from lifecycle.api.status import internal_error
from lifecycle.client.keyed_worker import RetryError, run_workers
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
    assert asyncio.run(longest_turn(takes=TURN / 3.5)) == 4


def test_on_virtual_time_which_stands_still_it_goes_on() -> None:
    assert run_virtual(longest_turn(takes=0)) == KEYS


async def worked(*failures: Exception, max_retries: int | None = None) -> int:
    """How often a key is worked on that fails so, one after the other."""
    queue: RateLimitingQueue[str] = RateLimitingQueue()
    queue.add("ns/web")
    left, times = list(failures), 0

    async def sync(key: str) -> None:
        nonlocal times
        times += 1
        if left:
            raise left.pop(0)

    working = asyncio.ensure_future(run_workers(queue, sync, workers=1, name="sets", max_retries=max_retries))
    await asyncio.sleep(60)
    assert not queue.num_requeues("ns/web"), "forgotten, whether it worked or was given up"
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    return times


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (ValueError("no such colour"), ("ERROR", "sets: sync of ns/web failed", True)),
        (OSError("the way is broken"), ("DEBUG", "sets: sync of ns/web: the way is broken", False)),
        (internal_error("no"), ("DEBUG", f"sets: sync of ns/web: {internal_error('no')}", False)),
        (RetryError("later"), None),
    ],
)
def test_what_nobody_expects_is_told_with_its_trace_and_what_requests_may_raise_only_to_who_asks(
    failure: Exception, told: tuple[str, str, bool] | None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "lifecycle.client.keyed_worker"):
        assert run_virtual(worked(failure)) == 2
    seen = [(each.levelname, each.getMessage(), each.exc_info is not None) for each in caplog.records]
    assert seen == [told] * (told is not None)


def test_a_key_that_fails_too_often_is_dropped_and_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    assert run_virtual(worked(*[RetryError("later")] * 3, max_retries=3)) == 4
    assert caplog.messages == []
    assert run_virtual(worked(*[RetryError("later")] * 4, max_retries=3)) == 4
    assert caplog.messages == ["sets: dropping ns/web out of the queue: later"]
