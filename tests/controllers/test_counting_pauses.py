"""Counting the pods of large owners takes the same part of the time, however many owners there are."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.workqueue import DelayingQueue
from lifecycle.controllers.counting_pauses import LARGE, CountingPauses

PER_POD = 1e-4


def test_a_small_owner_is_counted_at_once() -> None:
    pauses = CountingPauses(PER_POD)
    assert pauses.before("small", LARGE) == 0
    assert pauses.before("large", LARGE + 1) == pytest.approx((LARGE + 1) * PER_POD)


def test_a_large_one_waits_for_its_own_pods_and_for_those_of_others_that_wait() -> None:
    pauses = CountingPauses(1)
    assert [pauses.before("a", 300), pauses.before("b", 400)] == [300, 700]
    assert pauses.before("a", 310) == 710  # the same one is counted once, as it is now
    pauses.over("a")
    assert pauses.before("b", 400) == 400
    pauses.over("b")
    pauses.over("nobody")
    assert pauses.before("a", 300) == 300


def counted_in_two_seconds(owners: int, pods: int) -> int:
    """Pods that one worker looks at while every owner has an event each millisecond."""

    async def scene() -> int:
        queue, pauses, counted = DelayingQueue[str](), CountingPauses(PER_POD), 0

        async def worker() -> None:
            nonlocal counted
            while True:
                key = await queue.get()
                pauses.over(key)
                counted += pods
                queue.done(key)

        task = asyncio.ensure_future(worker())
        for _ in range(2_000):
            for owner in range(owners):
                queue.add_after(str(owner), pauses.before(str(owner), pods))
            await asyncio.sleep(0.001)
        task.cancel()
        return counted

    return run_virtual(scene())


def test_fifty_owners_are_no_more_work_than_one() -> None:
    one, fifty = counted_in_two_seconds(1, 1000), counted_in_two_seconds(50, 1000)
    assert one == pytest.approx(2 / PER_POD, rel=0.1)
    assert 0.5 * one <= fifty <= 1.1 * one


def test_where_every_owner_waits_for_its_own_pods_only_fifty_are_fifty_times_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def its_own(self: CountingPauses, key: str, pods: int) -> float:
        return pods * PER_POD

    monkeypatch.setattr(CountingPauses, "before", its_own)
    assert counted_in_two_seconds(50, 1000) > 45 * counted_in_two_seconds(1, 1000)
