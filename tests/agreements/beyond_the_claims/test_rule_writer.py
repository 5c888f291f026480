"""When rules are written that are asked for all the time."""

from __future__ import annotations

import asyncio

from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.proxy.bounded_frequency_runner import BoundedFrequencyRunner


def writes() -> list[float]:
    """The seconds at which rules are written, at most every ten and at least every
    hundred seconds: asked for at once, twice in between; after a failure that is to be
    tried again later, then sooner; after one where somebody asks before that; and never
    again.
    """

    async def main() -> list[float]:
        loop, times = asyncio.get_running_loop(), list[float]()
        began = loop.time()

        async def work() -> None:
            times.append(round(loop.time() - began, 3))

        runner = BoundedFrequencyRunner(work, min_interval=10, max_interval=100)
        task = asyncio.create_task(runner.loop())

        async def at(second: float) -> None:
            await asyncio.sleep(began + second - loop.time())

        runner.run()
        for second in (3, 4):
            await at(second)
            runner.run()
        await at(20)
        runner.retry_after(40)
        runner.retry_after(15)
        await at(70)
        runner.retry_after(50)
        await at(80)
        runner.run()
        await at(290)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return times

    return on_virtual_time(main())


WRITES = [0, 10, 35, 80, 180, 280]


def test_rules_are_not_written_as_often_as_they_are_asked_for() -> None:
    assert writes() == WRITES


def _begun(seconds: float, *asked: float) -> list[float]:
    """When the proxy begins to write, if that takes so many seconds and it is asked at these; at most every ten seconds and at
    least every hundred, in the first 250.
    """

    async def main() -> list[float]:
        loop, times = asyncio.get_running_loop(), list[float]()
        began = loop.time()

        async def work() -> None:
            times.append(round(loop.time() - began, 3))
            await asyncio.sleep(seconds)

        runner = BoundedFrequencyRunner(work, min_interval=10, max_interval=100)
        for second in asked:
            loop.call_later(second, runner.run)
        task = asyncio.create_task(runner.loop())
        await asyncio.sleep(250)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return times

    return on_virtual_time(main())


def test_between_two_writings_there_is_as_much_peace_however_long_one_takes() -> None:
    assert _begun(0, 0, 1) == [0, 10, 110, 210]
    assert _begun(30, 0, 1) == [0, 40, 170]
    assert _begun(30, 0, 35) == [0, 40, 170]
    assert _begun(30, 0, 50) == [0, 50, 180]
    assert _begun(200, 0, 1, 100, 199) == [0, 210]


def test_who_is_never_asked_begins_when_the_longest_time_is_over() -> None:
    assert _begun(0) == [100, 200]
    assert _begun(0, 99) == [99, 199]
