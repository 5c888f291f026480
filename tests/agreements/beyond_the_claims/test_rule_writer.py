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
