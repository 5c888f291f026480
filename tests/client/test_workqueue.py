"""The work queue's promises: once, never twice at a time, later and later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.workqueue import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    MaxOfRateLimiter,
    RateLimiter,
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


@pytest.mark.parametrize(
    "make", [default_controller_rate_limiter, lambda: RateLimitingQueue[str]()._limiter], ids=["function", "queue"]
)
def test_the_default_is_five_milliseconds_doubling_to_a_thousand_seconds_and_ten_a_second_after_a_hundred(
    make: Callable[[], RateLimiter[str]],
) -> None:
    async def main() -> None:
        limiter = make()
        waits = [limiter.when("a") for _ in range(25)]
        assert waits == pytest.approx([min(0.005 * 2**n, 1000.0) for n in range(25)])
        assert limiter.num_requeues("a") == 25
        assert [limiter.when(f"x{n}") for n in range(75)] == pytest.approx([0.005] * 75)  # a hundred in all
        assert [limiter.when(f"y{n}") for n in range(3)] == pytest.approx([0.1, 0.2, 0.3])
        limiter.forget("a")
        assert limiter.num_requeues("a") == 0
        await asyncio.sleep(1)
        assert limiter.when("z") == pytest.approx(0.005)

    play(main)


def test_the_bucket_knows_no_items_and_saves_no_more_than_its_burst() -> None:
    async def main() -> None:
        limiter: BucketRateLimiter[str] = BucketRateLimiter(qps=2, burst=2)
        await asyncio.sleep(1000)
        assert [limiter.when(item) for item in "abcd"] == pytest.approx([0, 0, 0.5, 1.0])
        limiter.forget("a")
        assert limiter.num_requeues("a") == 0
        assert limiter.when("a") == pytest.approx(1.5)
        await asyncio.sleep(2)
        assert [limiter.when("a") for _ in range(2)] == pytest.approx([0, 0.5])

    play(main)


class Fixed:
    """Waits that are given; what is forgotten is written down."""

    def __init__(self, wait: float, requeues: int) -> None:
        self.wait, self.requeues, self.forgotten = wait, requeues, list[str]()

    def when(self, item: str) -> float:
        return self.wait

    def forget(self, item: str) -> None:
        self.forgotten.append(item)

    def num_requeues(self, item: str) -> int:
        return self.requeues


@pytest.mark.parametrize("waits", [(1.0, 2.0, 3.0), (3.0, 1.0, 2.0), (2.0, 3.0, 1.0)])
def test_the_longest_wait_and_the_most_failures_count(waits: tuple[float, ...]) -> None:
    limiters = [Fixed(wait, int(10 * wait)) for wait in waits]
    longest: MaxOfRateLimiter[str] = MaxOfRateLimiter(*limiters)
    assert (longest.when("a"), longest.num_requeues("a")) == (3.0, 30)
    longest.forget("a")
    assert [limiter.forgotten for limiter in limiters] == [["a"]] * 3


def test_what_failed_comes_back_when_the_limiter_says_and_is_forgotten_when_it_worked() -> None:
    async def main() -> None:
        limiter = Fixed(7.0, 3)
        queue: RateLimitingQueue[str] = RateLimitingQueue(limiter)
        queue.add_rate_limited("a")
        assert len(queue) == 0
        assert await queue.get() == "a"
        assert asyncio.get_running_loop().time() == pytest.approx(7)
        assert queue.num_requeues("a") == 3
        queue.forget("a")
        assert limiter.forgotten == ["a"]

    play(main)


@pytest.mark.parametrize(
    ("delays", "due"), [((10, 2, 5), [2]), ((2, 2), [2]), ((2, 10), [2]), ((0, 5), [0, 5]), ((-1,), [0])]
)
def test_when_an_item_is_due(delays: tuple[float, ...], due: list[float]) -> None:
    async def main() -> list[float]:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        for delay in delays:
            queue.add_after("a", delay)
        times: list[float] = []

        async def worker() -> None:
            while True:
                queue.done(await queue.get())
                times.append(asyncio.get_running_loop().time())

        working = asyncio.ensure_future(worker())
        await asyncio.sleep(60)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        return times

    assert run_virtual(main()) == pytest.approx(due)


def test_an_item_that_came_may_be_delayed_again() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        loop = asyncio.get_running_loop()
        for expected in (5, 12):
            queue.add_after("a", 5 if expected == 5 else 7)
            queue.add_after("b", 100)
            assert await queue.get() == "a"
            assert loop.time() == pytest.approx(expected)
            queue.done("a")

    play(main)


def test_after_the_end_nothing_is_taken_and_what_waits_is_handed_out() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        queue.add("a")
        queue.add_after("late", 1)
        queue.shut_down()
        queue.add("b")
        queue.add_after("c", 1)
        queue.add_after("d", 0)
        assert await queue.get() == "a"
        await asyncio.sleep(5)
        assert len(queue) == 0
        with pytest.raises(ShutDown):
            await queue.get()

    play(main)


def test_the_end_wakes_everybody_who_waits() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        waiting = [asyncio.ensure_future(queue.get()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.sleep(0)
        queue.shut_down()
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(end) for end in ends] == [ShutDown, asyncio.CancelledError, ShutDown]

    play(main)


def test_each_item_wakes_one_and_the_longest_waiting_first() -> None:
    async def main() -> None:
        queue: RateLimitingQueue[str] = RateLimitingQueue()
        waiting = [asyncio.ensure_future(queue.get()) for _ in range(3)]
        await asyncio.sleep(0)
        queue.add("a")
        queue.add("b")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [task.done() for task in waiting] == [True, True, False]
        assert [task.result() for task in waiting[:2]] == ["a", "b"]
        queue.add("a")  # with a worker: it waits until that one is done
        await asyncio.sleep(0)
        assert not waiting[2].done()
        queue.done("a")
        assert await asyncio.wait_for(waiting[2], 1) == "a"

    play(main)
