"""The work queue's promises: once, never twice at a time, later and later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.clock import run_virtual
from lifecycle.client.workqueue import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    MaxOfRateLimiter,
    RateLimitingQueue,
    ShutDown,
    default_controller_rate_limiter,
)


def play(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    run_virtual(main())


def test_an_item_waits_once_however_often_it_is_added() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        for item in ("a", "b", "a", "a"):
            queue.add(item)
        assert [await queue.get(), await queue.get()] == ["a", "b"]
        assert len(queue) == 0

    play(main)


def test_an_item_added_while_processed_comes_back_after_done() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        queue.add("a")
        assert await queue.get() == "a"
        queue.add("a")
        assert len(queue) == 0
        queue.done("a")
        assert await queue.get() == "a"
        queue.done("a")
        assert len(queue) == 0

    play(main)


def test_of_several_delays_the_shortest_counts() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        loop = asyncio.get_running_loop()
        queue.add_after("a", 10)
        queue.add_after("a", 2)
        queue.add_after("a", 5)
        await queue.get()
        assert loop.time() == pytest.approx(2)
        queue.done("a")
        await asyncio.sleep(20)
        assert len(queue) == 0

    play(main)


def test_failures_double_the_wait_and_forgetting_starts_over() -> None:
    limiter: ItemExponentialFailureRateLimiter[str] = ItemExponentialFailureRateLimiter(0.005, 1000)
    assert [limiter.when("a") for _ in range(5)] == pytest.approx([0.005, 0.01, 0.02, 0.04, 0.08])
    assert limiter.when("b") == pytest.approx(0.005)
    assert limiter.num_requeues("a") == 5
    limiter.forget("a")
    assert limiter.when("a") == pytest.approx(0.005)
    for _ in range(2000):
        assert limiter.when("a") <= 1000


def test_the_bucket_lets_a_burst_through_and_then_so_many_a_second() -> None:
    async def main() -> None:
        limiter: BucketRateLimiter[str] = BucketRateLimiter(qps=10, burst=3)
        assert [limiter.when("x") for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.2])
        await asyncio.sleep(10)
        assert limiter.when("x") == 0
        both: MaxOfRateLimiter[str] = default_controller_rate_limiter()
        assert both.when("x") == pytest.approx(0.005)
        both.when("x")
        assert both.num_requeues("x") == 2

    play(main)


def test_shutting_down_hands_out_what_waits_and_then_ends() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        waiter = asyncio.ensure_future(queue.get())
        await asyncio.sleep(0)
        queue.add_after("late", 5)
        queue.shut_down()
        with pytest.raises(ShutDown):
            await waiter
        queue.add("a")
        assert len(queue) == 0

    play(main)


def test_a_cancelled_getter_does_not_lose_the_item() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        first, second = (asyncio.ensure_future(queue.get()) for _ in range(2))
        await asyncio.sleep(0)
        queue.add("a")  # wakes the first, which is cancelled before it runs
        first.cancel()
        assert await asyncio.wait_for(second, 1) == "a"

    play(main)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([0, 0, 1, 3])), max_size=40), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_no_item_is_ever_with_two_workers_and_each_add_is_followed_by_a_run(
    adds: list[tuple[str, int]], workers: int
) -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        busy: set[str] = set()
        last_run: dict[str, float] = {}

        async def worker() -> None:
            while True:
                item = await queue.get()
                assert item not in busy
                busy.add(item)
                last_run[item] = asyncio.get_running_loop().time()
                await asyncio.sleep(2)
                busy.discard(item)
                queue.done(item)

        tasks = [asyncio.ensure_future(worker()) for _ in range(workers)]
        last_add: dict[str, float] = {}
        for item, pause in adds:
            queue.add(item)
            last_add[item] = asyncio.get_running_loop().time()
            await asyncio.sleep(pause)
        await asyncio.sleep(200)
        for item, added in last_add.items():
            assert last_run[item] >= added
        for task in tasks:
            assert not task.done()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    play(main)
